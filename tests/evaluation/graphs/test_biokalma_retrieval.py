"""Retrieval on BioKaLMA's questions, by labels and by spaCy, and the authors' retrieval."""

from collections import Counter

import pytest

from evaluation.graphs.reports.graph_retrieval import graph_retrieval
from generation.models import Alias, Entity, KGQuestion, QuestionEntity, Turn
from generation.retrieval.subgraphs import SubgraphRetriever
from tests.makers import import_path

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(shared):
    path = shared / "data/biokalma/complex_question_graph.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    return import_path(path, "biokalma").dataset


def retrieved_here_and_by_the_authors(dataset):
    """Return what is found in each question by its example's id, and pairs of (example, qid)."""
    examples = KGQuestion.objects.values_list("example", flat=True).order_by("pk")
    texts = dict(Turn.objects.values_list("example", "text"))
    found = SubgraphRetriever(dataset.pk).retrieved([texts[pk] for pk in examples])
    theirs = set(QuestionEntity.objects.values_list("question__example", "qid"))
    return dict(zip(examples, found, strict=True)), theirs


def pairs(found):
    return {(pk, qid) for pk, each in found.items() for qid in each.qids}


def test_nearly_all_sub_graphs_that_are_found_are_those_the_authors_found(dataset):
    report = graph_retrieval(dataset).report

    here, imported = report.records
    counted = [here[f"n_{size}"] for size in (0, 1, 2, 3, "4_or_more")]
    published = [imported[f"n_{size}"] for size in (0, 1, 2, 3, "4_or_more")]
    assert published == [55, 375, 99, 12, 2]
    assert sum(counted) == here["n"] == 543
    assert report.left_out["mentions_without_entity"] == 0  # each mention is a label
    # Gold entities are not published.
    assert (here["precision"], imported["recall"]) == (None, None)
    assert report.left_out["questions_without_known_gold"] == 543

    found, theirs = retrieved_here_and_by_the_authors(dataset)
    ours = pairs(found)
    assert len(theirs) == 617
    assert len(ours & theirs) / len(ours) > 0.9
    # What they found and we did not has no name that the question holds, but for namesakes.
    named: dict[str, set[str]] = {}
    for qid, label in Entity.objects.values_list("qid", "label"):
        named.setdefault(qid, set()).add(label)
    for qid, alias in Alias.objects.values_list("entity__qid", "name"):
        named[qid].add(alias)
    chosen = {
        (pk, name)
        for pk, each in found.items()
        for step in each.steps
        for name in (step.mention.text,)
    }
    texts = dict(Turn.objects.values_list("example", "text"))
    missed = [
        (name, texts[pk])
        for pk, qid in theirs - ours
        for name in named[qid]
        if name in texts[pk] and (pk, name) not in chosen
    ]
    assert sorted(name for name, _ in missed) == ["Thutmose II", "Wang Man"]  # parts of others


@pytest.mark.models
def test_the_pipeline_checks_types_and_finds_what_the_authors_found(
    dataset, settings, small_pipeline
):
    settings.SPACY_MODEL = str(small_pipeline)

    found, theirs = retrieved_here_and_by_the_authors(dataset)

    ours = pairs(found)
    assert len(ours) > 300
    assert len(ours & theirs) / len(ours) > 0.9
    checks = Counter(
        each.type_check for one in found.values() for step in one.steps for each in step.candidates
    )
    assert checks["unchecked"] == 0  # each mention has a kind, and each entity a listed type
    assert min(checks["fits"], checks["dropped"]) > 0
