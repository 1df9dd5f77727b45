"""The trade-off figure of a view as an SVG drawing, for pages, commands and the API."""

from django.template.loader import render_to_string

from evaluation.reports.registry import CannotReport
from evaluation.tradeoffs.chart_view import View, known_points
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure, figure_of
from evaluation.tradeoffs.figures.tradeoff.glyphs import palette_of
from evaluation.tradeoffs.figures.tradeoff.svg_files import (
    file_size,
    file_style,
    legend_lines,
    titled,
    well_formed,
)
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.reports.tradeoff import (
    TradeoffChoices,
    dot_columns,
    material_in_view,
    tradeoff_report,
)
from evaluation.tradeoffs.restricted_lines import RestrictedLines, lines_in_view
from generation.models import Dataset


def figure_in_view(
    material: TradeoffMaterial, view: View, lines: RestrictedLines
) -> TradeoffFigure:
    """Return the figure of a view."""
    palette = palette_of([dot_columns(dot) for dot in material.dots])
    rows = tradeoff_report(material, view).rows
    return figure_of(rows, view, lines.lines, floors=material.floors, palette=palette)


def chosen_svg(dataset: Dataset, choices: TradeoffChoices) -> str:
    """Return the figure that the choices of the report name.

    Raises:
        ChoiceError, CannotReport: as in `material_in_view`.
        CannotReport: no setup of the figure has a place in it.
    """
    material, view = material_in_view(dataset, choices)
    if not known_points(material, view):
        raise CannotReport(
            "There is nothing to draw: no setup of this figure has an example with a value on both "
            "axes. Score its responses first."
        )
    return svg_of_view(material, view)


def svg_of_view(material: TradeoffMaterial, view: View) -> str:
    """Return the figure of a view with its legend as an SVG document of its own."""
    axes = material.axes
    figure = figure_in_view(material, view, lines_in_view(material, view))
    figure = titled(figure, axes.attribution.title, axes.sensibleness.title)
    lines = legend_lines(figure)
    width, height = file_size(figure, lines)
    context = {"figure": figure, "lines": lines, "width": width, "height": height}
    context |= {"style": file_style()}
    drawing = render_to_string("evaluation/tradeoffs/figure_file.svg", context).strip() + "\n"
    return well_formed(drawing)
