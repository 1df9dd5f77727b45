"""The report on a plan: published numbers, and figures of pilots by hand."""

import math

import pytest

from annotation.planning import estimated_hours, plan_units, rater_needs
from annotation.rating_hours import pace_of
from annotation.study_progress import plan_figures
from evaluation.reports.formats import write_report
from evaluation.reports.registry import CannotReport
from evaluation.runs.names import run_key
from evaluation.studies.figures.plan import plan_chart
from evaluation.studies.reports.plan import PLAN, plan_report
from evaluation.studies.reports.plan_choices import PlanChoices
from evaluation.studies.reports.plan_rows import (
    ArmsDesign,
    AssumptionRow,
    DialogsDesign,
    RatersDesign,
)
from generation.choices.declaration import ChoiceError
from generation.models import Dataset
from tests.annotation.makers import planned
from tests.charts import valid
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms, votes
from tests.makers import example_row, import_rows, rated, response_row, scheme_of, vote_row

pytestmark = pytest.mark.once

Z, W = 1.959963984540054, 0.8416212335729143  # quantiles of 97.5 % and of 80 %


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Keep this module's computed results apart from those of other tests."""


@pytest.fixture
def dataset(tmp_path):
    return dataset_of(tmp_path, ["one"])


def dataset_of(folder, setups):
    """Return forty dialogs of one example, with a response of each setup and no votes."""
    keys = [f"e{n}" for n in range(40)]
    outcome = import_rows(
        folder,
        examples=[example_row(key, dialog=key) for key in keys],
        responses=[response_row(f"{key}-{s}", key, setup=s) for key in keys for s in setups],
    )
    return outcome.dataset


def rows_of(dataset, kind=DialogsDesign, **choices):
    report = plan_report(dataset, PLAN.chosen(dataset, choices))
    return [row for row in report.rows if isinstance(row, kind)]


def assumed(dataset, **choices):
    return {row.key: row for row in rows_of(dataset, AssumptionRow, **choices)}


def smallest(rows):
    """Return the smallest numbers of dialogs by raters alone, and with the metric."""
    alone = next(row.n_dialogs for row in rows if row.is_enough)
    return alone, next((row.n_dialogs for row in rows if row.is_enough_with_metric), None)


# --- by formula -----------------------------------------------------------------------------


def test_2500_labels_become_979_with_a_metric(dataset):
    # evaluatellm: 20,000 scored, correlation .8, standard error .01; s = .5.
    choices = {"share": 0.5, "wish": 100 * 0.01 * Z, "scored": 20_000, "metric_correlation": 0.8}

    rows = rows_of(dataset, **choices)

    assert smallest(rows) == (2500, 979)
    [row] = [row for row in rows if row.n_dialogs == 979]
    assert row.half_width_with_metric == pytest.approx(0.01 * Z, rel=1e-3)
    # 979 · 20,000 / (979 + .36 · 19,021) = 2,501.7
    assert row.n_effective == 2502
    assert not row.is_in_dataset


def test_834_dialogs_of_8_pairs_find_two_points_and_50_find_eight(tmp_path):
    # evaluatellm: 6,667 pairs find .72 against .70; 400 pairs find .0816. 6,667 / 8 = 833.4
    choices = {"share": 0.72, "wish": 2, "correlation": 0.7, "icc": 0.25, "examples": 8}

    rows = rows_of(dataset_of(tmp_path, ["a", "b"]), goal="difference", **choices)

    assert smallest(rows)[0] == 834
    by_dialogs = {row.n_dialogs: row for row in rows}
    assert by_dialogs[50].visible == pytest.approx(0.0816, abs=5e-5)
    assert by_dialogs[834].power == pytest.approx(0.8, abs=1e-3)
    assert by_dialogs[834].half_width == pytest.approx(0.02 * Z / (Z + W), rel=1e-3)


def test_the_widest_share_is_the_usual_one_and_hours_are_by_hand(dataset):
    rows = rows_of(dataset)

    # z² · .25 / .05² = 384.1
    assert smallest(rows) == (385, None)
    assert [row.n_dialogs for row in rows] == [30, 40, 50, 100, 200, 300, 385]
    last = rows[-1]
    # 'Question of e0?', 'Passage of e0.' and 'Text of e0-one.' have 44 characters, and three more
    # where the number has two digits, in 30 of 40: 46.25 on average, at 23.8 a second. 7 answers
    # take 4 s each.
    seconds = 46.25 / 23.8 + 7 * 4
    assert (last.n_responses, last.hours) == (385, pytest.approx(385 * 5 * seconds / 3600))
    assert last.half_width == pytest.approx(Z * math.sqrt(0.25 / 385))
    assert [row.is_in_dataset for row in rows] == [True, True, *[False] * 5]
    assert (last.half_width_with_metric, last.visible, last.power) == (None, None, None)


@pytest.mark.parametrize("scheme", ["AIS", "SSA"])
def test_the_hours_are_those_of_the_study_that_it_plans(tmp_path, scheme):
    """Three examples of two setups, of which one response has no evidence, so AIS leaves it out."""
    rows = [
        response_row(f"{key}-{setup}", key, setup=setup, text=f"Text of {setup} " * (n + 1))
        for n, key in enumerate(("e1", "e2", "e3"))
        for setup in ("cool", "warm")
    ]
    rows[-1]["evidence_shown"] = []
    examples = [example_row(key, dialog=key) for key in ("e1", "e2", "e3")]
    import_rows(tmp_path, examples=examples, responses=rows)
    dataset = Dataset.objects.get()
    study = planned(dataset, scheme=scheme, raters=5)
    plan = plan_units(study)

    [row] = (row for row in rows_of(dataset, scheme=scheme) if row.n_dialogs == 3)

    assert row.n_responses == plan.n_responses == (5 if scheme == "AIS" else 6)
    [hours] = estimated_hours(study, plan, pace_of(study)).values()
    assert row.hours == pytest.approx(hours)
    # The estimate's source is the same on both pages.
    figures = plan_figures(study, plan, rater_needs(study))
    assert assumed(dataset, scheme=scheme)["seconds"].source == figures.time_source


def test_arms_cost_what_their_seconds_say(dataset):
    rows = rows_of(dataset, ArmsDesign, raters=3, seconds=30)

    # 40 responses · 3 raters · 30 s = 1 h
    assert [(row.arms, row.hours) for row in rows] == [("separate", 1), ("merged", 1), ("both", 2)]
    assert not rows_of(dataset, ArmsDesign, goal="arms")


def test_a_metric_adds_nothing_where_everything_is_rated(dataset):
    rows = rows_of(dataset, metric_correlation=0.9)

    known = {row.n_dialogs: row.half_width_with_metric is not None for row in rows}
    assert known == {30: True, 40: False, 50: False, 100: False, 200: False, 300: False, 385: False}


def test_accuracy_and_arms_count_each_response_of_a_dialog(tmp_path):
    dataset = dataset_of(tmp_path, ["a", "b"])  # two responses of a dialog, with an ICC of .5

    [row, *_] = rows_of(dataset, goal="accuracy", share=0.8, icc=0.5)

    assert (row.n_dialogs, row.n_responses) == (30, 60)
    # √(.16 / 60 · 1.5)
    assert row.visible == pytest.approx((Z + W) * math.sqrt(0.16 / 60 * 1.5))


# --- from a pilot ---------------------------------------------------------------------------


def test_a_pilot_says_share_icc_and_the_correlation_of_a_metric(tmp_path):
    # Two dialogs of two yes, two of two no: the labels of a dialog are alike.
    answers = dict.fromkeys("abef", "yyn") | dict.fromkeys("cdgh", "nny")
    dialogs = {key: f"d{place // 2}" for place, key in enumerate("abcdefgh")}
    study = rated(tmp_path, votes(**answers), dialogs=dialogs)
    scores = {key: 0.8 if key in "abe" else 0.2 for key in answers}
    make_scores(make_run(study.dataset), scores)

    found = assumed(study.dataset, pilot=study.slug)

    assert found["share"].amount == 0.5
    assert found["icc"].amount == 1
    # Labels 1 1 0 0 1 1 0 0 and scores, of which one yes is low: covariance 12 / 8 / 8 = .1875 in
    # units of the scores' range; deviations .5 and √(3/8 · 5/8).
    assert found["metric_correlation"].amount == pytest.approx(0.1875 / 0.5 / math.sqrt(15 / 64))
    assert found["metric_correlation"].source == (
        "pilot, Auto-AIS, v3, localized K = 2: 8 items, 4 dialogs"
    )
    assert found["examples"].amount == 2
    assert found["seconds"].source == "reading at 238 words a minute and 4 s for the answer"


def test_what_you_type_counts_before_the_pilot(tmp_path):
    study = rated(tmp_path, votes(a="yyn", b="nny"))

    found = assumed(study.dataset, pilot=study.slug, share=0.9)

    assert (found["share"].amount, found["share"].source) == (0.9, "you")


def test_a_pilot_that_agrees_completely_still_needs_labels(tmp_path):
    study = rated(tmp_path, votes(a="yyy", b="yyy", c="yyy"))

    # (3 + 1) / (3 + 2)
    assert assumed(study.dataset, pilot=study.slug)["share"].amount == pytest.approx(0.8)


def test_two_setups_of_a_pilot_give_the_correlation_of_their_labels(tmp_path):
    study = paired_study(tmp_path)
    run = make_run(study.dataset)
    # The scores of the first setup are its labels, those of the second are always 0.
    make_scores(run, {"a1": 1, "b1": 1, "c1": 0, "d1": 0, "a2": 0, "b2": 0, "c2": 0, "d2": 0})

    found = assumed(study.dataset, pilot=study.slug, goal="difference", metric=run_key(run))

    # Labels 1 1 0 0 and 1 0 0 0: covariance .125, deviations .5 and √(3/16).
    assert found["correlation"].amount == pytest.approx(0.125 / 0.5 / math.sqrt(3 / 16))
    assert found["share"].amount == pytest.approx(3 / 8)
    # Differences 0 1 0 0 and those of the scores 1 1 0 0: covariance .125 again.
    assert found["metric_correlation"].amount == pytest.approx(0.125 / 0.5 / math.sqrt(3 / 16))


def test_both_arms_of_a_pilot_give_their_correlation_and_seconds(tmp_path):
    answers = {"a": ("y", "y"), "b": ("y", "n"), "c": ("n", "n"), "d": ("n", "n")}
    # Of 20 times in each arm, one is long: it moves no median.
    timed = [
        vote_row("a", f"{arm}{n}", "yes", "q", arm=arm, seconds=600 if n == 0 else seconds)
        for arm, seconds in (("separate", 60), ("merged", 30))
        for n in range(20)
    ]
    study = two_arms(tmp_path, answers, more_votes=timed)

    found = assumed(study.dataset, pilot=study.slug, goal="arms")
    [row, *_] = rows_of(study.dataset, pilot=study.slug, goal="arms")

    assert found["correlation"].amount == pytest.approx(0.125 / 0.5 / math.sqrt(3 / 16))
    assert found["share"].amount == 0.5
    key = study.scheme["key"]
    assert (found["seconds"].amount, found["seconds"].source) == (
        45,
        f"separate: the median of 20 judgements with {key} on this dataset, 60 s for a response; "
        f"merged: the median of 20 judgements with {key} on this dataset, 30 s for a response",
    )
    assert "metric_correlation" not in found
    # 4 responses · 5 raters · (60 s + 30 s) = .5 h
    assert (row.n_dialogs, row.arms, row.hours) == (4, "both", pytest.approx(0.5))


def test_a_pilot_with_one_arm_or_without_votes_says_nothing_about_both(tmp_path):
    study = rated(tmp_path, votes(a="yyn", b="nny"))

    both = assumed(study.dataset, pilot=study.slug, goal="arms")
    study.arms.get().votes.all().delete()
    none = assumed(study.dataset, pilot=study.slug)

    usual = "usual value; the pilot has none"
    assert [both[name].source for name in ("share", "correlation", "icc")] == [usual] * 3
    assert [none[name].source for name in ("share", "icc")] == [usual] * 2
    assert none["metric_correlation"].amount is None
    assert not rows_of(study.dataset, RatersDesign, pilot=study.slug)


def test_the_accuracy_of_a_run_comes_from_its_threshold(tmp_path):
    study = rated(tmp_path, votes(a="yyy", b="yyy", c="nnn", d="nnn"))
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.1, "c": 0.2, "d": 0.3})

    assert assumed(study.dataset, pilot=study.slug, goal="accuracy")["share"].amount == 0.75


def test_fewer_raters_are_simulated_and_more_are_marked(tmp_path):
    study = rated(tmp_path, votes(**{f"r{n}": "yyn" if n % 2 else "nny" for n in range(20)}))

    rows = rows_of(study.dataset, RatersDesign, pilot=study.slug, seconds=60)

    assert [(row.raters, row.is_extrapolated) for row in rows] == [
        (1, False),
        (3, False),
        (5, True),
        (7, True),
    ]
    one, three = rows[0], rows[1]
    assert (three.same_as_pilot, three.tied) == (1, 0)
    # One of three raters is drawn, and two of them give the majority.
    assert one.same_as_pilot == pytest.approx(2 / 3, abs=0.03)
    assert (one.n_dialogs, one.hours) == (20, pytest.approx(20 / 60))


def test_an_ordinal_question_has_labels_but_no_simulated_raters(tmp_path):
    given = {key: {"q": [answer] * 3} for key, answer in zip("abcd", "1255", strict=True)}
    study = rated(tmp_path, given, scheme=scheme_of({"q": {"ordinal": [1, 5]}}))

    assert assumed(study.dataset, pilot=study.slug)["share"].amount == 0.5
    assert not rows_of(study.dataset, RatersDesign, pilot=study.slug)


# --- edges, formats -------------------------------------------------------------------------


def test_one_dialog_can_be_planned(tmp_path):
    study = rated(tmp_path, votes(a="yyn"))

    rows = rows_of(study.dataset, pilot=study.slug)

    assert rows[0].n_dialogs == 1
    assert rows_of(study.dataset, RatersDesign, pilot=study.slug)[0].half_width is None


def test_without_examples_or_a_second_setup_it_says_why(dataset):
    with pytest.raises(CannotReport, match="no examples"):
        plan_report(Dataset.objects.create(name="Empty", slug="empty"), PlanChoices())
    with pytest.raises(CannotReport, match="expected two"):
        plan_report(dataset, PlanChoices(goal="difference"))


@pytest.mark.parametrize("choice", ["pilot", "question", "metric"])
def test_what_the_dataset_does_not_have_is_refused(dataset, choice):
    with pytest.raises(ChoiceError, match=f"no {choice} '99'"):
        PLAN.chosen(dataset, {choice: "99"})


def test_every_format_and_the_chart_can_be_written(tmp_path):
    study = rated(tmp_path, votes(a="yyn", b="nny"))
    choices = PLAN.chosen(study.dataset, {"pilot": study.slug, "metric_correlation": 0.5})

    report = plan_report(study.dataset, choices)

    for format_key in ("table", "csv", "latex", "markdown", "json"):
        assert "Enough" in (text := write_report(report, format_key)) or "is_enough" in text
    assert valid(plan_chart(report.rows))
    assert plan_chart([]) is None
    assert "0.5 (you)" in report.signature


def paired_study(folder):
    """Return a study of two setups about four examples: labels 1 1 0 0 and 1 0 0 0."""
    answers = {"a1": "yes", "b1": "yes", "c1": "no", "d1": "no"}
    answers |= {"a2": "yes", "b2": "no", "c2": "no", "d2": "no"}
    outcome = import_rows(
        folder,
        examples=[example_row(key, dialog=key) for key in "abcd"],
        responses=[
            response_row(key, key[0], setup=COOL if key[1] == "1" else WARM) for key in answers
        ],
        votes=[vote_row(key, "w1", answer, "q") for key, answer in answers.items()],
        scheme=scheme_of({"q": "yes_no"}),
    )
    return outcome.study
