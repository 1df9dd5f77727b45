"""The setups that merging favours, helps or harms on each question, by tests of their contrasts."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study
from annotation.schemes import Question
from evaluation.reports.columns import Column, Format
from evaluation.reports.report import ReportRow, number
from evaluation.statistics.uncertainty import contrast_by_dialog, direction, holm
from evaluation.votes.arm_pairs import Bools, Pairs
from generation.models import Setup

LEVEL = 0.05  # significance level of every test, after Holm's correction
# Decimal digits to which shifts are compared. Sums of the same numbers in another order differ by
# less, and must count as equal.
DIGITS = 9


@dataclass(frozen=True, kw_only=True)
class Direction(ReportRow):
    """The setups that merging favours, helps or harms on a question, and the first of the tests."""

    favours: Annotated[str | None, Column("Favours")] = None  # names of setups
    helps: Annotated[str | None, Column("Helps")] = None
    harms: Annotated[str | None, Column("Harms")] = None
    direction_setup: str | None = None
    direction_shift: float | None = None
    direction_p: float | None = None
    direction_p_holm: Annotated[float | None, Column("Direction: p, Holm", Format.P_VALUE)] = None
    visible_direction: Annotated[float | None, Column("Direction: shift ±", Format.PERCENT)] = None


NO_DIRECTION = Direction()


class _Shifts(NamedTuple):
    """The shifts of the setups' rater scores on a question through merging, and the better sign."""

    own: Mapping[Setup, float]  # two setups or more; empty: there is nothing to test
    sign: int = 1  # the sign of a shift to better

    @property
    def n_tests(self) -> int:
        """The number of tests. Two setups need only one, because their contrasts are opposite."""
        return len(self.own) if len(self.own) > 2 else min(1, len(self.own))

    def others(self, setup: Setup) -> float:
        """Return the mean shift of the other setups."""
        return (sum(self.own.values()) - self.own[setup]) / (len(self.own) - 1)

    def contrast(self, setup: Setup) -> float:
        """Return the shift of a setup − the mean shift of the others."""
        return self.own[setup] - self.others(setup)


class _Tested(NamedTuple):
    """The test of one setup's contrast on one question. `p` is corrected for the other setups."""

    setup: Setup
    p: float
    visible: float


def directions_of(
    study: Study,
    questions: Sequence[Question],
    pairs: Mapping[str, Pairs],
    setups: Sequence[Setup],
) -> list[Direction]:
    """Return the setups that merging favours, helps or harms on each question.

    The smallest p-value of a question is corrected by Holm over the questions. If it is
    significant, other setups may count too: another setup counts when its own p-value, multiplied
    by the number of tested questions, is significant. When there are only two setups, they share
    one test, and the other setup always counts.
    """
    shifts = [_shifts(question, pairs[question.key], setups) for question in questions]
    n_tested = sum(each.n_tests > 0 for each in shifts)
    tests = [
        _tests(study, pairs[question.key], each, n_tested)
        for question, each in zip(questions, shifts, strict=True)
    ]
    smallest = [found[0].p if found else math.nan for found in tests]
    found_ones = []
    for of_question, found, p in zip(shifts, tests, holm(smallest), strict=True):
        if not found:
            found_ones.append(Direction())
            continue
        first = found[0]
        significant = {
            test.setup
            for place, test in enumerate(found)
            if p < LEVEL and (place == 0 or of_question.n_tests == 1 or n_tested * test.p < LEVEL)
        }
        found_ones.append(
            Direction(
                **_outcomes(of_question, significant),
                direction_setup=first.setup.name,
                direction_shift=number(of_question.contrast(first.setup)),
                direction_p=number(first.p),
                direction_p_holm=number(p),
                visible_direction=number(first.visible),
            )
        )
    return found_ones


def _shifts(question: Question, pairs: Pairs, setups: Sequence[Setup]) -> _Shifts:
    """Return the shift of each setup that has one. Return none if no answer is the better one."""
    own = {
        setup: float(np.nanmean(pairs.difference[of_setup]))
        for setup, of_setup in _rated_by_setup(pairs, setups)
    }
    if question.better is None or len(own) < 2:
        return _Shifts({})
    return _Shifts(own, 1 if question.better == "yes" else -1)


def _tests(study: Study, pairs: Pairs, shifts: _Shifts, n_questions: int) -> list[_Tested]:
    """Return the test of each setup against the mean of the others, the smallest p first.

    With more than two setups, each p-value is multiplied by their number (Bonferroni). With two
    setups there is only one test, and the setup with the contrast to better comes first. Of equal
    p-values the one with the larger contrast comes first, then the one with a contrast to better.
    """
    tested = []
    for setup in shifts.own:
        by_dialog = contrast_by_dialog(
            pairs.difference, pairs.setups, pairs.dialogs, pairs.n_dialogs, setup.pk
        )
        level = LEVEL / (n_questions * shifts.n_tests)
        found = direction(by_dialog, seed=study.seed, level=level)
        tested.append(_Tested(setup, min(1.0, shifts.n_tests * found.p), found.visible))

    def order(test: _Tested) -> tuple[float, float, float]:
        contrast = shifts.contrast(test.setup)
        return test.p, -round(abs(contrast), DIGITS), -shifts.sign * contrast

    return sorted(tested, key=order)


def _outcomes(shifts: _Shifts, significant: Collection[Setup]) -> dict[str, str | None]:
    """Return the names of the setups that merging favours, helps or harms; None: no setup.

    All of them have a significant contrast. A setup is favoured when it shifts to better and the
    mean of the others shifts to worse. It is helped when it shifts to better and the mean of the
    others does not shift to worse. It is harmed when it shifts to worse, and more so than the
    others; of two setups, one is harmed only when the other is not favoured.
    """
    favoured: list[str] = []
    helped: list[str] = []
    harmed: list[str] = []
    for setup in shifts.own:
        if setup not in significant:
            continue
        own, others, contrast = (
            0.0 if abs(shift) < 10**-DIGITS else shifts.sign * shift
            for shift in (shifts.own[setup], shifts.others(setup), shifts.contrast(setup))
        )
        if contrast > 0 and own > 0:
            (favoured if others < 0 else helped).append(setup.name)
        elif contrast < 0 and own < 0:
            harmed.append(setup.name)
    if len(shifts.own) == 2 and favoured:
        harmed = []
    said = {"favours": favoured, "helps": helped, "harms": harmed}
    return {outcome: ", ".join(names) or None for outcome, names in said.items()}


def _rated_by_setup(pairs: Pairs, setups: Sequence[Setup]) -> Iterator[tuple[Setup, Bools]]:
    """Yield each setup with responses rated in both arms, and whether each pair is one of them."""
    for setup in setups:
        here = (pairs.setups == setup.pk) & ~np.isnan(pairs.difference)
        if here.any():
            yield setup, here
