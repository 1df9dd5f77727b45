"""The addresses of the pages of dataset construction, below constructions/."""

from django.urls import path

from evaluation.graphs.construction import views as constructions

app_name = "constructions"
urlpatterns = [
    path("", constructions.constructions, name="constructions"),
    path("new/", constructions.new, name="new"),
    path("<int:pk>/", constructions.construction, name="construction"),
    path("<int:pk>/delete/", constructions.delete, name="delete"),
    path("<int:pk>/publish/", constructions.publish, name="publish"),
    path("<int:pk>/<int:number>/", constructions.entry, name="entry"),
    path("<int:pk>/<int:number>/review/", constructions.review, name="review"),
]
