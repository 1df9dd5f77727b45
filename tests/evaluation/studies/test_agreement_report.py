"""The report on human–auto agreement: by hand, and against scikit-learn on exported files."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.report import Record
from evaluation.studies.disagreements.worklist import disagreements
from evaluation.studies.reports.agreement import agreement_report, curves
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.timing import position_report, time_report
from evaluation.studies.reports.uncertainty import uncertainty_report
from evaluation.votes.export import export_folder
from tests.annotation.makers import material, opened
from tests.evaluation.makers_of_scores import make_run, make_score, make_scores
from tests.evaluation.studies.hand_made import two_arms, votes
from tests.evaluation.studies.test_rated_here import rate_by_care
from tests.makers import forget, import_path, rated, scheme_of, statements

pytestmark = pytest.mark.once
EXACT = 1e-6


def only_row(study: Study, **choices: Any) -> Record:
    [row] = agreement_report(study, Choices(**choices)).records
    return row


def scored(folder: Path, answers: dict[str, Any], scores: dict[str, float], **more: Any) -> Study:
    """Import votes on one question and a run's scores by response."""
    study = rated(folder, answers, **more)
    make_scores(make_run(study.dataset), scores)
    return study


# --- by hand --------------------------------------------------------------------------------


def test_a_score_above_the_threshold_is_a_yes_and_one_on_it_a_no(tmp_path):
    answers = votes(a="yyn", b="yyy", c="nnn", d="nny", e="yyy")
    study = scored(tmp_path, answers, {"a": 0.9, "b": 0.5, "c": 0.4, "d": 0.6, "e": 0.8})

    row = only_row(study)

    # Human y y n n y; auto y n n y y.
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == (2, 1, 1, 1)
    assert (row["n"], row["n_human_yes"], row["threshold"]) == (5, 3, 0.5)
    assert row["accuracy"] == pytest.approx(3 / 5)
    assert row["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row["baseline"] == pytest.approx(3 / 5)
    assert row["n_rater_score"] == 5
    assert row["auc"] == pytest.approx(5 / 6)  # yes scores above no, in all pairs but b and d
    squared = (0.9 - 2 / 3) ** 2 + (0.5 - 1) ** 2 + 0.4**2 + (0.6 - 1 / 3) ** 2 + (0.8 - 1) ** 2
    assert row["mse"] == pytest.approx(squared / 5)
    # Each score has a bin of its own: gaps to the labels y y n n y.
    assert row["calibration_error"] == pytest.approx((0.1 + 0.5 + 0.4 + 0.6 + 0.2) / 5)
    assert (row["question"], row["truth"], row["flattered"]) == ("q", "separate", False)
    assert row["run_signature"].startswith("auto_ais|lexical|v3")


def test_whatever_is_not_compared_is_counted(tmp_path):
    answers = votes(a="yyn", b="nnn", c="yn", d="yyy", e="yyy", f="nnn")
    study = scored(tmp_path, answers, {"a": 0.9, "b": 0.2, "c": 0.7})
    run = MetricRun.objects.get()
    make_score(run, "d", None, problem="the response is empty")
    make_score(run, "e", 0.0, is_assumed=True)
    run.scores.filter(score=0.9).update(n_truncated=3)

    report = agreement_report(study)
    row = report.records[0]

    # Compared a, b; c is tied (N is its two votes), d failed, e assumed, f has no score yet.
    assert (row["n"], row["accuracy"]) == (2, 1.0)
    counted = {name: row[name] for name in ("waiting", "tied", "failed", "assumed", "unscored")}
    assert counted == {"waiting": 0, "tied": 1, "failed": 1, "assumed": 1, "unscored": 1}
    assert row["truncated"] == 3
    assert (report.left_out["failed"], report.left_out["assumed_scores"]) == (1, 1)
    assert (report.left_out["unscored"], report.left_out["tied"]) == (1, 1)


def test_the_truth_is_the_separate_arm_unless_another_is_chosen(tmp_path):
    study = two_arms(tmp_path / "s", {"a": ("yyy", "nnn"), "b": ("nnn", "nnn")})
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.1})

    separate, merged = only_row(study), only_row(study, truth="merged")

    assert (separate["truth"], separate["accuracy"]) == ("separate", 1.0)
    assert (merged["truth"], merged["accuracy"]) == ("merged", 0.5)
    # The arms agree on b alone, whichever is the truth.
    assert separate["ceiling_merged"] == merged["ceiling_merged"] == 0.5
    assert separate["minus_ceiling_merged"] == pytest.approx(0.5)


def test_a_study_without_that_arm_has_the_truth_of_its_own(tmp_path):
    study = two_arms(tmp_path / "s", {"a": ("", "yy"), "b": ("", "nn")})
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.9})

    row = only_row(study)

    assert (row["truth"], row["accuracy"], row["ceiling_merged"]) == ("merged", 0.5, None)


def test_the_ceilings_are_those_of_the_raters(tmp_path):
    study = scored(tmp_path, votes(a="yyn", b="nnn", c="yyy"), {"a": 0.9, "b": 0.1, "c": 0.9})

    row = only_row(study)

    # Halves of three are one vote against two, as one against the rest is. a: the no against two
    # yeses differs; each yes leaves a tie, which counts half: 1/3. b and c always agree.
    assert row["ceiling_halves"] == row["ceiling_rest"] == pytest.approx(7 / 9)
    assert (row["ceiling_rest_votes"], row["ceiling_rest_n"]) == (3, 3)
    assert row["minus_ceiling_rest"] == pytest.approx(1 - 7 / 9)


def test_a_ceiling_is_over_the_responses_that_the_metric_has_scored(tmp_path):
    votes_of = {"a": ("yyn", "nnn"), "b": ("nnn", "nnn"), "c": ("yyy", "yyy"), "d": ("yn", "yy")}
    study = two_arms(tmp_path / "s", votes_of)
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.1, "d": 0.9})

    row = only_row(study)

    # c has no score. d has no majority, but it has two votes, so two votes of each count.
    assert (row["n"], row["accuracy"], row["label"]) == (2, 1.0, "majority")
    # Two of a's three are yes yes in one of three ways, else tied: 1/3 + 1/3 = 2/3 of a yes. Merged
    # is no: 1/3. b: 1. d is tied: half.
    assert row["ceiling_merged"] == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    # One against the other: a agrees in one of three ways, b always, d never.
    assert row["ceiling_halves"] == row["ceiling_rest"] == pytest.approx((1 / 3 + 1) / 3)
    # The metric says yes, no, yes.
    for name in ("merged", "halves", "rest"):
        assert row[f"ceiling_{name}_accuracy"] == pytest.approx((2 / 3 + 1 + 1 / 2) / 3)
        assert (row[f"ceiling_{name}_n"], row[f"ceiling_{name}_votes"]) == (3, 2)


def test_a_response_with_one_vote_takes_part_in_no_ceiling(tmp_path):
    study = scored(tmp_path, votes(a="yyn", b="n"), {"a": 0.9, "b": 0.1})

    row = only_row(study)

    assert row["n"] == 2
    assert (row["ceiling_halves_n"], row["ceiling_rest_n"], row["ceiling_merged_n"]) == (1, 1, None)


def test_runs_stand_side_by_side_and_one_without_scores_is_not_there(tmp_path):
    study = scored(tmp_path, votes(a="yy", b="nn"), {"a": 0.9, "b": 0.1})
    other = make_run(study.dataset, signature="auto_ais|other|t:0.95", threshold=0.95)
    make_scores(other, {"a": 0.9, "b": 0.1})
    make_run(study.dataset, signature="auto_ais|third")

    rows = agreement_report(study).records

    assert [(row["threshold"], row["accuracy"]) for row in rows] == [(0.5, 1.0), (0.95, 0.5)]


def test_a_nominal_question_without_a_positive_label_says_why(tmp_path):
    scheme = scheme_of({"q": {"nominal": ["good", "bad"]}})
    answers = {"a": {"q": ["good", "good"]}, "b": {"q": ["bad", "bad"]}}
    scores = {"a": 0.9, "b": 0.1}
    study = scored(tmp_path / "a", answers, scores, scheme=scheme)
    named = scored(
        tmp_path / "b",
        answers,
        scores,
        scheme=scheme,
        name="named",
        study={"positive": {"q": "good"}},
    )

    row = only_row(study)

    assert row["why"] == "no label of this question is named as the positive one"
    assert row["n"] == 0
    assert all(row[name] is None for name in ("accuracy", "auc", "baseline", "ceiling_rest"))
    assert (only_row(named)["accuracy"], only_row(named)["why"]) == (1.0, None)


def test_flagged_responses_and_other_setups_take_no_part(tmp_path):
    flags = [{"response": "a", "rater": f"w{n}"} for n in (1, 2)]
    study = scored(
        tmp_path,
        votes(a="yy", b="nn", c="nn"),
        {"a": 0.9, "b": 0.1, "c": 0.9},
        flags=flags,
        setups={"c": "model-b"},
    )

    assert (only_row(study)["n"], only_row(study)["accuracy"]) == (2, 0.5)
    assert only_row(study, setup="model-b")["accuracy"] == 0.0


def test_curves_are_there_for_what_can_be_compared(tmp_path):
    study = scored(tmp_path, votes(a="yy", b="nn"), {"a": 0.9, "b": 0.1})

    [(key, curve)] = curves(study).items()

    assert key == f"{MetricRun.objects.get().pk}/q"
    assert [point["threshold"] for point in curve["roc"]] == [0.9, 0.1, None]
    points = [(point["false_alarm"], point["hit"]) for point in curve["roc"]]
    assert points[0] == (0, 0)
    assert (0, 1) in points  # a perfect order
    assert points[-1] == (1, 1)
    assert [(point["score"], point["share_yes"]) for point in curve["calibration"]] == [
        (0.1, 0.0),
        (0.9, 1.0),
    ]
    json.dumps(curve, allow_nan=False)


def test_a_confusion_matrix_counts_the_disagreements_of_the_worklist(tmp_path):
    answers = votes(a="yyynn", b="yyyyy", c="nnnyy", d="nnnnn", e="yyyyn", f="yyynn", g="yyyyy")
    scores = {"a": 0.2, "b": 0.1, "c": 0.9, "d": 0.8, "e": 0.4, "f": 0.2, "g": 0.9}
    study = scored(tmp_path, answers, scores)
    run = MetricRun.objects.get()
    [question] = load_scheme(study.scheme).questions

    [row] = agreement_report(study, Choices()).rows

    kinds = Counter(item.kind for item in disagreements(study, run, question, Choices()))
    assert row.n == 7
    # Missed: a, b, e, f. False alarms: c, d.
    assert (row.confusion.fn, row.confusion.fp) == (4, 2)
    assert kinds == {"missed": 4, "false alarm": 2}


# --- against scikit-learn -------------------------------------------------------------------


def assert_equals_scikit_learn(study: Study, folder: Path, cuts: dict[str, float]) -> int:
    """Compare every row with figures from the exported files alone; return how many there were.

    A question with a cut is ordinal: a median above it is a yes, on it no label.
    """
    export_folder(study.dataset, study, folder)
    with (folder / "votes.csv").open() as file:
        given = list(csv.DictReader(file))
    with (folder / "scores.csv").open() as file:
        scores = {
            (row["metric"], row["signature"], row["response"]): float(row["score"])
            for row in csv.DictReader(file)
            if row["score"] and row["assumed"] == "no"
        }
    responses = map(json.loads, (folder / "responses.jsonl").read_text().splitlines())
    example_of = {response["id"]: response["example"] for response in responses}
    by_target: dict[tuple[str, str], list[float]] = defaultdict(list)
    for vote in given:
        if vote["arm"] == "separate":
            word = {"yes": 1.0, "no": 0.0}.get(vote["answer"])
            answer = float(vote["answer"]) if word is None else word
            by_target[vote["question"], vote["response"]].append(answer)
    rows = agreement_report(study).records
    for row in rows:
        cut = cuts.get(row["question"], 0.5)
        human, auto, score = [], [], []
        rater_score, scored = [], []  # also of ties, which have no majority
        n_of_example: Counter[str] = Counter()
        for (question, response), answers in by_target.items():
            middle = median(answers)  # for yes/no the majority, 0.5 on a tie
            found = scores.get((row["metric"], row["run_signature"], response))
            if question != row["question"] or found is None:
                continue
            low, high = (1, 4) if row["question"] in cuts else (0, 1)
            rater_score.append((np.mean(answers) - low) / (high - low))
            scored.append(found)
            n_of_example[example_of[response]] += 1
            if middle != cut:
                human.append(middle > cut)
                auto.append(found > (row["threshold"] or 0.5))
                score.append(found)
        tn, fp, fn, tp = confusion_matrix(human, auto, labels=[False, True]).ravel()
        expected = {
            "n": len(human),
            "accuracy": accuracy_score(human, auto),
            "balanced_accuracy": balanced_accuracy_score(human, auto),
            "precision": precision_score(human, auto, zero_division=np.nan),
            "recall": recall_score(human, auto),
            "f1": f1_score(human, auto),
            "kappa": cohen_kappa_score(human, auto),
            "auc": roc_auc_score(human, score),
            "n_rater_score": len(scored),
            "spearman": spearmanr(scored, rater_score).statistic,
            "kendall": kendalltau(scored, rater_score).statistic,
            "pearson": pearsonr(scored, rater_score).statistic,
            "n_pairs": sum(n * (n - 1) // 2 for n in n_of_example.values()),
            "baseline": max(np.mean(human), 1 - np.mean(human)),
            "tp": tp,
            "fn": fn,
            "fp": fp,
            "tn": tn,
        }
        if min(scored) >= 0 and max(scored) <= 1:
            expected["mse"] = np.mean((np.array(scored) - np.array(rater_score)) ** 2)
        if row["threshold"] is None:  # imported: ranks and no labels
            of_scores = {"auc", "n_rater_score", "spearman", "kendall", "pearson", "n_pairs", "mse"}
            of_labels = {*expected} - {"n", "baseline", *of_scores}
            assert {row[name] for name in of_labels} == {None}
            expected = {name: expected[name] for name in expected.keys() - of_labels}
        for name, figure in expected.items():
            if name == "precision" and np.isnan(figure):
                assert row[name] is None
            else:
                assert row[name] == pytest.approx(figure, abs=EXACT), (row["question"], name)
    return len(rows)


def test_figures_of_a_hand_made_study_are_those_of_scikit_learn(tmp_path):
    answers = votes(a="yyn", b="yyy", c="nnn", d="nny", e="yyyn", f="yn", g="nnnn", h="y", i="nny")
    scores = {"a": 0.9, "b": 0.5, "c": 0.4, "d": 0.6, "e": 0.8, "f": 0.3, "g": 0.6, "h": 0.7}
    study = scored(tmp_path / "s", answers, scores)

    assert assert_equals_scikit_learn(study, tmp_path / "out", {}) == 1


def test_figures_of_mtrag_are_those_of_scikit_learn(tmp_path, shared):
    study = import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json").study
    assert study

    questions = [question["key"] for question in study.scheme["questions"]]
    n_rows = assert_equals_scikit_learn(study, tmp_path / "out", dict.fromkeys(questions, 2.5))

    assert n_rows == len(questions) * MetricRun.objects.count() > 0


# --- elsewhere, and its cost ----------------------------------------------------------------


def test_an_export_gives_the_same_rows_of_every_report_where_it_is_imported(tmp_path):
    dataset = material(tmp_path / "data", n_examples=5)
    study = opened(dataset, scheme="SSA", arms=["separate", "merged"], raters=10, seed=5)
    rate_by_care(study)
    keys = dataset.responses.order_by("key").values_list("key", flat=True)
    run = make_run(dataset, signature="auto_ais|lexical|v3|whole|whole|shown|t:0.3|v:1")
    MetricRun.objects.update(threshold=0.3)
    make_scores(run, {key: (7 * n % 10) / 10 for n, key in enumerate(keys)})
    reports = (
        scenarios_report,
        uncertainty_report,
        time_report,
        position_report,
        agreement_report,
    )

    def rows(study: Study) -> list[list[Record]]:
        """Return all rows without what names a run here alone."""
        return [
            [
                {
                    name: value
                    for name, value in row.items()
                    if name not in ("run", "title", "model")
                }
                for row in report(study).records
            ]
            for report in reports
        ]

    before = rows(study)
    left_out = [report(study).left_out for report in reports]
    signatures = [report(study).signature for report in reports[:-1]]
    export_folder(dataset, study, tmp_path / "out")
    forget(dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    assert rows(again) == before
    assert [report(again).left_out for report in reports] == left_out
    assert [report(again).signature for report in reports[:-1]] == signatures
    assert all(before)
    assert before[4][0]["threshold"] == 0.3


def test_each_run_costs_as_much_whatever_it_has_scored(tmp_path):
    def n_statements(n, n_runs):
        study = scored(
            tmp_path / f"{n}-{n_runs}",
            votes(**{f"r{i}": "yyn" for i in range(n)}),
            {f"r{i}": i / n for i in range(n)},
            name=f"{n}-{n_runs}",
        )
        for number in range(1, n_runs):
            make_scores(make_run(study.dataset, signature=f"run {number}"), {"r0": 0.4})
        return len(statements(lambda: agreement_report(study)))

    small = n_statements(3, 1)

    assert n_statements(40, 1) == small
    assert n_statements(3, 4) - small <= 3 * 2
