"""Addresses of the material's pages, below data/."""

from django.urls import path

from generation import views

app_name = "generation"
urlpatterns = [
    path("", views.datasets, name="datasets"),
    path("<slug:slug>/", views.dataset, name="dataset"),
]
