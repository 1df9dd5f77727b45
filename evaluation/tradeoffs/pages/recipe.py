"""The contents of the page of a recipe: its progress and its results."""

from typing import Any

from evaluation.reports.figures.themes import page_themes
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from evaluation.tradeoffs.figures.recipe import recipe_chart
from evaluation.tradeoffs.recipe_stages import RecipeState, state_of
from evaluation.tradeoffs.recipes import Recipe
from evaluation.tradeoffs.reports.recipe import (
    RECIPE,
    RecipeReportChoices,
    RecipeRow,
    recipe_report,
)
from evaluation.tradeoffs.scorers import Scorers
from evaluation.tradeoffs.selection_bias import FLATTERED, SAME_METRIC, marked_in_any
from generation.models import Dataset


def progress_page(found: Recipe, scorers: Scorers, judges: Scorers) -> dict[str, Any]:
    """Return the state of a recipe and of its stages, and its figures once it is re-ranked."""
    state = state_of(found, scorers, judges)
    shown: dict[str, Any] = {"state": state, "stages": _stages(state), "studies": {}}
    report = report_so_far(found, scorers, judges, state)
    if report is None:
        return shown
    if spec := recipe_chart(report.rows):
        shown["plots"] = {"charts": {"recipe": spec}, "themes": page_themes()}
    return shown | {
        "report": report,
        "flattering": marked_in_any([row.marks for row in report.rows], FLATTERED),
        "by_same_metric": marked_in_any([row.marks for row in report.rows], SAME_METRIC),
        "best": _last_call(report),
        "large": _of_kind(report, "large"),
        "stored": _of_kind(report, "aggregate"),
    }


def answer_of_newest(dataset: Dataset) -> dict[str, RecipeRow | None]:
    """Return the row of all calls of the newest recipe, and the row of the large model beside it.

    Without a recipe that is re-ranked, nothing is returned.
    """
    try:
        report = RECIPE.make(dataset, RecipeReportChoices())
    except CannotReport:
        return {}
    return {"best": _last_call(report), "large": _of_kind(report, "large")}


def report_so_far(
    found: Recipe, scorers: Scorers, judges: Scorers, state: RecipeState
) -> Report[RecipeRow] | None:
    """Return the report on a recipe; None before its responses are re-ranked."""
    axes, judging = scorers.axes, judges.axes
    if not state.is_scored or not state.aggregate or axes is None:
        return None
    return recipe_report(found, axes, judging or axes)


def _stages(state: RecipeState) -> dict[str, str]:
    """Return the state of each stage: done, going on, next, or later."""
    is_asking = state.is_going_on and not state.is_scoring
    asked = "done" if state.is_asked else "going on" if is_asking else "next"
    scored = "done" if state.is_scored else "going on" if state.is_scoring else "next"
    if asked != "done":
        scored = "later"
    reranked = "done" if state.aggregate else "next" if scored == "done" else "later"
    compared = "done" if state.aggregate and scored == "done" else "later"
    return {"asked": asked, "scored": scored, "reranked": reranked, "compared": compared}


def _last_call(report: Report[RecipeRow]) -> RecipeRow | None:
    """Return the row of all calls together."""
    return next((row for row in reversed(report.rows) if row.kind == "calls"), None)


def _of_kind(report: Report[RecipeRow], kind: str) -> RecipeRow | None:
    return next((row for row in report.rows if row.kind == kind), None)
