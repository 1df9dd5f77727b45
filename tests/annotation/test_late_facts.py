"""A submit that waits for its unit reads afterwards what happened meanwhile, and so do others.

The test holds the lock of the unit, waits until a rater waits for it, and closes the study, or
takes the rater out, before it lets go.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotation.models import Flag, Rater, Vote
from annotation.services.rating import SubmitOutcome, flag_responses, submit_votes
from annotation.services.studies import close_study
from annotation.services.study_raters import take_out_rater
from annotation.services.vote_consequences import lock_units
from tests.annotation.makers import claimed, judged, material, opened, raters_of

pytestmark = pytest.mark.once(transaction=True)

YES = {"sensible": 1, "specific": 1}
NO = {"sensible": 0, "specific": 0}


def wait_for_a_waiting_statement():
    """Return when a statement waits for a lock. SQLite lets no second writer begin."""
    if connection.vendor == "sqlite":
        time.sleep(0.2)
        return
    for _ in range(500):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
                "WHERE NOT granted AND datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    pytest.fail("no statement waits for a lock")


def close(rater):
    close_study(rater.study, None)


def take_out(rater):
    take_out_rater(rater, None)


@pytest.fixture
def study(db, tmp_path):
    return opened(material(tmp_path, n_examples=1, setups=["cool"]), scheme="SSA", raters=1)


@pytest.mark.parametrize("happens", [close, take_out])
@pytest.mark.parametrize("action", ["submit", "change", "flag"])
def test_what_happened_while_a_rater_waited_holds(study, action, happens):
    [rater] = raters_of(study)
    held = claimed(rater)
    unit, target = held.unit, held.unit.targets.get()
    if action != "submit":
        submit_votes(unit, rater, judged(rater, held, YES), None)
    is_there = threading.Event()

    def act():
        waiting = Rater.objects.select_related("study").get(pk=rater.pk)
        is_there.set()
        try:
            if action == "flag":
                return flag_responses(unit, waiting, [target.pk], "cut off")
            return submit_votes(unit, waiting, judged(waiting, held, NO), None)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            lock_units([unit.pk])
            done = thread.submit(act)
            if connection.vendor != "sqlite":
                is_there.wait(10)
            wait_for_a_waiting_statement()
            happens(rater)
        outcome = done.result()

    votes = Vote.objects.all()
    if action == "submit":
        assert outcome is SubmitOutcome.SURPLUS
        assert all(vote.is_surplus for vote in votes)
    else:
        assert outcome in (SubmitOutcome.CLOSED, False)
        assert {vote.answer for vote in votes} == {1}
        assert not Flag.objects.exists()
