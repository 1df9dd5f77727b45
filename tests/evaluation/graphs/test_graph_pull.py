"""Pulls as jobs: each name's entities are stored once, whatever endpoint and worker do."""

import socket
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluation.graphs.services import graph_pull
from evaluation.graphs.services.graph_pull import missing_qids
from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import JobError, JobHold, cancel_job, resume_job
from evaluation.models import Job
from generation.models import Alias, Dataset, Entity, Triple
from generation.records import EntityRecord, EntityTriple, KGQuestionRecord
from generation.services.datasets import create_dataset
from generation.services.graphs import store_entities, store_kg_questions
from tests.endpoint_server import endpoint_server, forwards, gives, refuses
from tests.evaluation.graphs.pulls import HASTY, HERE, asked_for, found, pulled, qids, worked
from tests.wikidata_shape import interchange_rows, world
from work.claims import WorkStopped

pytestmark = pytest.mark.both

STATE = Job.State
PAINTERS = ("Orazio Gentileschi", "Artemisia Gentileschi")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(graph_pull, "PATIENCE", HASTY)


def test_namesakes_are_all_stored_with_aliases_types_and_one_hop_statements(oxigraph):
    job = pulled(oxigraph.url, "Anne Hathaway")

    assert (job.state, job.error) == (STATE.DONE, "")
    assert found(job) == {"Anne Hathaway": [("Q36301", True), ("Q232478", True)]}
    wife = Entity.objects.get(dataset=job.dataset, qid="Q232478")
    [row] = [row for row in interchange_rows(world()) if row["qid"] == "Q232478"]
    assert (wife.label, wife.type) == ("Anne Hathaway", "human")
    assert list(wife.aliases.order_by("name").values_list("name", flat=True)) == row["aliases"]
    assert [(t.relation, t.value, t.value_qid) for t in wife.triples.all()] == [
        (t["relation"], t["value"], t.get("value_qid", "")) for t in row["triples"]
    ]


def test_a_pull_says_what_it_brought_and_what_it_left_out(oxigraph):
    """The wife has 10 known values, the actress 11: 13 and 12 statements less 2 and 2."""
    totals = pulled(oxigraph.url, "Anne Hathaway", "nobody", "Annie Hathaway").result["totals"]

    assert totals == {
        "n_names": 3,
        "n_not_found": 1,
        "n_new": 2,
        "n_triples": 21,
        "n_there": 1,
        "n_namesakes_left": 0,
        "left_out": {"identifiers and files": 3, "unknown values": 1},
    }
    assert Triple.objects.count() == 21


def test_qids_aliases_and_awkward_names_are_names_as_well(oxigraph):
    names = (
        "Q692",
        "<P17>",
        "<Q90>",
        "P18",
        "Shakespeare's wife",
        'Dwayne "The Rock" Johnson',
        "AC\\DC",
        "Q999999999",
    )

    assert found(pulled(oxigraph.url, *names)) == {
        "Q692": [("Q692", True)],
        "<P17>": [("P17", True)],
        "<Q90>": [("Q90", True)],
        "P18": [],
        "Shakespeare's wife": [("Q232478", True)],
        'Dwayne "The Rock" Johnson': [("Q10738", True)],
        "AC\\DC": [("Q1000011", True)],
        "Q999999999": [],
    }


def test_an_entity_that_is_there_stays_as_it_is(oxigraph):
    dataset = create_dataset("painters")
    mine = EntityRecord(
        HERE, "Q212657", "Artemisia", "painter", ("A. G.",), "", (EntityTriple("born in", "R", ""),)
    )
    store_entities(dataset, [mine])
    before = (
        list(Entity.objects.values()),
        list(Alias.objects.values()),
        list(Triple.objects.values()),
    )

    job = pulled(oxigraph.url, "Artemisia Gentileschi")

    assert found(job) == {"Artemisia Gentileschi": [("Q212657", False)]}
    assert job.result["totals"]["n_there"] == 1
    assert before == (
        list(Entity.objects.values()),
        list(Alias.objects.values()),
        list(Triple.objects.values()),
    )


def test_two_names_of_one_entity_bring_it_once(oxigraph):
    job = pulled(oxigraph.url, "Q212657", "Artemisia Gentileschi", "Artemisia Lomi")

    assert [each[0][1] for each in found(job).values()] == [True, False, False]
    assert qids() == ["Q212657"]


def test_of_very_many_namesakes_those_with_the_lowest_numbers_come(oxigraph, monkeypatch):
    monkeypatch.setattr(graph_pull, "MOST_NAMESAKES", 1)
    job = pulled(oxigraph.url, "Anne Hathaway")

    assert found(job) == {"Anne Hathaway": [("Q36301", True)]}
    assert job.result["totals"]["n_namesakes_left"] == 1


def test_what_its_questions_name_and_the_graph_lacks_is_pulled(oxigraph):
    dataset = create_dataset("painters")
    store_entities(dataset, [EntityRecord(HERE, "Q220", "Rome", "city", (), "", ())])
    asked = KGQuestionRecord(
        HERE, "q1", "Who?", ("Q367360", "Q220"), ("Q212657", "P17", "Paris", "not a qid"), None
    )
    store_kg_questions(dataset, [asked])
    assert missing_qids(dataset) == ["Q367360", "Q212657", "P17", "Paris", "not a qid"]

    job = pulled(oxigraph.url, with_missing=True)

    assert found(job) == {
        "Q367360": [("Q367360", True)],
        "Q212657": [("Q212657", True)],
        "<P17>": [("P17", True)],  # whatever looks like no qid is one as well: no label is meant
        "<Paris>": [],
        "<not a qid>": [],
    }
    assert missing_qids(dataset) == ["Paris", "not a qid"]
    with pytest.raises(JobError, match="it has no questions to take names from"):
        asked_for(oxigraph.url, dataset="another", with_missing=True)


@pytest.fixture
def model(settings, tmp_path):
    """Install a pipeline that knows two names and a date: no trained one can be had."""
    import spacy

    pipeline = spacy.blank("en")
    patterns = {"Orazio Gentileschi": "PERSON", "Rome": "GPE", "1639": "DATE"}
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": kind, "pattern": name} for name, kind in patterns.items()])
    pipeline.to_disk(tmp_path / "model")
    settings.SPACY_MODEL = str(tmp_path / "model")


def test_names_that_a_model_finds_in_questions_and_the_graph_lacks_are_pulled(oxigraph, model):
    dataset = create_dataset("painters")
    store_entities(dataset, [EntityRecord(HERE, "Q220", "Rome", "city", (), "", ())])
    text = "Did Orazio Gentileschi leave Rome before 1639?"
    store_kg_questions(dataset, [KGQuestionRecord(HERE, "q1", text, (), None, None)])

    assert found(pulled(oxigraph.url, with_mentions=True)) == {
        "Orazio Gentileschi": [("Q367360", True)]
    }


def test_a_model_that_reads_many_questions_gives_signs_of_life(model, monkeypatch):
    """Five questions, two at once: three signs."""
    dataset = create_dataset("painters")
    asked = [KGQuestionRecord(HERE, f"q{n}", "Rome?", (), None, None) for n in range(5)]
    store_kg_questions(dataset, asked)
    claim = JOBS.claim(asked_for("http://127.0.0.1:1/", with_mentions=True).pk)
    assert claim is not None
    hold, signs = JobHold(claim), []
    monkeypatch.setattr(hold, "keep", lambda: signs.append(1))
    monkeypatch.setattr(graph_pull, "QUESTIONS_TOGETHER", 2)

    assert set(graph_pull._missing_mentions(hold, dataset)) == {"Rome"}
    assert len(signs) == 3


def test_without_a_model_names_in_questions_cannot_be_asked_for(settings):
    settings.SPACY_MODEL = ""
    create_dataset("painters")

    with pytest.raises(JobError, match="No spaCy model is installed") as refused:
        asked_for("http://127.0.0.1:1/", with_mentions=True)
    assert refused.value.field == "with_mentions"


# --- trouble, and going on after it -----------------------------------------------------------


def one_name_at_a_time(monkeypatch):
    monkeypatch.setattr(graph_pull, "NAMES_TOGETHER", 1)


def refused_for_the_second_name(url, refusal):
    """Return an endpoint that is fine for one name: three queries."""
    return [*[forwards(url)] * 3, refusal]


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (gives(b"{]"), "expected valid JSON"),
        (gives(b"<html>"), "found a page"),
        (refuses(429, Retry_After="0"), "it answered 429 Too Many Requests"),
        (refuses(503), "it answered 503 Service Unavailable"),
        (gives(after=1.0), "no whole answer within 0.2 s"),
    ],
    ids=["malformed", "page", "limit", "broken", "slow"],
)
def test_trouble_in_the_middle_loses_nothing_and_is_gone_on_with(
    oxigraph, monkeypatch, refusal, said
):
    one_name_at_a_time(monkeypatch)
    if "0.2 s" in said:
        monkeypatch.setattr(graph_pull, "PATIENCE", HASTY._replace(query=0.2))
    with endpoint_server(*refused_for_the_second_name(oxigraph.url, refusal)) as server:
        job = pulled(server.url, *PAINTERS, "Anne Hathaway")

        assert job.state == STATE.FAILED
        assert job.error.startswith(server.url)
        assert said in job.error
        assert found(job) == {"Orazio Gentileschi": [("Q367360", True)]}
        assert (qids(), job.n_done) == (["Q367360"], 1)

        server.plan = [forwards(oxigraph.url)]
        resume_job(job, None)
        worked(job)

    assert (job.state, job.error) == (STATE.DONE, "")
    assert found(job) == {
        "Orazio Gentileschi": [("Q367360", True)],
        "Artemisia Gentileschi": [("Q212657", True)],
        "Anne Hathaway": [("Q36301", True), ("Q232478", True)],
    }
    assert job.result["totals"]["n_new"] == 4


def test_an_endpoint_that_is_down_fails_the_pull_and_the_same_again_goes_on(oxigraph):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/sparql"
    job = pulled(url, *PAINTERS)

    assert job.state == STATE.FAILED
    assert "no connection: " in job.error
    assert "(asked 2 times)" in job.error
    again = asked_for(url, *PAINTERS)
    assert (again.pk, again.state) == (job.pk, STATE.QUEUED)


def test_a_limit_that_passes_is_nobodys_trouble(oxigraph):
    with endpoint_server(refuses(429, Retry_After="0"), forwards(oxigraph.url)) as server:
        assert pulled(server.url, *PAINTERS).state == STATE.DONE


def test_who_takes_over_from_a_killed_worker_goes_on_behind_its_last_name(oxigraph, monkeypatch):
    one_name_at_a_time(monkeypatch)
    job = asked_for(oxigraph.url, *PAINTERS)
    store = graph_pull._store

    def killed(hold, dataset, step, entities):
        if step.number == 2:
            raise SystemError
        store(hold, dataset, step, entities)

    monkeypatch.setattr(graph_pull, "_store", killed)
    claim = JOBS.claim(job.pk)
    assert claim is not None
    with pytest.raises(SystemError):
        graph_pull.pull_graph(JobHold(claim))  # no error is stored: the worker keeps the job
    job.refresh_from_db()
    assert (job.state, job.n_done) == (STATE.RUNNING, 1)
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert JOBS.resend() == [job.pk]

    monkeypatch.setattr(graph_pull, "_store", store)
    with endpoint_server(forwards(oxigraph.url)) as server:
        Job.objects.filter(pk=job.pk).update(parameters={**job.parameters, "endpoint": server.url})
        worked(job)

    assert (job.state, job.result["totals"]["n_new"]) == (STATE.DONE, 2)
    assert qids() == ["Q212657", "Q367360"]
    assert not [asked for asked in server.asked if "Orazio Gentileschi" in asked.query]


def test_a_worker_that_lost_its_pull_stores_neither_step_nor_entities(oxigraph, monkeypatch):
    job = asked_for(oxigraph.url, *PAINTERS)

    def cancelled_meanwhile(dataset, records):
        n = store_entities(dataset, records)
        cancel_job(job, None)
        return n

    monkeypatch.setattr(graph_pull, "store_entities", cancelled_meanwhile)
    worked(job)

    # The cancelling was in the transaction that was rolled back: here one connection does both.
    assert (qids(), job.steps.count()) == ([], 0)


def test_a_pull_whose_dataset_is_deleted_meanwhile_says_so(oxigraph, monkeypatch):
    """The dataset is deleted when the entities are found but not stored yet."""
    claim = JOBS.claim(asked_for(oxigraph.url, *PAINTERS).pk)
    assert claim is not None
    monkeypatch.setattr(JobHold, "next_step", lambda hold: Dataset.objects.all().delete())

    with pytest.raises(JobError, match="The dataset of this pull was deleted"):
        graph_pull.pull_graph(JobHold(claim))
    assert not Entity.objects.exists()


def test_a_cancelled_pull_stops_and_its_entities_stay(oxigraph, monkeypatch):
    one_name_at_a_time(monkeypatch)
    job = asked_for(oxigraph.url, *PAINTERS)
    store = graph_pull._store

    def then_cancel(hold, dataset, step, entities):
        store(hold, dataset, step, entities)
        cancel_job(job, None)

    monkeypatch.setattr(graph_pull, "_store", then_cancel)
    worked(job)
    assert (job.state, qids()) == (STATE.CANCELLED, ["Q367360"])

    monkeypatch.setattr(graph_pull, "_store", store)
    resume_job(job, None)
    assert worked(job).state == STATE.DONE
    assert qids() == ["Q212657", "Q367360"]


def test_a_long_pull_gives_other_work_a_turn(oxigraph, monkeypatch):
    one_name_at_a_time(monkeypatch)
    monkeypatch.setattr("work.claims.TURN_SECONDS", -1)
    job = pulled(oxigraph.url, *PAINTERS)
    assert (job.state, job.n_done) == (STATE.QUEUED, 0)

    monkeypatch.setattr("work.claims.TURN_SECONDS", 600)
    assert worked(job).state == STATE.DONE


def test_what_was_to_be_pulled_is_read_once(oxigraph, monkeypatch):
    """A name that the questions got meanwhile is for the next pull: steps are counted."""
    dataset = create_dataset("painters")
    store_kg_questions(dataset, [KGQuestionRecord(HERE, "q1", "?", ("Q212657",), None, None)])
    job = asked_for(oxigraph.url, "Orazio Gentileschi", with_missing=True)
    assert job.n_total == 2
    monkeypatch.setattr(graph_pull, "_asked", raising_stopped)
    worked(job)
    monkeypatch.undo()
    monkeypatch.setattr(graph_pull, "PATIENCE", HASTY)
    store_kg_questions(dataset, [KGQuestionRecord(HERE, "q2", "?", ("Q90",), None, None)])

    assert list(found(worked(job))) == ["Orazio Gentileschi", "Q212657"]


def raising_stopped(*_):
    raise WorkStopped
