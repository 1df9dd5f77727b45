"""Every address of the site, by app. The pages of 403, 404 and 500 are templates of these names."""

from django.urls import include, path

from annotation.views.joining import join
from config.views import docs, docs_page
from evaluation.home import views as home

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"

urlpatterns = [
    path("", home.home, name="home"),
    path("long-work/", home.home_work, name="home-work"),
    path("studies/<slug:slug>/last-answer/", home.home_answer, name="home-answer"),
    path("accounts/", include("accounts.urls")),
    path("work/", include("work.urls")),
    path("api/", include("config.api")),
    path("docs/", docs, name="docs"),
    path("docs/<path:name>/", docs_page, name="docs-page"),
    # The order matters: studies/mine/ is not a study, and data/import/ is not a dataset.
    path("studies/", include("annotation.urls")),
    path("join/<str:token>/", join, name="join"),
    path("", include("evaluation.urls")),
    path("data/", include("generation.urls")),
    path("grids/", include("generation.grid_urls")),
    path("tradeoffs/", include("evaluation.tradeoffs.urls")),
    path("graphs/", include("evaluation.graphs.urls")),
    path("constructions/", include("evaluation.graphs.construction.urls")),
]
