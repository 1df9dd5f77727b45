"""The addresses of the pages of knowledge graphs, below graphs/."""

from django.urls import path

from evaluation.graphs.experiments.views import alignment, experiments
from evaluation.graphs.views import browse, minimum_sets, pull, questions, reports, statistics
from evaluation.reports.views import download
from generation.models import Dataset

app_name = "graphs"
urlpatterns = [
    path("", browse.graphs, name="graphs"),
    path("pull/", pull.pull, name="pull"),
    path("<slug:slug>/", browse.graph, name="graph"),
    path("<slug:slug>/entities/<int:pk>/", browse.entity, name="entity"),
    path("<slug:slug>/questions/", questions.questions, name="questions"),
    path("<slug:slug>/questions/<int:pk>/", questions.question, name="question"),
    path(
        "<slug:slug>/questions/<int:pk>/delete/", questions.delete_question, name="delete-question"
    ),
    path("<slug:slug>/statistics/", statistics.statistics, name="statistics"),
    path("<slug:slug>/statistics.<slug:format_key>", statistics.download, name="statistics-file"),
    path("<slug:slug>/ask/", questions.ask, name="ask"),
    path("<slug:slug>/reports/<slug:report>/", reports.report, name="report"),
    path(
        "<slug:slug>/reports/<slug:report>.<slug:format_key>",
        download,
        {"about": Dataset},
        name="report-file",
    ),
    path("<slug:slug>/answers/", reports.answers, name="answers"),
    path("<slug:slug>/differences/", reports.differences, name="differences"),
    path("<slug:slug>/make-up/", minimum_sets.make_up, name="make-up"),
    path("<slug:slug>/experiments/", experiments.experiments, name="experiments"),
    path("<slug:slug>/experiments/<slug:key>/", experiments.experiment, name="experiment"),
    path(
        "<slug:slug>/experiments/<slug:key>/start/",
        experiments.start_experiment,
        name="start-experiment",
    ),
    path(
        "<slug:slug>/experiments/<slug:key>/score/",
        experiments.score_experiment,
        name="score-experiment",
    ),
    path(
        "<slug:slug>/experiments/alignment/study/",
        experiments.request_study,
        name="request-alignment-study",
    ),
    path(
        "<slug:slug>/experiments/alignment/pairs/<slug:study>/",
        alignment.pairs,
        name="alignment-pairs",
    ),
    path(
        "<slug:slug>/experiments/<slug:key>.<slug:format_key>",
        experiments.download_experiment,
        name="experiment-file",
    ),
]
