"""Imports whose worker dies, or that two workers have: one of them does it, once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from annotation.models import Vote
from evaluation.exchange import uploads
from evaluation.exchange.import_process import IMPORTS
from generation.models import Dataset, Example, Import
from tests.makers import (
    audit_actions,
    is_empty,
)
from tests.uploading import State, asked_to_store, carried_on, carry_on, file_of, in_the_middle

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("own_cache_and_folder")]


def sign_of(upload: Import) -> str:
    return f"work:sign:generation.import:{upload.pk}"


def expire(upload: Import) -> None:
    """Let the lease run out that the worker took when it began."""
    past = timezone.now() - timedelta(seconds=1)
    Import.objects.filter(pk=upload.pk, state=State.RUNNING).update(lease_until=past)


def fall_silent(upload: Import) -> None:
    """Let the worker's last sign of life run out, too."""
    cache.delete(sign_of(upload))


# --- workers that die, and two at once ------------------------------------------------------


def test_a_worker_that_dies_leaves_the_import_to_the_next(upload, monkeypatch):
    def die() -> None:
        raise SystemExit

    asked_to_store(upload)
    in_the_middle(monkeypatch, die)
    with pytest.raises(SystemExit):
        carry_on(upload.pk)
    assert is_empty()
    assert IMPORTS.resend() == [upload.pk]

    carried_on(upload)

    assert upload.state == State.DONE
    assert Vote.objects.count() == 2
    assert IMPORTS.resend() == []


def test_an_import_with_a_sign_of_life_is_not_interrupted(upload):
    claim = IMPORTS.claim(upload.pk)
    assert claim is not None
    expire(upload)
    IMPORTS.hold(claim)  # It is long storing, and cannot write to the row.

    assert IMPORTS.resend() == []
    assert carried_on(upload).state == State.RUNNING  # another worker has it
    fall_silent(upload)
    assert IMPORTS.resend() == [upload.pk]
    assert carried_on(upload).state == State.CHECKED


@pytest.mark.parametrize("state", [State.CHECKED, State.DONE, State.FAILED, State.CANCELLED])
def test_an_import_that_waits_for_nobody_is_not_carried_on(upload, state):
    Import.objects.update(state=state)

    carried_on(upload)

    assert upload.state == state
    assert IMPORTS.resend() == []
    assert is_empty()


def test_an_import_that_does_not_exist_is_nobody_s_trouble():
    carry_on(12345)
    assert IMPORTS.resend() == []

    assert is_empty()


def test_two_looks_at_once_send_an_interrupted_import_once(upload):
    assert IMPORTS.resend() == [upload.pk]
    assert IMPORTS.resend() == []

    Import.objects.update(sent_at=timezone.now() - timedelta(seconds=11))

    assert IMPORTS.resend() == [upload.pk]


def test_a_second_caller_does_nothing_while_the_first_is_at_it(upload, monkeypatch):
    asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: carry_on(upload.pk))

    carried_on(upload)

    assert upload.state == State.DONE
    assert audit_actions() == [("dataset.imported", "pilot")]


def test_a_worker_thought_dead_finds_the_work_done_and_spoils_nothing(upload, monkeypatch):
    def fall_silent_and_be_replaced() -> None:
        expire(upload)
        fall_silent(upload)
        carry_on(upload.pk)

    asked_to_store(upload)
    in_the_middle(monkeypatch, fall_silent_and_be_replaced)

    carried_on(upload)

    assert (upload.state, upload.error) == (State.DONE, "")
    assert upload.dataset == Dataset.objects.get()
    assert (Example.objects.count(), Vote.objects.count()) == (1, 2)
    assert audit_actions() == [("dataset.imported", "pilot")]


@pytest.mark.parametrize("sees_it", [True, False], ids=["in between", "only at the end"])
def test_a_worker_thought_dead_cannot_commit_and_leaves_the_other_s_things(
    upload, monkeypatch, sees_it
):
    def another_takes_over() -> None:
        if sees_it:
            cache.set(sign_of(upload), "another", timeout=60)
        Import.objects.filter(pk=upload.pk).update(token="another")

    asked_to_store(upload)
    in_the_middle(monkeypatch, another_takes_over)

    carried_on(upload)

    assert is_empty()
    assert (upload.state, upload.token) == (State.RUNNING, "another")
    assert file_of(upload).exists()
    if sees_it:
        assert cache.get(sign_of(upload)) == "another"
    expire(upload)
    fall_silent(upload)
    assert carried_on(upload).state == State.DONE


@pytest.mark.both(transaction=True)
def test_of_many_workers_at_once_one_does_it(upload):
    asked_to_store(upload)

    def work(_: int) -> None:
        try:
            carry_on(upload.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))

    upload.refresh_from_db()
    assert upload.state == State.DONE
    assert Vote.objects.count() == 2
    assert audit_actions() == [("dataset.imported", "pilot")]


def test_three_workers_that_die_are_enough(upload, monkeypatch):
    def die(*_: object, **__: object) -> None:
        raise SystemExit

    asked_to_store(upload)
    monkeypatch.setattr(uploads, "open_material", die)
    for attempt in range(1, IMPORTS.most_claims + 1):
        with pytest.raises(SystemExit):
            carry_on(upload.pk)
        upload.refresh_from_db()
        assert (upload.state, upload.attempts) == (State.QUEUED, attempt)
        assert IMPORTS.resend() == [upload.pk]

    carried_on(upload)
    carried_on(upload)  # delivered twice

    assert upload.state == State.FAILED
    assert "3 times without an error message" in upload.error
    assert not file_of(upload).exists()
    assert IMPORTS.resend() == []
    assert is_empty()


def test_storing_has_attempts_of_its_own(upload):
    Import.objects.update(attempts=IMPORTS.most_claims - 1)

    asked_to_store(upload)

    assert upload.attempts == 0
