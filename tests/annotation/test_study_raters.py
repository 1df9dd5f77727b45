"""Raters are taken out of a study, before and while it runs."""

from functools import partial

import pytest

from accounts.models import AuditEntry, User
from annotation.models import Draft, Rater, Study, Vote
from annotation.planning import rater_needs
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import SubmitOutcome, save_draft
from annotation.services.studies import StudyError, add_raters, close_study
from annotation.services.study_raters import let_rater_back, take_out_rater
from evaluation.studies.services.studies import delete_study
from tests.annotation.crowd import at_once
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    rater_users,
    raters_of,
    researcher,
)
from tests.makers import audit_actions

pytestmark = pytest.mark.both


def test_before_a_study_opens_a_rater_is_simply_gone_and_the_groups_stay_even(tmp_path):
    study = planned(material(tmp_path), arms=["separate", "merged"], raters=11)
    in_second = study.raters.filter(group=1)[0]

    take_out_rater(in_second, researcher())

    assert study.raters.count() == 10
    assert [need.n_there for need in rater_needs(study)] == [5, 5]
    assert audit_actions()[-1] == ("study.rater-taken-out", study.name)


def test_who_is_taken_out_gives_the_unit_back_keeps_the_draft_and_gets_no_other(tmp_path):
    study = opened(material(tmp_path), raters=6)
    rater = raters_of(study)[0]
    assignment = claimed(rater)
    save_draft(assignment.unit, rater, {}, 1.0)

    assert take_out_rater(rater, researcher())

    assignment.refresh_from_db()
    assert assignment.rater is None
    assert Draft.objects.filter(rater=rater).exists()
    assert claim_next_unit(rater) is None
    assert claim_next_unit(Rater.objects.get(pk=rater.pk)) is None
    assert not take_out_rater(rater, researcher()), "a second time changes nothing"
    assert AuditEntry.objects.filter(action="study.rater-taken-out").count() == 1


def test_the_votes_of_who_is_taken_out_stay(tmp_path):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    rate_next(rater)

    take_out_rater(rater, researcher())

    assert Vote.objects.filter(rater=rater, is_surplus=False, rater__is_excluded=False).count() == 7
    assert rater_needs(study)[0].n_there == 4


def test_what_somebody_taken_out_submits_is_surplus_and_what_they_submitted_stays(tmp_path):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    done = claimed(rater)
    rate(rater, done)
    begun = claimed(rater)
    take_out_rater(rater, researcher())

    assert rate(rater, begun) is SubmitOutcome.SURPLUS
    assert rate(rater, done, {"understand": 0}) is SubmitOutcome.CLOSED
    assert Vote.objects.filter(rater=rater, question="understand", answer=0).count() == 0


def test_who_is_let_back_goes_on(tmp_path):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    rate_next(rater)
    take_out_rater(rater, researcher())

    assert let_rater_back(rater, researcher())

    assert claim_next_unit(rater)
    assert not let_rater_back(rater, researcher())


def test_who_comes_later_joins_the_group_that_somebody_left(tmp_path):
    study = opened(material(tmp_path), arms=["separate", "merged"], raters=10)
    take_out_rater(study.raters.filter(group=1)[0], researcher())

    add_raters(study, rater_users(11), researcher())

    assert [need.n_there for need in rater_needs(study)] == [5, 5]


def test_nobody_is_taken_out_of_a_closed_study(tmp_path):
    study = opened(material(tmp_path), raters=5)
    close_study(study, researcher())

    with pytest.raises(StudyError, match="closed"):
        take_out_rater(raters_of(study)[0], researcher())


@pytest.mark.both(transaction=True)
def test_a_study_is_deleted_or_rated_in_and_never_half_of_each(tmp_path):
    by = researcher()
    dataset = material(tmp_path)

    for number in range(8):
        study = opened(dataset, raters=5, name=f"Study {number}")
        rater = raters_of(study)[0]
        held = claimed(rater)
        held.unit.arm  # noqa: B018 - read once, not by two threads
        outcome, was_kept = at_once(partial(rate, rater, held), partial(is_kept, study, by))

        assert was_kept == Study.objects.filter(pk=study.pk).exists()
        assert outcome is (SubmitOutcome.STORED if was_kept else SubmitOutcome.CLOSED)
        assert Vote.objects.filter(rater=rater.pk).count() == (7 if was_kept else 0)


def is_kept(study: Study, by: User) -> bool:
    """Try to delete a study; return whether it is there still."""
    try:
        delete_study(study, by)
    except StudyError:
        return True
    return False


@pytest.mark.both(transaction=True)
def test_who_asks_for_a_unit_while_being_taken_out_holds_none(tmp_path):
    study = opened(material(tmp_path, n_examples=20), raters=8)

    for rater in raters_of(study):
        by = researcher()
        at_once(
            partial(claim_next_unit, Rater.objects.select_related("study").get(pk=rater.pk)),
            partial(take_out_rater, Rater.objects.select_related("study").get(pk=rater.pk), by),
        )

    assert not study.assignments.in_hand().exists()
    assert not study.raters.filter(taken_out_at=None).exists()


@pytest.mark.both(transaction=True)
def test_a_submit_while_being_taken_out_counts_or_is_surplus_and_is_never_lost(tmp_path):
    study = opened(material(tmp_path, n_examples=20), raters=8)
    by = researcher()

    for rater in raters_of(study):
        held = claimed(rater)
        held.unit.arm  # noqa: B018 - read once, not by two threads
        out = Rater.objects.select_related("study").get(pk=rater.pk)
        outcome, _ = at_once(partial(rate, rater, held), partial(take_out_rater, out, by))
        votes = Vote.objects.filter(rater=rater)

        assert votes.count() == 7
        assert votes.filter(is_surplus=outcome is SubmitOutcome.SURPLUS).count() == 7
        assert Study.objects.get().assignments.in_hand().filter(rater=rater).count() == 0
