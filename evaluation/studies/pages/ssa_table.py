"""The lines of SSA below the questions by scenario: by majority votes, and by shares of votes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluation.measures.ssa import SSA
from evaluation.reports.columns import Estimate
from evaluation.reports.setups import short_names
from evaluation.studies.pages.tables import in_order
from evaluation.studies.reports.scenarios import RowOfScenarios, of_questions, of_ssa
from evaluation.studies.reports.ssa import SsaRow

BY_VOTES = f"{SSA} by votes"


class SsaCell(NamedTuple):
    """SSA in one scenario, or over all setups in one arm."""

    figure: Estimate
    n: int
    n_assumed: int


class SsaLine(NamedTuple):
    """One of the two figures of SSA: a cell per scenario, or per arm for one setup or for all."""

    title: str
    cells: list[SsaCell | None]
    waiting: int | None  # None: it needs no majority
    tied: int | None
    setup: str = ""  # the setup's short name; empty when the line is not about one setup


class SsaTable(NamedTuple):
    """SSA in the two layouts of the questions by scenario, and over all setups."""

    lines: list[SsaLine]  # a cell per scenario
    groups: list[tuple[str, list[SsaLine]]]  # each figure with a line per setup, a cell per arm
    of_arms: Mapping[str, list[SsaLine]]  # arm → lines of one cell, over all setups


def ssa_table(rows: Sequence[RowOfScenarios]) -> SsaTable | None:
    """Lay out the rows of SSA in the report on scenarios; None if there are none.

    The order of scenarios, setups and arms is that of the questions.
    """
    averages = {(row.setup, row.arm): row for row in of_ssa(rows)}
    if not averages:
        return None
    means = of_questions(rows)
    arms = in_order(row.arm for row in means)
    by_setup = [
        _lines([averages.get((setup, arm)) for arm in arms], name)
        for setup, name in short_names(means).items()
    ]
    scenarios = dict.fromkeys((row.setup, row.arm) for row in means)
    return SsaTable(
        _lines([averages.get(scenario) for scenario in scenarios]),
        [(lines[0].title, list(lines)) for lines in zip(*by_setup, strict=True)],
        {arm: _lines([row]) for (setup, arm), row in averages.items() if setup is None},
    )


def _lines(rows: Sequence[SsaRow | None], setup: str = "") -> list[SsaLine]:
    """Return the line by majorities and the line by votes."""
    by_majority = [SsaCell(row.mean, row.n_mean, row.n_assumed) if row else None for row in rows]
    by_votes = [
        SsaCell(row.by_votes, row.n_by_votes, row.n_assumed) if row else None for row in rows
    ]
    known = [row for row in rows if row]
    waiting, tied = (sum(row.waiting for row in known), sum(row.tied for row in known))
    return [
        SsaLine(SSA, by_majority, waiting, tied, setup),
        SsaLine(BY_VOTES, by_votes, None, None, setup),
    ]
