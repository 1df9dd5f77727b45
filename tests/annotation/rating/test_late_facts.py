"""A rater's request waits for a lock, others change the study meanwhile, and it is read again.

Each meeting holds a lock, so that two changes come together at the narrowest place. SQLite lets one
come after the other there; PostgreSQL needs the right locks. Times are of the moment after the
lock. Emptying all tables takes longer than a meeting, so one test walks through all of them.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry
from annotation.models import Flag, Rater, Study, Unit, Vote, VoteChange
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import (
    SubmitOutcome,
    flag_responses,
    skip_unit,
    take_flags_back,
)
from annotation.services.studies import close_study, open_study, write_guideline
from annotation.services.study_raters import take_out_rater
from generation.models import Dataset
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
from tests.annotation.promises import broken_promises
from tests.annotation.test_queue import expire
from tests.conftest import session_of
from tests.shown import shown

pytestmark = pytest.mark.both

A_MOMENT = 0.15  # seconds, in which an action gets to the lock that it waits for
NO = {"sensible": 0}


def begin(action: Callable[[], object]) -> threading.Thread:
    """Begin an action in a thread; return when it has ended or waits for a lock."""

    def act() -> None:
        try:
            action()
        finally:
            connection.close()

    thread = threading.Thread(target=act)
    thread.start()
    thread.join(A_MOMENT)
    return thread


def while_locked(unit: Unit, *actions: Callable[[], object]) -> None:
    """Begin actions one after the other while a unit is locked as by a submit; then let them go."""
    with transaction.atomic():
        list(Unit.objects.select_for_update(no_key=True).filter(pk=unit.pk))
        threads = [begin(action) for action in actions]
    for thread in threads:
        thread.join()


# --- meetings -------------------------------------------------------------------------------


def one_unit(dataset: Dataset, **plan: Any) -> Study:
    """Open a study of one unit."""
    plan = {"scheme": "SSA", "n_sampled": 1} | plan
    return opened(dataset, **plan)


def close(rater: Rater) -> None:
    close_study(Study.objects.get(pk=rater.study_id), None)


def take_out(rater: Rater) -> None:
    take_out_rater(Rater.objects.select_related("study").get(pk=rater.pk), None)


def ends_at(study: Study, action: str) -> datetime:
    return AuditEntry.objects.get(action=action, subject=study.name).at


def change_and_submit_beside_the_end(study: Study, stop: Callable[[Rater], None]) -> None:
    """Let a change of votes and a first submit wait for a unit while `stop` ends the work."""
    rater, other, *_ = raters_of(study)
    done, held = claimed(rater), claimed(other)
    rate(rater, done)
    outcomes = []

    while_locked(
        done.unit,
        lambda: outcomes.append(rate(rater, done, NO)),
        lambda: rate(other, held),
        partial(stop, rater),
    )

    changes = VoteChange.objects.filter(vote__arm__study=study)
    assert changes.exists() == (outcomes == [SubmitOutcome.CHANGED])


def no_vote_changes_after_closing(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Closed")
    change_and_submit_beside_the_end(study, close)

    votes, closed_at = Vote.objects.filter(arm__study=study), ends_at(study, "study.closed")
    assert not votes.filter(changes__at__gt=closed_at).exists()
    assert not votes.filter(is_surplus=False, at__gt=closed_at).exists()
    assert not study.assignments.in_hand().exists()
    assert broken_promises(study) == {}


def no_vote_changes_after_its_rater_is_taken_out(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Taken out")
    change_and_submit_beside_the_end(study, take_out)

    left_at = ends_at(study, "study.rater-taken-out")
    assert not VoteChange.objects.filter(vote__arm__study=study, at__gt=left_at).exists()
    assert broken_promises(study) == {}


def who_loses_the_slot_meanwhile_gives_surplus_votes(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Expired", raters=2, raters_per_unit=1)
    late, quick = raters_of(study)
    held = claimed(late)
    expire(held)

    while_locked(held.unit, lambda: rate(late, held), partial(rate_next, quick))
    rate_next(quick)

    # On SQLite the late answer may come first, and then it counts.
    [filled] = study.assignments.filter(submitted_at__isnull=False)
    counted = Vote.objects.filter(arm__study=study, is_surplus=False)
    assert set(counted.values_list("rater", flat=True)) == {filled.rater_id}
    assert connection.vendor == "sqlite" or filled.rater == quick
    assert broken_promises(study) == {}


def votes_have_the_guidelines_in_force(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Guidelines")
    rater = raters_of(study)[0]
    held = claimed(rater)

    while_locked(
        held.unit,
        lambda: rate(rater, held),
        partial(write_guideline, study, "Be strict.", researcher()),
    )

    second = study.guidelines.get(version=2)
    votes = list(Vote.objects.filter(arm__study=study).select_related("guideline"))
    assert len(votes) == 2
    for vote in votes:
        assert vote.guideline
        assert vote.at
        assert vote.guideline.version == (2 if vote.at > second.created_at else 1)


def who_asks_while_a_study_closes_has_no_unit_in_hand(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Asked")
    rater = raters_of(study)[0]
    given = []

    with transaction.atomic():  # closed, which others cannot see yet
        close(rater)
        asking = begin(lambda: given.append(claim_next_unit(rater)))
    asking.join()

    assert given == [None]
    assert not study.assignments.in_hand().exists()


def a_skip_beside_a_change_lets_no_open_question_go(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Skipped", stops_when_decided=True, full_share=0.0)
    first, second, third, fourth, _ = raters_of(study)
    held = claimed(fourth)
    for rater in (first, second, third):  # three yes of five decide
        rate_next(rater)
    theirs = study.assignments.get(rater=first)

    with transaction.atomic():  # two yes and a no, which others cannot see yet
        rate(first, theirs, NO)
        skipping = begin(lambda: skip_unit(held.unit, fourth, "I cannot judge this topic"))
    skipping.join()

    assert not study.assignments.filter(is_let_go=True).exists()


def two_gold_items_at_once_both_change_the_score(dataset: Dataset) -> None:
    study = planned(dataset, name="Gold", scheme="SSA")
    known = {"sensible": 1, "specific": 1}
    set_gold(study, {"e1-cool": known, "e2-cool": known}, researcher(), n_qualifying=2)
    open_study(study, researcher())
    rater = raters_of(study)[0]
    changed = claimed(rater)
    rate(rater, changed, known)
    held = claimed(rater)
    other_tab = Rater.objects.select_related("study").get(pk=rater.pk)

    with transaction.atomic():  # neither answer to the first item is right any more
        rate(rater, changed, NO)
        submitting = begin(lambda: rate(other_tab, held, known))
    submitting.join()

    rater.refresh_from_db()
    assert (rater.n_gold, rater.gold_score) == (2, 0.5)  # 0 of 2 answers, and 2 of 2


def of_two_researchers_who_save_guidelines_the_second_is_told(dataset: Dataset) -> None:
    study = one_unit(dataset, name="Edited")
    browser, answers = Client(), []
    browser.cookies[settings.SESSION_COOKIE_NAME] = session_of(researcher())
    address = reverse("annotation:edit-guidelines", args=[study.slug])

    with transaction.atomic():  # version 2, which others cannot see yet
        write_guideline(study, "Theirs.", researcher())
        said = {"text": "Mine.", "based_on": 1}
        saving = begin(lambda: answers.append(browser.post(address, said)))
    saving.join()

    [answer] = answers
    assert answer.status_code == 422
    assert "Version 2 was saved while you wrote." in shown(answer).text
    assert [each.text for each in study.guidelines.all()][1:] == ["Theirs."]


MEETINGS = [
    no_vote_changes_after_closing,
    no_vote_changes_after_its_rater_is_taken_out,
    who_loses_the_slot_meanwhile_gives_surplus_votes,
    votes_have_the_guidelines_in_force,
    who_asks_while_a_study_closes_has_no_unit_in_hand,
    a_skip_beside_a_change_lets_no_open_question_go,
    two_gold_items_at_once_both_change_the_score,
    of_two_researchers_who_save_guidelines_the_second_is_told,
]


@pytest.mark.both(transaction=True)
def test_what_changed_while_somebody_waited_for_a_lock_is_seen_after_it(tmp_path):
    dataset = material(tmp_path, n_examples=3, setups=["cool"])

    for meeting in MEETINGS:
        meeting(dataset)


def test_flags_after_the_end_change_nothing(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    rater, other, *_ = raters_of(study)  # these still believe that they take part
    done, theirs = claimed(rater), claimed(other)
    for each, held in ((rater, done), (other, theirs)):
        rate(each, held)
    target, further = done.unit.targets.get(), theirs.unit.targets.get()
    flag_responses(done.unit, rater, [target.pk], "garbled")
    take_out(other)
    close(rater)

    assert not flag_responses(theirs.unit, other, [further.pk], "garbled")
    assert not flag_responses(done.unit, rater, [target.pk], "another reason")
    assert not take_flags_back(done.unit, rater)
    assert Flag.objects.get().reason == "garbled"
