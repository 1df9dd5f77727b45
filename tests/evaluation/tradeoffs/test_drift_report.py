"""The report on drift: the labels that flip between two judgements, by hand."""

import pytest
from django.urls import reverse

from evaluation.reports.registry import CannotReport
from evaluation.tradeoffs.reports.drift import (
    DRIFT,
    DriftChoices,
    DriftRow,
    FlipRow,
    drift_report,
)
from generation.choices.declaration import ChoiceError
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated
from tests.shown import shown

pytestmark = pytest.mark.once

# Response, dialog by dialog: the majority of the raters, and the scores of two versions. The label
# of both is yes above .5. Of five responses with both labels three flip, one of them to yes.
VOTES = {"e1": "yyy", "e2": "yyy", "e3": "yyn", "e4": "nnn", "e5": "nny", "e6": "nnn"}
BEFORE = {"e1": 0.9, "e2": 0.8, "e3": 0.6, "e4": 0.1, "e5": 0.5}
AFTER = {"e1": 0.9, "e2": 0.4, "e3": 0.5, "e4": 0.7, "e5": 0.2, "e6": 0.9}


@pytest.fixture
def study(tmp_path):
    study = rated(tmp_path, votes(**VOTES))
    for number, scores in enumerate((BEFORE, AFTER), 1):
        run = make_run(study.dataset, signature=f"model v{number}", model_name=f"model v{number}")
        make_scores(run, scores)
    return study


def drift_of(dataset, choices):
    """Return the row of the change, the flips, and how many labels have nothing beside them."""
    report = drift_report(dataset, choices)
    [summary] = [row for row in report.rows if isinstance(row, DriftRow)]
    flips = [row for row in report.rows if isinstance(row, FlipRow)]
    return summary, flips, report.left_out["labelled_by_one"]


def test_the_newest_run_is_compared_with_the_one_before(study):
    summary, flips, n_by_one = drift_of(study.dataset, DriftChoices())

    assert (summary.n, summary.n_dialogs) == (5, 5)
    assert (summary.before, summary.after) == ("Auto-AIS, model v1", "Auto-AIS, model v2")
    assert (summary.share_before, summary.share_after) == (0.6, 0.4)
    assert summary.change.value == pytest.approx(-0.2)
    assert {summary.change.low, summary.change.high}.isdisjoint({None, -0.2})
    assert (summary.n_to_yes, summary.n_to_no) == (1, 2)
    assert summary.flipped.value == 0.6
    # Of the signs of three differences all patterns are at least as far from 0 as 1 - 2.
    assert summary.p == 1
    # P(at most 1 of 3) = 4/8 on either side, less the whole of P(1 of 3) = 3/8.
    assert summary.p_mcnemar == pytest.approx(2 * 4 / 8 - 3 / 8)
    assert [(flip.key, flip.flip, flip.score_before, flip.score_after) for flip in flips] == [
        ("e2", "to no", 0.8, 0.4),
        ("e3", "to no", 0.6, 0.5),
        ("e4", "to yes", 0.1, 0.7),
    ]
    assert n_by_one == 1


def test_raters_may_be_one_side_and_choices_mean_the_same_elsewhere(study):
    chosen = DriftChoices(before=f"{study.slug}/separate/q", after="model v2")
    with pytest.raises(ChoiceError, match="There is no axis 'model v2'"):
        drift_report(study.dataset, chosen)

    newest = study.dataset.metric_runs.latest("pk")
    with pytest.raises(ChoiceError, match="on both sides; expected another one"):
        drift_report(study.dataset, DriftChoices(*[f"run-{newest.pk}"] * 2))
    chosen = chosen._replace(after=f"run-{newest.pk}")
    summary, _, n_by_one = drift_of(study.dataset, chosen)
    # The raters' majorities are 1 1 1 0 0 0, the labels of v2 1 0 0 1 0 1.
    assert (summary.n, summary.n_to_yes, summary.n_to_no, n_by_one) == (6, 2, 2, 0)
    assert DRIFT.portable is not None
    portable = DRIFT.portable(study.dataset, chosen)
    assert portable.after == "auto_ais: model v2"
    assert drift_of(study.dataset, portable)[0] == summary


def test_the_page_leads_to_the_responses_and_says_when_there_is_nothing(
    study, tmp_path, researcher
):
    page = shown(researcher.get(reverse("evaluation:report-of-dataset", args=["pilot", "drift"])))
    [_, flips] = page.tables
    assert flips.row("e2")["Flips"] == "to no"
    assert flips.links[0]["to no"].startswith("/data/")

    bare = rated(tmp_path / "bare", votes(e1="yyy"), name="bare").dataset
    with pytest.raises(CannotReport, match="No metric has two runs"):
        drift_report(bare, DriftChoices())
