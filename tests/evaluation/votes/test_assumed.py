"""Answers that raters need not give: nothing was shown, or nothing said. Worked out by hand."""

import numpy as np
import pytest

from annotation.models import Study
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.uncertainty import uncertainty_report
from evaluation.tradeoffs.axes import named_axes
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.votes.assumed_answers import assumed_on_axis, assumed_responses
from evaluation.votes.export import export_folder
from generation.models import Response
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.makers import example_row, import_path, import_rows, response_row, vote_row

pytestmark = pytest.mark.once

SHOWN = {"golden": ["p1"], "bare": [], "silent": ["p1"]}
# Responses to e1 and e2. 'bare' was shown nothing; the first of 'silent' says nothing.
TEXTS = {"golden": ("One.", "Two."), "bare": ("Three.", "Four."), "silent": (" \n", "Five.")}
ATTRIBUTABLE = {"golden-1": "yes", "golden-2": "no", "silent-2": "yes"}
SENSIBLE = ATTRIBUTABLE | {"bare-1": "yes", "bare-2": "yes"}


def study_of(folder, answers, questions, **facts) -> Study:
    """Import three setups with the votes of two raters, who agree, on each question."""
    passage = {"id": "p1", "text": "The mill closed.", "golden": True}
    outcome = import_rows(
        folder,
        "mill",
        examples=[example_row(f"e{n}", evidence=[passage]) for n in (1, 2)],
        responses=[
            response_row(
                f"{name}-{n}", f"e{n}", setup={"model": name}, text=text, evidence_shown=SHOWN[name]
            )
            for name, texts in TEXTS.items()
            for n, text in enumerate(texts, start=1)
        ],
        votes=[
            vote_row(response, rater, answer, question)
            for response, answer in answers.items()
            for rater in ("anna", "ben")
            for question in questions
        ],
        study=facts,
    )
    assert outcome.study
    return outcome.study


@pytest.fixture
def ais(tmp_path) -> Study:
    """Return a study of all three setups; 'bare' was not rated, because it was shown nothing."""
    study = study_of(
        tmp_path / "ais", ATTRIBUTABLE, ("interpretable", "attributable"), evidence_choice="shown"
    )
    study.setups.set(study.dataset.setups.all())
    return study


@pytest.fixture
def ssa(tmp_path) -> Study:
    return study_of(tmp_path / "ssa", SENSIBLE, ("sensible", "specific"))


def rows_of(report, question):
    return {row["setup"]: row for row in report.records if row["question"] == question}


def figures(row):
    return row["n"], row["n_assumed"], row["mean"]


def keys(assumed):
    names = dict(Response.objects.values_list("pk", "key"))
    return [names[pk] for pk in assumed.responses.tolist()]


def test_nothing_shown_and_nothing_said_are_assumed_in_an_ais_study(ais):
    assumed = assumed_responses(ais)

    assert keys(assumed) == ["bare-1", "bare-2", "silent-1"]
    assert assumed.is_empty.tolist() == [False, False, True]
    assert assumed.dialogs == ("e1", "e2", "e1")


@pytest.mark.parametrize(("choice", "scheme"), [("golden", "ais"), ("shown", "ssa")])
def test_without_the_choice_shown_or_the_need_of_evidence_only_silence_is(request, choice, scheme):
    study = request.getfixturevalue(scheme)
    study.evidence_choice = choice

    assert keys(assumed_responses(study)) == ["silent-1"]


def test_a_mean_counts_an_assumed_answer_as_a_no(ais):
    rows = rows_of(scenarios_report(ais), "attributable")

    assert figures(rows["golden"]) == (2, 0, 0.5)
    assert figures(rows["bare"]) == (0, 2, 0.0)
    assert figures(rows["silent"]) == (1, 1, 0.5)  # one yes, and one that says nothing
    assert rows["bare"]["n_mean"] == 2
    # Whether it can be understood was not assumed: it was not asked.
    assert figures(rows_of(scenarios_report(ais), "interpretable")["bare"]) == (0, 0, None)


def test_the_interval_of_a_mean_has_the_dialogs_of_what_is_assumed(ais):
    [row] = [row for row in raters_report(ais).records if row["question"] == "attributable"]

    # Yes, no, yes, and three assumed: 2 of 6. Two raters agree everywhere, as far as they rated.
    assert figures(row) == (3, 3, pytest.approx(2 / 6))
    assert row["mean_low"] < 2 / 6 < row["mean_high"]
    assert row["percent_agreement"] == 1
    assert row["n_votes"] == 6


def test_silence_is_not_sensible(ssa):
    rows = rows_of(scenarios_report(ssa), "sensible")

    assert figures(rows["bare"]) == (2, 0, 1.0)
    assert figures(rows["silent"]) == (1, 1, 0.5)
    # So it is not specific either: a closed gate implies a no. SSA is (.5 + .5) / 2.
    assert figures(rows_of(scenarios_report(ssa), "specific")["silent"]) == (1, 1, 0.5)
    assert figures(rows_of(scenarios_report(ssa), "SSA")["silent"]) == (1, 1, 0.5)


def test_no_part_in_the_comparison_of_the_arms(ais):
    ais.arms.create(kind="merged")

    assert {row["n"] for row in uncertainty_report(ais).records} == {0}


def test_on_an_axis_of_raters_setups_of_the_study_that_showed_nothing_stand_at_0(tmp_path):
    study = study_of(
        tmp_path / "ais", ATTRIBUTABLE, ("interpretable", "attributable"), evidence_choice="shown"
    )
    run = make_run(study.dataset, metric="sensible", signature="sensible|told")
    for key in SENSIBLE:
        make_score(run, key, 0.9)

    axes = named_axes(study.dataset, "attributable", "sensible")
    # The study has no votes on 'bare', and none of its setups is 'bare': its answers are alone.
    assert keys(assumed_on_axis(study)) == ["silent-1", "bare-1", "bare-2"]
    alone = tradeoff_report(material_of(study.dataset, axes), View())
    assert {row["setup"]: row["n"] for row in alone.records} == {
        "golden": 2,
        "silent": 1,
        "bare": 0,
    }
    assert alone.left_out["setups_without_ratings"] == 1
    study.setups.add(study.dataset.setups.get(name="bare"))

    material = material_of(study.dataset, axes)
    rows = {row["setup"]: row for row in tradeoff_report(material, View()).records}

    bare, golden = rows["bare"], rows["golden"]
    assert (bare["n"], bare["attribution"], bare["attribution_assumed"]) == (2, 0.0, 2)
    assert (golden["n"], golden["attribution"], golden["attribution_assumed"]) == (2, 0.5, 0)
    assert bare["sensibleness_assumed"] == 0
    assert "nothing was shown or said: 3 responses for attribution." in methods_paragraph(
        material, View()
    )
    place = material.place("silent")
    np.testing.assert_array_equal(material.labels[0, place], [0, 1])
    np.testing.assert_array_equal(material.is_assumed[0, place], [True, False])


def test_what_is_exported_is_imported_with_the_same_figures(ais, tmp_path):
    export_folder(ais.dataset, ais, tmp_path / "out")
    again = import_path(tmp_path / "out", "again", "again").study

    assert again
    assert [figures(row) for row in scenarios_report(again).records] == [
        figures(row) for row in scenarios_report(ais).records
    ]
