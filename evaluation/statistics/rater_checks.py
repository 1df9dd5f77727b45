"""Raters who stand out from the others of a study, by tests that correct for how many there are.

There are six kinds of checks (`Check`). Each has a null distribution that is known exactly:

- *share of yes* and *agreement with the majority of the others*: the sum over a rater's items,
  where each answer is drawn from the votes on its item (`rater_votes`). The first is two-sided, the
  second looks only for too little agreement.
- *drift*: whether answers that differ from the majority of the others come late in the rater's own
  order (Mann and Whitney, 1947). For a steady rise it is more powerful than a comparison of two
  halves, which forgets where in a half an answer is.
- *straight-lining*: whether there are fewer runs of equal answers than in a random order of the
  rater's own answers (Wald and Wolfowitz, 1940). Units come in random order, so good raters have
  no long runs beyond chance. How many yes a rater gave is not tested here: it is given.
- *too fast*: whether more than half of the units took less than a part of their reading time
  (binomial).
- *copied answers*: whether two raters give all the same answers to more of their common items than
  the votes on these items explain (Poisson-binomial).

**Correction.** The probability that a study marks any good rater is at most 5 %. Each kind has a
sixth of that. Within a kind, Holm's method (1979) is over all raters and questions.

**Reference.** A bad rater in the pool makes the others look bad. So the most extreme rater who is
significant is taken out of the reference, and all tests are made again, until no rater of the
reference is significant. Then every rater is compared once more with the reference that is left,
and only what is significant in this comparison is said. If no rater is bad, nothing is taken out
with a probability of 95 %, and both comparisons are the same one.

Nothing is judged below `LEAST` responses.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.statistics.rater_pairs import pairs_of
from evaluation.statistics.rater_tests import (
    Check,
    StudyVotes,
    Tests,
    compared_tests,
    own_tests,
)
from evaluation.statistics.rater_votes import Bools
from evaluation.statistics.uncertainty import holm

LEVEL = 0.05  # the highest probability that a study marks any good rater
LEAST_REFERENCE = 2  # raters that a reference needs


class RaterMark(NamedTuple):
    """One reason why a rater stands out. `observed` and `expected` depend on the kind.

    Share of yes: mean answers. Agreement: shares that agree, or mean distances to the median of
    the others on an ordinal scale. Drift: shares that agree in the second and in the first half.
    Straight-lining: numbers of runs. Too fast: the share of units, and one half. Copied answers:
    shares of equal forms.
    """

    kind: Check
    rater: int
    question: str
    partner: int  # the rater whose answers are the same; -1 for other kinds
    n: int
    observed: float
    expected: float
    p: float  # corrected for raters, questions and kinds


class Outcome(NamedTuple):
    """The raters with whom everybody was compared, and what stands out."""

    reference: Bools  # (n_raters,)
    marks: list[RaterMark]


def check_raters(votes: StudyVotes, counted: Bools) -> Outcome:
    """Return the raters who stand out, with the reasons, and the reference.

    Args:
        votes: the votes of the study.
        counted: (n_raters,) raters who may be in the reference. The others, such as excluded ones,
            are compared all the same.
    """
    pairs = pairs_of(votes.forms)
    alone = own_tests(votes)
    reference, is_out = counted.copy(), np.zeros(votes.n_raters, np.bool_)
    while True:
        tests = [*alone, *compared_tests(votes, pairs, reference)]
        worst = _most_extreme(tests, reference, is_out)
        if not worst or reference.sum() - len(worst) < LEAST_REFERENCE:
            return Outcome(reference, _marks(tests))
        reference[worst], is_out[worst] = False, True


def _most_extreme(tests: Sequence[Tests], reference: Bools, is_out: Bools) -> list[int]:
    """Return the raters of the reference with the smallest significant p; several on a tie.

    p is multiplied by the number of tests of its kind that are about raters who are not out.
    """
    lowest = LEVEL
    worst: list[int] = []
    for kind in Check:
        of_kind = [each for each in tests if each.kind == kind]
        is_open = [_is_open(each, is_out) for each in of_kind]
        factor = len(Check) * sum(int(each.sum()) for each in is_open)
        for each, open_ in zip(of_kind, is_open, strict=True):
            here = np.flatnonzero(open_ & (each.p * factor <= lowest))
            for place in here[reference[each.raters[here]]]:
                p = float(each.p[place]) * factor
                if p <= lowest:
                    worst = [*(worst if p == lowest else ()), *_blamed(each, int(place))]
                    lowest = p
    return sorted({rater for rater in worst if reference[rater]})


def _is_open(tests: Tests, is_out: Bools) -> Bools:
    """Return whether no rater whom a test would mark is out already, (n_tests,)."""
    open_: Bools = ~is_out[tests.raters] & ~(tests.is_mutual & is_out[tests.partners])
    return open_


def _blamed(tests: Tests, place: int) -> list[int]:
    """Return the raters whom a test marks if it is significant."""
    partner = [int(tests.partners[place])] if tests.is_mutual[place] else []
    return [int(tests.raters[place]), *partner]


def _marks(tests: Sequence[Tests]) -> list[RaterMark]:
    """Return what is significant, corrected by Holm within each kind."""
    marks = []
    for kind in Check:
        of_kind = [each for each in tests if each.kind == kind]
        p = np.concatenate([each.p for each in of_kind]) if of_kind else np.zeros(0)
        corrected = iter(np.minimum(1.0, len(Check) * np.array(holm(p.tolist()))))
        for each in of_kind:
            for place, final in zip(range(len(each.p)), corrected, strict=False):
                if final <= LEVEL:
                    marks += [
                        _mark(each, place, rater, float(final)) for rater in _blamed(each, place)
                    ]
    return marks


def _mark(tests: Tests, place: int, rater: int, p: float) -> RaterMark:
    first, partner = int(tests.raters[place]), int(tests.partners[place])
    return RaterMark(
        kind=tests.kind,
        rater=rater,
        question=tests.question,
        partner=partner if rater == first else first,
        n=int(tests.n[place]),
        observed=float(tests.observed[place]),
        expected=float(tests.expected[place]),
        p=p,
    )
