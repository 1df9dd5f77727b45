"""Facts about raters that are not in their votes, in a study rated here and in an imported one."""

import pytest
from django.utils import timezone

from annotation.models import Study, Vote
from annotation.services.gold import set_gold
from annotation.services.rating import flag_responses, skip_unit
from annotation.services.studies import open_study
from annotation.services.study_raters import take_out_rater
from evaluation.votes.rater_work import KEY, RaterWork, as_json, rater_work
from generation.models import Response
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    raters_of,
    researcher,
)
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated, statements

pytestmark = pytest.mark.once


def work_of(study):
    """Return the facts about each rater, in the order of `raters_of`."""
    found = rater_work(study)
    return [found[rater.code] for rater in raters_of(study)]


def test_flags_skips_and_late_judgements_are_counted(tmp_path):
    study = opened(material(tmp_path, n_examples=3, setups=["a"]), scheme="SSA", raters=3)
    flagging, skipping, late = raters_of(study)
    unit = claimed(flagging).unit
    flag_responses(unit, flagging, [unit.targets.get().pk], "cut off")
    for _ in range(2):
        skip_unit(claimed(skipping).unit, skipping, "other")
    held = claimed(late)
    take_out_rater(late, researcher())
    rate(late, held)

    found = work_of(study)

    # The late judgement is two votes, on two questions.
    assert Vote.objects.filter(is_surplus=True).count() == 2
    assert [(each.n_flags, each.n_skips, each.n_surplus) for each in found] == [
        (1, 0, 0),
        (0, 2, 0),
        (0, 0, 1),
    ]
    assert {(each.group, each.qualified) for each in found} == {(None, None)}


def test_a_rater_qualifies_by_gold_items(tmp_path):
    study = planned(material(tmp_path, n_examples=4, setups=["a"]), scheme="SSA", raters=3)
    known = {"e1-a": {"sensible": 0}, "e2-a": {"sensible": 0}}
    set_gold(study, known, researcher(), n_qualifying=2, threshold=0.5)
    open_study(study, researcher())
    right, wrong, _ = raters_of(study)
    for _ in known:
        rate_next(right, {"sensible": 0})
        rate_next(wrong)

    assert [each.qualified for each in work_of(study)] == ["yes", "no", "not yet"]


def test_the_score_of_a_qualification_round_is_kept(tmp_path):
    study = opened(material(tmp_path, n_examples=2, setups=["a"]), scheme="SSA", raters=3)
    rater = raters_of(study)[0]
    response = Response.objects.get(key="e2-a")
    item = study.qualification_items.create(response=response, place=1, answers={"sensible": 0})
    item.given.create(rater=rater, answers={}, n_right=1, n_known=2, at=timezone.now())

    assert [each.qualification for each in work_of(study)] == [0.5, None, None]
    assert as_json(study)[rater.code]["qualification"] == 0.5


def test_groups_are_named_where_raters_meet_one_arm_each(tmp_path):
    study = opened(
        material(tmp_path, n_examples=2),
        scheme="SSA",
        raters=4,
        arms=["separate", "merged"],
        mixing="raters",
    )

    groups = [each.group for each in work_of(study)]

    assert sorted(groups) == ["merged arm", "merged arm", "separate arm", "separate arm"]


def test_an_import_has_what_its_file_says_and_counts_its_flags(tmp_path):
    facts = {"group": "group 2", "qualified": "no", "n_skips": 3, "n_surplus": 1}
    said = {"w1": facts | {"qualification": 0.5}}
    flagged = [{"response": "a", "rater": rater} for rater in ("w1", "w2")]

    study = rated(tmp_path, votes(a="yyy", b="yyy"), flags=flagged, study={KEY: said})

    assert rater_work(study) == {
        "w1": RaterWork(1, "group 2", "no", 3, 1, 0.5),
        "w2": RaterWork(1),
        "w3": RaterWork(0),
    }
    assert as_json(study)["w2"] == {"n_flags": 1}


@pytest.mark.parametrize(
    "said", ["none", ["w1"], {"w1": 3}, {"w1": {"n_skips": "3", "group": 2, "n_surplus": True}}]
)
def test_what_is_of_another_type_is_as_if_it_were_not_there(tmp_path, said):
    study = rated(tmp_path, votes(a="y"), study={KEY: said})

    assert rater_work(study) == {"w1": RaterWork(0)}


@pytest.mark.parametrize("n_raters", [4, 12])
def test_it_takes_six_statements_whatever_the_number_of_raters(tmp_path, n_raters):
    made = opened(
        material(tmp_path, n_examples=2),
        scheme="SSA",
        raters=n_raters,
        arms=["separate", "merged"],
        mixing="raters",
    )
    study = Study.objects.get(pk=made.pk)

    # Raters, flags, skips, surplus votes, arms and answers in the qualification round.
    assert len(statements(lambda: rater_work(study))) == 6
