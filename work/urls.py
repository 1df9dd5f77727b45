from django.urls import path

from work import views

app_name = "work"

urlpatterns = [
    path("workers/", views.workers, name="workers"),
]
