"""Answers of the demo's graph: people and metrics judge the same things, and are compared on them.

`evaluation/exchange/demo/graph`: four questions, two answers to each, t0 and t7.
"""

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.previewed_units import preview_unit
from annotation.rated_units import RatedUnit
from annotation.schemes import load_scheme
from annotation.services.alignment_studies import request_alignment_study
from annotation.services.rating import submit_votes
from annotation.services.studies import open_study
from evaluation.exchange.demo_files import DEMO_FILES
from evaluation.metrics.alignment import AlignmentMetric
from evaluation.metrics.base import ScoreRequest, ScoringMaterial
from evaluation.metrics.text_quality import Coherence, Consistency, Rating, TextQuality
from evaluation.models import MetricRun
from evaluation.runs.materials import material_of
from evaluation.studies.reports.agreement import agreement_report
from generation.models import Dataset
from generation.text.flat_graph import flat_graph
from tests.annotation.makers import claimed, judged, opened, rater_users, raters_of, researcher
from tests.evaluation.metric_runs import done
from tests.makers import import_path
from tests.shown import shown

pytestmark = pytest.mark.once

# Judged by a reader of answer and graph: is the answer attributable to the graph?
ATTRIBUTABLE = {
    "graph-1.t0": 1,
    "graph-1.t7": 0,  # the tower is 41 metres tall, not 45
    "graph-2.t0": 1,
    "graph-2.t7": 1,
    "graph-3.t0": 1,
    "graph-3.t7": 1,
    "graph-4.t0": 1,
    "graph-4.t7": 0,  # the graph says nothing about a depth
}
# Share of the answer's content words, brackets included, that graph and question have. Missing are:
OVERLAP = {
    "graph-1.t0": 15 / 17,  # designed, built
    "graph-1.t7": 10 / 14,  # who, married, tower, 45
    "graph-2.t0": 15 / 16,  # gives
    "graph-2.t7": 8 / 10,  # lamp, twice
    "graph-3.t0": 9 / 13,  # wrote, plants, live, book
    "graph-3.t7": 6 / 6,
    "graph-4.t0": 5 / 12,  # maximum, depth, metres, not, graph, NA, runs
    "graph-4.t7": 1 / 4,  # about, 60, metres
}
# Coherence, consistency, fluency, relevance. `scores.jsonl` has the judge's, here as comments.
QUALITY = {
    "graph-1.t0": (5, 5, 5, 5),  # 5 5 5 5
    "graph-1.t7": (4, 1, 5, 2),  # 4 2 5 3
    "graph-2.t0": (5, 5, 5, 5),  # 5 5 5 5
    "graph-2.t7": (2, 4, 4, 4),  # 3 4 4 4
    "graph-3.t0": (5, 5, 5, 5),  # 4 5 4 5
    "graph-3.t7": (4, 5, 5, 1),  # 4 5 5 2
    "graph-4.t0": (4, 5, 5, 2),  # 4 5 5 4
    "graph-4.t7": (4, 5, 5, 5),  # 5 1 5 4: an addition is no fault to people
}


@pytest.fixture(scope="module")
def graph(module_database) -> Dataset:
    outcome = import_path(DEMO_FILES / "graph", "Demo graph")
    assert outcome.dataset is not None
    return outcome.dataset


def rated(study: Study, answers_of) -> Study:
    """Let the study's one rater rate all of it: response, citation or None → answers."""
    [rater] = raters_of(study)
    for _ in range(study.assignments.count()):
        assignment = claimed(rater)
        target = assignment.unit.targets.select_related("response", "citation").get()
        answers = answers_of(target.response, target.citation)
        submit_votes(assignment.unit, rater, judged(rater, assignment, answers), 10.0)
    return study


def agreement(study: Study, run: MetricRun, question: str):
    [row] = [
        row
        for row in agreement_report(study).records
        if (row["run"], row["question"]) == (run.pk, question)
    ]
    return row


def units_of(study: Study) -> dict[str, RatedUnit]:
    """Return each response's unit as raters see it, by the response's key."""
    units = [preview_unit(study, "separate", number) for number in range(1, 9)]
    return {
        preview.unit.unit.targets.get().response.key: preview.unit for preview in units if preview
    }


def as_flat_text(unit: RatedUnit) -> str:
    """Return the tables of a page as the flat text of a graph."""
    return flat_graph(
        triple
        for table in unit.graph
        for triple in [
            (table.qid, "name", table.name),
            *((table.qid, fact.relation, fact.value) for fact in table.facts),
        ]
    )


def prompt(metric: type[TextQuality], material: ScoringMaterial) -> str:
    """Return what the judge of a quality is asked."""
    asked = metric(repeats=1).asked(material)
    assert isinstance(asked, ScoreRequest)
    [rating] = asked.asks
    assert isinstance(rating, Rating)
    return rating.text


def test_raters_and_metrics_read_the_same_triples_and_the_same_text(graph):
    of_ais = units_of(opened(graph, name="AIS"))
    of_quality = units_of(opened(graph, name="QUALITY", scheme="QUALITY"))
    run = done(graph, flavor="v2", window=0)
    assert of_ais.keys() == of_quality.keys() == ATTRIBUTABLE.keys()

    for response in graph.responses.all():
        [material] = material_of({1: response.pk}, [1], run)
        [knowledge] = [each.text for each in material.evidence_texts]
        consistency, coherence = prompt(Consistency, material), prompt(Coherence, material)

        assert as_flat_text(of_ais[response.key]) == knowledge
        assert as_flat_text(of_quality[response.key]) == knowledge
        [with_citations] = of_ais[response.key].responses
        [without] = of_quality[response.key].responses
        assert with_citations.text == material.text
        # Table 12 has a place for the knowledge, table 11 has none.
        said = f"Answer: {without.text}\n\nScore:"
        assert f"Knowledge: {knowledge}\n\n{said}" in consistency
        assert said in coherence
        assert knowledge not in coherence


def test_golden_is_the_same_sub_graphs_for_raters_and_metrics(graph):
    units = units_of(opened(graph, evidence_choice="golden"))
    run = done(graph, flavor="v2", window=0, evidence="golden")

    for response in graph.responses.all():
        [material] = material_of({1: response.pk}, [1], run)
        [knowledge] = [each.text for each in material.evidence_texts]
        assert as_flat_text(units[response.key]) == knowledge
        assert not run.scores.get(target__response=response).problem
    # Its model was not shown this: it had been removed.
    assert "notable work: Flora of the Salt Marshes" in as_flat_text(units["graph-3.t7"])


def test_attribution_is_compared_on_every_answer(graph):
    study = opened(graph, raters=1, raters_per_unit=1)
    run = done(graph, flavor="v1", window=0)
    scores = dict(run.scores.values_list("target__response__key", "score"))
    assert scores == pytest.approx(OVERLAP)

    rated(
        study,
        lambda response, _: {
            "understand": 1,
            "relevant": 1,
            "consistent": 1,
            "evidence_relevant": 1,
            "evidence_contradicts": 1 - ATTRIBUTABLE[response.key],
            "evidence_supports": ATTRIBUTABLE[response.key],
            "attributable": ATTRIBUTABLE[response.key],
        },
    )

    row = agreement(study, run, "attributable")
    # Above 0.5 are all but graph-4's: one false alarm (45 metres), one miss (the river).
    assert (row["n"], row["n_human_yes"]) == (8, 6)
    assert (row["unscored"], row["failed"], row["assumed"], row["tied"]) == (0, 0, 0, 0)
    assert row["accuracy"] == pytest.approx(6 / 8)


def test_a_disagreement_shows_the_graph_that_both_sides_judged(graph, client_for, rosa):
    study = opened(graph, name="Two sides", raters=1, raters_per_unit=1)
    run = done(graph, flavor="v1", window=0)
    no = dict.fromkeys(load_scheme(study.scheme).keys, 1) | {
        "evidence_contradicts": 1,
        "evidence_supports": 0,
        "attributable": 0,
    }
    rated(study, lambda *_: no)
    target = run.scores.get(target__response__key="graph-2.t0").target

    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    page = shown(client_for(rosa).get(case, {"run": run.pk, "question": "attributable"}))
    response = reverse("evaluation:response", args=[graph.slug, target.response_id])
    as_judged = shown(client_for(rosa).get(response, {"run": run.pk}))

    for each in (page, as_judged):
        assert "{name: Ansel Light, instance of: lighthouse," in each.text
        assert "— No evidence" not in each.text
        assert "— no evidence is known" not in each.text


def test_text_quality_is_compared_on_every_answer(graph):
    study = opened(graph, scheme="QUALITY", raters=1, raters_per_unit=1)
    keys = load_scheme(study.scheme).keys

    rated(study, lambda response, _: dict(zip(keys, QUALITY[response.key], strict=True)))

    # People: above 3 is a yes. The judge: above 3.0.
    accuracies = {}
    for key in keys:
        run = MetricRun.objects.get(dataset=graph, metric=key)
        row = agreement(study, run, key)
        assert (row["n"], row["unscored"], row["failed"]) == (8, 0, 0)
        accuracies[key] = row["accuracy"]
    assert accuracies == {
        "coherence": 1,
        "consistency": pytest.approx(7 / 8),  # graph-4.t7
        "fluency": 1,
        "relevance": pytest.approx(7 / 8),  # graph-4.t0
    }


def test_alignment_is_compared_on_every_complete_citation(graph):
    """13 of the 14 citations are complete; of one response is none.

    By words, above 0.3: 'halophytes' stands in no sentence, though people see that it is said (a
    miss); 'place of birth: Quell' has a third of its words in 'a botanist from Quell' (a false
    alarm). The other 11 pairs are aligned for both.
    """
    study = request_alignment_study(graph, "Pairs", raters=rater_users(2))
    open_study(study, researcher())
    run = done(graph, metric=AlignmentMetric(), threshold=0.3)
    for rater in raters_of(study):
        for _ in range(13):
            assignment = claimed(rater)
            citation = assignment.unit.targets.select_related("citation").get().citation
            assert citation is not None
            answer = int(citation.relation != "place of birth")
            submit_votes(
                assignment.unit, rater, judged(rater, assignment, {"supports": answer}), 10.0
            )

    row = agreement(study, run, "supports")
    assert (row["n"], row["n_human_yes"], row["unscored"]) == (13, 12, 0)
    assert row["accuracy"] == pytest.approx(11 / 13)
