"""SSA in the answer of a study: sentences over all setups and of each, by majorities and votes."""

from collections.abc import Iterator, Mapping, Sequence

from annotation.models import Arm, Study
from evaluation.measures.ssa import SSA
from evaluation.reports.columns import Estimate
from evaluation.reports.setups import short_names
from evaluation.studies.pages.answer import (
    LEAST_OF_LEAD,
    MOST_SETUPS,
    SEEN,
    Finding,
    if_ties,
)
from evaluation.studies.pages.shares_in_words import share_said
from evaluation.studies.pages.tables import in_order
from evaluation.studies.reports.scenarios import of_questions, of_ssa, without_replicate
from evaluation.studies.reports.ssa import SsaRow
from evaluation.studies.reports.study import Figures


def ssa_findings(study: Study, figures: Figures) -> list[Finding]:
    """Return what the answer says about SSA, below its questions; [] if the scheme has none.

    The second separate arm only repeats the separate arm, so the sentences leave it out. While two
    arms are being rated, their figures are over different responses, and nothing is said.
    """
    rows = without_replicate(of_ssa(figures.scenarios.rows))
    arms = in_order(row.arm for row in rows)
    if not rows or (study.is_running and len(arms) > 1):
        return []
    names = short_names(of_questions(figures.scenarios.rows))
    sentences = [
        sentence
        for arm in arms
        for sentence in _of_arm(arm, rows, names, is_interim=study.is_running)
    ]
    n_decided = min(row.n_mean for row in rows if row.setup is None)
    has_lead = not study.is_running or n_decided >= LEAST_OF_LEAD
    return [Finding(SSA, "The mean of sensible and specific.", sentences, {}, has_lead)]


def _of_arm(
    arm: str, rows: Sequence[SsaRow], names: Mapping[str, str], *, is_interim: bool
) -> Iterator[str]:
    """Yield SSA over all setups and of each setup; of many setups, the highest and the lowest.

    Args:
        arm: the only arm of the sentences. They name it if there are others.
        rows: the rows on SSA.
        names: the short names of setups.
        is_interim: whether each figure says on how many responses it rests.
    """
    seen = f" {SEEN[Arm.Kind(arm)]}" if any(row.arm != arm for row in rows) else ""
    over_all = [row for row in rows if row.arm == arm and row.setup is None]
    of_setups = [(names[r.setup], r) for r in rows if r.arm == arm and r.setup is not None]
    several = f" over {len(of_setups):,} setups" if len(of_setups) > 1 else ""
    yield from (_sentence(row, f"{several}{seen}", is_interim=is_interim) for row in over_all)
    if not several:
        return
    if len(of_setups) <= MOST_SETUPS:
        for name, row in of_setups:
            yield _sentence(row, f" of {name}{seen}", is_interim=is_interim)
        return
    known = [(row.mean.value, name, row) for name, row in of_setups if row.mean.value is not None]
    if known:
        known.sort(key=lambda each: (-each[0], each[1]))
        ends = [
            f"{_share(row.mean, row.n_mean, is_interim=is_interim)} of {name}"
            for _, name, row in (known[0], known[-1])
        ]
        yield f"By majorities, the highest SSA{seen} is {ends[0]}, and the lowest {ends[1]}."


def _sentence(row: SsaRow, where: str, *, is_interim: bool) -> str:
    """Return the sentence about one row: 'SSA of T 0.0 is 62 % (48–74) by majorities and …'."""
    figures = {"majorities": (row.mean, row.n_mean), "votes": (row.by_votes, row.n_by_votes)}
    found = [
        f"{_share(estimate, n, is_interim=is_interim)} by {by}"
        for by, (estimate, n) in figures.items()
        if estimate.value is not None
    ]
    return f"SSA{where} is {' and '.join(found)}{if_ties(row, 'mean', 'SSA by majorities')}."


def _share(share: Estimate, n: int, *, is_interim: bool) -> str:
    """Return a share with its interval; an interim one with its number of responses."""
    return share_said(share, f"{n:,} response{'s'[: n != 1]}" if is_interim else "")
