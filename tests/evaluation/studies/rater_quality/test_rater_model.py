"""The model of raters on the report and the page of rater quality."""

import pytest
from django.urls import reverse

from annotation.models import Rater
from evaluation.statistics.dawid_skene import NoModel
from evaluation.studies.rater_quality.rater_model import FEW_OF_CLASS, FEW_OF_RATER, WHY
from tests.evaluation.studies.hand_made import FIVE_STARS
from tests.evaluation.studies.rater_quality.rater_votes import row_about, study_of
from tests.makers import scheme_of
from tests.shown import shown

pytestmark = pytest.mark.once

# w1 and w2 never differ. w3 says no to 3 of 15 yes; w4 says yes to 5 responses and no more.
KNOWN = ["yyny"] * 3 + ["yyyy"] * 2 + ["yyy-"] * 10 + ["nnn-"] * 10


def by_model(study, rater):
    row = row_about(study, rater)
    names = ("sensitivity", "specificity", "n_model", "n_majorities", "n_against_majority")
    return [row[f"q_{name}"] for name in names], row["q_model_why"]


def test_each_rater_has_figures_or_the_reason_why_not(tmp_path):
    study = study_of(tmp_path, KNOWN)

    # Smoothed: (right + 1) / (all + 2), of 15 yes and 10 no.
    assert by_model(study, "w1") == ([pytest.approx(16 / 17), 11 / 12, 25, 25, 0], None)
    assert by_model(study, "w3")[0][:2] == pytest.approx([13 / 17, 11 / 12])
    assert by_model(study, "w4") == ([None, None, 5, 25, 0], FEW_OF_RATER)


@pytest.mark.parametrize(
    ("patterns", "why"),
    [
        (KNOWN[6:], WHY[NoModel.FEW_ITEMS]),
        ([each[:2] for each in KNOWN], WHY[NoModel.FEW_RATERS]),
        (["yyy"] * 20 + ["nnn"] * 4, FEW_OF_CLASS.format("no")),
    ],
)
def test_too_little_is_no_figure_but_a_reason(tmp_path, patterns, why):
    (sensitivity, specificity, *_), said = by_model(study_of(tmp_path, patterns), "w1")

    assert (specificity, said) == (None, why)
    assert (sensitivity is None) is (why in WHY.values())


def test_an_excluded_rater_has_figures_and_no_part_in_the_model(tmp_path):
    study = study_of(tmp_path, [f"{each[:3]}{'n' if each[0] == 'y' else 'y'}" for each in KNOWN])
    Rater.objects.filter(study=study, code="w4").update(is_excluded=True)

    assert by_model(study, "w4")[0][:2] == pytest.approx([1 / 17, 1 / 12])
    assert by_model(study, "w1")[0][:2] == pytest.approx([16 / 17, 11 / 12])


def test_a_scale_of_points_has_no_model(tmp_path, researcher):
    points = ["555"] * 15 + ["111"] * 10
    study = study_of(tmp_path, points, scheme=scheme_of({"q": FIVE_STARS}))

    assert by_model(study, "w1") == ([None] * 5, None)
    page = researcher.get(reverse("evaluation:rater-quality", args=[study.slug]))
    assert "A model of raters" not in page.text


def test_the_page_folds_it_and_says_that_no_figure_uses_it(tmp_path, researcher):
    study = study_of(tmp_path, KNOWN)

    answer = researcher.get(reverse("evaluation:rater-quality", args=[study.slug]))

    page = shown(answer)
    above = answer.text.split("A model of raters, for diagnosis")[0]
    assert above.endswith('<details class="more"><summary>')
    assert "No report of this study uses its labels" in page.text
    table = page.table("Q: the model’s label differs from the majority on 0 of 25 responses")
    assert [row[:4] for row in table.rows] == [
        ["w1", "25", "94", "92"],
        ["w2", "25", "94", "92"],
        ["w3", "25", "76", "92"],
        ["w4", "5", "—", "—"],
    ]
    assert table.rows[3][4] == FEW_OF_RATER
