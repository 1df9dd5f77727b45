"""The charts of a study as files."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Study
from evaluation.reports.downloads import figure_file
from evaluation.runs.main_metrics import main_runs_of
from evaluation.studies.forms.reports import ReportChoicesForm
from evaluation.studies.pages.auto_table import auto_table_of
from evaluation.studies.pages.plots import CHARTS, chart
from evaluation.studies.views.last_figures import come_back_later, last_figures


@require_safe
@allowed(Role.RESEARCHER)
def figure(request: SignedInRequest, slug: str, name: str, format_key: str) -> HttpResponse:
    """Draw a chart of a study as SVG, PDF or PNG, with the choices that the address makes."""
    if name not in CHARTS:
        raise Http404(f"There is no such figure. The figures are: {', '.join(CHARTS)}.")
    study = get_object_or_404(Study, slug=slug)
    form = ReportChoicesForm(request.GET, study=study)
    figures = last_figures(study, form.choices).figures
    if figures is None:
        return come_back_later()
    auto = auto_table_of(figures, form.chosen_question, form.chosen_run, main_runs_of(study))
    spec = chart(name, figures, auto)
    return figure_file(spec, format_key, f"{study.slug}-{name}")
