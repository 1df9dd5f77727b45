"""Restricted context: which setups make the curves, the report by hand, and the lines."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.formats import write_report
from evaluation.reports.report import Report
from evaluation.tradeoffs.curve_recalls import measured_recalls
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial
from evaluation.tradeoffs.recall_lines import (
    Curves,
    RestrictedPair,
    curves_of,
    lines_of,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.restricted_context import (
    courses,
    directions_of,
    restricted_report,
)
from generation.models import Dataset
from tests.evaluation.tradeoffs.restricted import LABELS, MODEL, restricted_material
from tests.makers import example_row, import_rows

TYPED = Recalls(at_1=0.5, at_k=0.75, k=3)


@pytest.fixture
def material() -> TradeoffMaterial:
    return restricted_material()


@pytest.fixture
def curves(material) -> Curves:
    return curves_for(material)


def curves_for(material: TradeoffMaterial, non_evidence: str = "next-best") -> Curves:
    found = curves_of(material, MODEL, non_evidence=non_evidence)
    assert found
    return found


def figures(row, *names):
    return {name: row[name] for name in names}


def styles(lines, style):
    return [line for line in lines if line.style == style]


# --- curves ---------------------------------------------------------------------------------


def test_curves_go_from_the_whole_dialog_to_none_of_it(material, curves):
    assert restricted_pairs(material) == [RestrictedPair(MODEL, 0.0, "next-best", "")]
    assert curves.shares == (1.0, 0.8, 0.4)
    prompts = [material.dots[place].setup.prompt for place in curves.golden.values()]
    assert prompts == [f"restricted-golden-{share}" for share in (1.0, 0.8, 0.4)]
    assert curves.n_other_setups == 0


def test_there_are_no_curves_of_what_nobody_asked(material):
    assert curves_of(material, "another model") is None
    assert curves_of(material, MODEL, temperature=0.7) is None
    golden_alone = curves_for(material, non_evidence="random")
    assert golden_alone.shares == ()
    assert len(golden_alone.golden) == 3


# --- the report -----------------------------------------------------------------------------


def test_a_row_for_each_share_worked_out_by_hand(material, curves):
    whole, most, some = restricted_report(material, curves, TYPED).records

    assert [row["share"] for row in (whole, most, some)] == [1.0, 0.8, 0.4]
    assert figures(most, "golden_attribution", "golden_sensibleness") == {
        "golden_attribution": 0.6,
        "golden_sensibleness": 0.8,
    }
    # 2 · .6 · .8 / 1.4
    assert most["golden_f1"] == pytest.approx(0.96 / 1.4)
    # Top 1: half way from (0, .8) to (.6, .8). Top 3: s' = 1 - 3 · .2 = .4, where golden is
    # (.8, .4): three quarters of the way from (0, .8), at .6 and .75 · .4 + .25 · .8 = .5.
    assert most["share_of_top_k"] == pytest.approx(0.4)
    assert most["golden_between"] == "0.4"
    assert figures(most, "top_1_attribution", "top_1_sensibleness") == pytest.approx(
        {"top_1_attribution": 0.3, "top_1_sensibleness": 0.8}
    )
    assert figures(most, "top_k_attribution", "top_k_sensibleness") == pytest.approx(
        {"top_k_attribution": 0.6, "top_k_sensibleness": 0.5}
    )
    # F1: 2 · .3 · .8 / 1.1 and 2 · .6 · .5 / 1.1.
    assert figures(most, "delta_attribution", "delta_sensibleness", "delta_f1") == pytest.approx(
        {"delta_attribution": 0.3, "delta_sensibleness": -0.3, "delta_f1": 0.12 / 1.1}
    )
    assert most["delta_attribution_low"] <= 0.3 <= most["delta_attribution_high"]
    # 0.82 of the dialog and 0.2 of the evidence are 0.02 from a whole.
    assert [row["golden_off_budget"] for row in (whole, most)] == pytest.approx([0, 0.02])
    assert most["non_evidence_off_budget"] == pytest.approx(0.02)


def test_without_evidence_more_of_it_changes_nothing(material, curves):
    whole = restricted_report(material, curves, TYPED).records[0]

    assert whole["share_of_top_k"] == 1
    figures = [whole["delta_attribution"], whole["delta_sensibleness"]]
    assert figures == pytest.approx([0, 0], abs=1e-12)


def test_top_k_is_undefined_where_golden_is_not_measured(material, curves):
    # At .4, three passages take all of the evidence; golden at 0 is not among the setups.
    some = restricted_report(material, curves, TYPED).records[2]

    assert some["share_of_top_k"] == 0
    assert some["golden_between"] is None
    assert some["top_k_attribution"] is some["delta_f1"] is some["delta_f1_low"] is None
    assert some["top_1_attribution"] == pytest.approx(0.5 * 0.8 + 0.5 * 0.2)


def test_golden_between_two_measured_shares_is_on_their_line(material, curves):
    # k 2 at .8: 1 - 2 · .2 = .6, half way between .4 and .8: (.7, .6). Three quarters of the way
    # from (0, .8): .525 and .65.
    row = restricted_report(material, curves, TYPED._replace(k=2)).records[1]

    assert row["golden_between"] == "0.4 and 0.8"
    assert row["top_k_attribution"] == pytest.approx(0.525)
    assert row["top_k_sensibleness"] == pytest.approx(0.65)


def test_both_real_shares_stand_beside_the_one_asked(material, curves):
    row = restricted_report(material, curves, TYPED).records[1]

    assert row["golden_dialog_share"] == row["non_evidence_dialog_share"] == pytest.approx(0.82)
    assert row["golden_evidence_share"] == pytest.approx(0.2)
    assert (row["n"], row["n_golden"], row["n_non_evidence"]) == (5, 5, 5)


def test_recall_that_nobody_knows_leaves_the_curves(material, curves):
    unknown = Recalls(math.nan, math.nan, 3)

    report = restricted_report(material, curves, unknown)

    assert report.records[1]["golden_attribution"] == 0.6
    assert report.records[1]["top_1_attribution"] is report.records[1]["delta_f1"] is None
    assert report.records[1]["why"] == "recall is not known"
    assert "recall@1 not known, recall@3 not known" in report.signature
    assert not styles(lines_of(material, curves, unknown, True), "top-1-mark")


def test_every_choice_stands_in_the_signature_and_all_formats_can_be_written(material, curves):
    report = restricted_report(material, curves, TYPED)

    for said in (
        MODEL,
        "next-best",
        "recall@1 0.5 (typed), recall@3 0.75 (typed)",
        "shares labelled yes",
    ):
        assert said in report.signature
    other = restricted_report(material, curves, TYPED._replace(at_1=0.6))
    assert other.signature != report.signature
    assert "Top k $-$ top 1" in write_report(report, "latex")
    assert all(write_report(report, key) for key in ("csv", "json", "table"))


def test_what_has_no_label_or_no_partner_is_counted():
    labels = LABELS | {
        ("golden", 0.8): ("1110.", "11110"),  # (3/4, 1): the last has no attribution
        ("golden", 0.2): ("11111", "11111"),  # no non-evidence beside it
    }
    material = restricted_material(labels)

    report = restricted_report(material, curves_for(material), TYPED)

    assert report.left_out == {
        "responses_without_both_values": 1,
        "examples_answered_on_one_curve_alone": 0,
        "shares_of_one_curve_alone": 1,
        "setups_without_values": 0,
        "setups_with_other_settings": 0,
    }
    alone = report.records[-1]
    assert (alone["share"], alone["golden_attribution"]) == (0.2, 1.0)
    assert alone["non_evidence_f1"] is alone["top_1_f1"] is alone["share_of_top_k"] is None
    assert report.records[1]["golden_attribution"] == 0.75
    assert (report.records[1]["n"], report.records[1]["n_non_evidence"]) == (4, 5)


def test_the_settings_with_the_most_shares_make_the_curves():
    material = restricted_material(more={("golden", 0.8): ("00000", "00000")})

    curves = curves_for(material)

    assert "max_tokens" not in material.dots[curves.golden[0.8]].settings
    assert curves.n_other_setups == 1


def test_what_is_mixed_is_over_the_examples_known_of_all():
    # One example is known of golden(.8). The others are there for golden(.4) and next-best(.8).
    labels = LABELS | {
        ("golden", 0.8): ("1....", "1...."),
        ("golden", 0.4): ("10011", "10011"),
        ("next-best", 0.8): ("10001", "10001"),
    }
    material = restricted_material(labels)

    row = restricted_report(material, curves_for(material), TYPED).records[1]

    # Each curve over its own: golden(.8) 1 of 1, next-best(.8) 2 of 5. On the one common example
    # all three are 1: top 1 and top 3 are 1. Each over its own, they would be .5 · 1 + .5 · .4 = .7
    # and .75 · .6 + .25 · .4 = .55, a difference of −.15.
    assert (row["n_golden"], row["n_non_evidence"], row["n_mixed"]) == (1, 5, 1)
    assert row["non_evidence_attribution"] == pytest.approx(0.4)
    assert row["top_1_attribution"] == row["top_k_attribution"] == pytest.approx(1)
    assert row["delta_attribution"] == pytest.approx(0)


def test_mean_scores_are_another_figure_with_their_own_holes():
    material = restricted_material()
    material.scores[:, 1, 4] = math.nan  # golden(.8), its last example
    material.labels[:, 2] = math.nan  # golden(.4) has scores alone
    assert list(curves_for(material).golden) == [1.0, 0.8]
    assert curves_for(material).n_unlabelled_setups == 1

    curves = curves_of(material, MODEL, by_score=True)
    assert curves
    report = restricted_report(material, curves, TYPED, by_score=True)

    # Scores are half of the labels: (.5 + .5 + .5 + 0) / 4.
    assert report.records[1]["golden_attribution"] == pytest.approx(1.5 / 4)
    assert report.records[2]["golden_attribution"] == pytest.approx(0.8 / 2)
    assert report.left_out["responses_without_both_values"] == 1
    assert "mean scores" in report.signature
    # Of labels, the five of golden(.4) are a setup without any.
    of_labels = restricted_report(material, curves_for(material), TYPED)
    assert of_labels.left_out["setups_without_values"] == 1


def test_examples_that_one_curve_alone_answered_and_what_axes_leave_out_are_counted():
    material = restricted_material()._replace(left_out={"attribution_failed": 4})
    material.responses[4, :2] = NO_RESPONSE  # next-best(.8), two examples
    material.labels[:, 4, :2] = math.nan

    left_out = restricted_report(material, curves_for(material), TYPED).left_out

    assert left_out["examples_answered_on_one_curve_alone"] == 2
    assert left_out["responses_without_both_values"] == 0
    assert left_out["attribution_failed"] == 4


def rows_with(material, curves, *directions):
    """Return rows of a report that say these directions: share, and both intervals."""
    row = restricted_report(material, curves, TYPED).rows[0]
    return [
        replace(
            row,
            share=share,
            delta_attribution=Estimate(0.0, *attribution),
            delta_sensibleness=Estimate(0.0, *sensibleness),
        )
        for share, attribution, sensibleness in directions
    ]


def test_directions_are_counted_by_intervals_without_0_below_the_whole_dialog(material, curves):
    rows = rows_with(
        material,
        curves,
        (1.0, (0.1, 0.2), (0.1, 0.2)),  # no evidence is shown: not counted
        (0.9, (0.1, 0.3), (-0.3, -0.1)),
        (0.8, (0.1, 0.3), (-0.1, 0.1)),
        (0.7, (-0.1, 0.0), (0.1, 0.2)),  # 0 is in the interval
        (0.6, (-0.3, -0.1), (None, None)),
    )
    rows.append(replace(rows[0], share=0.5, delta_attribution=UNKNOWN))

    found = directions_of(Report("mill", "restricted", rows, {}, ""))

    assert found.n == 4
    assert (found.more_attributed, found.less_attributed) == (2, 1)
    assert (found.more_sensible, found.less_sensible) == (1, 1)


def test_each_recall_is_said_in_full_with_its_own_source():
    both = Recalls(1 / 3, 2 / 3, 3, is_k_measured=True, n=7, retrieval="retrieval | query dialog")

    assert both.signature_part == (
        "recall@1 0.3333333333333333 (typed), recall@3 0.6666666666666666 (measured by BM25)"
        " | recall measured over 7 examples by [retrieval | query dialog]"
    )
    assert (
        both.caption == "recall@1 0.333 (typed), recall@3 0.667 (measured by BM25), over 7 examples"
    )
    half = Recalls(0.5, math.nan, 3)
    assert half.signature_part == "recall@1 0.5 (typed), recall@3 not known"
    assert half.signature_part != half._replace(k=2).signature_part
    assert Recalls(0.5, 0.5, 1).signature_part == "recall@1 0.5 (typed)"


def test_how_a_curve_runs_against_curves_of_equal_f1(material, curves):
    found = courses(material, curves)

    # Golden: (.2, 1), (.6, .8), (.8, .4). F1: .4 / 1.2, .96 / 1.4, .64 / 1.2.
    golden = found["golden"]
    assert golden.lowest_f1 == pytest.approx(0.4 / 1.2)
    assert golden.highest_f1 == pytest.approx(0.96 / 1.4)
    assert (golden.attribution_range, golden.sensibleness_range) == pytest.approx((0.6, 0.6))
    assert (golden.n_opposed, golden.n_steps) == (2, 2)
    # Non-evidence: (.2, 1), (0, .8), (.2, .4): it loses both, then trades.
    assert (found["non_evidence"].n_opposed, found["non_evidence"].n_steps) == (1, 2)


# --- lines ----------------------------------------------------------------------------------


def test_lines_of_top_1_join_the_curves_and_say_where_recall_stands(material, curves):
    lines = lines_of(material, curves, TYPED, with_top_k=False)

    [golden] = styles(lines, "golden")
    assert golden.points == ((0.2, 1.0), (0.6, 0.8), (0.8, 0.4))
    assert golden.ends == ("all dialog, no evidence", "40\u00a0% of the dialog kept")
    top_1 = styles(lines, "top-1")
    assert top_1[1].points == ((0.0, 0.8), (0.6, 0.8))
    assert [line.share for line in top_1] == [1.0, 0.8, 0.4]
    assert styles(lines, "top-1-mark")[1].points == (pytest.approx((0.3, 0.8)),)
    assert not styles(lines, "top-k")


def test_lines_of_top_k_go_where_k_passages_lead(material, curves):
    lines = lines_of(material, curves, TYPED, with_top_k=True)

    # At 1 it has no length; at .8 it goes to golden at .4; at .4 its end is not measured.
    assert [line.points for line in styles(lines, "top-k")] == [
        ((0.2, 1.0), (0.2, 1.0)),
        ((0.0, 0.8), (0.8, 0.4)),
    ]
    assert styles(lines, "top-k-mark")[1].points == (pytest.approx((0.6, 0.5)),)


@pytest.mark.once
def test_recall_is_measured_over_the_examples_that_were_answered(tmp_path, own_cache_and_folder):
    # 'Question of e1?' finds 'Passage of e1.' first, and so on: each golden passage is the first.
    examples = [example_row(f"e{n}") for n in range(1, 4)]
    import_rows(tmp_path / "own", "own", examples=examples)
    dataset = Dataset.objects.get()
    ids = list(dataset.examples.order_by("key").values_list("pk", flat=True))
    material = restricted_material()._replace(dataset=dataset, example_ids=np.array([*ids, 0, 0]))
    # The third example has no responses, nor have those that are not in the dataset.
    material.responses[:, 2:] = NO_RESPONSE

    found = measured_recalls(material, curves_for(material))

    assert found is not None
    assert (found.at_1, found.at_k, found.k, found.n) == (1.0, 1.0, 3, 2)
    assert found.is_1_measured
    assert "query question" in found.signature_part
