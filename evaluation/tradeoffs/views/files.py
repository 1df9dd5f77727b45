"""Trade-offs as files: the figure, its numbers, and a paragraph that says how it was made."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.reports.downloads import attachment, report_file
from evaluation.reports.figures.builders import CONTENT_TYPES, drawing_file
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.drawing import figure_in_view, svg_of_view
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.tradeoff import TradeoffForm
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.restricted_lines import lines_in_view
from generation.models import Dataset


@require_safe
@allowed(Role.RESEARCHER)
def figure(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the figure of the address as SVG, PDF or PNG."""
    if format_key not in CONTENT_TYPES:
        raise Http404(f"There is no such format. The formats are: {', '.join(CONTENT_TYPES)}.")
    content = drawing_file(svg_of_view(*_asked(request, slug)), format_key)
    return attachment(content, CONTENT_TYPES[format_key], f"{slug}-tradeoff.{format_key}")


@require_safe
@allowed(Role.RESEARCHER)
def table(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the numbers of the setups in view as CSV, LaTeX or JSON."""
    return report_file(
        lambda: tradeoff_report(*_asked(request, slug)), format_key, f"{slug}-tradeoff"
    )


@require_safe
@allowed(Role.RESEARCHER)
def methods(request: SignedInRequest, slug: str) -> HttpResponse:
    """Download a text that says how the figure of the address was made."""
    material, view = _asked(request, slug)
    lines = lines_in_view(material, view)
    drawn = figure_in_view(material, view, lines)
    content = methods_paragraph(material, view, drawn, lines.recalls) + "\n"
    return attachment(content, "text/plain; charset=utf-8", f"{slug}-methods.txt")


def _asked(request: SignedInRequest, slug: str) -> tuple[TradeoffMaterial, View]:
    """Return the material and the view that the address asks for.

    Raises:
        Http404: the dataset has nothing for one of the axes, or nothing that the figure is about.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    axes = AxesForm(request.GET, dataset=dataset).chosen
    if axes is None:
        raise Http404("One of the two axes is empty: no run and no raters have judged it yet.")
    material = cached_material(dataset, axes)
    choice = TradeoffForm(request.GET, material=material).choice
    if why := choice.why_not_drawn(material):
        raise Http404(why)
    return material, choice.view
