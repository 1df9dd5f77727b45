"""Addresses of the studies' pages, below studies/."""

from django.urls import path

from annotation import views

app_name = "annotation"
urlpatterns = [
    path("", views.studies, name="studies"),
    path("mine/", views.my_studies, name="my-studies"),
]
