"""The page of restricted context: dialog given up for evidence, and simulated retrieval."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.reports.downloads import report_file
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from evaluation.retrieval.ranked_examples import MOST_K
from evaluation.runs.main_metrics import SIDES
from evaluation.tradeoffs.chart_view import View, temperature_key
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure, figure_of
from evaluation.tradeoffs.figures.tradeoff.frame import PHONE
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.restricted_context import PlanRestrictedForm, RestrictedForm
from evaluation.tradeoffs.material import TradeoffMaterial, material_of
from evaluation.tradeoffs.readiness import missing_sides, running_runs
from evaluation.tradeoffs.recall_lines import Curves, curves_of, lines_of, restricted_pairs
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.axes_choices import responses_address
from evaluation.tradeoffs.reports.restricted_context import (
    PREFIX,
    RestrictedRow,
    courses,
    directions_of,
    restricted_report,
    restricted_setups,
)
from evaluation.tradeoffs.reports.tradeoff import TradeoffRow, tradeoff_report
from generation.grids.grid_file import GridError
from generation.models import Dataset, Grid
from generation.services.grids import GridChangeError, request_grid
from generation.services.planning import send_grid


@require_safe
@allowed(Role.RESEARCHER)
def restricted(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show both curves with the lines of retrieval, or the form that plans the grid."""
    dataset = get_object_or_404(Dataset, slug=slug)
    return _page(request, dataset, PlanRestrictedForm(dataset=dataset))


@require_POST
@allowed(Role.RESEARCHER)
def start_restricted(request: SignedInRequest, slug: str) -> HttpResponse:
    """Have the grid of the form planned, and go to its page; no model is asked yet."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = PlanRestrictedForm(request.POST, dataset=dataset)
    if form.is_valid():
        try:
            grid = request_grid(dataset, form.grid, request.user)
            transaction.on_commit(partial(send_grid, grid))
            return redirect("grids:grid", grid.pk)
        except GridError as error:
            form.refuse(error)
        except GridChangeError as error:
            form.add_error("name", str(error))
    return _page(request, dataset, form, status=422)


@require_safe
@allowed(Role.RESEARCHER)
def download_restricted(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the table with the choices of the address, as CSV, LaTeX or JSON."""
    dataset = get_object_or_404(Dataset, slug=slug)

    def report() -> Report[RestrictedRow]:
        found = _found(dataset, request, AxesForm(request.GET, dataset=dataset))
        if found.shown is None:
            raise CannotReport("No restricted context has been scored yet.")
        return found.shown.report

    return report_file(report, format_key, f"{slug}-restricted")


def _page(
    request: SignedInRequest, dataset: Dataset, plan: PlanRestrictedForm, status: int = 200
) -> HttpResponse:
    axes = AxesForm(request.GET, dataset=dataset)
    context = {
        "dataset": dataset,
        "axes_form": axes,
        "axes": axes.chosen,
        "plan": plan,
        "address": axes.address,
        "grids": _grids(dataset),
        "missing": missing_sides(axes.axes),
        "sides": SIDES,
        "running": running_runs(dataset, axes.chosen),
    }
    context |= _context(_found(dataset, request, axes), axes)
    page, fragment = (
        "evaluation/tradeoffs/restricted.html",
        "evaluation/tradeoffs/_restricted.html",
    )
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=context, status=status
    )


def _grids(dataset: Dataset) -> list[Grid]:
    """Return the grids that ask for restricted context, newest first."""
    return [
        grid
        for grid in dataset.grids.all()
        if any(key.startswith(PREFIX) for key in grid.choices.get("prompts", ()))
    ]


def _figures(
    material: TradeoffMaterial,
    curves: Curves,
    recalls: Recalls,
    *,
    by_score: bool,
    axes_said: Mapping[str, str],
) -> tuple[TradeoffFigure, TradeoffFigure]:
    """Return figure 5 of both curves, for desks and for phones.

    It has their setups, and the lines of both kinds of retrieval.
    """
    own = material.of_dots(curves.places)
    view = View(lines=True, k=recalls.k, by_score=by_score)

    def responses(row: TradeoffRow) -> str:
        return responses_address(material.dataset, row.of.setup_id, axes_said)

    lines = lines_of(material, curves, recalls, with_top_k=recalls.k > 1, by_score=by_score)
    rows = tradeoff_report(own, view).rows
    draw = partial(figure_of, rows, view, lines, floors=own.floors, address=responses)
    return draw(), draw(frame=PHONE)


class _ShownCurves(NamedTuple):
    """Both curves with their report."""

    material: TradeoffMaterial
    curves: Curves
    recalls: Recalls
    report: Report[RestrictedRow]


class _RestrictedMaterial(NamedTuple):
    """The restricted context of a dataset, as far as it can be shown."""

    has_responses: bool
    form: RestrictedForm | None = None  # None: no responses, or no axes
    shown: _ShownCurves | None = None  # None: nothing is scored


def _found(dataset: Dataset, request: SignedInRequest, axes: AxesForm) -> _RestrictedMaterial:
    """Return what can be shown, with the choices of the address."""
    setups = restricted_setups(dataset)
    if not setups or axes.chosen is None:
        return _RestrictedMaterial(bool(setups))
    material = material_of(dataset, axes.chosen, setups)
    form = RestrictedForm(request.GET, pairs=restricted_pairs(material))
    chosen = form.chosen
    curves = None if chosen is None else curves_of(material, *chosen, by_score=form.by_score)
    if curves is None:
        return _RestrictedMaterial(True, form)
    recalls = form.recalls(material, curves)
    report = restricted_report(material, curves, recalls, by_score=form.by_score)
    return _RestrictedMaterial(True, form, _ShownCurves(material, curves, recalls, report))


def _context(found: _RestrictedMaterial, axes: AxesForm) -> dict[str, Any]:
    """Return what the page needs of the material: also the figure, and the addresses of links."""
    context: dict[str, Any] = {"has_responses": found.has_responses}
    if found.form is None:
        return context
    form, shown = found.form, found.shown
    context["form"] = form
    if shown is None:
        return context
    material, curves, recalls, report = shown
    figure, phone = _figures(
        material, curves, recalls, by_score=form.by_score, axes_said=axes.axes_said
    )
    of_figure = axes.axes_said | {"large": curves.pair.model}
    of_figure["temperature"] = temperature_key(material.dots[curves.places[0]])
    if form.by_score:
        of_figure["measure"] = "score"
    return context | {
        "curves": curves,
        "recalls": recalls,
        "report": report,
        "directions": directions_of(report),
        "courses": courses(material, curves, by_score=form.by_score),
        "figure": figure,
        "phone": phone,
        "numbers": form.numbers(recalls),
        "query": query_string(axes.axes_said | form.unusual_choices),
        "figure_4": query_string({"figure": 4} | of_figure),
        "figure_5": query_string({"figure": 5} | of_figure | {"k": min(recalls.k, MOST_K)}),
        "most_k": MOST_K,
    }
