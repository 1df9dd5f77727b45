"""Addresses of the pages of grids, below grids/."""

from django.urls import path

from generation.views import calls, grids, new_grid

app_name = "grids"
urlpatterns = [
    path("", grids.grids, name="grids"),
    path("new/", new_grid.new_grid, name="new"),
    path("new/file/", new_grid.new_grid_from_file, name="new-file"),
    path("<int:pk>/", grids.grid, name="grid"),
    path("<int:pk>/grid.toml", grids.grid_file, name="file"),
    path("<int:pk>/start/", grids.start_grid, name="start"),
    path("<int:pk>/retry/", grids.retry_grid, name="retry"),
    path("<int:pk>/archive/", grids.archive_grid, name="archive"),
    path("<int:pk>/calls/", calls.calls, name="calls"),
    path("<int:pk>/calls/<int:call_pk>/", calls.call, name="call"),
]
