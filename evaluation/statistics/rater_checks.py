"""Raters who stand out from the others of a study, by tests that correct for how many there are.

There are six kinds of checks (`Check`). Each has a null distribution that is known exactly:

- *share of yes*, question by question, two-sided: the sum of a rater's answers, where each answer
  is drawn from the votes on its item (`rater_votes`).
- *agreement with the majority of the others*, question by question and over all questions
  together (`rater_forms`): 1 for an answer that agrees, -1 for one that differs. Only too little
  agreement counts.
- *drift*: the same sum over all questions, in which late answers weigh more, where agreement also
  falls within the rater's own order. So it finds raters who get worse; a comparison of the rater's
  two halves alone would find one in ten of the drifters that are simulated, and this one in two.
- *straight-lining*: fewer runs of equal forms than in a random order of the rater's own forms
  (Wald and Wolfowitz, 1940). Units come in random order, so good raters have no long runs beyond
  chance. How many yes a rater gave is not tested here: it is given.
- *too fast*: more than half of the units took less than a part of their reading time (binomial).
- *copied answers*: two raters give all the same answers to more of their common items than the
  forms on these items explain (Poisson-binomial).

**Correction.** The probability that a study marks any good rater is at most 5 %. Each kind has a
sixth of that. Within a kind, Holm's method (1979) is over all raters and questions.

**Reference.** A bad rater in the pool makes the others look bad. So the most extreme rater who is
significant is taken out of the reference, and all tests are made again, until no rater of the
reference is significant. Then every rater is compared once more with the reference that is left,
and only what is significant in this comparison is said. If no rater is bad, nothing is taken out
with a probability of 95 %, and both comparisons are the same one.

Nothing is judged below `LEAST` responses.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc

from evaluation.statistics.intervals import Indexes, ratio
from evaluation.statistics.rater_form_tests import agreement_of_forms, copies, drift, runs
from evaluation.statistics.rater_forms import Forms, form_draws
from evaluation.statistics.rater_pairs import RaterPairs, pairs_of
from evaluation.statistics.rater_question_tests import question_tests
from evaluation.statistics.rater_tests import LEVEL, Check, Tests, added, tests_of_single_raters
from evaluation.statistics.rater_votes import LEAST, Bools, RaterVotes
from evaluation.statistics.uncertainty import holm

LEAST_REFERENCE = 2  # raters that a reference needs


class Paces(NamedTuple):
    """The units whose time is known; both arrays are (n_units,)."""

    raters: Indexes
    is_fast: Bools  # whether the unit took less than the smallest believable part of its time


class StudyVotes(NamedTuple):
    """All that the checks of a study need."""

    n_raters: int
    questions: Mapping[str, RaterVotes]
    forms: Forms
    paces: Paces
    has_random_order: bool  # whether each rater got the units in random order


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
    alone = tests_alone(votes)
    pairs = pairs_of(votes.forms)
    reference, is_in = counted.copy(), np.ones(votes.n_raters, np.bool_)
    while True:
        tests = [*alone, *tests_with_others(votes, pairs, reference, is_in)]
        worst = _most_extreme(tests, reference, ~is_in)
        if not worst or reference.sum() - len(worst) < LEAST_REFERENCE:
            break
        reference[worst] = is_in[worst] = False
    if not is_in.all():
        everyone = np.ones(votes.n_raters, np.bool_)
        tests = [*alone, *tests_with_others(votes, pairs, reference, everyone)]
    return Outcome(reference, _marks(tests))


def tests_with_others(
    votes: StudyVotes, pairs: RaterPairs, reference: Bools, compared: Bools
) -> list[Tests]:
    """Return all tests against a reference.

    Args:
        votes: the votes of the study.
        pairs: the pairs of raters.
        reference: (n_raters,) raters with whom others are compared.
        compared: (n_raters,) raters who are compared; all of the reference are among them. Tests of
            pairs are about all raters.
    """
    questions = {key: each.only(compared[each.raters]) for key, each in votes.questions.items()}
    forms = votes.forms.only(compared[votes.forms.raters])
    draws = form_draws(forms, questions, reference)
    found = [
        *question_tests(questions, reference),
        drift(draws, votes.n_raters),
        copies(votes.forms, pairs, reference),
    ]
    if len(questions) > 1:  # if there is only one, this would be the same test twice
        found.append(agreement_of_forms(draws, votes.n_raters))
    return found


def tests_alone(votes: StudyVotes) -> list[Tests]:
    """Return all tests that depend on no other rater."""
    found = [_fast(votes)]
    if votes.has_random_order:
        found.append(runs(votes.forms, votes.n_raters))
    return found


def _fast(votes: StudyVotes) -> Tests:
    """Return for each rater the test whether more than half of the units were answered too fast."""
    raters, is_fast = votes.paces
    n = added(raters, votes.n_raters)
    n_fast = added(raters, votes.n_raters, is_fast)
    judged = np.flatnonzero(n >= LEAST)
    n, n_fast = n[judged], n_fast[judged]
    # The upper tail of the binomial distribution, from the observed number on.
    p = np.where(n_fast > 0, bdtrc(np.maximum(n_fast - 1, 0), n.astype(np.int64), 0.5), 1.0)
    half = np.full(len(judged), 0.5)
    return tests_of_single_raters(Check.FAST, "", judged, n, ratio(n_fast, n), half, p)


# --- what is significant ----------------------------------------------------------------------


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
