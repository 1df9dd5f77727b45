"""Imported scores for which no threshold was given: they have ranks and no labels."""

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.runs.services.chosen_thresholds import with_threshold
from evaluation.studies.disagreements.worklist import worklist
from evaluation.studies.pages.answer import findings
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.response_values import scores_by_response
from evaluation.studies.reports.study import study_figures
from evaluation.tradeoffs.axes import of_run, values_of
from evaluation.votes.all_responses import all_responses
from tests.makers import import_path, rated
from tests.shown import shown

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

# All scores are far above .5. Between .93 and .935 all but one are in the order of the labels.
YES = {"a": 0.94, "b": 0.95, "c": 0.96, "d": 0.93}
NO = {"e": 0.9, "f": 0.91, "g": 0.89, "h": 0.88, "i": 0.87, "j": 0.935}
BY_LABEL = (
    *("accuracy", "balanced_accuracy", "precision", "recall", "f1", "kappa"),
    *("minus_ceiling_halves", "tp", "fn", "fp", "tn", "threshold"),
)


def with_scores(folder, signature="", **more):
    """Import a study of ten responses, each rated by three, and the scores of a metric."""
    votes = {key: {"attributable": ["yes"] * 3} for key in YES}
    votes |= {key: {"attributable": ["no"] * 3} for key in NO}
    scores = [
        {"response": key, "metric": "bert", "score": score, "signature": signature}
        for key, score in (YES | NO | more).items()
    ]
    return rated(folder, votes, scores=scores)


def row_of(study, **choices):
    [row] = agreement_report(study, Choices(**choices)).records
    return row


def test_they_have_ranks_and_every_figure_of_labels_is_undefined(tmp_path):
    study = with_scores(tmp_path)
    run = MetricRun.objects.get()

    row = row_of(study)

    assert {name: row[name] for name in BY_LABEL} == dict.fromkeys(BY_LABEL)
    # Of 4 × 6 pairs of a yes and a no, only d (.93) and j (.935) are in the wrong order.
    assert row["auc"] == pytest.approx(23 / 24)
    truth = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0)
    squares = [(score - truth[key]) ** 2 for key, score in (YES | NO).items()]
    assert row["mse"] == pytest.approx(sum(squares) / 10)
    # Ranks of the yeses add up to 33, of the noes to 22. Mid-ranks of the labels are 8.5 and 3.5.
    assert row["spearman"] == pytest.approx((11 * 3 + 11 * 2) / (82.5 * (4 * 9 + 6 * 4)) ** 0.5)
    assert (row["n"], row["baseline"]) == (10, 0.6)
    assert row["why"].startswith("no threshold was given")

    figures = study_figures(study, Choices())
    [said] = findings(study, load_scheme(study.scheme), figures)
    assert not any("agrees" in sentence for sentence in said.sentences)
    [question] = load_scheme(study.scheme).questions
    work = worklist(study, run, question, Choices())
    assert (work.items, work.n_compared) == ([], 0)
    assert work.left_out == {"without a threshold": 10}
    values = values_of(of_run(run))
    assert np.isnan(values.labels).all()
    assert sorted(values.scores) == sorted((YES | NO).values())
    assert np.isnan(scores_by_response(run, all_responses(study)).labels).all()


def test_a_score_outside_0_to_1_leaves_no_squared_error_even_where_it_is_not_compared(tmp_path):
    study = with_scores(tmp_path)
    AutoScore.objects.filter(target__response__key="a").update(is_assumed=False, score=1.2)

    assert row_of(study)["mse"] is None


def test_a_threshold_in_the_signature_gives_labels(tmp_path):
    row = row_of(with_scores(tmp_path, signature="v1|t:0.92"))

    # yes above .92: a, b, c, d and j. Only j is wrong.
    assert (row["threshold"], row["accuracy"], row["fp"]) == (0.92, 0.9, 1)


def test_the_page_offers_a_threshold_and_the_chosen_one_gives_labels(researcher, tmp_path):
    study = with_scores(tmp_path)
    metrics = researcher.get(reverse("evaluation:study-metrics", args=[study.slug]))
    line = shown(metrics).table("Scores without a threshold").row("bert")
    assert (line["Accuracy"], line["AUC"], line["n"]) == ("—", ".96", "10")
    assert "n = 10 responses compared; 95 % intervals" in shown(metrics).text
    link = shown(metrics).links["Choose a threshold"]

    page = shown(researcher.get(link))
    assert "Default settings" not in page.facts
    assert "without a choice" not in page.text
    answer = researcher.post(
        reverse("evaluation:start-chosen-run", args=[study.slug]),
        {
            "question": "attributable",
            "family": "imported|bert",
            "run": page.fields["run"],
            "threshold": page.fields["threshold"],
        },
    )

    made = MetricRun.objects.exclude(signature="").get()
    assert answer.url == reverse("evaluation:run", args=[made.pk])
    # Between f (.91) and d (.93), 9 of 10 labels are right, and j (.935) is wrong. Between j and a
    # (.94), d is wrong instead. Of the two, .92 is nearer to the middle of the scale.
    assert made.threshold == pytest.approx(0.92)
    assert made.signature == f"t:{made.threshold!r}"
    rows = {row["run"]: row for row in agreement_report(study).records}
    assert (rows[made.pk]["accuracy"], rows[made.pk]["flattered"]) == (0.9, True)
    assert rows[MetricRun.objects.get(signature="").pk]["accuracy"] is None


def test_the_same_file_again_changes_nothing_after_a_threshold_was_chosen(tmp_path):
    study = with_scores(tmp_path / "pilot")
    for _ in range(2):  # the second time changes nothing
        with_threshold(MetricRun.objects.get(signature=""), 0.92, chosen_by_votes_of=study.slug)

    outcome = import_path(tmp_path / "pilot")

    assert outcome.counts["scores"] == {"new": 0, "unchanged": 10, "bad": 0}
    assert (MetricRun.objects.count(), AutoScore.objects.count()) == (2, 20)
    assert Study.objects.count() == 1
