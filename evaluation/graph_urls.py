"""Addresses of the pages of knowledge graphs, below graphs/."""

from django.urls import path

from evaluation.views.graphs import browse, pull, questions, reports

app_name = "graphs"
urlpatterns = [
    path("", browse.graphs, name="graphs"),
    path("pull/", pull.pull, name="pull"),
    path("<slug:slug>/", browse.graph, name="graph"),
    path("<slug:slug>/entities/<int:pk>/", browse.entity, name="entity"),
    path("<slug:slug>/questions/", questions.questions, name="questions"),
    path("<slug:slug>/questions/<int:pk>/", questions.question, name="question"),
    path("<slug:slug>/ask/", questions.ask, name="ask"),
    path("<slug:slug>/reports/<slug:report>/", reports.report, name="report"),
    path(
        "<slug:slug>/reports/<slug:report>.<slug:format_key>", reports.download, name="report-file"
    ),
    path("<slug:slug>/answers/", reports.answers, name="answers"),
    path("<slug:slug>/differences/", reports.differences, name="differences"),
]
