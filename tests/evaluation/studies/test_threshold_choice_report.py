"""The report on threshold choice, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from evaluation.models import MetricRun
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from tests.evaluation.makers_of_scores import make_run, make_score, make_scores
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated

pytestmark = pytest.mark.once

N = 24
ANSWERS = {f"r{n:02}": "yyy" if n % 3 else "nnn" for n in range(N)}


def candidate(dataset, flavor, window, scores, **more):
    """Make a run of a flavor and a window with scores by response."""
    parameters = {"flavor": flavor, "window": window}
    signature = more.pop("signature", f"auto_ais|lexical|{flavor}|{window}")
    run = make_run(dataset, parameters=parameters, signature=signature, **more)
    make_scores(run, scores)
    return run


@pytest.fixture
def study(tmp_path):
    """A study of 24 dialogs, two yes to one no, with three candidates of one family.

    v1 whole: a yes has .8, a no .2, but each eighth response the other way. v3 K = 2: the same
    order of scores, but all below .5. v3 K = 1: noise.
    """
    study = rated(tmp_path, votes(**ANSWERS))
    good = {key: _score(n) for n, key in enumerate(ANSWERS)}
    random = np.random.default_rng(5)
    candidate(study.dataset, "v1", 0, good)
    candidate(study.dataset, "v3", 2, {key: score / 2 for key, score in good.items()})
    candidate(study.dataset, "v3", 1, {key: float(random.random()) for key in ANSWERS})
    return study


def _score(n: int) -> float:
    is_high = (n % 3 > 0) != (n % 8 == 0)
    return 0.8 if is_high else 0.2


def chosen_of(report):
    [row] = [row for row in report.records if row["kind"] == "chosen"]
    return row


def candidates_of(report):
    return {row["title"]: row for row in report.records if row["kind"] == "candidate"}


def test_candidates_are_cut_at_the_usual_threshold_over_the_same_responses(study):
    report = threshold_choice_report(study)
    rows = candidates_of(report)

    human = [n % 3 > 0 for n in range(N)]
    says = [_score(n) > 0.5 for n in range(N)]
    good = rows["v1, whole"]
    # 24 responses, each eighth the wrong way: 21 of 24.
    assert good["accuracy"] == accuracy_score(human, says) == 21 / 24
    assert good["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(human, says))
    assert good["auc"] == pytest.approx(roc_auc_score(human, [_score(n) for n in range(N)]))
    assert (good["flavor"], good["window"], good["n"], good["threshold"]) == ("v1", 0, N, 0.5)
    # Every score of K = 2 is below .5: it says no, which is right for 8 of 24.
    assert rows["v3, localized K = 2"]["accuracy"] == pytest.approx(8 / 24)
    assert rows["v3, localized K = 2"]["best_accuracy"] == 21 / 24
    assert rows["v3, localized K = 2"]["best_threshold"] == pytest.approx(0.25)
    assert rows["v3, localized K = 1"]["auc"] < 0.75


def test_ties_agree_half_with_every_choice_beside_its_accuracy(tmp_path):
    # Two more responses are tied. N is the number of votes, so none waits.
    study = rated(tmp_path, votes(**ANSWERS, t1="yn", t2="ny"))
    scores = {key: _score(n) for n, key in enumerate(ANSWERS)} | {"t1": 0.9, "t2": 0.1}
    candidate(study.dataset, "v1", 0, scores)

    report = threshold_choice_report(study)
    chosen, [good] = chosen_of(report), candidates_of(report).values()

    # 21 of 24, with ties as half (21 + 1) / 26.
    assert (good["accuracy"], good["n_left_out_tied"]) == (21 / 24, 2)
    assert good["accuracy_ties_half"] == pytest.approx(22 / 26)
    assert (chosen["n"], chosen["n_left_out_waiting"], chosen["n_left_out_tied"]) == (24, 0, 2)
    n_right = 24 * chosen["accuracy"]
    assert chosen["accuracy_ties_half"] == pytest.approx((n_right + 1) / 26)


def test_what_is_chosen_is_reported_on_other_dialogs_and_beside_the_flattering_figure(study):
    report = threshold_choice_report(study)
    row = chosen_of(report)

    # v1 whole and v3 K = 2 order the responses alike, v3 K = 1 at random: the first wins.
    assert (row["title"], row["flattering_title"]) == ("v1, whole", "v1, whole")
    assert row["threshold"] == pytest.approx(0.5)
    assert row["accuracy"] == row["flattering_accuracy"] == 21 / 24
    assert (row["optimism"], row["n"], row["n_dialogs"], row["n_folds"]) == (0, N, N, 10)
    # Nothing chosen: v3, K = 2 at .5 says no to all.
    assert row["untuned_title"] == "v3, localized K = 2"
    assert row["untuned_accuracy"] == pytest.approx(8 / 24)
    assert row["gain"] == pytest.approx(13 / 24)
    assert row["baseline"] == pytest.approx(16 / 24)
    assert row["ceiling_halves"] == row["ceiling_rest"] == 1.0
    assert row["ceiling_merged"] is None
    assert row["minus_ceiling_rest"] == pytest.approx(-3 / 24)
    assert row["accuracy_low"] < 21 / 24 < row["accuracy_high"]
    n_chosen = {title: each["n_chosen"] for title, each in candidates_of(report).items()}
    assert sum(n_chosen.values()) == 10
    assert n_chosen["v3, localized K = 1"] == 0
    assert [each["is_recommended"] for each in candidates_of(report).values()].count(True) == 1
    assert "10 folds of dialogs, 5 inside each" in report.signature


def test_the_report_agrees_with_the_one_on_agreement(study):
    accuracies = {row["run"]: row["accuracy"] for row in agreement_report(study).records}

    rows = candidates_of(threshold_choice_report(study)).values()

    assert {row["run"]: row["accuracy"] for row in rows} == accuracies


def test_only_responses_that_every_candidate_has_scored_are_compared(study):
    # One candidate failed on r00, one was shown nothing for r01; a fourth has only begun.
    first, second, *_ = MetricRun.objects.order_by("pk")
    first.scores.filter(target__response__key="r00").update(score=None, problem="too long")
    second.scores.filter(target__response__key="r01").update(score=0, is_assumed=True)
    candidate(study.dataset, "v2", 0, {"r05": 0.9}, state="cancelled")
    candidate(study.dataset, "v2", 1, dict.fromkeys(ANSWERS, 0.9), state="running")

    report = threshold_choice_report(study)
    rows = candidates_of(report)

    assert {row["n"] for row in rows.values() if not row["why"]} == {N - 2}
    assert chosen_of(report)["n"] == N - 2
    assert rows["v1, whole"]["failed"] == rows["v3, localized K = 2"]["assumed"] == 1
    assert rows["v2, whole"]["why"] == "has 1 score, another candidate 24"
    assert rows["v2, localized K = 1"]["why"] == "still being scored"
    assert report.left_out["candidates_without_part"] == 2
    assert report.left_out["failed"] == 1
    # r00 and r01 have a score of the other two each: two responses, one by each candidate.
    lacking = {title: row["n_lacking"] for title, row in rows.items() if not row["why"]}
    assert lacking == {"v1, whole": 1, "v3, localized K = 2": 1, "v3, localized K = 1": 0}
    assert chosen_of(report)["n_not_scored_by_all"] == report.left_out["not_scored_by_all"] == 2


def test_a_candidate_that_was_cancelled_halfway_is_named_as_what_the_others_lose_by(study):
    candidate(study.dataset, "v2", 0, dict.fromkeys(list(ANSWERS)[:13], 0.9), state="cancelled")

    report = threshold_choice_report(study)
    rows = candidates_of(report)

    # 13 of 24 is more than half: it takes part, and 11 responses do not.
    assert (chosen_of(report)["n"], rows["v2, whole"]["n_lacking"]) == (13, 11)
    assert sum(row["n_lacking"] for row in rows.values()) == 11
    assert report.left_out["not_scored_by_all"] == 11


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (dict.fromkeys(ANSWERS, "yyy"), "people said yes to all: nothing to tell apart"),
        ({"a": "yyy", "b": "nnn", "c": "yyy"}, "only 3 dialogs, expected 5 or more"),
        ({"a": "yn", "b": "ny"}, "no response has a human label and a score of every candidate"),
    ],
)
def test_what_cannot_be_chosen_says_why(tmp_path, answers, why):
    study = rated(tmp_path, votes(**answers))
    candidate(study.dataset, "v1", 0, dict.fromkeys(answers, 0.9))

    row = chosen_of(threshold_choice_report(study))

    assert row["why"] == why
    assert row["accuracy"] is row["flattering_accuracy"] is row["threshold"] is None


def test_another_metric_has_only_its_threshold_chosen_on_its_own_scale(tmp_path):
    study = rated(tmp_path, votes(**ANSWERS))
    of_judge = make_run(
        study.dataset, metric="fluency", parameters={}, signature="fluency", threshold=3.0
    )
    make_scores(of_judge, {key: 5.0 if n % 3 else 4.0 for n, key in enumerate(ANSWERS)})

    row = chosen_of(threshold_choice_report(study))
    agreement = agreement_report(study).records[0]

    # All scores are above 3; between 4 and 5 lies what tells them apart.
    assert (row["untuned_threshold"], row["untuned_accuracy"]) == (3.0, pytest.approx(16 / 24))
    assert (row["threshold"], row["accuracy"]) == (4.5, 1.0)
    # (5 - 1) / 4 = 1 where all said yes, (4 - 1) / 4 = .75 where none did: .75² in 8 of 24.
    assert agreement["mse"] == pytest.approx(0.75**2 / 3)
    assert agreement["threshold"] == 3.0


def test_a_metric_that_is_yes_at_its_threshold_is_cut_there(tmp_path):
    # A third is yes. All of those have the highest score there is, and 12 of the 16 others.
    study = rated(
        tmp_path, votes(**{key: "nnn" if n % 3 else "yyy" for n, key in enumerate(ANSWERS)})
    )
    run = make_run(
        study.dataset, metric="sensible", parameters={}, signature="s", is_yes_at_threshold=True
    )
    low = [key for n, key in enumerate(ANSWERS) if n % 3][:4]
    make_scores(run, {key: 0.5 if key in low else 1.0 for key in ANSWERS})

    row = chosen_of(threshold_choice_report(study))

    # At the usual .5 all are yes: 8 right. Between .5 and 1: 8 + 4. No to all, 16, cannot be said.
    assert (row["untuned_threshold"], row["untuned_accuracy"]) == (0.5, pytest.approx(8 / 24))
    assert (row["threshold"], row["flattering_accuracy"]) == (0.75, 0.5)
    assert agreement_report(study).records[0]["accuracy"] == row["untuned_accuracy"]


def test_a_run_chosen_on_these_votes_is_marked_as_flattered_here_alone(study):
    chosen = make_run(study.dataset, signature="t", parameters={"calibrated_on": ["a", study.slug]})
    other = make_run(study.dataset, signature="o", parameters={"calibrated_on": ["elsewhere"]})
    for run in (chosen, other):
        make_score(run, "r00", 0.9)

    flattered = {row["run"]: row["flattered"] for row in agreement_report(study).records}

    assert flattered[chosen.pk] is True
    assert not any(value for run, value in flattered.items() if run != chosen.pk)
