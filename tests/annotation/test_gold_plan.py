"""The plan says how many gold items each rater meets, and where."""

from statistics import fmean

import pytest
from django.urls import reverse

from annotation.models import Rater, Study
from annotation.services.gold import set_gold
from annotation.services.studies import open_study
from tests.annotation.makers import material, planned, rate_next, raters_of, researcher
from tests.shown import shown

pytestmark = pytest.mark.once
GOOD = {"sensible": 1, "specific": 1}


def with_gold(folder, n_gold: int, n_qualifying: int, n_examples: int = 20, **plan) -> Study:
    """Plan an SSA study of two responses to each example; the first ones of some are gold items."""
    study = planned(material(folder / "m", n_examples=n_examples), scheme="SSA", **plan)
    known = {f"e{number}-cool": GOOD for number in range(1, n_gold + 1)}
    set_gold(study, known, researcher(), n_qualifying=n_qualifying)
    return study


def said_of_gold(client_for, rosa, study: Study) -> list[str]:
    page = client_for(rosa).get(reverse("annotation:study-setup", args=[study.slug]))
    words = ("mixed in", "to qualify;")
    return [item for item in shown(page).items if any(word in item for word in words)]


def places_of_gold(study: Study) -> dict[Rater, list[bool]]:
    """Open a study and let its raters rate in turn until nothing is left; return what was gold."""
    open_study(study, researcher())
    met: dict[Rater, list[bool]] = {rater: [] for rater in raters_of(study)}
    while [rater for rater in met if one_more(rater, met[rater])]:
        pass
    return met


def one_more(rater: Rater, met: list[bool]) -> bool:
    held = rate_next(rater)
    if held:
        met.append(held.unit.is_gold)
    return held is not None


@pytest.mark.parametrize(
    ("n_raters", "n_after", "said"),
    [
        # 40 responses, 8 of them gold: 32 units of which each of 5 raters rates all, and 5 gold
        # items after the first three. 37 / 5 = 7.4.
        (5, 37, "The first 3 units are to qualify; 5 more are mixed in, about one in 7 units."),
        # 32 units × 5 / 10 raters = 16, and 5 gold items. 21 / 5 = 4.2.
        (10, 21, "The first 3 units are to qualify; 5 more are mixed in, about one in 4 units."),
    ],
)
def test_each_rater_meets_as_many_gold_items_as_the_plan_says_and_where(
    tmp_path, client_for, rosa, n_raters, n_after, said
):
    study = with_gold(tmp_path, 8, 3, raters=n_raters, seed=5)
    assert said_of_gold(client_for, rosa, study) == [said]

    met = places_of_gold(study)

    for of_rater in met.values():
        assert of_rater[:3] == [True] * 3
        assert sum(of_rater[3:]) == 5
    assert fmean(len(of_rater[3:]) for of_rater in met.values()) == n_after
    # Gold items are spread evenly over the rest: their places, as shares of it, have a mean of 1/2
    # and a standard deviation of 1/√12. There are 5 of each rater.
    shares = [
        (place + 0.5) / len(of_rater[3:])
        for of_rater in met.values()
        for place, is_gold in enumerate(of_rater[3:])
        if is_gold
    ]
    assert abs(fmean(shares) - 0.5) < 2.5 * (1 / 12 / len(shares)) ** 0.5


@pytest.mark.parametrize(
    ("n_gold", "n_qualifying", "said"),
    [
        (8, 0, "8 are mixed in, about one in 5 units."),  # 32 + 8 = 40 units, 40 / 8
        (2, 2, "The first 2 units are to qualify; no more are mixed in."),
        # 38 units and one gold item after the first
        (2, 1, "The first unit is to qualify; 1 more is mixed in, about one in 39 units."),
    ],
)
def test_the_plan_says_what_is_first_and_what_is_mixed_in(
    tmp_path, client_for, rosa, n_gold, n_qualifying, said
):
    study = with_gold(tmp_path, n_gold, n_qualifying)

    assert said_of_gold(client_for, rosa, study) == [said]


def test_groups_that_meet_other_numbers_are_told_apart(tmp_path, client_for, rosa):
    arms = {"arms": ["separate", "merged"], "mixing": Study.Mixing.RATERS}
    study = with_gold(tmp_path, 1, 0, n_examples=4, raters=10, **arms)

    # Of 8 responses one is gold: 7 are rated alone. The one beside it has no partner: 3 units
    # are merged.
    assert said_of_gold(client_for, rosa, study) == [
        "Separate arm: 1 is mixed in, about one in 8 units.",
        "Merged arm: 1 is mixed in, about one in 4 units.",
    ]


def test_who_may_rate_only_some_units_meets_fewer(tmp_path, client_for, rosa):
    study = with_gold(tmp_path, 8, 3)
    Study.objects.filter(pk=study.pk).update(most_units_per_rater=11)

    # 11 units: 3 to qualify, and 8 × 5 / 37 = 1.1 of the others
    assert said_of_gold(client_for, rosa, study) == [
        "The first 3 units are to qualify; 1 more is mixed in, about one in 7 units."
    ]


def test_a_plan_without_gold_says_nothing_of_it(tmp_path, client_for, rosa):
    assert not said_of_gold(client_for, rosa, with_gold(tmp_path, 0, 0))
