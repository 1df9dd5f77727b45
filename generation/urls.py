"""Addresses of the material's pages, below data/."""

from django.urls import path

from generation.views import datasets, grids, prompts, samples

app_name = "generation"
urlpatterns = [
    path("", datasets.datasets, name="datasets"),
    path("<slug:slug>/", datasets.dataset, name="dataset"),
    path("<slug:slug>/archive/", datasets.archive, name="archive"),
    path("<slug:slug>/about/", datasets.describe, name="describe"),
    path("<slug:slug>/prompts/", prompts.first_prompts, name="first-prompts"),
    path("<slug:slug>/examples/<int:pk>/prompts/", prompts.prompts, name="prompts"),
    path("<slug:slug>/grids/", grids.grids_of_dataset, name="grids"),
    path("<slug:slug>/samples/", samples.samples, name="samples"),
    path("<slug:slug>/samples/new/", samples.new_sample, name="new-sample"),
    path("<slug:slug>/samples/<int:pk>/", samples.sample, name="sample"),
    path("<slug:slug>/samples/<int:pk>/verify/", samples.verify_sample, name="verify-sample"),
    path(
        "<slug:slug>/samples/<int:pk>/verify/<int:position>/",
        samples.verify_example,
        name="verify-example",
    ),
]
