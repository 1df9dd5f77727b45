"""Controls of runs: what is drawn and made, and what planted bad metrics are called."""

import math
import re
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from evaluation.backends.base import Entailment
from evaluation.measures.control_texts import (
    FORMS,
    NUMBERS,
    in_random_order,
    saying_nothing,
    sentence_among,
)
from evaluation.measures.fitness import Fitness, ShareOfYes, threshold_by_floor
from evaluation.metrics.base import ScoringMaterial
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, ControlScore, MetricRun
from evaluation.runs.control_figures import (
    control_labels,
    fitness_of_runs,
    shares_by_form,
    unfit_among,
)
from evaluation.runs.controls import NONE_STANDS_IN
from evaluation.runs.forms.main_metrics import MainMetricsForm
from evaluation.runs.progress import run_progress
from evaluation.runs.reports import controls_report
from evaluation.runs.services.added_controls import request_controls
from evaluation.runs.services.runs import RunError, retry_failed
from evaluation.tradeoffs.forms.axes import AxesForm
from generation.model_specs import BackendError
from generation.text.citations import ParsedCitation
from tests.evaluation.metric_runs import cancelled, mill, requested, work
from tests.makers import example_row, import_rows, response_row
from tests.shown import shown

pytestmark = pytest.mark.both
N = 24  # dialogs


def told_run(dataset, **plan):
    return work(requested(dataset, backend="told", **plan))


def page_of(run):
    return reverse("evaluation:run", args=[run.pk])


def mills(folder, n=N):
    """Import `n` dialogs, each about a mill of its own with a passage of its own."""
    return import_rows(
        folder,
        "mills",
        examples=[
            example_row(
                f"e{place}",
                dialog=f"d{place}",
                golden_answer=f"It closed in {1900 + place}.",
                turns=[{"speaker": "user", "text": f"When did mill {place} close?"}],
                evidence=[
                    {
                        "id": f"p{place}",
                        "text": f"The mill number {place} closed in {1900 + place}.",
                        "golden": True,
                    }
                ],
            )
            for place in range(n)
        ],
        responses=[
            response_row(
                f"r{place}",
                f"e{place}",
                text=f"The mill number {place} closed in {1900 + place}.",
                evidence_shown=[f"p{place}"],
            )
            for place in range(n)
        ],
    ).dataset


def always(pair):
    return 1.0


def never(pair):
    return 0.0


def reads_only_the_response(pair):
    """Return yes to every response with a year, whatever the evidence is."""
    return float(bool(re.search(r"\b19\d\d\b", pair.hypothesis)))


def perfect(pair):
    return reads_only_the_response(pair) * (pair.hypothesis in pair.premise)


# The planted metric, its shares of yes about floor, top and texts that say nothing, and its faults.
# Every response and every sentence of evidence has a year, and no text that says nothing has one.
PLANTED = [
    (
        always,
        (1, 1, 1),
        ["says yes to 100.0 % of what is wrong", "says yes to 100.0 % of what says"],
    ),
    (never, (0, 0, 0), ["says yes to only 0.0 % of what is right"]),
    (reads_only_the_response, (1, 1, 0), ["says yes to 100.0 % of what is wrong"]),
    (perfect, (0, 1, 0), []),
]


@pytest.mark.parametrize(
    ("answer", "shares", "faults"), PLANTED, ids=lambda each: getattr(each, "__name__", "-")
)
def test_a_planted_metric_is_called_what_it_is(tmp_path, told, answer, shares, faults):
    backend = told(lambda pair: Entailment(answer(pair)))
    run = told_run(mills(tmp_path), flavor="v0", window=0, n_controls=200)

    assert run.state == "done"
    assert run_progress(type(run).objects.all())[0].n_targets == N  # controls are no targets
    assert AutoScore.objects.count() == N
    rows = list(ControlScore.objects.select_related("target__response", "other__response"))
    assert len(rows) == 3 * N
    found = fitness_of_runs([run])[run.pk]
    assert tuple(each.share for each in found) == shares
    assert all(0 <= each.low < each.high <= 1 for each in found)  # a share of 0 has a width too
    assert [each.n for each in found] == [N, N, N]
    assert unfit_among([run]) == ({run.pk} if faults else set())
    said = list(found.faults)
    assert [each.startswith(fault) for each, fault in zip(said, faults, strict=True)] == [
        True
    ] * len(faults)
    asked = set(backend.asked)
    for row in rows:
        if row.other:  # the own text, with the evidence of another dialog
            assert row.text == row.target.response.text
            assert (row.other.response.text, row.text) in {(p.premise, p.hypothesis) for p in asked}
            assert row.other.response.example.dialog != row.target.response.example.dialog


def test_a_run_without_other_dialogs_says_why_it_has_no_floor(tmp_path, told):
    told(lambda pair: Entailment(1.0))
    run = told_run(mill(tmp_path, 3), n_controls=200)

    floors = ControlScore.objects.filter(kind="floor")
    assert set(floors.values_list("score", "problem")) == {(None, NONE_STANDS_IN)}
    found = fitness_of_runs([run])[run.pk]
    assert (found.floor.n, found.floor.n_left_out, found.top.n) == (0, 3, 3)
    assert not found.is_known  # three controls say nothing about a metric
    assert not found.is_unfit


def test_controls_are_drawn_once_added_to_and_their_scores_used_again(tmp_path, told):
    backend = told(lambda pair: Entailment(0.9))
    dataset = mills(tmp_path)
    run = told_run(dataset, n_controls=5)
    first = set(ControlScore.objects.values_list("target", flat=True))

    more = told_run(dataset, n_controls=8)
    assert more == run
    drawn = set(ControlScore.objects.values_list("target", flat=True))
    assert len(first) == 5
    assert len(drawn) == 8
    assert first < drawn
    assert told_run(dataset, n_controls=6).chunks.count() == run.chunks.count()

    n_asked = len(backend.asked)
    other = told_run(dataset, n_controls=8, threshold=0.95)
    assert other != run
    assert len(backend.asked) == n_asked
    assert fitness_of_runs([run, other])[run.pk].top.share == 1
    assert fitness_of_runs([run, other])[other.pk].top.share == 0


def test_failed_controls_are_tried_again(tmp_path, told):
    is_down = True
    told(lambda pair: Entailment(float("nan"), problem="no answer") if is_down else Entailment(1.0))
    run = told_run(mills(tmp_path, 4), n_controls=4)
    assert ControlScore.objects.filter(problem="no answer").count() == 12
    is_down = False

    assert retry_failed(run, None) == 8  # four responses, and the controls of four
    work(run)

    assert ControlScore.objects.filter(score=1).count() == 12


def test_controls_neither_hold_up_nor_fail_their_run(tmp_path, told):
    def gone(pair):
        raise BackendError("the model is gone")

    backend = told(lambda pair: Entailment(1.0))
    dataset = mills(tmp_path)
    run = requested(dataset, backend="told", n_controls=N)
    n_chunks = run.chunks.filter(is_of_controls=False).count()

    assert work(run, n_chunks).state == "done"  # its controls still wait
    backend.answer = gone
    assert work(run).state == "done"

    # The evidence itself is what each response says, so that its scores were known before.
    assert set(ControlScore.objects.values_list("kind", flat=True)) <= {"top"}
    backend.answer = lambda pair: Entailment(1.0)
    requested(dataset, backend="told", n_controls=0)  # none are wanted, so none are queued
    assert not run.chunks.filter(is_of_controls=True).exclude(state="done").exists()
    assert request_controls(run, None) == N
    assert work(run).state == "done"
    assert ControlScore.objects.count() == 3 * N
    with pytest.raises(RunError, match="when the run is done"):
        request_controls(cancelled(dataset, backend="told", threshold=0.1), None)


def test_the_labels_of_controls_take_one_query(tmp_path, told, django_assert_num_queries):
    told(lambda pair: Entailment(1.0))
    dataset = mills(tmp_path)
    runs = [told_run(dataset, flavor=flavor, n_controls=24) for flavor in ("v0", "v1")]

    with django_assert_num_queries(1):
        labels = control_labels(runs)

    by_form = dict(shares_by_form(labels[runs[0].pk]["nothing"]))
    assert set(by_form) <= set(FORMS)
    assert sum(share.n for share in by_form.values()) == N


def test_a_control_that_could_not_be_made_has_no_form_and_the_page_shows_the_others(
    tmp_path, told, researcher
):
    told(lambda pair: Entailment(1.0))
    run = told_run(mills(tmp_path, 2), n_controls=2)
    of_run = ControlScore.objects.filter(run=run, kind="nothing")
    of_run.update(form="", score=None, problem="there is no evidence")

    assert dict(shares_by_form(control_labels([run])[run.pk]["nothing"])) == {}
    assert researcher.get(page_of(run)).status_code == 200


def test_a_control_stands_once_and_has_a_score_or_a_problem(tmp_path):
    dataset = mills(tmp_path, 1)
    run = work(requested(dataset, n_controls=1))
    target = AutoScore.objects.get().target

    for wrong in ({"kind": "top", "score": 1}, {"kind": "x", "problem": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ControlScore.objects.create(run=run, target=target, **wrong)


# --- where they are shown -------------------------------------------------------------------


@pytest.mark.once
def test_a_run_of_before_gets_controls_by_its_button_and_says_that_it_is_unfit(
    tmp_path, told, client_for, rosa, django_assert_num_queries
):
    told(lambda pair: Entailment(1.0))
    dataset = mills(tmp_path)
    run = told_run(dataset)
    researcher = client_for(rosa)
    before = researcher.get(page_of(run))
    assert "Score controls" in shown(before).buttons
    assert "Unfit" not in before.text

    researcher.post(reverse("evaluation:add-controls", args=[run.pk]))
    work(run)

    assert "Unfit for these data" in researcher.get(page_of(run)).text
    for form in (MainMetricsForm(dataset), AxesForm({}, dataset=dataset)):
        assert "shown evidence (unfit)" in str(form["attribution"])
    with django_assert_num_queries(2):
        [row] = controls_report(dataset).rows
    found = row.of_controls
    assert (found.floor.value, found.top.value, found.verdict) == (1, 1, "unfit")
    assert (row.n, row.n_left_out) == (3 * N, 0)
    again = researcher.post(
        reverse("api:run-controls", args=[run.pk]), {}, content_type="application/json"
    )
    assert again.status_code == 202
    assert ControlScore.objects.count() == 3 * N


@pytest.mark.once
def test_without_votes_the_floor_chooses_a_threshold_and_nothing_is_asked_again(
    tmp_path, told, client_for, rosa
):
    """Wrong evidence scores .6, right evidence .9: the lowest threshold without a yes is .6."""
    backend = told(lambda pair: Entailment(0.9 if perfect(pair) else 0.6))
    run = told_run(mills(tmp_path), flavor="v0", window=0, n_controls=N)
    n_asked = len(backend.asked)
    researcher = client_for(rosa)
    assert "Score at this threshold" in shown(researcher.get(page_of(run))).buttons

    made = researcher.post(reverse("evaluation:threshold-by-floor", args=[run.pk]))

    chosen = MetricRun.objects.exclude(pk=run.pk).get()
    assert made.url == page_of(chosen)
    assert chosen.threshold == 0.6
    work(chosen)
    assert len(backend.asked) == n_asked
    assert fitness_of_runs([chosen])[chosen.pk].floor.share == 0
    assert fitness_of_runs([chosen])[chosen.pk].top.share == 1
    assert "The controls chose it, without votes" in researcher.get(page_of(chosen)).text
    again = researcher.post(reverse("evaluation:threshold-by-floor", args=[chosen.pk]), follow=True)
    assert shown(again).messages == ["The controls of this run choose no threshold."]


@pytest.mark.parametrize(
    ("floor", "others", "is_yes_at_threshold", "expected"),
    [
        # Of 20, one may be a yes: the second highest is the threshold, and only 20 lies above it.
        ([*range(1, 21)], [], False, 19),
        ([*range(1, 20), 19], [], False, 19),  # two equal scores are both no
        ([*range(1, 20)], [], False, None),  # too few
        ([*range(1, 21)], [19.5], True, 19.5),  # 19 itself would be a yes
        ([1] * 20, [], True, None),  # no score is higher
    ],
)
def test_the_threshold_of_a_floor_by_hand(floor, others, is_yes_at_threshold, expected):
    found = threshold_by_floor(
        np.array(floor, float), np.array(others, float), is_yes_at_threshold=is_yes_at_threshold
    )

    assert found == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


# --- what is made ---------------------------------------------------------------------------


def material(text="The mill closed in 1971. It was old.", **more):
    turns = (("user", "When did the mill close?"),)
    return ScoringMaterial(1, text, turns, [], **more)


OWN = material(golden_answer="In 1971.")
OTHER = material("A bridge fell.")
CITED = material(citation=ParsedCitation(1, "Q1", "closed", "1971", "It closed in 1971."))
CITED_ELSEWHERE = material(citation=ParsedCitation(1, "Q2", "height", "9 m", "It is 9 m high."))


@pytest.mark.parametrize(
    ("metric", "kind", "own", "other", "expected"),
    [
        ("sensible", "floor", OWN, OTHER, "A bridge fell."),
        ("sensible", "top", OWN, OTHER, "In 1971."),
        ("relevance", "floor", OWN, OTHER, "A bridge fell."),
        # Two sentences have one other order. Four words have many; one is drawn.
        ("coherence", "floor", OWN, OTHER, "It was old. The mill closed in 1971."),
        ("fluency", "floor", material("two words"), OTHER, "words two"),
        ("coherence", "floor", OTHER, OWN, None),
        ("sensible", "top", OTHER, OWN, None),
    ],
)
def test_each_metric_makes_its_controls_by_hand(metric, kind, own, other, expected):
    [control] = [each for each in METRICS[metric].controls if each.kind == kind]

    made = control.make(own, other, 0)

    assert (made and made.material.text) == expected


def test_the_controls_of_a_citation_are_another_claim_and_its_own():
    controls: Any = METRICS["alignment"].controls
    floor, top, nothing = controls

    def claim(control, other):
        cited = control.make(CITED, other, 0).material.citation
        return cited.sentence, cited.relation, cited.value

    assert floor.may_stand_in(CITED, CITED_ELSEWHERE)
    assert not floor.may_stand_in(CITED, CITED)
    assert claim(floor, CITED_ELSEWHERE) == ("It closed in 1971.", "height", "9 m")
    assert claim(top, CITED) == ("Its closed is 1971.", "closed", "1971")
    assert claim(nothing, CITED)[1:] == ("closed", "1971")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("numbers", NUMBERS),
        ("question", "Why?"),
        ("cut", "The mill closed"),  # three words at most of seven
        ("not known", "I do not know."),
    ],
)
def test_a_text_that_says_nothing(form, expected):
    response = "The old mill closed in March 1971. It was old."

    assert saying_nothing(response, "Why?", 3, [form]) == (
        expected.replace("mill closed", "old mill"),
        form,
    )


def test_forms_that_are_not_possible_are_not_drawn():
    drawn = {saying_nothing("One.", "", draw)[1] for draw in range(8)}

    assert drawn == {"numbers", "not known"}  # no question, and half of one word is none


@pytest.mark.parametrize(
    ("response", "turn", "possible"),
    [
        ("The old mill closed.", "Why did it close?", {"question", "cut"}),
        ("The old mill closed.", "The mill closed in 1971.", {"cut"}),  # it may be right
        ("The old mill closed.", "何年ですか\N{FULLWIDTH QUESTION MARK}", {"question", "cut"}),
        ("Yes, it did in 1971.", "Did it close?", {"question"}),  # 'Yes,' answers
        ("No it did not close.", "Did it close?", {"question"}),
        ("Nobody knows the year.", "Did it close?", {"question", "cut"}),
    ],
)
def test_what_would_state_or_answer_something_is_not_drawn(response, turn, possible):
    drawn = {saying_nothing(response, turn, draw)[1] for draw in range(12)}

    assert drawn == possible | {"numbers", "not known"}


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["Two words. Here are four words."], "Here are four words."),
        (["Two words."], ""),
        (
            ["The history of mills\nThe mill closed in 1971.\nWhen did it close?"],
            "The mill closed in 1971.",
        ),
        (["A list of mills", 'He said: "It is old."'], 'He said: "It is old."'),
        (["{name: Mill, closed: 1971, qid: Q1}"], "{name: Mill, closed: 1971, qid: Q1}"),
    ],
)
def test_a_sentence_of_the_evidence_is_a_statement_where_there_is_one(evidence, expected):
    assert {sentence_among(evidence, draw) for draw in range(6)} == {expected}


def test_an_order_is_another_one_or_none():
    assert {in_random_order(["a", "b"], draw) for draw in range(9)} == {"b a"}
    assert in_random_order(["a", "a"], 1) == ""


@pytest.mark.parametrize(
    ("floor", "nothing", "top", "n", "n_faults"),
    [
        (0.30, 0.30, 0.70, 20, 0),  # at the limits
        (0.31, 0.00, 1.00, 20, 1),
        (0.00, 0.31, 1.00, 20, 1),
        (0.00, 0.00, 0.69, 20, 1),
        (1.00, 1.00, 0.00, 19, 0),  # too few
    ],
)
def test_the_limits_of_a_fit_metric(floor, nothing, top, n, n_faults):
    shares = (ShareOfYes(share, 0, 1, n) for share in (floor, top, nothing))

    assert len(list(Fitness(*shares).faults)) == n_faults
