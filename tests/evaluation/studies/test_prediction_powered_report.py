"""The report on few labels: against its formula in a plain loop, and where it has no interval."""

from statistics import mean

import numpy as np
import pytest

from evaluation.reports.base import CountedLabels
from evaluation.studies.reports.prediction_powered import (
    PREDICTION_POWERED,
    PredictionPoweredChoices,
    prediction_powered_report,
)
from evaluation.votes.all_responses import all_responses
from generation.choices.declaration import ChoiceError
from generation.models import Response
from tests.evaluation.studies.few_labels import (
    DIALOGS,
    DRAWN,
    N_DIALOGS,
    N_DRAWN,
    SETUPS,
    few_labels,
    few_labels_rows,
)
from tests.makers import import_rows, statements, vote_row

pytestmark = pytest.mark.once
USUAL = PredictionPoweredChoices()


def by_formula(labels, labelled, others):
    """Return λ and the estimate in plain loops."""
    covariance = np.cov(labels, labelled, ddof=0)[0, 1]
    spread = np.var([*labelled, *others], ddof=1) * (1 + len(labels) / len(others))
    lam = min(1.0, max(0.0, covariance / spread))
    return lam, mean(labels) + lam * (mean(others) - mean(labelled))


def rows_of(study, **choices):
    report = prediction_powered_report(study, USUAL._replace(**choices))
    return {row["setup"]: row for row in report.records}


@pytest.mark.parametrize("setup", SETUPS)
def test_the_estimate_is_that_of_the_formula(tmp_path, setup):
    rows = few_labels_rows()
    study = few_labels(tmp_path)
    score = {each["response"]: float(each["score"]) for each in rows["scores"]}
    votes = {each["response"]: each["answer"] for each in rows["votes"]}
    labels, labelled, others = [], [], []
    for dialog in DIALOGS:
        key = f"{dialog}-{setup}"
        if dialog in DRAWN:
            labels.append(1 if votes[key] == "yes" else 0)
            labelled.append(score[key])
        else:
            others.append(score[key])
    lam, expected = by_formula(labels, labelled, others)

    row = rows_of(study)[setup]

    assert (len(labels), len(others)) == (N_DRAWN, N_DIALOGS - N_DRAWN)
    assert row["lam"] == pytest.approx(lam, abs=1e-12)
    assert row["mean"] == pytest.approx(expected, abs=1e-12)
    assert row["human_mean"] == pytest.approx(mean(labels))
    assert row["metric_mean"] == pytest.approx(mean([*labelled, *others]))
    assert (row["n_labels"], row["n_scored"]) == (40, 40)
    assert row["mean_low"] < row["mean"] < row["mean_high"]
    assert row["helps"] is True
    assert row["n_effective"] > 40
    assert row["why"] is None


def test_a_tied_answer_counts_half_beside_the_estimate_and_a_waiting_one_in_neither(tmp_path):
    rows = few_labels_rows()
    tied, waiting, *_ = (f"{dialog}-first" for dialog in sorted(DRAWN))
    # N is 3. Votes 2:2 are all in; 1:1 wait for a third.
    rows["votes"] = [each for each in rows["votes"] if each["response"] not in (tied, waiting)]
    rows["votes"] += [
        vote_row(key, f"w{n}", "yes" if n % 2 else "no", "good")
        for key, n_votes in ((tied, 4), (waiting, 2))
        for n in range(1, n_votes + 1)
    ]
    study = import_rows(tmp_path, "few", **rows).study
    votes = {each["response"]: each["answer"] for each in rows["votes"]}
    score = {each["response"]: float(each["score"]) for each in rows["scores"]}
    labels, labelled, others = [0.5], [score[tied]], []
    # The scores of rated dialogs stay in the mean that is taken off, also without a label.
    for dialog in DIALOGS:
        key = f"{dialog}-first"
        if dialog not in DRAWN:
            others.append(score[key])
        elif key not in (tied, waiting):
            labels.append(1.0 if votes[key] == "yes" else 0.0)
            labelled.append(score[key])
    lam, _ = by_formula(labels, labelled, others)
    shift = mean(others) - mean([*labelled, score[waiting]])

    row = rows_of(study)["first"]

    assert (row["n_labels"], row["n_left_out_waiting"], row["n_left_out_tied"]) == (38, 1, 1)
    assert row["human_mean"] == pytest.approx(mean(labels[1:]))
    assert row["human_mean_ties_half"] == pytest.approx(mean(labels))
    assert row["mean_ties_half"] == pytest.approx(mean(labels) + lam * shift, abs=1e-12)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"n_drawn_from": None}, "no sample that was drawn here"),
        ({"n_drawn_from": N_DIALOGS + 1}, "no sample that was drawn here"),
        ({"n_sampled": 20}, "fewer than 30 labels"),
    ],
)
def test_without_what_it_needs_the_row_has_raters_alone_and_says_why(tmp_path, facts, why):
    row = rows_of(few_labels(tmp_path, **facts))["first"]

    assert row["mean"] is row["mean_low"] is row["lam"] is row["helps"] is None
    assert row["human_mean"] is not None
    assert why in row["why"]


def test_drawn_dialogs_without_votes_are_among_the_others(tmp_path):
    study = few_labels(tmp_path, n_sampled=N_DRAWN + 10)

    row = rows_of(study)["first"]

    assert (row["n_labels"], row["n_scored"]) == (40, 40)


def test_answers_outside_the_draw_are_ignored(tmp_path):
    """With a smaller draw from the same seed, only its dialogs count: 32 of the 40 rated ones."""
    row = rows_of(few_labels(tmp_path, n_sampled=32))["first"]

    assert (row["n_labels"], row["n_scored"]) == (32, N_DIALOGS - 32)


def test_one_setup_and_one_run_can_be_chosen(tmp_path):
    study = few_labels(tmp_path)

    assert list(rows_of(study, counted=CountedLabels(setup="second"))) == ["second"]
    with pytest.raises(ChoiceError, match="no question 'bad'"):
        PREDICTION_POWERED.chosen(study, {"question": "bad"})


def test_missing_scores_are_counted(tmp_path):
    study = few_labels(tmp_path)
    gone = Response.objects.get(key=f"{DIALOGS[0]}-first")
    gone.targets.get().scores.all().delete()

    report = prediction_powered_report(study, USUAL)

    assert report.left_out["without_score"] == 1


def test_the_number_of_statements_does_not_grow_with_responses(tmp_path):
    study = few_labels(tmp_path)

    n_statements = len(statements(lambda: prediction_powered_report(study, USUAL)))

    assert n_statements <= 25


def test_responses_are_numbered_by_their_names(tmp_path):
    everything = all_responses(few_labels(tmp_path))

    keys = list(Response.objects.order_by("key").values_list("pk", flat=True))
    assert everything.responses.tolist() == keys
    assert everything.places_of(np.array([keys[5], -1])).tolist() == [5, -1]
    assert everything.is_drawn is not None
    assert everything.is_drawn.sum() == N_DRAWN
