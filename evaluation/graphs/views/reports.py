"""Pages of the reports on cited answers: figures, the answers behind them, and differing counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.reports.run_rows import with_answers
from evaluation.graphs.figures.citations import DrawnRow, report_chart, row_names
from evaluation.graphs.forms.graph_reports import (
    AnswerFilter,
    CitationChoicesForm,
    DifferenceFilter,
)
from evaluation.graphs.named_answers import answers_of_experiment
from evaluation.graphs.pages.citation_parts import citation_parts
from evaluation.graphs.reports.answer_figures import need_graph
from evaluation.graphs.reports.citations import CitationsRow
from evaluation.graphs.reports.cited_answers import cited_answers
from evaluation.graphs.reports.graph_retrieval import BY_LABELS, SourceRow
from evaluation.graphs.reports.mode_differences import (
    REASON_SENTENCES,
    both_modes,
    differing_answers,
)
from evaluation.graphs.reports.quality import QualityRow
from evaluation.graphs.reports.row_answers import answers_behind
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.rarer_answer import means_note
from evaluation.reports.registry import CannotReport, ReportKind, all_reports
from evaluation.reports.report import Report
from evaluation.runs.named_answers import experiment_of
from evaluation.runs.seeded_setups import grouped
from generation.models import Dataset

PER_PAGE = 25
SHOWN = ("citations", "alignment", "incompetence", "retrieval", "quality")  # reports with a tab
# The choices with which a page makes a report, where the page itself offers no choices.
GIVEN = {"retrieval": {"of": "graphs"}}
# The metric that the page's link to start a run preselects, where a report needs a run.
METRICS = {"alignment": "alignment", "incompetence": "incompetence", "quality": "coherence"}


@require_safe
@allowed(Role.RESEARCHER)
def report(request: SignedInRequest, slug: str, report: str) -> HttpResponse:
    """Show one report on the answers about a graph, in a chart and a table."""
    if report not in SHOWN:
        raise Http404(f"There is no such report. The reports are: {', '.join(SHOWN)}.")
    dataset, kind = get_object_or_404(Dataset, slug=slug), all_reports()[report]
    form = CitationChoicesForm(request.GET)
    given, address = form.given, form.address
    if report != "citations":
        given = GIVEN.get(report, {})
        address = query_string(given)
    context: dict[str, Any] = {
        "dataset": dataset,
        "here": report,
        "title": kind.title,
        "form": form,
        "address": address,
        "plots": {},
        "table": f"evaluation/graphs/_report_{report}.html",
    }
    if metric := METRICS.get(report):
        query = query_string({"metric": metric, "over": f"dataset:{dataset.slug}"})
        context["start_url"] = f"{reverse('evaluation:start-run')}{query}"
    try:
        need_graph(dataset)
    except CannotReport as exc:
        context["problem"] = str(exc)
    else:
        context |= _figures(dataset, kind, given)
    page, fragment = "evaluation/graphs/report.html", "evaluation/graphs/_report.html"
    return render_page_or_fragment(request, page=page, fragment=fragment, context=context)


@require_safe
@allowed(Role.RESEARCHER)
def answers(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the answers behind a figure, filtered by setup and by the kind of citation."""
    dataset = get_object_or_404(Dataset, slug=slug)
    choices = CitationChoicesForm(request.GET)
    found = cited_answers(dataset, choices.chosen.rounds)
    if experiment := experiment_of(request.GET):
        behind = answers_of_experiment(dataset, experiment).responses
        found = found.at(np.flatnonzero(np.isin(found.responses, behind)))
    groups = with_answers(grouped(dataset, lambda _: True), found)
    form = AnswerFilter(request.GET, answers=found, groups=groups)
    page = Paginator(form.places, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "here": "citations",
        "title": "Answers",
        "form": form,
        "choices": choices,
        "experiment": EXPERIMENTS.get(experiment),
        "tabs": form.tabs(),
        "page": page,
        "rows": answers_behind(found, list(page.object_list)),
    }
    template, fragment = "evaluation/graphs/report_answers.html", "evaluation/graphs/_answers.html"
    return render_page_or_fragment(request, page=template, fragment=fragment, context=context)


@require_safe
@allowed(Role.RESEARCHER)
def differences(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the answers that the two modes count differently, below the figures of both modes."""
    dataset = get_object_or_404(Dataset, slug=slug)
    choices = CitationChoicesForm(request.GET)
    rounds = choices.chosen.rounds
    found = cited_answers(dataset, rounds)
    form = DifferenceFilter(request.GET, answers=found)
    page = Paginator(form.places, PER_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "dataset": dataset,
        "here": "citations",
        "title": "Where the two ways of counting differ",
        "form": form,
        "choices": choices,
        "tabs": form.tabs(),
        "sentences": REASON_SENTENCES,
        "n_answers": len(found.responses),
        "page": page,
        "rows": differing_answers(found, list(page.object_list)),
    }
    try:
        context["setups"] = both_modes(dataset, rounds)
    except CannotReport as exc:
        context["problem"] = str(exc)
    template = "evaluation/graphs/report_differences.html"
    fragment = "evaluation/graphs/_differences.html"
    return render_page_or_fragment(request, page=template, fragment=fragment, context=context)


def _figures(
    dataset: Dataset, kind: ReportKind[Dataset, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the rows of a report with their names, its chart, and which of its sources exist.

    If the report cannot be made, only its sources are returned.
    """
    try:
        choices = kind.chosen(dataset, given)
        found: Report[DrawnRow] = kind.make(dataset, choices)
    except CannotReport:
        return _states(dataset, [])
    named = list(zip(row_names(found.rows), found.rows, strict=True))
    shown = {"found": found, "rows": named, **_states(dataset, found.rows)}
    shown["means_note"] = means_note(
        row.n_other_dialogs
        for row in found.rows
        if isinstance(row, QualityRow) and row.mean.low is not None
    )
    if cited := [row for row in found.rows if isinstance(row, CitationsRow)]:
        shown["parts"] = parts = citation_parts(dataset, choices, cited)
        spec = parts.chart
    else:
        spec = report_chart(kind.key, found.rows, on_page=True)
    if spec:
        shown["plots"] = {"charts": {"figures": spec}, "themes": page_themes()}
    return shown


def _states(dataset: Dataset, rows: Sequence[DrawnRow]) -> dict[str, Any]:
    """Return which sources of the figures exist. The page uses this to explain missing figures."""
    if rows:
        cited = [row for row in rows if isinstance(row, CitationsRow)]
        return {
            "has_minimum": any(row.counts.n_with_minimum for row in cited),
            "is_aligned": any(row.aligned.value is not None for row in cited),
            "is_compared": any(
                row.source == BY_LABELS for row in rows if isinstance(row, SourceRow)
            ),
            "has_gold": any(row.n_with_gold for row in rows if isinstance(row, SourceRow)),
        }
    shown = dataset.responses.of_benchmark().filter(graph_shown__isnull=False)
    removed = shown.filter(removed__isnull=False).exclude(removed=[])
    return {"has_answers": shown.exists(), "has_removed": removed.exists()}
