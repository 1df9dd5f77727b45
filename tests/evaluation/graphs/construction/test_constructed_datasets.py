"""Actions on a finished construction: review its questions, publish, delete."""

import pytest

from evaluation.jobs.kinds import kind_of
from evaluation.jobs.services import JobError
from evaluation.models import Job
from generation.models import Construction, Dataset
from generation.services.constructions import ConstructionError, Review, publish, review_entry
from tests.constructed_entries import BUILT, FAILS
from tests.evaluation.graphs.construction.constructions import (
    KEEP,
    construction,
    entry,
    finished_construction,
    minimum,
    writer_server,
)

pytestmark = pytest.mark.once


@pytest.fixture(scope="module", autouse=True)
def finished(tmp_path_factory, family_graph, module_database):
    folder = tmp_path_factory.mktemp("finished")
    with (
        writer_server() as writer,
        finished_construction(writer, folder, family_graph.url),
    ):
        yield


def test_a_dataset_has_what_nobody_dropped():
    review_entry(entry(1), KEEP, None)
    review_entry(entry(2), Review("drop", "odd"), None)
    taken = ("Q2000007", "occupation", "painter")
    edited = Review("keep", "", "Whose son was Otto?", "", (taken,))
    review_entry(entry(8), edited, None)

    dataset = publish(construction(), "Painters", "complex", None)

    keys = [f"families-{number}" for number in BUILT if number != 2]
    assert list(dataset.examples.order_by("pk").values_list("key", flat=True)) == keys
    example = dataset.examples.get(key="families-8")
    assert example.turns.get().text == "Whose son was Otto?"
    question = example.kg_question
    gold = question.entities.order_by("position").values_list("qid", "is_retrieved")
    assert list(gold) == [("Q2000009", False), ("Q2000007", False)]
    assert (question.is_minimum_known, question.is_retrieved_known) == (True, False)
    stated = list(question.minimum.values_list("qid", "relation", "value", "round"))
    assert stated == [member for member in minimum(8) if member[:3] != taken]
    assert len(stated) == 3
    # Orazio, Artemisia, both Anne Hathaways, Shakespeare, Shulman, Susanna, three Kleins, Stiattesi
    assert dataset.entities.count() == 11
    ida = dataset.entities.get(qid="Q2000008")
    assert (ida.label, ida.type) == ("Ida Klein", "human")
    assert list(ida.triples.values_list("relation", "value", "value_qid")) == [
        ("spouse", "Otto Klein", "Q2000007"),
        ("instance of", "human", "Q5"),
    ]


def test_simple_questions_are_a_dataset_of_their_own():
    review_entry(entry(7), Review("keep", simple_question="Who was her father?"), None)
    dataset = publish(construction(), "Simple painters", "simple", None)

    asked = dict(dataset.examples.values_list("key", "turns__text"))
    assert asked["families-1"] == "What of entry 1?"
    assert asked["families-7"] == "Who was her father?"


def test_the_same_dataset_is_found_again_and_another_refused():
    dataset = publish(construction(), "Painters", "complex", None)

    assert publish(construction(), "Painters", "complex", None) == dataset
    with pytest.raises(ConstructionError, match=r"in the complex style\. Choose another name"):
        publish(construction(), "Painters", "simple", None)
    review_entry(entry(1), Review("drop", "odd"), None)
    with pytest.raises(
        ConstructionError, match="before its questions were reviewed as they are now"
    ):
        publish(construction(), "Painters", "complex", None)
    Dataset.objects.create(name="Other", slug="other")
    with pytest.raises(ConstructionError, match="Another dataset is named"):
        publish(construction(), "Other", "complex", None)
    assert Dataset.objects.count() == 2


@pytest.mark.parametrize(
    ("number", "review", "said"),
    [
        (1, Review("drop"), "Say why"),
        (1, Review("perhaps"), "expected keep or drop"),
        (1, Review("keep", question="x" * 2001), "expected at most 2,000"),
        (
            1,
            Review("keep", taken_out=(("Q1", "child", "Nobody"),)),
            "Found Q1, child, Nobody; expected a member",
        ),
        (FAILS, KEEP, "has no question"),
        (9, KEEP, "has no question"),
    ],
    ids=["reason", "verdict", "long", "stranger", "failed", "left out"],
)
def test_a_review_that_cannot_be_is_refused(number, review, said):
    with pytest.raises(ConstructionError, match=said):
        review_entry(entry(number), review, None)
    assert entry(number).reviewed_at is None


def test_a_set_keeps_one_member_at_least():
    everything = tuple(member[:3] for member in minimum(17))
    with pytest.raises(ConstructionError, match="Leave at least one member"):
        review_entry(entry(17), Review("keep", taken_out=everything), None)


def test_a_review_is_taken_back(rosa):
    review_entry(entry(1), Review("drop", "odd", "Who?"), rosa)
    assert (entry(1).reason, entry(1).reviewed_by) == ("odd", rosa)
    review_entry(entry(1), Review(""), rosa)

    again = entry(1)
    assert (again.verdict, again.reason, again.edited_question) == ("", "", "")
    assert (again.reviewed_by, again.reviewed_at) == (None, None)


def test_a_construction_with_datasets_is_kept():
    publish(construction(), "Painters", "complex", None)
    built = Job.objects.get(name="Families")
    with pytest.raises(
        JobError, match=r"Painters was made from Families\. Delete that dataset first"
    ):
        kind_of(built).delete(built, None)
    assert Job.objects.exists()
    assert Construction.objects.exists()
    Dataset.objects.all().delete()
    built.refresh_from_db()

    kind_of(built).delete(built, None)
    assert not Construction.objects.exists()
    assert not Job.objects.exists()
