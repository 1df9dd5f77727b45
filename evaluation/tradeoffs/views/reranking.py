"""The page of re-ranking: aggregates beside the setups of their pool, and the axes that judge."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.reports.downloads import report_file
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.forms.reranking import FunctionForm, RerankingForm
from evaluation.tradeoffs.readiness import missing_sides, running_runs
from evaluation.tradeoffs.reports.reranking import (
    CHOOSING,
    SECOND,
    AggregateRow,
    RerankingRow,
    reranking_report,
)
from evaluation.tradeoffs.selection_bias import FLATTERED, SAME_METRIC, Marks, marked_in_any
from evaluation.tradeoffs.services.reranking import RerankingError, rerank
from generation.models import Dataset

STALE = (
    "The choices of this page have changed since you opened it: {}. Nothing was stored. "
    "Look at the page again, then choose."
)


class ShownRow(NamedTuple):
    """A row of the report, with what an aggregate was chosen by in the words of the page."""

    row: RerankingRow
    by: str


class Table(NamedTuple):
    """The rows that one pair of axes judges."""

    key: str
    axes: Axes
    rows: list[ShownRow]

    @property
    def best(self) -> AggregateRow | None:
        """The aggregate with the highest F1; None without aggregates."""
        return max(self._aggregates, key=lambda row: row.f1.value or 0.0, default=None)

    @property
    def n_aggregates(self) -> int:
        return len(self._aggregates)

    @property
    def first(self) -> list[ShownRow]:
        """The aggregates, the highest F1 first, then the best prompt; all rows without any."""
        if not self._aggregates:
            return self.rows
        chosen = [shown for shown in self.rows if isinstance(shown.row, AggregateRow)]
        chosen.sort(key=lambda shown: -(shown.row.f1.value or 0.0))
        return [*chosen, *(shown for shown in self.rows if shown.row.is_best)]

    @property
    def others(self) -> list[ShownRow]:
        """The rows that are not among the first."""
        return [shown for shown in self.rows if shown not in self.first]

    @property
    def is_flattered(self) -> bool:
        """Whether any of its aggregates was chosen by an axis that judges it here."""
        return bool(self.flattering)

    @property
    def flattering(self) -> list[str]:
        """The axes that judge what they have chosen."""
        return marked_in_any(self._marks, FLATTERED)

    @property
    def by_same_metric(self) -> list[str]:
        """The axes whose metric, with another model, has chosen what they judge."""
        return marked_in_any(self._marks, SAME_METRIC)

    @property
    def _marks(self) -> list[Marks]:
        return [row.choice.marks for row in self._aggregates]

    @property
    def _aggregates(self) -> list[AggregateRow]:
        return [shown.row for shown in self.rows if isinstance(shown.row, AggregateRow)]


@require_safe
@allowed(Role.RESEARCHER)
def reranking(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the aggregates of a pool with the choices of the address."""
    return _page(request, get_object_or_404(Dataset, slug=slug), FunctionForm())


@require_POST
@allowed(Role.RESEARCHER)
def store_aggregate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose among the pool of the address by the function of the form, and store the choice.

    Everything that the address names must exist. Only what it does not name takes the usual value.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    form, function = RerankingForm(request.GET, dataset=dataset), FunctionForm(request.POST)
    axes, pool = form.chosen, form.chosen_pool
    if axes is None or pool is None:
        raise Http404("There is no pool, or nothing to choose by.")
    if form.stale:
        function.add_error(None, STALE.format(", ".join(form.stale).lower()))
    if function.is_valid():
        name, weights = function.cleaned_data["function"], function.cleaned_data["weights"]
        try:
            rerank(dataset, axes, pool.setups, name, weights, request.user)
        except RerankingError as error:
            function.add_error(None, str(error))
        else:
            here = reverse("tradeoffs:reranking", args=[slug])
            return redirect(f"{here}{form.own_address}")
    return _page(request, dataset, function, status=422)


@require_safe
@allowed(Role.RESEARCHER)
def download_reranking(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the tables with the choices of the address, as CSV, LaTeX or JSON."""
    dataset = get_object_or_404(Dataset, slug=slug)

    def chosen() -> Report[RerankingRow]:
        report = _report(dataset, RerankingForm(request.GET, dataset=dataset))
        if report is None:
            raise CannotReport("There is no pool, or nothing to choose by.")
        return report

    return report_file(chosen, format_key, f"{slug}-reranking")


def _page(
    request: SignedInRequest, dataset: Dataset, function: FunctionForm, status: int = 200
) -> HttpResponse:
    form = RerankingForm(request.GET, dataset=dataset)
    report, running = _report(dataset, form), running_runs(dataset, form.chosen)
    context: dict[str, Any] = {
        "dataset": dataset,
        "form": form,
        "function": function,
        "address": form.address,
        "query": form.own_address,
        "whole_query": form.whole_address,
        "stale": form.stale,
        "pool": form.chosen_pool,
        "axes": form.chosen,
        "judging": form.judging,
        "judges_said": form.judges_said,
        "missing": missing_sides(form.axes, running),
        "running": running,
        "report": report,
        "tables": _tables(report, form),
        "has_aggregates": report and any(isinstance(row, AggregateRow) for row in report.rows),
        "figure_query": _figure_query(form),
    }
    page, fragment = "evaluation/tradeoffs/reranking.html", "evaluation/tradeoffs/_reranking.html"
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=context, status=status
    )


def _report(dataset: Dataset, form: RerankingForm) -> Report[RerankingRow] | None:
    axes, pool = form.chosen, form.chosen_pool
    if axes is None or pool is None:
        return None
    return reranking_report(dataset, axes, [pool], form.judging)


def _tables(report: Report[RerankingRow] | None, form: RerankingForm) -> list[Table]:
    """Return a table for each pair of axes that judges."""
    if report is None:
        return []
    judges = {CHOOSING: form.chosen, SECOND: form.judging}
    titles = {axis.said: axis.title for axis in form.axes}
    rows = [ShownRow(row, _said_shortly(row, titles)) for row in report.rows]
    found = [
        Table(key, axes, [shown for shown in rows if shown.row.judge == key])
        for key, axes in judges.items()
        if axes is not None
    ]
    return [table for table in found if table.rows]


def _said_shortly(row: RerankingRow, titles: Mapping[str, str]) -> str:
    """Return what an aggregate was chosen by, in the words of the page if the axis still exists."""
    if not isinstance(row, AggregateRow):
        return ""
    said = [row.choice.chosen_by_attribution, row.choice.chosen_by_sensibleness]
    return "; ".join(titles.get(each, each) for each in said if each)


def _figure_query(form: RerankingForm) -> str:
    """Return the query of the figure of re-ranking: its model, with the axes that judge."""
    pool, judging = form.chosen_pool, form.judging
    if pool is None or judging is None:
        return ""
    said = form.axes_said
    if judging != form.chosen:
        said |= {name: axis.key for name, axis in judging._asdict().items()}
    return query_string({"figure": 6, "large": pool.model} | said)
