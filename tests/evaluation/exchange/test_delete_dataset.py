"""Deleting a dataset: only with its name typed, and then with everything that belongs to it."""

import threading
import time
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEntry, User
from annotation.models import (
    Assignment,
    CrowdPlatform,
    Draft,
    Enquiry,
    Exposure,
    GoldAnswer,
    Participant,
    QualificationAnswer,
    QualificationItem,
    Rater,
    Skip,
    Study,
    StudyLink,
    Target,
    Unit,
    UnitPassage,
    UnitTarget,
    Vote,
    VoteChange,
)
from evaluation.exchange.services import delete_dataset
from evaluation.graphs.services import graph_pull
from evaluation.graphs.services.graph_pull import PullPlan, PullStep, request_pull
from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import JobError, JobHold
from evaluation.models import (
    Adjudication,
    ControlScore,
    Job,
    JobStep,
    MetricRun,
    RunChunk,
    SavedView,
)
from generation.models import (
    Call,
    ConstructedDataset,
    Construction,
    Dataset,
    Entity,
    Grid,
    GridChunk,
    GridSetup,
    Import,
    Passage,
    Planning,
    Sample,
    SampledExample,
    Triple,
)
from generation.records import EntityRecord, EntityTriple, Where
from generation.retrieval.wikibase import Described, Match
from generation.services.graphs import store_entities
from generation.text_html import plain_html
from tests.annotation.crowd import at_once
from tests.makers import (
    contents,
    example_row,
    import_rows,
    is_empty,
    response_row,
    row_counts,
    scheme_of,
    statements,
    vote_row,
)
from tests.shown import shown

pytestmark = pytest.mark.both

NOWHERE = "http://127.0.0.1:1/"


def make_everything(folder, name):
    """Make a dataset that has a row in every table."""
    evidence = [{"id": "p1", "text": "Passage.", "golden": True}]
    outcome = import_rows(
        folder,
        name,
        examples=[example_row("e1", evidence=evidence)],
        responses=[response_row("r1", "e1", evidence_shown=["p1"]), response_row("r2", "e1")],
        votes=[vote_row("r1", "anna"), vote_row("r1", "anna", arm="merged", citation=1)],
        flags=[{"response": "r2", "rater": "ben"}],
        scores=[{"response": "r1", "metric": "nli", "score": 1}],
        rankings=[{"ranking": "dense", "example": "e1", "passage": "p1", "rank": 1}],
        entities=[
            {
                "qid": "Q1",
                "label": "Ada",
                "aliases": ["A"],
                "triples": [{"relation": "born", "value": "1815"}],
            }
        ],
        kg_questions=[
            {"id": "k1", "question": "?", "entities": ["Q1"], "minimum": [["Q1", "born", "1815"]]}
        ],
        study={"guidelines": [{"version": 1, "text": "Read."}]},
        scheme=scheme_of({"attributable": "yes_no"}),
    )
    assert outcome.study is not None
    rate_something(outcome.study)
    generate_something(outcome.study.dataset)
    return outcome.dataset


def rate_something(study: Study) -> None:
    """Add what people leave in a study that they rate in here."""
    rater = Rater.objects.get(study=study, code="anna")
    target = Target.objects.filter(response__dataset=study.dataset)[0]
    now = timezone.now()
    unit = Unit.objects.create(arm=study.arms.all()[0], example=target.response.example)
    UnitTarget.objects.create(unit=unit, target=target, place=0)
    passage = Passage.objects.filter(dataset=study.dataset)[0]
    UnitPassage.objects.create(unit=unit, passage=passage, position=1)
    taken = Assignment.objects.create(
        study=study, unit=unit, group=0, slot=1, turn=1, key=1, rater=rater, submitted_at=now
    )
    Exposure.objects.create(rater=rater, target=target, unit=unit)
    Draft.objects.create(rater=rater, unit=unit, saved_at=now)
    Skip.objects.create(rater=rater, unit=unit, reason="Another reason", at=now)
    Enquiry.objects.create(rater=rater, unit=unit, text="Does it count?")
    Rater.objects.filter(pk=rater.pk).update(read_guideline=study.guidelines.get())
    votes = Vote.objects.filter(arm__study=study, rater=rater)
    votes.update(assignment=taken)
    GoldAnswer.objects.create(study=study, target=target, question="attributable", answer=1)
    let_people_join(study, rater)
    VoteChange.objects.create(
        vote=votes[0],
        at=now,
        old_answer=0,
        old_is_implied=False,
        new_answer=1,
        new_is_implied=False,
    )
    Adjudication.objects.create(
        study=study,
        target=target,
        question="attributable",
        note="It says so.",
        by=User.objects.get_or_create(username="who-decides")[0],
    )
    run = MetricRun.objects.create(dataset=study.dataset, metric="auto_ais")
    RunChunk.objects.create(run=run, number=1, targets=[target.pk])
    ControlScore.objects.create(run=run, target=target, kind="top", score=1)
    job = Job.objects.create(kind=Job.Kind.PROMPT_SEARCH, study=study, name=study.name)
    JobStep.objects.create(job=job, number=1)
    SavedView.objects.create(dataset=study.dataset, name="Figure 1, close")
    study.drawn_dialogs.create(dialog="d1", probability=0.5, is_drawn=True)


def let_people_join(study: Study, rater: Rater) -> None:
    """Add a study link with a platform, from which the rater came, and a qualification round."""
    link = StudyLink.objects.create(study=study, most_per_group=5)
    platform = CrowdPlatform.objects.create(link=link, consent="I agree.")
    now = timezone.now()
    Participant.objects.create(rater=rater, platform=platform, person="p1", consented_at=now)
    response = study.dataset.responses.get(key="r2")
    item = QualificationItem.objects.create(study=study, response=response, place=1, answers={})
    QualificationAnswer.objects.create(
        item=item, rater=rater, answers={}, n_right=0, n_known=1, at=now
    )


def generate_something(dataset: Dataset) -> None:
    """Add a construction that it was made of, a sample, and a grid with a call."""
    construction = Construction.objects.create(name=dataset.name, parameters={})
    ConstructedDataset.objects.create(
        construction=construction, dataset=dataset, style=ConstructedDataset.Style.COMPLEX
    )
    response = dataset.responses.get(key="r1")
    sample = Sample.objects.create(dataset=dataset, name="hundred", parameters={})
    SampledExample.objects.create(sample=sample, example=response.example, position=1)
    grid = Grid.objects.create(dataset=dataset, name=dataset.name, sample=sample, choices={})
    Planning.objects.create(grid=grid)
    GridSetup.objects.create(grid=grid, setup=response.setup, position=1)
    GridChunk.objects.create(
        grid=grid, setup=response.setup, number=1, examples=[response.example_id]
    )
    Call.objects.create(
        grid=grid,
        setup=response.setup,
        example=response.example,
        response=response,
        prompt="0 -1 0 Who? [eot]",
    )


def address(dataset):
    return reverse("evaluation:delete-dataset", args=[dataset.slug])


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


def test_the_right_name_deletes_every_row_and_leaves_an_audit_line(admin, adam, tmp_path):
    dataset = make_everything(tmp_path / "a", "Pilot")
    assert all(row_counts().values()), "a table that this test forgets"

    answer = admin.post(address(dataset), {"name": " Pilot "}, follow=True)

    assert any("Pilot is deleted" in message for message in shown(answer).messages)
    assert is_empty()
    entry = AuditEntry.objects.get(action="dataset.deleted")
    assert (entry.actor, entry.subject) == (adam, "Pilot")
    assert entry.details == {
        "n_examples": 2,
        "n_responses": 2,
        "n_votes": 2,
        "n_entities": 1,
    }


def test_its_import_keeps_a_name_and_a_date_and_none_of_its_texts(
    admin, adam, tmp_path, settings, django_capture_on_commit_callbacks
):
    settings.MEDIA_ROOT = tmp_path
    dataset = make_everything(tmp_path / "a", "pilot")
    file = SimpleUploadedFile("pilot.zip", b"")
    upload = Import.objects.create(
        requested_by=adam, upload=file, dataset=dataset, report={"preview": "a text"}
    )
    upload.problem_path.parent.mkdir()
    upload.problem_path.write_text("a text")
    kept = plain_html("a text")

    with django_capture_on_commit_callbacks(execute=True):
        admin.post(address(dataset), {"name": "pilot"})

    upload.refresh_from_db()
    assert (upload.report, upload.dataset) == ({}, None)
    assert not upload.problem_path.exists()
    assert plain_html("a text") is not kept


def test_another_dataset_keeps_every_row(admin, tmp_path):
    kept = make_everything(tmp_path / "a", "kept")
    before = contents()
    dataset = make_everything(tmp_path / "b", "pilot")

    admin.post(address(dataset), {"name": "pilot"})

    assert contents() == before
    assert Dataset.objects.get() == kept


def test_a_dataset_with_two_studies_loses_both(admin, tmp_path):
    dataset = make_everything(tmp_path / "a", "pilot")
    import_rows(tmp_path / "b", study_name="second", votes=[vote_row("r1", "eve", "5", "fluent")])

    text = shown(admin.get(address(dataset))).text
    admin.post(address(dataset), {"name": "pilot"})

    assert "2 studies with all votes: second, pilot" in text
    assert is_empty()


@pytest.mark.parametrize("name", ["", "pilo", "Pilot", "pilot2", "*"])
def test_a_wrong_name_changes_nothing(admin, tmp_path, name):
    dataset = make_everything(tmp_path / "a", "pilot")
    before = contents()

    answer = admin.post(address(dataset), {"name": name})

    assert answer.status_code == 422
    assert set(shown(answer).errors) == {"name"}
    assert contents() == before
    assert not AuditEntry.objects.filter(action="dataset.deleted").exists()


def test_looking_at_the_page_deletes_nothing_and_says_what_would_go(admin, tmp_path):
    dataset = make_everything(tmp_path / "a", "pilot")
    Job.objects.create(kind=Job.Kind.GRAPH_PULL, dataset=dataset, name="pilot, pull 1")

    answer = admin.get(address(dataset), {"name": "pilot"})

    assert answer.status_code == 200
    said = shown(answer).text
    for lost in ("2 examples", "2 responses", "1 entity and 1 triple", "1 pull", "1 study"):
        assert lost in said
    assert Dataset.objects.exists()


def test_work_on_it_is_cancelled_and_says_so(admin, tmp_path):
    dataset = make_everything(tmp_path / "a", "pilot")
    Job.objects.create(kind=Job.Kind.GRAPH_PULL, dataset=dataset, name="pilot, pull 1")

    admin.post(address(dataset), {"name": "pilot"})

    cancelled = AuditEntry.objects.filter(action="job.cancelled").values_list("subject", flat=True)
    assert sorted(cancelled) == ["pilot", "pilot, pull 1"]
    assert is_empty()


def test_who_deletes_what_somebody_else_has_just_deleted_changes_nothing(adam, tmp_path):
    dataset = make_everything(tmp_path / "a", "pilot")
    twice = Dataset.objects.get()

    delete_dataset(dataset, adam)
    delete_dataset(twice, adam)

    assert AuditEntry.objects.filter(action="dataset.deleted").count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
@pytest.mark.both(transaction=True)
def test_a_dataset_to_which_a_pull_is_adding_is_deleted_after_that(adam, monkeypatch):
    """A pull that goes on after the deletion finds its dataset gone, and stores nothing."""
    job = request_pull(PullPlan("pilot", ("Ada",), allow_private=True, endpoint=NOWHERE), None)
    claim = JOBS.claim(job.pk)
    assert claim
    dataset = claim.dataset
    assert dataset
    ada = EntityRecord(Where("a", 1), "Q1", "Ada", "", (), "", (EntityTriple("born", "1815", ""),))
    step = PullStep(1, "Ada", (Match("Q1", "label"),))
    found = {"Q1": Described(ada, Counter())}
    is_storing = threading.Event()

    def slowly(*args):
        n = store_entities(*args)
        is_storing.set()
        time.sleep(0.3)  # the deletion has begun by then
        return n

    def pull():
        graph_pull._store(JobHold(claim), dataset, step, found)
        return Triple.objects.count()

    def delete():
        is_storing.wait()
        delete_dataset(dataset, adam)

    monkeypatch.setattr(graph_pull, "store_entities", slowly)
    at_once(pull, delete)

    assert not Dataset.objects.exists()
    assert not Job.objects.exists()
    with pytest.raises(JobError, match="dataset of this pull was deleted"):
        graph_pull._store(JobHold(claim), dataset, step, found)
    assert not Entity.objects.exists()


@pytest.mark.parametrize("user", ["rosa", "rachel"])
def test_only_admins_delete(request, client_for, tmp_path, user):
    dataset = make_everything(tmp_path / "a", "pilot")

    answer = client_for(request.getfixturevalue(user)).post(address(dataset), {"name": "pilot"})

    assert answer.status_code == 403
    assert Study.objects.exists()


def test_the_number_of_statements_does_not_grow_with_the_votes(admin, tmp_path):
    def cost(name, n):
        dataset = import_rows(
            tmp_path / name,
            name,
            examples=[example_row()],
            responses=[response_row(f"r{i}") for i in range(n)],
            votes=[vote_row(f"r{i}", rater) for i in range(n) for rater in "abc"],
        ).dataset
        assert dataset
        return statements(lambda: admin.post(address(dataset), {"name": name}))

    assert len(cost("few", 3)) == len(cost("many", 90))
