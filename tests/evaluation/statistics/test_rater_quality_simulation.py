"""The checks of raters find bad raters, and rarely mark good ones, in simulated studies.

The whole simulation (200 studies of each kind) is in `make test-faults`; docs/rating.md has its
figures.
"""

from collections import Counter

import numpy as np
import pytest

from tests.evaluation.statistics.simulated_crowds import BAD, N_RATERS, checked, crowd

PREVALENCES = (0.7, 0.95)
BOTH = ("clicker", "always yes")


class Found(Counter[str]):
    """In how many studies a bad rater was marked, by role, and any good rater ('good')."""


def found_in(n_studies: int, prevalence: float, *bad: str) -> tuple[Found, Counter[str]]:
    """Return who was found, and for which reasons."""
    found, reasons = Found(), Counter[str]()
    for seed in range(n_studies):
        of_study = crowd(np.random.default_rng(seed), prevalence, *bad)
        marked: dict[int, set[str]] = {}
        for mark in checked(of_study).marks:
            marked.setdefault(mark.rater, set()).add(mark.kind)
        for rater, role in of_study.roles.items():
            found[role] += rater in marked
            reasons.update(f"{role}: {kind}" for kind in marked.get(rater, ()))
        found["good"] += any(rater not in of_study.roles for rater in marked)
    return found, reasons


def test_a_simulated_study_is_what_it_says():
    of_study = crowd(np.random.default_rng(1), 0.7, *BAD)

    raters, items = of_study.raters, of_study.items
    assert np.bincount(raters).tolist() == [100] * N_RATERS
    assert np.bincount(items).tolist() == [5] * 400
    assert len(set(zip(raters.tolist(), items.tolist(), strict=True))) == len(raters)
    assert set(items[raters == 2]) == set(items[raters == N_RATERS - 1])
    assert (of_study.answers[raters == 1] == 1).all()


def test_a_clicker_and_an_always_yes_are_found_and_few_good_raters_marked():
    found, _ = found_in(20, 0.7, *BOTH)

    assert found["clicker"] >= 18
    assert found["always yes"] >= 18
    assert found["good"] <= 2


@pytest.mark.faults
@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize(
    "bad", [(), BOTH, *((role,) for role in BAD), BAD], ids=lambda bad: "+".join(bad) or "none"
)
def test_in_200_studies_bad_raters_are_found_and_good_ones_are_not(
    bad, prevalence, capsys, request
):
    n_studies = 200
    found, reasons = found_in(n_studies, prevalence, *bad)

    with capsys.disabled():
        shares = {role: f"{100 * n / n_studies:.1f} %" for role, n in sorted(found.items())}
        why = {reason: f"{100 * n / n_studies:.1f} %" for reason, n in reasons.most_common()}
        print(f"\nprevalence {prevalence}, {request.node.callspec.id}: {shares}; reasons: {why}")  # noqa: T201
    for role in {*bad} & {*BOTH}:
        assert found[role] >= 0.9 * n_studies
    assert found["good"] <= 0.05 * n_studies
