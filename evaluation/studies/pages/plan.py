"""The contents of the page of a plan: the answer in sentences, and a table for each choice."""

from collections.abc import Iterator
from typing import NamedTuple

from annotation.forms.setup import BOTH
from evaluation.reports.formats import texts_of
from evaluation.reports.numbers import percent
from evaluation.reports.page_table import Head, PageCell, page_tables
from evaluation.reports.report import Report
from evaluation.studies.reports.plan import FEWEST
from evaluation.studies.reports.plan_choices import PlanChoices
from evaluation.studies.reports.plan_rows import (
    AnyPlanRow,
    ArmsDesign,
    AssumptionRow,
    DesignRow,
    DialogsDesign,
    RatersDesign,
)

TITLES: dict[type[DesignRow], tuple[str, str]] = {
    DialogsDesign: ("How many dialogs", "By formula, for large numbers."),
    RatersDesign: ("How many raters", "Simulated from the votes of the pilot."),
    ArmsDesign: ("Which arms", "What one or both arms cost."),
}


class PlanLine(NamedTuple):
    """A row of a table, and the figure that its button plans."""

    cells: list[PageCell]
    figure: int | str  # the value that differs from the planned study
    is_planned: bool
    can_plan: bool
    words: str  # the figure in words, for the name of the button


class PlanTable(NamedTuple):
    """The rows that differ in one choice, under a heading."""

    key: str
    title: str
    lede: str
    field: str  # the name of the field in the form of a new study
    heads: list[Head]
    lines: list[PlanLine]


class PlanPage(NamedTuple):
    """The answer, the study that it plans, and the tables."""

    sentences: list[str]
    planned: DialogsDesign
    can_plan: bool
    tables: list[PlanTable]
    assumptions: list[AssumptionRow]


def plan_page(report: Report[AnyPlanRow], choices: PlanChoices, *, can_plan: bool) -> PlanPage:
    """Return the contents of the page from the rows of the report.

    Args:
        can_plan: whether the dataset has responses, which a study needs.
    """
    dialogs = [row for row in report.rows if isinstance(row, DialogsDesign)]
    alone = next((row for row in dialogs if row.is_enough), None)
    helped = next((row for row in dialogs if row.is_enough_with_metric), None)
    there = [row for row in dialogs if row.is_in_dataset]
    planned = next((row for row in (alone, helped) if row and row.is_in_dataset), there[-1])
    tables = [_table(report, kind, planned, can_plan=can_plan) for kind in TITLES]
    return PlanPage(
        sentences=list(_sentences(choices, planned, alone, helped, len_there=there[-1].n_dialogs)),
        planned=planned,
        can_plan=can_plan and choices.raters % 2 == 1,
        tables=[table for table in tables if table.lines],
        assumptions=[row for row in report.rows if isinstance(row, AssumptionRow)],
    )


# --- sentences ------------------------------------------------------------------------------


def _sentences(
    choices: PlanChoices,
    planned: DialogsDesign,
    alone: DialogsDesign | None,
    helped: DialogsDesign | None,
    *,
    len_there: int,
) -> Iterator[str]:
    is_enough = planned in (alone, helped)
    if not is_enough:
        needed = f"{alone.n_dialogs:,} dialogs" if alone else "More dialogs"
        yield f"{needed} would be needed, and the dataset has {len_there:,}."
    raters = f"{choices.raters:,} rater{'s' if choices.raters > 1 else ''}"
    yield (
        f"Rate {_all(planned, len_there)}{planned.n_dialogs:,} "
        f"dialog{'s' if planned.n_dialogs > 1 else ''} with {raters} each: "
        f"{_hours(planned)}."
    )
    yield _reached(choices, planned)
    if helped and alone and helped.n_dialogs < alone.n_dialogs and planned is not helped:
        yield f"With the metric, {helped.n_dialogs:,} dialogs are enough: {_hours(helped)}."
    if planned.n_dialogs < FEWEST:
        yield (
            f"The formulas are for large numbers. With fewer than {FEWEST} dialogs they promise "
            "too much."
        )


def _all(planned: DialogsDesign, n_there: int) -> str:
    return "all " if planned.n_dialogs == n_there and n_there > 1 else ""


def _reached(choices: PlanChoices, row: DialogsDesign) -> str:
    with_metric = row.reached_with_metric
    if choices.detects:
        text = (
            f"A difference of {percent(row.visible)} points will be detected with a probability "
            f"of {100 * choices.power:g} %"
        )
        return text + (
            f"; with the metric, one of {percent(with_metric)} points." if with_metric else "."
        )
    text = f"The interval of the mean will be about ± {percent(row.half_width)} points"
    return text + (f"; with the metric about ± {percent(with_metric)}." if with_metric else ".")


def _hours(row: DesignRow) -> str:
    digits = 0 if row.hours >= 100 else 1
    setups = f" of {row.n_setups:,} setups" if row.n_setups > 1 else ""
    return f"{row.n_responses:,} responses{setups}, {row.hours:,.{digits}f} rater hours"


# --- tables ---------------------------------------------------------------------------------


def _table(
    report: Report[AnyPlanRow], kind: type[DesignRow], planned: DialogsDesign, *, can_plan: bool
) -> PlanTable:
    title, lede = TITLES[kind]
    rows = [row for row in report.rows if not isinstance(row, AssumptionRow)]
    rows = [row for row in rows if isinstance(row, kind)]
    if not rows:
        return PlanTable(kind.varied, title, lede, kind.field, [], [])
    of_kind = report._replace(rows=rows)
    [table] = page_tables(of_kind)
    # The other choices are the same in all rows, and the answer says them.
    told = {"compares", "n_dialogs", "raters", "arms"} - {kind.column}
    told |= {"of_arm"} if rows[0].arms != BOTH else set()
    shown = [place for place, name in enumerate(texts_of(of_kind)[0]) if name not in told]
    lines = [
        PlanLine(
            [cells[place] for place in shown],
            figure=row.value(kind.column),
            is_planned=row.value(kind.column) == planned.value(kind.column),
            can_plan=can_plan and _can_be_planned(row),
            words=f"{row.value(kind.column)} {kind.varied}",
        )
        for row, cells in zip(rows, table.lines, strict=True)
    ]
    heads = [table.heads[place] for place in shown]
    return PlanTable(kind.varied, title, lede, kind.field, heads, lines)


def _can_be_planned(row: DesignRow) -> bool:
    """Return whether there is always a majority, and the dataset has as many dialogs."""
    is_there = row.is_in_dataset if isinstance(row, DialogsDesign) else True
    return row.raters % 2 == 1 and is_there
