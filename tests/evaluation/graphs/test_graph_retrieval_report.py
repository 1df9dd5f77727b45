"""Precision and recall of retrieved sub-graphs: worked out by hand, and on published questions."""

import pytest
from django.urls import reverse

from evaluation.graphs.reports import graph_retrieval as report_module
from evaluation.graphs.reports.cached_retrieval import cached_graph_retrieval
from evaluation.graphs.reports.graph_retrieval import graph_retrieval
from generation.records import KGQuestionRecord, Where
from generation.retrieval import entities
from generation.retrieval.subgraphs import SubgraphRetriever
from generation.services.graphs import store_entities, store_kg_questions
from tests.generation.graph_rows import entity, graph_of
from tests.ruler_model import save_ruler_model
from tests.shown import shown

pytestmark = pytest.mark.once

GRAPH = [
    entity("Q1", "Ada Lovelace", "human", [("occupation", "writer")]),
    entity("Q2", "Charles Babbage", "human", [("place of birth", "London")]),
    entity("Q3", "London", "city", [("country", "England"), ("instance of", "city")]),
    entity("Q4", "Paris", "city", [("country", "France")]),
    entity("Q5", "Paris", "human", [("country", "Troy"), ("spouse", "Helen")]),
]


def question(key, text, gold=(), imported=None):
    return KGQuestionRecord(Where("by hand", 1), key, text, tuple(gold), imported, None)


QUESTIONS = [
    # Retrieved here Q1, Q2; gold Q1, Q2; the file says Q1, Q9.
    question("a", "Did Ada Lovelace know Charles Babbage?", ["Q1", "Q2"], ("Q1", "Q9")),
    # Retrieved here Q1, Q3; gold Q1; the file says nothing at all.
    question("b", "Was Ada Lovelace in London?", ["Q1"], ()),
    # Namesakes: 'Troy' and 'Helen' stand for the man. Gold is the city. Not said by the file.
    question("c", "Was Paris of Troy with Helen?", ["Q4"]),
    # Gold is not known. Nothing is found; the file says Q2.
    question("d", "Who was it?", (), ("Q2",)),
]


@pytest.fixture
def dataset():
    dataset = graph_of(GRAPH)
    store_kg_questions(dataset, QUESTIONS)
    return dataset


def missed_keys(client, dataset, source):
    """Return the keys of the listed questions for which a source misses a gold entity."""
    page = client.get(reverse("graphs:questions", args=[dataset.slug]), {"missed": source})
    table = shown(page).table("Questions, in the order of the dataset")
    return [row[0].split()[-1] for row in table.rows]


def test_precision_and_recall_are_over_all_sub_graphs_worked_out_by_hand(dataset):
    here, imported = graph_retrieval(dataset).report.records

    # Here: a 2 of 2 (gold 2), b 1 of 2 (gold 1), c 0 of 1 (gold 1): hits 3, retrieved 5, gold 4.
    assert (here["source"], here["n"], here["n_with_gold"]) == ("retrieved here", 4, 3)
    assert here["precision"] == pytest.approx(3 / 5)
    assert here["recall"] == pytest.approx(3 / 4)
    # Over all four questions: 2, 2, 1 and 0 sub-graphs.
    assert here["mean_subgraphs"] == pytest.approx(5 / 4)
    assert [here[f"n_{size}"] for size in (0, 1, 2, 3, "4_or_more")] == [1, 1, 2, 0, 0]
    # The file, of a, b and d: a 1 of 2 (gold 2), b 0 of 0 (gold 1); d has no known gold.
    assert (imported["source"], imported["n"], imported["n_with_gold"]) == ("imported", 3, 2)
    assert imported["precision"] == pytest.approx(1 / 2)
    assert imported["recall"] == pytest.approx(1 / 3)
    assert imported["mean_subgraphs"] == pytest.approx(3 / 3)
    for row, name in ((here, "precision"), (here, "recall"), (imported, "recall")):
        assert 0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1
    # One question alone has imported sub-graphs and known gold: no interval from one dialog.
    assert (imported["precision_low"], imported["precision_high"]) == (None, None)


def test_questions_that_are_alike_leave_an_interval_of_some_width():
    """Three questions, each with 1 hit of 2: 3 of 6 sub-graphs, and dialogs do not differ.

    So n = 6. Student's t of 2 degrees is 4.3027, t² / n = 18.513 / 6 = 3.0855; the middle is 1/2,
    the half width √(3.0855 × (1/4 + 3.0855 / 4)) / 4.0855 = 0.4345.
    """
    other = graph_of(GRAPH, "other")
    asked = "Did Ada Lovelace know Charles Babbage?"  # Q1 and Q2
    store_kg_questions(other, [question(key, asked, ["Q1", "Q3"]) for key in "abc"])

    (row,) = graph_retrieval(other).report.records

    for name in ("precision", "recall"):
        ends = row[name], row[f"{name}_low"], row[f"{name}_high"]
        assert ends == pytest.approx((1 / 2, 0.0655, 0.9345), abs=1e-4)


def test_a_kept_report_is_that_of_the_graph_the_search_and_the_questions_now(
    dataset, settings, tmp_path, own_cache_and_folder
):
    """A stored report is known by the model that finds entities, not by its name in settings."""
    settings.SPACY_MODEL = str(tmp_path / "model")
    before = cached_graph_retrieval(dataset)
    assert cached_graph_retrieval(dataset) == before == graph_retrieval(dataset)

    save_ruler_model(tmp_path / "model", {"London": "GPE"})
    entities._model.cache_clear()  # a process that starts now has none
    with_model = cached_graph_retrieval(dataset)
    assert with_model != before
    assert with_model == graph_retrieval(dataset)

    store_kg_questions(dataset, [question("e", "Was it London?", ["Q3"])])
    with_question = cached_graph_retrieval(dataset)
    assert with_question == graph_retrieval(dataset) != with_model

    store_entities(dataset, [entity("Q6", "London", "city", [("country", "Canada")])])
    assert cached_graph_retrieval(dataset) == graph_retrieval(dataset) != with_question


def test_a_response_does_not_throw_the_kept_report_away(
    dataset, own_cache_and_folder, django_assert_num_queries
):
    cached_graph_retrieval(dataset)
    setup = dataset.setups.create(name="a setup")
    example = dataset.examples.first()
    dataset.responses.create(
        example=example, setup=setup, key="new", text="Yes.", is_evidence_stated=True
    )

    with django_assert_num_queries(2):  # the state of the graph, the questions
        cached_graph_retrieval(dataset)


def test_what_became_of_mentions_is_counted_beside_the_figures(dataset, settings, tmp_path):
    # A model that calls Paris a place, Helen a person, and finds no more.
    kinds = {"Paris": "GPE", "Helen": "PERSON", "Ada Lovelace": "PERSON", "London": "PERSON"}
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path, kinds))
    store_entities(dataset, [entity("Q6", "Ada Lovelace", "asteroid")])

    report = graph_retrieval(dataset).report

    assert report.left_out == {
        "questions_without_known_gold": 1,  # d
        "questions_without_imported_list": 1,  # c
        "questions_outside_the_sample": 0,
        "mentions": 5,  # Ada Lovelace twice, London, Paris, Helen
        "mentions_without_entity": 1,  # Helen
        "candidates_dropped_by_type": 2,  # Paris the man; London, called a person
        "candidates_unchecked": 2,  # the asteroid, twice
        "namesakes_decided": 2,  # Ada Lovelace or the asteroid, twice
        "namesakes_not_looked_at": 0,
    }


def test_what_a_model_finds_is_compared_with_what_labels_alone_would_find(
    dataset, settings, tmp_path, rosa, client_for
):
    # The model calls Paris a place, and does not know Charles Babbage and London.
    kinds = {"Paris": "GPE", "Ada Lovelace": "PERSON"}
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path, kinds))

    here, by_labels, imported = graph_retrieval(dataset).report.records

    sources = [each["source"] for each in (here, by_labels, imported)]
    assert sources == ["retrieved here", "by labels alone", "imported"]
    # The model: a 1 of 1 (gold 2), b 1 of 1 (gold 1), c 1 of 1, since the man is dropped (gold 1).
    assert (here["precision"], here["recall"]) == pytest.approx((3 / 3, 3 / 4))
    # Labels alone, as without a model: a 2 of 2, b 1 of 2, c 0 of 1.
    assert (by_labels["precision"], by_labels["recall"]) == pytest.approx((3 / 5, 3 / 4))
    report = reverse("graphs:report", args=[dataset.slug, "retrieval"])
    addresses = shown(client_for(rosa).get(report)).addresses
    missed = reverse("graphs:questions", args=[dataset.slug]) + "?missed=labels"
    assert missed in addresses
    assert missed_keys(client_for(rosa), dataset, "labels") == ["c"]
    assert missed_keys(client_for(rosa), dataset, "here") == ["a"]


def test_figures_without_any_known_gold_are_undefined(dataset):
    other = graph_of(GRAPH, "other")
    store_kg_questions(other, [question("x", "Who was Ada Lovelace?")])

    (row,) = graph_retrieval(other).report.records

    assert row["n_with_gold"] == 0
    figures = ("precision", "precision_low", "precision_high", "recall", "recall_low")
    assert [row[name] for name in figures] == [None] * 5
    assert row["mean_subgraphs"] == 1


def test_a_dataset_without_questions_has_no_row():
    report = graph_retrieval(graph_of(GRAPH)).report

    assert report.records == []
    assert report.left_out["mentions"] == 0


def test_the_signature_names_recogniser_graph_and_questions(dataset):
    before = graph_retrieval(dataset).report
    assert SubgraphRetriever(dataset.pk).signature in before.signature
    assert graph_retrieval(dataset).report == before

    store_kg_questions(dataset, [question("e", "Who was Ada Lovelace?", ["Q1"])])

    assert graph_retrieval(dataset).report.signature != before.signature


def test_questions_that_a_source_misses_are_listed(dataset, rosa, client_for):
    """Here c misses Paris; the file misses Q2 for a and Q1 for b, and says nothing of c."""
    client, here = client_for(rosa), reverse("graphs:questions", args=[dataset.slug])

    assert missed_keys(client, dataset, "here") == ["c"]
    # Without a model, labels alone are what finds names here.
    assert missed_keys(client, dataset, "labels") == ["c"]
    assert missed_keys(client, dataset, "imported") == ["a", "b"]
    report = reverse("graphs:report", args=[dataset.slug, "retrieval"])
    addresses = shown(client.get(report)).addresses
    assert {f"{here}?missed=here", f"{here}?missed=imported"} <= set(addresses)


def test_of_many_questions_a_seeded_sample_counts(dataset, monkeypatch):
    monkeypatch.setattr(report_module, "MOST_QUESTIONS", 3)

    report = graph_retrieval(dataset).report

    assert report.left_out["questions_outside_the_sample"] == 1
    assert report.records[0]["n"] == 3
    assert graph_retrieval(dataset).report == report


def test_the_report_takes_a_fixed_number_of_queries(dataset, django_assert_num_queries):
    graph_retrieval(dataset)
    for more in (0, 30):
        records = [question(f"m{n}", "Was Paris in London?", ["Q4"]) for n in range(more)]
        store_kg_questions(dataset, records)
        with django_assert_num_queries(8):  # questions 3, state of the graph 1, look-ups 4
            graph_retrieval(dataset)


def test_with_a_model_the_report_takes_a_fixed_number_of_queries_too(
    dataset, settings, tmp_path, django_assert_num_queries
):
    settings.SPACY_MODEL = str(save_ruler_model(tmp_path, {"Paris": "GPE", "London": "GPE"}))
    graph_retrieval(dataset)
    for more in (0, 30):
        records = [question(f"m{n}", "Was Paris in London?", ["Q4"]) for n in range(more)]
        store_kg_questions(dataset, records)
        with django_assert_num_queries(13):  # questions 3, twice state of the graph and look-ups
            graph_retrieval(dataset)
