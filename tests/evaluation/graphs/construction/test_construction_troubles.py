"""Constructions in trouble: endpoint and model fail, workers are cancelled and lost."""

import pytest
from django.utils import timezone

from evaluation.graphs.construction.services import constructions as service
from evaluation.graphs.construction.services import rounds
from evaluation.graphs.construction.services.constructions import construct
from evaluation.jobs.kinds import JOBS, kind_of
from evaluation.jobs.services import JobHold
from evaluation.models import Job
from generation.models import Checkpoint, ConstructionCall, ConstructionEntry
from generation.models.constructions import SIMPLE_STYLE
from generation.services.construction_entries import EntryRound, store_call
from generation.services.constructions import publish
from tests.constructed_entries import BUILT, FAILS
from tests.endpoint_server import endpoint_server, forwards
from tests.endpoint_server import refuses as endpoint_refuses
from tests.evaluation.graphs.construction.constructions import (
    asked_for,
    construction,
    contents,
    entry,
    finished_construction,
    listed,
    writer_server,
)
from tests.evaluation.graphs.pulls import HASTY, worked
from tests.language_model_server import refuses, says
from tests.scripted_writer import SEED, entry_of, round_of, writes
from work.claims import WorkStopped

pytestmark = pytest.mark.once

STATE = Job.State
Entry = ConstructionEntry.State


@pytest.fixture(scope="module")
def whole(tmp_path_factory, family_graph, module_database):
    """Return all that a construction of two rounds has made in the end, without trouble."""
    folder = tmp_path_factory.mktemp("whole")
    with (
        writer_server() as server,
        finished_construction(server, folder, family_graph.url, n_rounds=2),
    ):
        return contents()


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(service, "PATIENCE", HASTY)


@pytest.fixture
def writer():
    with writer_server() as server:
        listed(server)
        yield server


def built():
    return [each.number for each in construction().entries.filter(state=Entry.BUILT)]


def test_an_endpoint_that_fails_in_the_middle_is_gone_on_with(
    whole, writer, family_graph, tmp_path, monkeypatch
):
    monkeypatch.setattr(service, "ENTRIES_TOGETHER", 2)
    with endpoint_server(*[forwards(family_graph.url)] * 5, endpoint_refuses(503)) as server:
        job = worked(asked_for(tmp_path, server.url, n_rounds=2))
        assert job.state == STATE.FAILED
        assert "503 Service Unavailable" in job.error
        # Four queries for the first two entries (names, edges, labels, statements), then names.
        assert construction().entries.filter(state=Entry.WRITING).count() == 2
        assert job.n_done == 2

        server.plan = [forwards(family_graph.url)]
        kind_of(job).take_up(job, None)
        assert worked(job).state == STATE.DONE
        n_first = sum("Orazio Gentileschi" in asked.query for asked in server.asked)
    assert n_first == 2  # for entries 1 and 14: entry 1 is not looked up again
    assert contents() == whole


def test_a_model_that_fails_in_the_middle_is_gone_on_with(whole, writer, family_graph, tmp_path):

    def breaks(request):
        entry_, (number, _) = entry_of(request), round_of(request)
        is_late = number > 2 or (number == 2 and entry_ > 4)
        return (refuses(401, "who are you?") if is_late else writes)(request)

    writer.otherwise = breaks
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=2))
    assert job.state == STATE.FAILED
    assert "401" in job.error
    n = ConstructionCall.objects.count()

    writer.otherwise = writes
    kind_of(job).take_up(job, None)
    assert worked(job).state == STATE.DONE
    assert n < ConstructionCall.objects.count()
    assert contents() == whole


def test_a_model_that_refuses_everything_fails_the_job_and_no_entry(writer, family_graph, tmp_path):
    writer.otherwise = refuses(400, "too long")
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=2))

    assert job.state == STATE.FAILED
    assert "too long" in job.error
    assert not ConstructionCall.objects.exists()
    assert not construction().entries.filter(state=Entry.FAILED).exists()


def test_a_prompt_that_a_model_refuses_fails_its_entry_alone(writer, family_graph, tmp_path):
    writer.plan("(entry 5)", refuses(400, "too long"))
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=2))

    assert job.state == STATE.DONE
    assert entry(5).state == Entry.FAILED
    assert "too long" in entry(5).detail
    assert [e.number for e in construction().entries.filter(state=Entry.BUILT)] == [
        number for number in BUILT if number != 5
    ]


def test_another_model_behind_the_name_is_refused(writer, family_graph, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "MOST_ATTEMPTS", 0)  # no round is asked for
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=2))
    assert construction().made_with["signature"].startswith("openai|chat|")
    monkeypatch.undo()
    monkeypatch.setattr(service, "PATIENCE", HASTY)
    ConstructionCall.objects.create(
        entry=entry(1), round=1, attempt=1, prompt="?", problem="unreadable"
    )
    Checkpoint.objects.update(served_name="another")
    Job.objects.update(state=STATE.FAILED)

    kind_of(job).take_up(job, None)
    worked(job)
    assert job.state == STATE.FAILED
    assert "its calls so far were made with openai, openai|chat|127.0.0.1|scripted" in job.error
    assert "Put the earlier model back" in job.error


def test_a_cancelled_construction_stops_between_two_calls(
    whole, writer, family_graph, tmp_path, monkeypatch
):
    job = asked_for(tmp_path, family_graph.url, n_rounds=2)
    monkeypatch.setattr("work.claims.LOOKS_EVERY_SECONDS", 0.0)

    def then_cancel(asked, said):
        call = store_call(asked, said)
        if (asked.entry.number, asked.round) == (4, 2):
            Job.objects.filter(pk=job.pk).update(state=STATE.CANCELLED, token="", lease_until=None)
        return call

    monkeypatch.setattr(rounds, "store_call", then_cancel)
    worked(job)
    assert job.state == STATE.CANCELLED
    assert ConstructionCall.objects.filter(round=SIMPLE_STYLE).count() == 0
    monkeypatch.setattr(rounds, "store_call", store_call)
    kind_of(job).take_up(job, None)
    assert worked(job).state == STATE.DONE
    assert contents() == whole


def test_a_worker_that_lost_its_construction_stores_nothing_more(
    writer, family_graph, tmp_path, monkeypatch
):
    """The second worker takes over from one that went silent, and finishes; the first wakes up."""
    job = asked_for(tmp_path, family_graph.url, n_rounds=2)
    first = JOBS.claim(job.pk)
    assert first is not None
    woken: list[EntryRound] = []

    def falls_asleep(asked, said):
        if asked.round == 2 and not woken:
            woken.append(asked)
            raise SystemError
        return store_call(asked, said)

    monkeypatch.setattr(rounds, "store_call", falls_asleep)
    hold = JobHold(first)
    with pytest.raises(SystemError):
        construct(hold)
    before = ConstructionCall.objects.count()
    Job.objects.update(lease_until=timezone.now())
    worked(job)
    assert job.state == STATE.DONE
    done = contents()
    assert ConstructionCall.objects.count() > before

    with pytest.raises(WorkStopped):
        construct(hold)
    assert contents() == done


def test_a_limited_model_is_asked_at_its_pace(writer, family_graph, tmp_path):
    """5 calls a minute are one every 12 s: longer than a worker waits, others have their turn."""
    listed(writer, calls_per_minute=5)
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=2))

    assert job.state == STATE.QUEUED
    assert len(writer.requests) == ConstructionCall.objects.count() == 1


def test_neighbours_that_a_model_refuses_fail_and_the_rest_is_built(writer, family_graph, tmp_path):
    """Three prompts get no text; the model is asked something else then, and answers that."""

    def refuses_three(request):
        is_refused = "(entry" in request.prompt and entry_of(request) in (3, 4, 5)
        return (refuses(400, "too long") if is_refused else writes)(request)

    writer.otherwise = refuses_three
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=1))
    assert job.state == STATE.DONE
    assert built() == [number for number in BUILT if number not in (3, 4, 5)]

    assert kind_of(job).take_up(job, None)
    assert worked(job).state == STATE.DONE  # only other prompts are answered, still
    assert [entry(number).calls.count() for number in (3, 4, 5, FAILS)] == [2, 2, 2, 4]
    assert entry(5).detail.startswith("round 1, attempt 2: ")
    assert entry(5).state == Entry.FAILED


def test_a_refusal_of_a_limited_model_is_settled_before_the_next_call(
    writer, family_graph, tmp_path, monkeypatch
):
    """The worker stops after each lot: a call that it did not settle would be asked for ever."""
    monkeypatch.setattr(rounds, "PATIENCE_SECONDS", 0.0)
    listed(writer, calls_per_minute=600)
    writer.plan("(entry 4)", refuses(400, "too long"))
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=1))

    assert job.state == STATE.QUEUED
    assert [number for number in (1, 2, 3, 4, 5) if entry(number).calls.exists()] == [1, 2, 3, 4]
    assert entry(4).state == Entry.FAILED


def test_an_entry_without_a_simple_question_fails_and_only_that_is_asked_again(
    writer, family_graph, tmp_path
):
    def is_simple_of_7(request):
        return entry_of(request) == 7 and round_of(request)[0] == SIMPLE_STYLE

    writer.otherwise = lambda asked: (says("") if is_simple_of_7(asked) else writes)(asked)
    job = worked(asked_for(tmp_path, family_graph.url, n_rounds=1))
    assert job.state == STATE.DONE
    assert entry(7).state == Entry.FAILED
    assert entry(7).detail.startswith("the simple style, attempt 3: ")
    dataset = publish(construction(), "Painters", "complex", None)
    assert not dataset.examples.filter(key="families-7").exists()

    writer.otherwise = writes
    writer.requests.clear()
    assert kind_of(job).take_up(job, None)
    assert worked(job).state == STATE.DONE
    asked = [(entry_of(request), round_of(request)) for request in writer.requests]
    assert sorted(asked) == [(7, (SIMPLE_STYLE, 4)), (FAILS, (1, 4))]
    assert built() == BUILT


def test_at_temperature_0_no_seed_is_sent(writer, family_graph, tmp_path):
    writer.otherwise = says("nothing")
    worked(asked_for(tmp_path, family_graph.url, temperature=0.0, seed=SEED, n_rounds=1))

    assert writer.requests
    assert not any("seed" in request.body for request in writer.requests)
