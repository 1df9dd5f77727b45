"""Runs that score citations (alignment), and answers with [NA]."""

import csv
import io

import pytest
from django.core.management import call_command

from annotation.models import Target
from annotation.schemes import load_scheme
from evaluation.backends.base import Entailment
from evaluation.backends.classifier import OBVIOUSLY_NOT
from evaluation.measures.entailment import Pair
from evaluation.metrics.alignment import UNKNOWN, AlignmentMetric
from evaluation.metrics.base import Assumed, Refused, ScoreRequest, ScoringMaterial
from evaluation.metrics.incompetence import NOT_KNOWN, NOTHING_REMOVED, IncompetenceMetric
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.runs.families import families_of
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.runs import RunError, n_without_score, retry_failed
from evaluation.studies.disagreements.worklist import worklist
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from evaluation.tradeoffs.axes import axes_of
from evaluation.votes.export import export_folder
from generation.model_specs import ModelSpec
from generation.models import Dataset
from generation.text.citations import ParsedCitation
from tests.evaluation.cited import (
    ALIGNED,
    GRAPH,
    REMOVED,
    alignment_scheme,
    answers,
    asked_for,
    by_citation,
    cited,
    removed_rows,
    scored,
    votes,
)
from tests.evaluation.commands import failure
from tests.evaluation.metric_runs import done, work
from tests.evaluation.told import rows_of
from tests.language_model_server import says, stand_in
from tests.makers import forget, import_path, import_rows, response_row

pytestmark = pytest.mark.once

TRIPLE = ParsedCitation(1, "Q1", "spouse", "Ben", "She married Ben.")


def material(text="", **more):
    return ScoringMaterial(target=1, text=text, turns=None, passages=[], **more)


def scores_of(run):
    return {place: row.score for place, row in by_citation(run).items()}


# --- what is asked --------------------------------------------------------------------------


def test_a_citation_is_one_pair():
    assert AlignmentMetric().asked(material(citation=TRIPLE)) == ScoreRequest(
        [Pair("She married Ben.", "spouse: Ben")]
    )


@pytest.mark.parametrize(
    "citation", [None, ParsedCitation(2, "", "", "", "")], ids=["none", "a number"]
)
def test_a_citation_that_claims_nothing_known_has_no_score(citation):
    assert AlignmentMetric().asked(material(citation=citation)) == Refused(UNKNOWN)


@pytest.mark.parametrize("sentence", ["", " . "])
def test_a_citation_in_no_sentence_is_not_aligned_and_nobody_is_asked(sentence):
    asked = AlignmentMetric().asked(material(citation=TRIPLE._replace(sentence=sentence)))

    assert asked == Assumed()


def test_a_pair_without_a_probability_fails_with_the_reason():
    nothing = Entailment(float("nan"), problem="out of memory")

    found = AlignmentMetric().scored(ScoreRequest([]), [nothing])

    assert (found.score, found.problem) == (None, "out of memory")


def test_na_asks_every_sentence_about_every_removed_triple():
    text = "Her birth is not known [NA]. Ada painted [Q1, occupation: painter]. Nor the rest [NA]."
    graph = tuple(map(tuple, GRAPH))
    removed = (("Q1", "name", "Ada"), *map(tuple, REMOVED))

    asked = IncompetenceMetric().asked(material(text, graph=graph, removed=removed))

    assert isinstance(asked, ScoreRequest)
    assert asked.asks == [
        Pair(sentence, hypothesis)
        for sentence in ("Her birth is not known.", "Nor the rest.")
        for hypothesis in ("date of birth: 1596", "employer: Medici")
    ]


@pytest.mark.parametrize(
    ("removed", "problem"),
    [(None, NOT_KNOWN), ((), NOTHING_REMOVED), ((("Q1", "name", "Ada"),), NOTHING_REMOVED)],
)
def test_without_removed_knowledge_na_has_no_score(removed, problem):
    assert IncompetenceMetric().asked(material("It is not known [NA].", removed=removed)) == (
        Refused(problem)
    )


# --- runs -----------------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path, db):
    return cited(tmp_path)


def test_each_complete_citation_has_a_score(dataset):
    run = scored(dataset)

    assert scores_of(run) == pytest.approx(ALIGNED)
    assert run.state == MetricRun.State.DONE
    assert [place for place, row in by_citation(run).items() if row.is_assumed] == [("d", 1)]
    assert run.parameters["n_responses"] == 4
    assert run.parameters["n_without_citation"] == 1


def test_asking_again_adds_nothing_and_new_responses_are_added(dataset, tmp_path):
    scored(dataset)
    before = set(AutoScore.objects.values_list("pk", flat=True))
    n_targets = Target.objects.count()

    again = scored(dataset)
    assert set(AutoScore.objects.values_list("pk", flat=True)) == before
    assert Target.objects.count() == n_targets

    text = "Ben wrote [Q2, occupation: writer]."
    import_rows(tmp_path / "more", "cited", responses=[response_row("x", text=text)])
    run = scored(dataset)
    assert run == again
    assert scores_of(run) == pytest.approx(ALIGNED | {("x", 1): 0.0})


def test_the_same_sentence_and_triple_are_asked_once(dataset, tmp_path):
    scored(dataset)

    other = scored(cited(tmp_path, "other"), threshold=0.4)

    reused = {place for place, row in by_citation(other).items() if row.is_reused}
    assert reused == {place for place in ALIGNED if place != ("d", 1)}


def test_of_a_drawn_response_all_citations_are_scored(dataset):
    plan = RunPlan(metric=AlignmentMetric(), n_sampled=2, seed=3)
    before = n_without_score(dataset, plan, dataset.responses.all())

    run = scored(dataset, n_sampled=2, seed=3)

    drawn = {response for response, _ in by_citation(run)}
    assert scores_of(run) == pytest.approx(
        {place: score for place, score in ALIGNED.items() if place[0] in drawn}
    )
    assert run.parameters["n_responses"] == 2
    assert before == 2
    left = n_without_score(dataset, plan, dataset.responses.all())
    assert left == run.parameters["n_without_citation"]


def test_where_nothing_is_cited_there_is_no_run(tmp_path, db):
    rows = [row for row in answers() if row["id"] == "c"]
    dataset = cited(tmp_path, responses=rows)

    with pytest.raises(RunError, match="None of these responses has a complete citation"):
        asked_for(dataset)

    assert not MetricRun.objects.exists()


def test_what_failed_is_scored_once_more_and_what_did_not_stays(dataset):
    run = scored(dataset)
    lost = by_citation(run)["a", 2]
    AutoScore.objects.filter(pk=lost.pk).update(score=None, problem="out of memory")

    assert retry_failed(run, None) == 1
    assert retry_failed(run, None) == 0
    work(run)

    assert scores_of(run) == pytest.approx(ALIGNED)


def test_a_chunk_that_is_claimed_twice_gives_each_citation_one_row(dataset):
    run = asked_for(dataset)
    claim = RUN_CHUNKS.claim_next(run)
    assert claim is not None
    RUN_CHUNKS.claim_next(run)
    run.chunks.update(state="queued", lease_until=None, token="")

    work(run)

    assert scores_of(run) == pytest.approx(ALIGNED)


def test_the_command_says_what_it_scored(dataset):
    out = io.StringIO()

    call_command(
        "run_metric", "alignment", "--dataset", "cited", "--backend", "lexical", stdout=out
    )

    assert out.getvalue() == (
        "alignment|lexical|tokens:unicode-words|t:0.5|v:1|lexical|v:2: "
        "5 of 5 citations scored, 0 reused (the same was "
        "scored before), 0 failed, 1 assumed (it stands in no sentence), 0 of 4 pairs with a "
        "premise cut short, 10 controls, too few to say whether it is fit, "
        "1 responses without a complete citation.\n"
    )


def test_the_command_refuses_answers_that_cite_nothing(tmp_path, db):
    cited(tmp_path, responses=[row for row in answers() if row["id"] == "c"])

    said = failure("run_metric", "alignment", "--dataset", "cited")

    assert said == "None of these responses has a complete citation, so there is nothing to score."


def test_a_language_model_judges_pairs_and_what_it_does_not_answer_has_failed(dataset):
    with stand_in() as server:
        server.otherwise = says("Yes")
        server.plan(OBVIOUSLY_NOT.hypothesis, says("No"))
        server.plan("spouse: Ben", says("No"))
        server.plan("place of birth: Rome", says("Perhaps"))
        spec = ModelSpec("openai", "judge", server.url, served_name="org/judge")

        run = scored(dataset, spec=spec)

    assert scores_of(run) == ALIGNED | {("a", 1): 1, ("a", 2): None, ("a", 3): 0, ("b", 1): 1}
    assert "neither Yes nor No" in by_citation(run)["a", 2].problem


# --- [NA] -----------------------------------------------------------------------------------


def test_na_is_scored_by_response_and_keeps_the_highest_of_both_sides(tmp_path, db):
    run = scored(cited(tmp_path, responses=removed_rows()), "incompetence")

    rows = rows_of(run)
    assert sorted(row.target.response.key for row in AutoScore.objects.filter(run=run)) == [
        "admits",
        "hides",
    ]  # not 'whole' and 'unknown': there is nothing to judge
    assert rows["admits"].score == pytest.approx((2 / 3 + 1) / 2)
    assert rows["admits"].n_pairs == 4
    assert rows["admits"].details == {
        "na_sentences": [
            {"text": "Her date of birth is not known.", "probability": pytest.approx(2 / 3)},
            {"text": "Her employer was Medici.", "probability": 1},
        ],
        "removed": [
            {"text": "date of birth: 1596", "probability": pytest.approx(2 / 3)},
            {"text": "employer: Medici", "probability": 1},
        ],
    }
    assert (rows["hides"].score, rows["hides"].is_assumed) == (0, True)
    assert rows["hides"].details == {
        "na_sentences": [],
        "removed": [{"text": "date of birth: 1596", "probability": 0}],
    }


def test_where_nothing_was_removed_there_is_no_run_of_na(tmp_path, db):
    """From 'whole' nothing was removed; of 'unknown' it is not known."""
    dataset = cited(tmp_path, responses=removed_rows()[2:])

    with pytest.raises(RunError, match="No triple was removed from the graph of any"):
        asked_for(dataset, "incompetence")
    assert not MetricRun.objects.exists()


# --- beside people --------------------------------------------------------------------------

HUMAN = {("a", 1): "yes", ("a", 2): "yes", ("a", 3): "no", ("b", 1): "yes", ("d", 1): "no"}


@pytest.fixture
def study(tmp_path, db):
    """Every citation rated by two who agree."""
    cited(tmp_path, votes=votes(HUMAN), scheme=alignment_scheme())
    return Dataset.objects.get().studies.get()


def test_agreement_is_over_citations_by_hand(study):
    """One of five, d, is assumed and left out. Lexical says no, no, no, yes: 1 of 3 is found."""
    run = scored(study.dataset)
    done(study.dataset)  # Auto-AIS, which judges responses

    [row] = agreement_report(study).records

    assert (row["run"], row["question"], row["n"]) == (run.pk, "supports", 4)
    assert (row["assumed"], row["unscored"], row["failed"]) == (1, 0, 0)
    assert row["accuracy"] == 2 / 4
    assert row["precision"] == 1
    assert row["recall"] == 1 / 3


def test_the_disagreements_are_citations(study):
    run = scored(study.dataset)
    [question] = load_scheme(study.scheme).questions

    found = worklist(study, run, question, Choices())

    numbers = Target.objects.values_list("response__key", "citation__number")
    places = [numbers.get(pk=item.target) for item in found.items]
    assert places == [("a", 2), ("a", 1)]  # the wider margin first
    assert found.left_out == {"assumed": 1}


def test_a_threshold_is_chosen_among_runs_over_citations_alone(study):
    run = scored(study.dataset)
    done(study.dataset)

    assert [family.runs for family in families_of(study)] == [{run.pk}]
    rows = threshold_choice_report(study).records
    assert {row["metric"] for row in rows} == {"alignment"}


def test_citations_are_on_no_axis_and_beside_no_votes_on_responses(tmp_path, db):
    rated = [row for row in votes({("a", 1): "yes"}) if row.pop("citation")]
    for row in rated:
        row["question"] = "fluent"
    scheme = {"key": "own", "questions": [{"key": "fluent", "scale": "yes_no"}]}
    dataset = cited(tmp_path, votes=rated, scheme=scheme)
    scored(dataset)
    of_responses = done(dataset)

    runs = [axis.run for axis in axes_of(dataset) if axis.run]
    report = agreement_report(dataset.studies.get())

    assert runs == [of_responses]
    assert [row["run"] for row in report.records] == [of_responses.pk]


# --- files ----------------------------------------------------------------------------------


def test_scores_of_citations_come_back_after_export_and_import(study, tmp_path):
    run = scored(study.dataset)
    signature, before = run.full_signature, agreement_report(study).records
    export_folder(study.dataset, study, tmp_path / "export")
    with (tmp_path / "export" / "scores.csv").open(encoding="utf-8", newline="") as file:
        written = [(row["response"], row["citation"]) for row in csv.DictReader(file)]
    forget(study.dataset)

    outcome = import_path(tmp_path / "export", "again")

    assert sorted(written) == [(key, str(number)) for key, number in sorted(ALIGNED)]
    again = MetricRun.objects.get()
    assert (again.is_imported, again.signature) == (True, signature)
    assert scores_of(again) == pytest.approx(ALIGNED)
    assert outcome.study is not None
    [row] = agreement_report(outcome.study).records
    assert {name: row[name] for name in ("n", "accuracy", "recall")} == {
        name: before[0][name] for name in ("n", "accuracy", "recall")
    }
