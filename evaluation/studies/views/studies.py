"""The downloads of a study and its deletion."""

from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.http import (
    FileResponse,
    Http404,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.changes import DeleteForm
from annotation.models import Study
from annotation.services.studies import StudyError
from annotation.study_progress import was_rated
from evaluation.reports.base import Choices
from evaluation.reports.bundle import write_bundle
from evaluation.reports.downloads import manifest_file, report_file
from evaluation.reports.formats import FORMATS, MANIFEST
from evaluation.reports.manifest import Made
from evaluation.reports.report import Report
from evaluation.studies.forms.reports import ReportChoicesForm
from evaluation.studies.reports.cached_figures import is_large, report_in
from evaluation.studies.reports.study import ON_PAGE
from evaluation.studies.reports.uniform_draw import WITH_ANY_DRAW
from evaluation.studies.services.studies import delete_study as delete
from evaluation.studies.views.last_figures import come_back_later, last_figures
from evaluation.votes.dialog_weights import UNEQUAL
from evaluation.votes.export import export_zip
from evaluation.votes.tidy_rows import tidy_votes_csv
from generation.models import Dataset

KINDS = {kind.key: kind for kind in ON_PAGE}


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def delete_study(request: SignedInRequest, slug: str) -> HttpResponse:
    """Delete a study in which no rater has judged anything, once the researcher confirms it."""
    found = get_object_or_404(Study, slug=slug, is_imported=False)
    posted = request.method == "POST"
    form = DeleteForm(request.POST if posted else None)
    if posted and form.is_valid():
        try:
            delete(found, request.user)
        except StudyError as error:
            messages.error(request, str(error))
            return redirect("annotation:study-setup", slug)
        messages.success(request, f"{found.name} is deleted.")
        return redirect("annotation:studies")
    context = {
        "study": found,
        "form": form,
        "was_rated": was_rated(found),
        "n_raters": found.raters.count(),
        "n_begun": found.assignments.in_hand().count(),
    }
    return render(
        request, "evaluation/studies/delete_study.html", context, status=422 if posted else 200
    )


@require_safe
@allowed(Role.RESEARCHER)
def download_report(
    request: SignedInRequest, slug: str, report: str, format_key: str
) -> HttpResponse:
    """Download a report with the choices of the address. It has the rows that the page shows."""
    formats = [*FORMATS, MANIFEST]
    if report not in KINDS or format_key not in formats:
        raise Http404(
            f"There is no such file. Reports: {', '.join(KINDS)}. Formats: {', '.join(formats)}."
        )
    found = get_object_or_404(Study, slug=slug)
    if not found.has_uniform_draw and report not in WITH_ANY_DRAW:
        raise Http404(UNEQUAL)
    choices = ReportChoicesForm(request.GET, study=found).choices
    if report == "raters" and request.GET.get("by") == "setup":
        choices = choices._replace(by_setup=True)
    rows = _report(found, report, choices)
    if rows is None:
        return come_back_later()
    name = f"{found.slug}-{report}"
    if format_key == MANIFEST:
        return manifest_file(found, lambda: Made(KINDS[report], choices, rows), name)
    return report_file(lambda: rows, format_key, name)


def _report(study: Study, name: str, choices: Choices) -> Report[Any] | None:
    """Return a report as the page shows it.

    For a large study this is the last report that was computed, or None when there is none yet.
    For a small study, a report that is not current is computed again now.
    """
    stored = last_figures(study, choices._replace(by_setup=False))
    if not stored.is_current and not stored.is_large:
        return KINDS[name].make(study, choices)
    if stored.figures is None:
        return None
    return report_in(stored.figures, name, choices)


@require_safe
@allowed(Role.RESEARCHER)
def download_votes(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """Download one tidy row per vote as CSV. Rows are sent while the votes are being read."""
    found = get_object_or_404(Study, slug=slug)
    answer = StreamingHttpResponse(tidy_votes_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{found.slug}-votes.csv"'
    return answer


@require_safe
@allowed(Role.RESEARCHER)
def export_study(request: SignedInRequest, slug: str) -> FileResponse:
    """Download a study with its dataset in the interchange format."""
    found = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    return _zip(found.dataset, found, found.slug)


@require_safe
@allowed(Role.RESEARCHER)
def download_bundle(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Download a study with its dataset, all its reports, and their manifest."""
    found = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    if is_large(found):
        return HttpResponse(
            f"This study is too large for a request. Run: manage.py export {slug} "
            f"{slug}-bundle.zip --bundle",
            status=409,
            content_type="text/plain; charset=utf-8",
        )
    name = f"{slug}-bundle.zip"
    archive = TemporaryFile()  # noqa: SIM115 - FileResponse closes it, and so deletes it
    write_bundle(found, archive, name)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=name)


@require_safe
@allowed(Role.RESEARCHER)
def export_dataset(request: SignedInRequest, slug: str) -> FileResponse:
    """Download a dataset in the interchange format."""
    found = get_object_or_404(Dataset, slug=slug)
    return _zip(found, None, found.slug)


def _zip(dataset: Dataset, study: Study | None, name: str) -> FileResponse:
    archive = TemporaryFile()  # noqa: SIM115 - FileResponse closes it, and so deletes it
    export_zip(dataset, study, archive)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=f"{name}.zip")
