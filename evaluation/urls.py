"""Addresses of the pages that need all three apps; they come before the other apps' own."""

from django.urls import path

from evaluation.views import imports, material, studies

app_name = "evaluation"
urlpatterns = [
    path("data/import/", imports.import_file, name="import"),
    path("data/import/<int:pk>/", imports.import_progress, name="import-progress"),
    path("data/import/<int:pk>/store/", imports.store_import, name="store-import"),
    path("data/import/<int:pk>/cancel/", imports.cancel_import, name="cancel-import"),
    path("data/import/<int:pk>/problems.csv", imports.import_problems, name="import-problems"),
    path("data/<slug:slug>/export/", studies.export_dataset, name="export-dataset"),
    path("data/<slug:slug>/delete/", material.delete_dataset, name="delete-dataset"),
    path("data/<slug:slug>/examples/<int:pk>/", material.example, name="example"),
    path("data/<slug:slug>/responses/<int:pk>/", material.response, name="response"),
    path("studies/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:slug>/raters.<slug:format_key>", studies.download_report, name="report"),
    path("studies/<slug:slug>/votes.csv", studies.download_votes, name="votes"),
    path("studies/<slug:slug>/export/", studies.export_study, name="export-study"),
]
