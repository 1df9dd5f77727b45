"""Addresses of the pages that need all three apps. They come before those of the other apps."""

from collections.abc import Iterator

from django.urls import URLPattern, path

from annotation.models import Study
from evaluation.exchange import views as imports
from evaluation.jobs import views as jobs
from evaluation.material import views as material
from evaluation.reports import views as reports
from evaluation.retrieval import views as retrieval
from evaluation.runs.views import checkpoints, main_metrics, runs
from evaluation.runs.views import jobs as new_jobs
from evaluation.studies.views import (
    adjudicated_gold,
    dialog_draw,
    disagreements,
    figures,
    plan,
    rater_quality,
    studies,
    study_pages,
    threshold_choice,
)
from generation.models import Dataset


def report_pages() -> Iterator[URLPattern]:
    """Yield the addresses of the pages of reports, on studies and on datasets."""
    for where, about in (("studies", Study), ("data", Dataset)):
        of, subject = about._meta.model_name, {"about": about}
        each = f"{where}/<slug:slug>/reports"
        yield path(f"{each}/", reports.reports, subject, name=f"reports-of-{of}")
        yield path(f"{each}/<slug:report>/", reports.report, subject, name=f"report-of-{of}")
        yield path(
            f"{each}/<slug:report>.<slug:format_key>",
            reports.download,
            subject,
            name=f"report-file-of-{of}",
        )


app_name = "evaluation"
urlpatterns = [
    path("data/import/", imports.import_file, name="import"),
    path("data/import/<int:pk>/", imports.import_progress, name="import-progress"),
    path("data/import/mappings/<int:pk>/delete/", imports.delete_mapping, name="delete-mapping"),
    path("data/import/<int:pk>/columns/", imports.map_columns, name="map-columns"),
    path("data/import/<int:pk>/mapping.toml", imports.mapping_file, name="mapping"),
    path("data/import/<int:pk>/store/", imports.store_import, name="store-import"),
    path("data/import/<int:pk>/problems.csv", imports.import_problems, name="import-problems"),
    path("data/<slug:slug>/export/", studies.export_dataset, name="export-dataset"),
    path("data/<slug:slug>/plan/", plan.plan, name="plan"),
    path("data/<slug:slug>/delete-chosen/", material.delete_chosen_material, name="delete-chosen"),
    path("data/<slug:slug>/delete/", material.delete_dataset, name="delete-dataset"),
    path("data/<slug:slug>/runs/", runs.runs_of_dataset, name="runs-of-dataset"),
    path("data/<slug:slug>/retrieval/", retrieval.retrieval, name="retrieval"),
    path("data/<slug:slug>/retrieval/missed/", retrieval.missed_examples, name="missed-examples"),
    path("data/<slug:slug>/retrieval/index", retrieval.index_passages, name="index-passages"),
    path(
        "data/<slug:slug>/retrieval.<slug:format_key>",
        retrieval.download_retrieval,
        name="retrieval-file",
    ),
    path("data/<slug:slug>/examples/<int:pk>/", material.example, name="example"),
    path("data/<slug:slug>/responses/<int:pk>/", material.response, name="response"),
    path("data/<slug:slug>/main-metrics/", main_metrics.pin, name="pin-main-metrics"),
    path("metrics/", runs.runs, name="runs"),
    path("metrics/new/", runs.start_run, name="start-run"),
    path("metrics/models/", checkpoints.checkpoints, name="checkpoints"),
    path(
        "metrics/models/<int:pk>/delete/", checkpoints.delete_checkpoint, name="delete-checkpoint"
    ),
    path("metrics/models/<int:pk>/limits/", checkpoints.change_limits, name="change-limits"),
    path(
        "metrics/models/<int:pk>/key-over-http/",
        checkpoints.let_key_go_over_http,
        name="key-over-http",
    ),
    path("metrics/jobs/", jobs.jobs, name="jobs"),
    path("metrics/jobs/new/search/", new_jobs.new_search, name="new-search"),
    path("metrics/jobs/new/distillation/", new_jobs.new_distillation, name="new-distillation"),
    path("metrics/jobs/<int:pk>/", jobs.job, name="job"),
    path("metrics/<int:pk>/", runs.run, name="run"),
    path("metrics/<int:pk>/failures/", runs.run_failures, name="run-failures"),
    path("metrics/<int:pk>/retry/", runs.retry_run, name="retry-run"),
    path("metrics/<int:pk>/controls/", runs.add_controls, name="add-controls"),
    path(
        "metrics/<int:pk>/threshold-by-floor/",
        runs.threshold_by_floor,
        name="threshold-by-floor",
    ),
    path("metrics/<int:pk>/precision/", runs.precision_of_run, name="run-precision"),
    path("metrics/<int:pk>/precision/measure/", runs.measure_precision, name="measure-precision"),
    path("metrics/<int:pk>/archive/", runs.archive_run, name="archive-run"),
    path("studies/<slug:slug>/runs/", runs.study_runs, name="study-runs"),
    path("studies/<slug:slug>/runs/start/", runs.start_default_run, name="start-default-run"),
    path("studies/<slug:slug>/", study_pages.results, name="study"),
    path("studies/<slug:slug>/merged/", study_pages.merged, name="study-merged"),
    path("studies/<slug:slug>/agreement/", study_pages.raters, name="study-raters"),
    path("studies/<slug:slug>/quality/", rater_quality.all_raters, name="rater-quality"),
    path(
        "studies/<slug:slug>/quality/<int:rater_id>/",
        rater_quality.one_rater,
        name="rater-of-study",
    ),
    path("studies/<slug:slug>/metrics/", study_pages.metrics, name="study-metrics"),
    path("studies/<slug:slug>/methods/", study_pages.methods, name="study-methods"),
    path(
        "studies/<slug:slug>/threshold-choice/",
        threshold_choice.threshold_choice,
        name="threshold-choice",
    ),
    path(
        "studies/<slug:slug>/threshold-choice/progress/",
        threshold_choice.threshold_choice_progress,
        name="threshold-choice-progress",
    ),
    path(
        "studies/<slug:slug>/threshold-choice/score/",
        threshold_choice.score_grid,
        name="score-grid",
    ),
    path(
        "studies/<slug:slug>/threshold-choice/start/",
        threshold_choice.start_chosen_run,
        name="start-chosen-run",
    ),
    path(
        "studies/<slug:slug>/threshold-choice/figure.<slug:format_key>",
        threshold_choice.threshold_choice_figure,
        name="threshold-choice-figure",
    ),
    path(
        "studies/<slug:slug>/threshold-choice.<slug:format_key>",
        threshold_choice.download_threshold_choice,
        name="threshold-choice-file",
    ),
    path(
        "studies/<slug:slug>/calibration<path:rest>",
        threshold_choice.former_address,
        name="former-threshold-choice",
    ),
    path("studies/<slug:slug>/votes.csv", studies.download_votes, name="votes"),
    path("studies/<slug:slug>/draw/", dialog_draw.dialog_draw, name="dialog-draw"),
    path("studies/<slug:slug>/disagreements/", disagreements.disagreements, name="disagreements"),
    path(
        "studies/<slug:slug>/disagreements/<int:target_id>/",
        disagreements.disagreement,
        name="disagreement",
    ),
    path(
        "studies/<slug:slug>/disagreements/<int:target_id>/example/",
        disagreements.worked_example,
        name="worked-example",
    ),
    path(
        "studies/<slug:slug>/disagreements.csv",
        disagreements.download_disagreements,
        name="disagreements-csv",
    ),
    path(
        "studies/<slug:slug>/adjudicate/<int:target_id>/",
        disagreements.adjudicate,
        name="adjudicate",
    ),
    path(
        "studies/<slug:slug>/gold/adjudicated/",
        adjudicated_gold.adjudicated_gold,
        name="adjudicated-gold",
    ),
    path("studies/<slug:slug>/delete/", studies.delete_study, name="delete-study"),
    path("studies/<slug:slug>/bundle/", studies.download_bundle, name="study-bundle"),
    path("studies/<slug:slug>/export/", studies.export_study, name="export-study"),
    path(
        "studies/<slug:slug>/figures/<slug:name>.<slug:format_key>", figures.figure, name="figure"
    ),
    path(
        "studies/<slug:slug>/<slug:report>.<slug:format_key>",
        studies.download_report,
        name="report",
    ),
    *report_pages(),
]
