"""Addresses of the pages of long work, below work/."""

from django.urls import path

from work import views

app_name = "work"
urlpatterns = [
    path("", views.all_work, name="all"),
    path("bar/", views.work_bar, name="bar"),
    path("workers/", views.workers, name="workers"),
    path("<slug:kind>/<int:pk>/", views.work_card, name="card"),
    path("<slug:kind>/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("<slug:kind>/<int:pk>/resume/", views.resume, name="resume"),
    path("<slug:kind>/<int:pk>/delete/", views.delete, name="delete"),
]
