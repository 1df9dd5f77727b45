"""A study's report, and everything of it to take away."""

from tempfile import TemporaryFile

from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.models import Rater, Study, Vote
from annotation.schemes import load_scheme
from evaluation.export import export_zip
from evaluation.forms import ReportChoicesForm
from evaluation.report_formats import FORMATS, write_report
from evaluation.reports import Choices, raters_report, study_counts
from evaluation.tidy_votes import tidy_votes_csv
from generation.models import Dataset, Response


@require_safe
@allowed(Role.RESEARCHER)
def study(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what raters said and how far they agree."""
    found = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    choices = _choices(request)
    counts = study_counts(found, choices)
    of_setups = raters_report(found, choices._replace(by_setup=True), counts)
    scheme = load_scheme(found.scheme)
    votes = Vote.objects.filter(arm__study=found)
    return render_page_or_fragment(
        request,
        page="evaluation/study.html",
        fragment="evaluation/_raters_report.html",
        context={
            "study": found,
            "scheme": scheme,
            "report": raters_report(found, choices, counts),
            "of_setups": of_setups.rows,
            "setups": found.setups.all(),
            "arms": found.arms.all(),
            "form": ReportChoicesForm(request.GET),
            "n_votes": votes.count(),
            "n_implied": votes.filter(is_implied=True).count(),
            "n_unstated": Response.objects.filter(
                setup__in=found.setups.all(), is_evidence_stated=False
            ).count(),
            "n_raters": Rater.objects.filter(study=found).count(),
            "n_excluded": Rater.objects.filter(study=found, is_excluded=True).count(),
            "n_simulated": Rater.objects.filter(study=found, is_simulated=True).count(),
        },
    )


@require_safe
@allowed(Role.RESEARCHER)
def download_report(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the report on raters with the choices of the address."""
    if format_key not in FORMATS:
        raise Http404(f"Formats are {', '.join(FORMATS)}.")
    found = get_object_or_404(Study, slug=slug)
    by_setup = request.GET.get("by") == "setup"
    report = raters_report(found, _choices(request)._replace(by_setup=by_setup))
    content_type, suffix = FORMATS[format_key]
    answer = HttpResponse(write_report(report, format_key), content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{found.slug}-raters.{suffix}"'
    return answer


@require_safe
@allowed(Role.RESEARCHER)
def download_votes(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """Download one tidy row per vote, as CSV, while it is read."""
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
def export_dataset(request: SignedInRequest, slug: str) -> FileResponse:
    """Download a dataset in the interchange format."""
    found = get_object_or_404(Dataset, slug=slug)
    return _zip(found, None, found.slug)


def _zip(dataset: Dataset, study: Study | None, name: str) -> FileResponse:
    archive = TemporaryFile()  # noqa: SIM115 - FileResponse closes it, and so deletes it
    export_zip(dataset, study, archive)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=f"{name}.zip")


def _choices(request: SignedInRequest) -> Choices:
    form = ReportChoicesForm(request.GET)
    return Choices(**form.cleaned_data) if form.is_valid() else Choices()
