"""The answers that reports about a graph count, and the run of alignment that is used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evaluation.graphs.reports import cited_answers as module
from evaluation.graphs.reports.alignment import alignment_report, newest_alignment
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.cited_answers import cited_answers, minimum_sets
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.citation import Mode
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.report import Report
from generation.models import Dataset
from tests.evaluation.hand_cited import (
    ADA,
    COOL,
    WARM,
    WRITER,
    entity,
    import_cited,
    score_answers,
    score_citations,
)
from tests.makers import import_rows, response_row

pytestmark = pytest.mark.once

RUNNING = MetricRun.State.RUNNING
NA_FOUND = {
    "na_sentences": [{"text": "", "probability": 0.9}],
    "removed": [{"text": "", "probability": 0.9}],
}


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def cited(tmp_path_factory, module_database):
    return import_cited(tmp_path_factory.mktemp("counted"), "counted")


@pytest.fixture(scope="module")
def twice(tmp_path_factory, module_database):
    """A setup that answers q1 twice (a1 counts, a2 does not), and q2 without a known graph."""
    text = f"Ada writes {WRITER}."
    removed = [ADA[2]]
    shown: dict[str, Any] = {"setup": COOL, "text": text, "graph_shown": ADA}
    import_rows(
        tmp_path_factory.mktemp("twice"),
        "twice",
        entities=[entity("Q1", "Ada", ADA)],
        kg_questions=[
            {"id": key, "question": f"Who is {key}?", "entities": ["Q1"]}
            for key in ("q1", "q2", "q3")
        ],
        responses=[
            response_row("a1", "q1", removed=removed, **shown),
            response_row("a2", "q1", removed=removed, **shown),
            response_row("a3", "q2", setup=COOL, text=text),
            response_row("b1", "q3", **(shown | {"setup": WARM})),
        ],
    )
    return Dataset.objects.get(name="twice")


# --- one population -------------------------------------------------------------------------


def test_alignment_beside_the_citations_is_of_the_same_answers(twice):
    score_citations(twice, {("a1", 1): 0.9, ("a2", 1): 0.1, ("a3", 1): 0.1})

    cool, _ = citations_report(twice).records
    [row] = alignment_report(twice).records

    # a1 alone: a2 answers its question again, and a3's graph is not known.
    assert (cool["aligned"], cool["n_aligned_pairs"], cool["n_answers"]) == (1.0, 1, 1)
    assert (row["aligned"], row["n_pairs"]) == (1.0, 1)


def test_all_reports_leave_a_second_answer_out_and_count_it(twice):
    score_citations(twice, {("a1", 1): 0.9, ("a2", 1): 0.1})
    details = {"a1": NA_FOUND, "a2": NA_FOUND}
    score_answers(twice, "incompetence", {"a1": 0.9, "a2": 0.9}, details, backend="lexical")
    score_answers(twice, "fluency", {"a1": 5.0, "a2": 1.0}, backend="language-model")

    reports: list[Callable[[Dataset], Report[Any]]] = [
        citations_report,
        alignment_report,
        incompetence_report,
        quality_report,
    ]
    for report in reports:
        found = report(twice)
        assert found.left_out["repeated_responses"] == 1, report
        assert found.records[0].get("n_answers", found.records[0].get("n")) == 1, report
    assert quality_report(twice).records[0]["mean"] == 5.0


def test_what_is_left_out_is_that_of_the_chosen_setup(twice):
    cool, warm = (setup.name for setup in twice.setups.order_by("temperature"))

    def left_out(setup=""):
        found = citations_report(twice, CitationChoices(setup=setup)).left_out
        return found["responses_without_a_known_graph"], found["repeated_responses"]

    assert (left_out(), left_out(cool), left_out(warm)) == ((1, 1), (1, 1), (0, 0))


def test_sets_without_rounds_are_those_of_the_chosen_setup(cited):
    cool, warm = (setup.name for setup in cited.setups.order_by("temperature"))
    cited.responses.filter(key="w2").delete()  # the answer of the warm one to q2

    def n_sets(setup=""):
        choices = CitationChoices(rounds="later", setup=setup)
        return citations_report(cited, choices).left_out.get("sets_without_rounds", 0)

    assert (n_sets(), n_sets(cool), n_sets(warm)) == (1, 1, 0)


@pytest.mark.parametrize("metric", ["alignment", "incompetence", "quality"])
def test_an_interval_does_not_depend_on_which_setups_are_shown(cited, metric):
    keys = ("c1", "c2", "c3", "c4", "w1", "w2")
    report, names = {
        "alignment": (alignment_report, ("aligned", "macro_aligned")),
        "incompetence": (incompetence_report, ("precision", "recall", "f1")),
        "quality": (quality_report, ("mean",)),
    }[metric]
    if metric == "alignment":
        scores = {("c1", 1): 0.9, ("c1", 2): 0.2, ("c2", 1): 0.1, ("c3", 1): 0.9, ("w2", 1): 0.9}
        score_citations(cited, scores)
    elif metric == "incompetence":
        missed = {"na_sentences": [{"probability": 0.1}], "removed": [{"probability": 0.1}]}
        details = {key: NA_FOUND if key in ("c1", "w1") else missed for key in keys}
        score_answers(cited, metric, dict.fromkeys(keys, 0.5), details, backend="lexical")
    else:
        scores_of = {key: float(n) for n, key in enumerate(keys[:-1], 1)}
        score_answers(cited, "fluency", scores_of, backend="language-model")
    warm = cited.setups.get(temperature=0.5).name

    def ends(rows):
        [row] = [row for row in rows if row["setup"] == warm]
        return [row[f"{name}{end}"] for name in names for end in ("", "_low", "_high")]

    assert ends(report(cited, warm).records) == ends(report(cited).records)


# --- rounds ---------------------------------------------------------------------------------


def test_a_set_with_a_member_of_no_round_is_known_as_a_whole_alone(tmp_path):
    writer, birth, sport = ["Q1", "a", "writer"], ["Q1", "a", "London"], ["Q1", "a", "chess"]
    import_rows(
        tmp_path,
        "rounds",
        entities=[entity("Q1", "Ada", ADA)],
        kg_questions=[
            {"id": "partly", "question": "1?", "entities": [], "minimum": [[*writer, 2], birth]},
            {
                "id": "long",
                "question": "2?",
                "entities": [],
                "minimum": [[*writer, 1], [*birth, 6], [*sport, 7]],
            },
        ],
    )
    dataset = Dataset.objects.get(name="rounds")
    keys = dict(dataset.examples.values_list("pk", "key"))

    found = minimum_sets(dataset, "later")

    assert {keys[pk]: len(members) for pk, members in found.all.items()} == {"partly": 2, "long": 3}
    assert {keys[pk]: members for pk, members in found.chosen.items()} == {"long": [tuple(birth)]}
    assert {keys[pk] for pk in found.without_rounds} == {"partly"}


# --- which run, and what it was asked -------------------------------------------------------


def test_a_run_that_goes_on_speaks_for_nobody(cited):
    whole = score_citations(cited, {("c1", 1): 0.9}, signature="whole")
    score_citations(
        cited, {("c1", 1): 0.1}, signature="sample", parameters={"n_sampled": 1, "seed": 0}
    )
    score_citations(cited, {("c1", 1): 0.1}, signature="on", state=RUNNING)

    assert newest_alignment(cited) == whole
    assert citations_report(cited).records[0]["aligned"] == 1.0


def test_a_sample_speaks_where_no_run_is_whole_and_nothing_speaks_before_one_is_done(cited):
    score_citations(cited, {("c1", 1): 0.1}, signature="on", state=RUNNING)
    assert newest_alignment(cited) is None

    sample = score_citations(cited, {("c1", 1): 0.1}, signature="s", parameters={"n_sampled": 1})
    assert newest_alignment(cited) == sample


def test_the_signature_changes_with_the_scores_of_the_run(cited):
    run = score_citations(cited, {("c1", 1): 0.9, ("c1", 2): 0.2})
    before = citations_report(cited).signature

    AutoScore.objects.filter(run=run, score=0.2).update(score=0.8)

    assert citations_report(cited).signature != before


def test_each_answer_of_a_setup_has_one_place_in_alignment(cited):
    scores: dict[tuple[str, int], float | None] = {("c1", 1): 0.9, ("c1", 2): 0.2, ("c2", 1): None}
    run = score_citations(cited, scores | {("c1", 3): 0.0})
    AutoScore.objects.filter(run=run, target__citation__number=3).update(is_assumed=True)

    report = alignment_report(cited)
    [row] = report.records

    # c1 has pairs, c2's has failed, c3 and c4 were not asked about.
    kinds = ("n_answers", "n_all_failed", "n_not_asked", "n_without_citations")
    assert [row[name] for name in kinds] == [1, 1, 2, 0]
    assert (row["n_pairs"], row["n_assumed"], row["n_failed"]) == (3, 1, 1)
    # w1 cites nothing; w2 cites, and its setup has no run.
    assert report.left_out["answers_without_a_complete_citation"] == 1
    assert report.left_out["setups_without_a_run"] == 1


def test_a_second_run_leaves_out_no_more_answers(cited):
    for signature in ("a", "b"):
        score_citations(cited, {("c1", 1): 0.9, ("c2", 1): None}, signature=signature)
        said: Any = {"backend": "lexical", "signature": signature}
        scores = {"c1": 0.9, "c2": "too long", "c4": "nothing was removed from its graph"}
        score_answers(cited, "incompetence", scores, {"c1": NA_FOUND}, **said)

    alignment, na = alignment_report(cited), incompetence_report(cited)

    assert [len(alignment.rows), len(na.rows)] == [2, 2]
    assert alignment.left_out["answers_with_failed_pairs"] == 1
    assert alignment.left_out["answers_not_asked"] == 2  # c3, c4
    assert na.left_out["answers_with_nothing_removed"] == 1
    assert na.left_out["failed_answers"] == 1


def test_quality_counts_what_was_not_judged(cited):
    scores = {"c1": 3.0, "c2": "no score in the reply"}
    score_answers(cited, "fluency", scores, backend="language-model")

    report = quality_report(cited)
    [row] = report.records

    assert (row["n"], row["n_failed"], row["n_not_asked"]) == (1, 1, 2)  # c3, c4
    assert report.left_out == {
        "repeated_responses": 0,
        "setups_without_a_run": 1,  # the warm one
        "answers_not_asked": 2,
        "answers_with_failed_scores": 1,
    }


# --- what is kept ---------------------------------------------------------------------------


def test_statistics_are_made_from_what_is_kept_and_skipped_answers_add_nothing(cited):
    answers = cited_answers(cited)
    skipped = ~answers.is_counted[Mode.AUTHORS_CODE]

    assert skipped.sum() == 1  # w2
    assert not answers.statistics(Mode.AUTHORS_CODE)[skipped].any()
    assert not np.isnan(answers.statistics(Mode.AUTHORS_CODE)).any()


def test_300_000_answers_are_few_enough_to_be_kept(cited):
    answers = cited_answers(cited)
    each = sum(part.nbytes for part in answers if isinstance(part, np.ndarray))
    each += sum(
        rows.nbytes
        for of_mode in (answers.counts, answers.is_counted, answers.n_na)
        for rows in of_mode.values()
    )

    assert 300_000 * each / len(answers.responses) < module.MOST_BYTES
