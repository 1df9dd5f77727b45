"""Trade-offs as files: the figure, its numbers, and a paragraph that says how it was made."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.reports.downloads import attachment, report_file
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure, figure_of
from evaluation.tradeoffs.figures.tradeoff.glyphs import palette_of
from evaluation.tradeoffs.figures.tradeoff.svg_files import (
    converted,
    file_size,
    file_style,
    legend_lines,
    titled,
    well_formed,
)
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.tradeoff import TradeoffForm
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.pages.tradeoff import RestrictedLines, lines_in_view
from evaluation.tradeoffs.reports.tradeoff import dot_columns, tradeoff_report
from generation.models import Dataset


@require_safe
@allowed(Role.RESEARCHER)
def figure(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the figure of the address as SVG, PDF or PNG."""
    if format_key not in CONTENT_TYPES:
        raise Http404(f"There is no such format. The formats are: {', '.join(CONTENT_TYPES)}.")
    material, view = _asked(request, slug)
    drawn = _drawn(material, view, lines_in_view(material, view))
    axes = material.axes
    svg = _svg(titled(drawn, axes.attribution.title, axes.sensibleness.title))
    content = converted(svg, format_key)
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
    drawn = _drawn(material, view, lines)
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
    if choice.is_about_nothing(material):
        number, title = choice.figure.number, choice.figure.title
        raise Http404(f"This dataset has nothing for figure {number}, {title}.")
    return material, choice.view


def _drawn(material: TradeoffMaterial, view: View, lines: RestrictedLines) -> TradeoffFigure:
    palette = palette_of([dot_columns(dot) for dot in material.dots])
    return figure_of(tradeoff_report(material, view).rows, view, lines.lines, palette=palette)


def _svg(drawn: TradeoffFigure) -> str:
    """Return a figure with its legend as an SVG document of its own."""
    lines = legend_lines(drawn)
    width, height = file_size(drawn, lines)
    context = {"figure": drawn, "lines": lines, "width": width, "height": height}
    context |= {"style": file_style()}
    drawing = render_to_string("evaluation/tradeoffs/figure_file.svg", context).strip() + "\n"
    return well_formed(drawing)
