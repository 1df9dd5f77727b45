"""The second separate arm: its groups of raters, its units, and what raters never get twice."""

from collections import Counter, defaultdict
from itertools import combinations
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.models import Arm, Assignment, Exposure, Study, Unit, Vote, arm_name
from annotation.ordering import random_key
from annotation.planning import group_of, plan_units, rater_needs
from annotation.services.gold import set_gold
from annotation.services.studies import StudyError, open_study
from annotation.study_progress import group_name
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate_all,
    raters_of,
    researcher,
)
from tests.annotation.promises import broken_promises

THREE = ["separate", "separate_2", "merged"]
EXAMPLES = [f"e{number}" for number in range(300)]
ANSWERS = {
    **dict.fromkeys(("understand", "relevant", "consistent", "evidence_relevant"), 1),
    "evidence_contradicts": 0,
    "evidence_supports": 1,
    "attributable": 1,
}


def fake(mixing="order", *, may_meet=False, seed=13):
    return SimpleNamespace(seed=seed, mixing=mixing, may_meet_both_arms=may_meet)


def groups_of(study, arms):
    """Return the group of each arm, in the order of `arms`, for each example."""
    return [tuple(group_of(study, arms, example, arm) for arm in arms) for example in EXAMPLES]


def raters_by_arm(study):
    """Return who judged each target: target → arm → raters."""
    found: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for target, arm, rater in Vote.objects.filter(arm__study=study).values_list(
        "target", "arm__kind", "rater"
    ):
        found[target][arm].add(rater)
    return found


# --- groups ---------------------------------------------------------------------------------


def test_studies_of_two_arms_have_the_groups_that_they_always_had():
    arms = ["separate", "merged"]

    # One bit of the seed says in which of the two groups an example is met alone.
    bits = [random_key(13, "group", example) % 2 for example in EXAMPLES]
    assert groups_of(fake(), arms) == [(bit, 1 - bit) for bit in bits]
    assert set(groups_of(fake("raters"), arms)) == {(0, 1)}
    assert set(groups_of(fake(may_meet=True), arms)) == {(0, 0)}
    assert set(groups_of(fake(), ["separate"])) == {(0,)}


def test_three_groups_meet_each_example_in_different_arms_and_each_arm_by_turns():
    pairings = Counter(groups_of(fake(), THREE))

    # All six ways to give three arms to three groups, each for about 300 / 6 examples.
    assert len(pairings) == 6
    assert all(sorted(pairing) == [0, 1, 2] for pairing in pairings)
    assert all(30 < n < 75 for n in pairings.values())
    assert groups_of(fake(seed=14), THREE) != groups_of(fake(), THREE)
    assert set(groups_of(fake("raters"), THREE)) == {(0, 1, 2)}


def test_who_may_judge_alone_and_merged_never_judges_alone_twice():
    pairings = Counter(groups_of(fake(may_meet=True), THREE))

    # Two groups: one for each separate arm. The merged unit goes to either.
    assert set(pairings) == {(0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)}
    assert all(45 < n < 105 for n in pairings.values())
    assert set(groups_of(fake("raters", may_meet=True), THREE)) == set(pairings)


@pytest.mark.once
@pytest.mark.parametrize(
    ("arms", "may_meet", "n_groups"),
    [
        (THREE, False, 3),
        (THREE, True, 2),
        (["separate", "separate_2"], False, 2),
        (["separate", "separate_2"], True, 2),
        (["separate", "merged"], False, 2),
        (["separate", "merged"], True, 1),
    ],
)
def test_each_group_needs_as_many_raters_as_a_unit_has_slots(tmp_path, arms, may_meet, n_groups):
    study = planned(material(tmp_path), raters=7, arms=arms, may_meet_both_arms=may_meet)

    needs = rater_needs(study)

    assert [need.n_needed for need in needs] == [5] * n_groups
    assert sum(need.n_there for need in needs) == 7
    assert study.is_split_into_groups == (n_groups > 1)


@pytest.mark.once
def test_a_group_is_called_by_its_arm_where_it_has_only_one(tmp_path):
    dataset = material(tmp_path)
    split = planned(dataset, arms=THREE, mixing="raters")
    crossed = planned(dataset, arms=THREE, name="crossed")

    arms = ["separate arm", "second separate arm", "merged arm"]
    assert [group_name(split, group) for group in range(3)] == arms
    assert group_name(crossed, 2) == "group 3"


# --- plans ----------------------------------------------------------------------------------


@pytest.mark.both
def test_arms_are_shown_in_one_order_whatever_the_order_they_were_made_in(tmp_path):
    study = planned(material(tmp_path), arms=["merged", "separate_2", "separate"])

    assert [arm.kind for arm in study.arms.all()] == THREE == Arm.Kind.values
    assert [str(arm) for arm in study.arms.all()] == ["separate", "second separate", "merged"]
    assert arm_name("saved") == "saved"  # a row about no arm


@pytest.mark.once
def test_the_second_separate_arm_has_the_same_units_as_the_first(tmp_path):
    units = plan_units(planned(material(tmp_path, n_examples=3), arms=THREE)).units

    shown = {arm: [unit.targets for unit in units if unit.arm == arm] for arm in THREE}
    assert len(shown["separate"]) == 6
    assert shown["separate"] == shown["separate_2"]
    assert len(shown["merged"]) == 3
    assert len({unit.name for unit in units}) == 15  # each slot has a key of its own


@pytest.mark.once
@pytest.mark.parametrize("arms", [["separate_2"], ["separate_2", "merged"]])
def test_a_replicate_needs_what_it_repeats(tmp_path, arms):
    with pytest.raises(StudyError, match="Choose the separate arm too"):
        planned(material(tmp_path), arms=arms)


@pytest.mark.once
def test_pairs_of_citations_are_rated_in_one_arm_only(tmp_path):
    with pytest.raises(StudyError, match="only the separate arm"):
        planned(
            material(tmp_path),
            scheme="ALIGNMENT",
            arms=["separate", "separate_2"],
            raters_per_unit=2,
        )


@pytest.mark.once
def test_the_command_plans_three_arms(tmp_path):
    material(tmp_path)

    call_command("create_study", "Three", "--dataset", tmp_path.name, "--arms", *reversed(THREE))

    assert [arm.kind for arm in Study.objects.get().arms.all()] == THREE


# --- the queue ------------------------------------------------------------------------------


@pytest.mark.both
@pytest.mark.parametrize("may_meet", [False, True])
def test_no_rater_judges_a_response_in_both_separate_arms(tmp_path, may_meet):
    dataset = material(tmp_path, n_examples=4)
    study = opened(
        dataset,
        scheme="SSA",
        raters=6 if may_meet else 9,
        raters_per_unit=3,
        arms=THREE,
        may_meet_both_arms=may_meet,
    )

    rate_all(study)

    n_again = 0
    for by_arm in raters_by_arm(study).values():
        assert [len(by_arm[arm]) for arm in THREE] == [3, 3, 3]
        assert not by_arm["separate"] & by_arm["separate_2"]
        n_again += len(by_arm["merged"] & (by_arm["separate"] | by_arm["separate_2"]))
    # With three raters in a group, each rater who meets an example merged has met it alone.
    assert n_again == (8 * 3 if may_meet else 0)
    assert not Assignment.objects.filter(submitted_at=None).exists()
    promises = broken_promises(study)
    assert promises.pop("responses rated in both arms by one rater", 0) == n_again
    assert promises == {}


@pytest.mark.both
def test_both_separate_arms_are_one_scope_which_the_database_keeps(tmp_path):
    study = opened(
        material(tmp_path, n_examples=1, setups=["cool", "warm"]),
        raters=10,
        arms=THREE,
        may_meet_both_arms=True,
    )
    for rater in raters_of(study):
        claimed(rater)

    seen = Exposure.objects.values_list("unit__arm__kind", "scope").distinct()
    scopes = {"separate": "separate", "separate_2": "separate", "merged": "merged"}
    assert set(seen) <= set(scopes.items())
    assert {arm for arm, _ in seen} >= {"separate", "separate_2"}
    met = Exposure.objects.filter(unit__arm__kind="separate")[0]
    other = Unit.objects.get(arm__kind="separate_2", targets=met.target)
    with pytest.raises(IntegrityError), transaction.atomic():
        Exposure.objects.create(rater=met.rater, target=met.target, unit=other, scope=met.scope)


@pytest.mark.once
def test_known_answers_are_given_to_every_group(tmp_path):
    study = planned(material(tmp_path, n_examples=3), raters=15, arms=THREE)
    set_gold(study, {"e1-cool": ANSWERS}, researcher())
    open_study(study, researcher())

    gold = Unit.objects.filter(is_gold=True)
    assert sorted(gold.values_list("arm__kind", "group")) == [("separate", n) for n in range(3)]
    others = Unit.objects.filter(is_gold=False, targets__response__key="e1-cool")
    assert not others.exists()


@pytest.mark.once
def test_a_rater_cannot_tell_the_two_separate_arms_apart(tmp_path, client_for):
    study = opened(
        material(tmp_path, n_examples=1, setups=["cool"]),
        raters=10,
        arms=["separate", "separate_2"],
        mixing="raters",
    )
    pages = {}
    for rater in raters_of(study):
        assignment = claimed(rater)
        page = client_for(rater.user).get(
            reverse("annotation:rate-unit", args=[study.slug, assignment.unit_id])
        )
        pages[assignment.unit.arm.kind] = page.content.decode()

    assert sorted(pages) == ["separate", "separate_2"]
    for one, other in combinations(pages.values(), 2):
        assert "Rate a response" in one
        assert "econd separate" not in one + other
        assert "separate_2" not in one + other
