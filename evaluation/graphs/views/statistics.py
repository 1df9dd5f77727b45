"""The page on the subjects of questions about a graph: people, places, occupations, eras."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.graphs.figures.graph_statistics import ERAS, MOST_BARS, TITLES, statistics_chart
from evaluation.graphs.reports.graph_statistics import (
    CenturyRow,
    FactRow,
    StatisticRow,
    ValueRow,
    YearRow,
    are_of_questions,
    statistics_report,
)
from evaluation.reports.downloads import report_file
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.reports.figures.themes import Spec, page_themes
from evaluation.reports.registry import CannotReport
from generation.models import Dataset

FIGURES = (ERAS, *TITLES)
_PAGE = "evaluation/graphs/statistics.html"


@require_safe
@allowed(Role.RESEARCHER)
def statistics(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the statistics of a dataset's graph, in charts and tables."""
    dataset = get_object_or_404(Dataset, slug=slug)
    context: dict[str, Any] = {"dataset": dataset, "n_bars": MOST_BARS}
    try:
        found = statistics_report(dataset)
    except CannotReport as exc:
        return render(request, _PAGE, context | {"problem": str(exc)})
    charts = {figure: statistics_chart(figure, found.rows, on_page=True) for figure in FIGURES}
    drawn_here = {figure: spec for figure, spec in charts.items() if spec}
    values = {
        kind: [row for row in found.rows if isinstance(row, ValueRow) and row.kind == kind]
        for kind in TITLES
    }
    context |= {
        "found": found,
        "facts": {row.name: row for row in found.rows if isinstance(row, FactRow)},
        "years": {row.name: row for row in found.rows if isinstance(row, YearRow)},
        "are_of_questions": are_of_questions(found),
        "centuries": [row for row in found.rows if isinstance(row, CenturyRow)],
        "tables": [(kind, name, values[kind][:MOST_BARS]) for kind, name in TITLES.items()],
        "plots": {"charts": drawn_here, "themes": page_themes()} if drawn_here else {},
    }
    return render(request, _PAGE, context)


@require_safe
@allowed(Role.RESEARCHER)
def download(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the statistics (CSV, LaTeX, JSON) or one of their figures (SVG, PDF, PNG)."""
    dataset = get_object_or_404(Dataset, slug=slug)
    figure = request.GET.get("figure", ERAS)

    def chart(rows: Sequence[StatisticRow]) -> Spec | None:
        return statistics_chart(figure, rows) if figure in FIGURES else None

    name = f"{slug}-statistics" + f"-{figure}" * (format_key in CONTENT_TYPES)
    return report_file(lambda: statistics_report(dataset), format_key, name, chart)
