"""Addresses of the API, and the page that describes it."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from accounts.api import NoSuchAddress
from annotation.api import Studies
from config.api_document import Document
from config.views import api_addresses
from evaluation.exchange.api import Imports, OneImport, StoreImport
from evaluation.graphs.api_new_pull import StartPull
from evaluation.graphs.construction.api import StartConstruction
from evaluation.graphs.experiments.api import (
    ExperimentReport,
    Experiments,
    ScoreExperiment,
    StartExperiment,
)
from evaluation.jobs.api import Jobs
from evaluation.reports.api import report_addresses
from evaluation.runs.api import Runs, ScoreList
from evaluation.runs.api_main_metrics import MainMetrics
from evaluation.runs.api_new_job import StartDistillation, StartPromptSearch
from evaluation.votes.api import Votes
from generation.api import Datasets, Examples, Responses
from generation.api_grids import Calls, Grids
from generation.api_samples import Samples
from work.api import AllWork, CancelWork, OneWork, ResumeWork

app_name = "api"

router = SimpleRouter(use_regex_path=False)
router.register("datasets", Datasets, "dataset")
router.register("examples", Examples, "example")
router.register("responses", Responses, "response")
router.register("grids", Grids, "grid")
router.register("calls", Calls, "call")
router.register("samples", Samples, "sample")
router.register("studies", Studies, "study")
router.register("votes", Votes, "vote")
router.register("runs", Runs, "run")
router.register("scores", ScoreList, "score")
router.register("jobs", Jobs, "job")

urlpatterns = [
    path("", api_addresses, name="docs"),
    path("schema/", SpectacularAPIView.as_view(generator_class=Document), name="schema"),
    path("v1/", include(router.urls)),
    path("v1/work/", AllWork.as_view(), name="work"),
    path("v1/work/<slug:kind>/<int:pk>/", OneWork.as_view(), name="one-work"),
    path("v1/work/<slug:kind>/<int:pk>/cancel/", CancelWork.as_view(), name="cancel-work"),
    path("v1/work/<slug:kind>/<int:pk>/resume/", ResumeWork.as_view(), name="resume-work"),
    *report_addresses(),
    path("v1/datasets/<slug:slug>/main-metrics/", MainMetrics.as_view(), name="main-metrics"),
    path("v1/datasets/<slug:slug>/experiments/", Experiments.as_view(), name="experiments"),
    path(
        "v1/datasets/<slug:slug>/experiments/<slug:key>/",
        ExperimentReport.as_view(),
        name="experiment-report",
    ),
    path(
        "v1/datasets/<slug:slug>/experiments/<slug:key>/start/",
        StartExperiment.as_view(),
        name="start-experiment",
    ),
    path(
        "v1/datasets/<slug:slug>/experiments/<slug:key>/score/",
        ScoreExperiment.as_view(),
        name="score-experiment",
    ),
    path("v1/jobs/prompt-searches/", StartPromptSearch.as_view(), name="start-prompt-search"),
    path("v1/jobs/distillations/", StartDistillation.as_view(), name="start-distillation"),
    path("v1/jobs/graph-pulls/", StartPull.as_view(), name="start-pull"),
    path("v1/jobs/constructions/", StartConstruction.as_view(), name="start-construction"),
    path("v1/imports/", Imports.as_view(), name="imports"),
    path("v1/imports/<int:pk>/", OneImport.as_view(), name="import"),
    path("v1/imports/<int:pk>/store/", StoreImport.as_view(), name="store-import"),
    # The pattern matches any character, also a line break.
    re_path(r"^v1/[\s\S]*$", NoSuchAddress.as_view(), name="no-such-address"),
]
