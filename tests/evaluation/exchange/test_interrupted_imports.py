"""Imports whose worker dies, or that two workers have: one of them does it, once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction

from annotation.models import Vote
from evaluation.exchange import uploads
from evaluation.exchange.tasks import resend_interrupted_imports
from evaluation.exchange.uploads import interrupted_imports, lost_imports
from generation.models import Dataset, Example, Import
from tests.makers import (
    audit_actions,
    is_empty,
)
from tests.uploading import State, asked_to_store, carried_on, carry_on, file_of, in_the_middle

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("own_cache_and_folder")]


# --- workers that die, and two at once ------------------------------------------------------


def test_a_worker_that_dies_leaves_the_import_to_the_next(upload, monkeypatch):
    def die() -> None:
        raise SystemExit

    asked_to_store(upload)
    in_the_middle(monkeypatch, die)
    with pytest.raises(SystemExit):
        carry_on(upload.pk)
    assert is_empty()
    assert interrupted_imports() == [upload.pk]

    carried_on(upload)

    assert upload.state == State.DONE
    assert Vote.objects.count() == 2
    assert interrupted_imports() == []


def test_an_import_with_a_sign_of_life_is_not_interrupted(upload):
    assert interrupted_imports() == [upload.pk]  # no worker has begun

    cache.add(f"import:{upload.pk}:alive", "somebody", timeout=60)

    assert interrupted_imports() == []
    assert carried_on(upload).state == State.CHECKING  # another worker has it


@pytest.mark.parametrize("state", [State.CHECKED, State.DONE, State.FAILED, State.CANCELLED])
def test_an_import_that_waits_for_nobody_is_not_carried_on(upload, state):
    Import.objects.update(state=state)

    carried_on(upload)

    assert upload.state == state
    assert interrupted_imports() == []
    assert is_empty()


def test_an_import_that_does_not_exist_is_nobody_s_trouble():
    carry_on(12345)
    resend_interrupted_imports()

    assert is_empty()


def test_two_looks_at_once_send_an_interrupted_import_once(upload):
    assert lost_imports() == [upload.pk]
    assert lost_imports() == []

    cache.delete(f"import:{upload.pk}:sent")  # its time is over

    assert lost_imports() == [upload.pk]


def test_a_second_caller_does_nothing_while_the_first_is_at_it(upload, monkeypatch):
    asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: carry_on(upload.pk))

    carried_on(upload)

    assert upload.state == State.DONE
    assert audit_actions() == [("dataset.imported", "pilot")]


def test_a_worker_thought_dead_finds_the_work_done_and_spoils_nothing(upload, monkeypatch):
    def fall_silent_and_be_replaced() -> None:
        cache.delete(f"import:{upload.pk}:alive")
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
    alive = f"import:{upload.pk}:alive"

    def another_takes_over() -> None:
        if sees_it:
            cache.set(alive, "another", timeout=60)
        Import.objects.filter(pk=upload.pk).update(token="another")

    asked_to_store(upload)
    in_the_middle(monkeypatch, another_takes_over)

    carried_on(upload)

    assert is_empty()
    assert (upload.state, upload.token) == (State.IMPORTING, "another")
    assert file_of(upload).exists()
    if sees_it:
        assert cache.get(alive) == "another"
        cache.delete(alive)
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
    for attempt in range(1, Import.MOST_ATTEMPTS + 1):
        with pytest.raises(SystemExit):
            carry_on(upload.pk)
        upload.refresh_from_db()
        assert (upload.state, upload.n_attempts) == (State.IMPORTING, attempt)
        assert interrupted_imports() == [upload.pk]

    carried_on(upload)
    carried_on(upload)  # delivered twice

    assert upload.state == State.FAILED
    assert "3 times without an error message" in upload.error
    assert not file_of(upload).exists()
    assert interrupted_imports() == []
    assert is_empty()


def test_storing_has_attempts_of_its_own(upload):
    Import.objects.update(n_attempts=Import.MOST_ATTEMPTS - 1)

    asked_to_store(upload)

    assert upload.n_attempts == 0


def test_attempts_are_bounded_by_the_database(upload):
    with pytest.raises(IntegrityError), transaction.atomic():
        Import.objects.update(n_attempts=Import.MOST_ATTEMPTS + 1)
