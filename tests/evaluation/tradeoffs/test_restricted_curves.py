"""Setups of restricted context that make a pair of curves: their settings, shares and labels."""

import math

import pytest

from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.recall_lines import (
    Curves,
    RestrictedPair,
    curves_of,
    lines_of,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.restricted_context import restricted_report
from evaluation.tradeoffs.reports.takeaways import takeaways_report
from tests.evaluation.tradeoffs.restricted import LABELS, MODEL, restricted_material

TYPED = Recalls(at_1=0.5, at_k=0.75, k=3)
SIDE = ("11111", "11111")


def curves_for(material: TradeoffMaterial, non_evidence: str = "next-best") -> Curves:
    found = curves_of(material, MODEL, non_evidence=non_evidence)
    assert found
    return found


def styles(lines, style):
    return [line for line in lines if line.style == style]


def test_complete_pairs_come_before_many_setups_of_one_side():
    # Settings `long`: golden at 5 shares, and no non-evidence.
    long = {("golden", share, "long"): SIDE for share in (1.0, 0.8, 0.6, 0.4, 0.2)}
    long |= {("golden", share, "long"): SIDE for share in (0.9, 0.7, 0.5)}
    material = restricted_material(more=long, settings={"long": {"max_tokens": 9}})

    assert restricted_pairs(material) == [RestrictedPair(MODEL, 0.0, "next-best", "")]
    curves = curves_for(material)
    assert curves.shares == (1.0, 0.8, 0.4)
    assert curves.n_other_setups == len(long) == 8


def test_a_pair_whose_sides_have_other_settings_is_not_offered():
    golden = {key: sides for key, sides in LABELS.items() if key[0] == "golden"}
    other = {(*key, "long"): sides for key, sides in LABELS.items() if key[0] != "golden"}

    material = restricted_material(golden, other, {"long": {"max_tokens": 9}})

    # At 1 too the two prompts have another limit.
    assert restricted_pairs(material) == []
    assert curves_for(material).shares == ()


def test_each_ranking_makes_a_curve_of_its_own():
    golden = {key: sides for key, sides in LABELS.items() if key[0] == "golden"}
    other = {
        ("next-best", 1.0): ("10000", "11111"),
        ("next-best", 0.8): ("00000", "11110"),
    }
    by_dialog = {("next-best", share, "dialog"): SIDE for share in (0.8, 0.4)}
    material = restricted_material(
        golden | other, by_dialog, {"dialog": {"query": "dialog", "k1": 2.0}}
    )

    # By the dialog there are .8 and .4, and the whole dialog, where nothing is ranked: 3 shares.
    first, second = restricted_pairs(material)
    assert (first.settings, second.settings) == ("k1 2.0, query dialog", "")
    of_dialog, of_question = curves_of(material, *first), curves_of(material, *second)
    assert of_dialog
    assert of_question
    assert of_dialog.shares == (1.0, 0.8, 0.4)
    assert of_question.shares == (1.0, 0.8)
    assert of_dialog.golden == of_question.golden
    assert of_dialog.n_other_setups == 1
    assert [
        material.dots[of_dialog.non_evidence[share]].settings.get("query") for share in (0.8, 0.4)
    ] == ["dialog", "dialog"]
    report = restricted_report(material, of_dialog, TYPED)
    assert "settings k1 2.0, query dialog" in report.signature
    [line] = styles(lines_of(material, of_dialog, TYPED, False), "non-evidence")
    assert line.label == "Next-best non-evidence (k1 2.0, query dialog)"


def test_prompts_of_an_earlier_rule_have_curves_of_their_own():
    earlier = {(evidence, 0.8, "before"): SIDE for evidence in ("golden", "next-best")}
    material = restricted_material(more=earlier, settings={"before": {"evidence_share": ""}})
    for dot in material.dots[-2:]:
        dot.setup.settings = {}  # stored so at the time

    today, before = restricted_pairs(material)

    assert (today.settings, today.is_of_earlier_rule) == ("", False)
    assert before.settings == "earlier rule: evidence for the share asked"
    assert before.is_of_earlier_rule
    found = curves_of(material, MODEL)
    assert found
    assert found.pair == today
    assert found.shares == (1.0, 0.8, 0.4)
    assert found.n_other_setups == 2
    others = curves_of(material, *before)
    assert others
    # The whole dialog is the same prompt by both rules.
    assert others.shares == (1.0, 0.8)
    assert others.golden[1.0] == found.golden[1.0]
    assert others.golden[0.8] == len(material.dots) - 2
    takeaways = takeaways_report(material, recalls=TYPED)
    [top_k] = [row for row in takeaways.records if row["effect"] == "top k"]
    assert top_k["of"] == ""  # no parts: of today's pair alone
    assert takeaways.left_out["setups_of_earlier_rule"] == 2


def test_the_place_of_passages_changes_nothing_where_there_are_none():
    position = {"after": {"position": "after"}}
    ends = {(evidence, 0.0): SIDE for evidence in ("golden", "next-best")}
    middle = {(e, 0.5, "after"): SIDE for e in ("golden", "next-best")}
    material = restricted_material(ends | {("golden", 1.0): SIDE}, middle, position)

    [pair] = restricted_pairs(material)

    assert pair.settings == "position after"
    found = curves_of(material, *pair)
    assert found
    assert found.shares == (1.0, 0.5, 0.0)


def test_with_the_whole_dialog_one_setup_is_on_both_curves():
    labels = {key: sides for key, sides in LABELS.items() if key != ("next-best", 1.0)}
    material = restricted_material(labels)

    curves = curves_for(material)

    assert curves.is_one_at_whole
    assert curves.non_evidence[1.0] == curves.golden[1.0]
    assert list(curves.non_evidence) == [1.0, 0.8, 0.4]
    assert len(curves.places) == 5
    report = restricted_report(material, curves, TYPED)
    assert "golden at dialog share 1 on both curves" in report.signature
    assert report.records[0]["top_1_attribution"] == pytest.approx(0.2)
    assert not curves_for(restricted_material()).is_one_at_whole


def test_scored_pairs_come_before_a_larger_model_without_scores():
    material = restricted_material()
    larger = restricted_material(more={(*key, "own"): SIDE for key in LABELS}, settings={"own": {}})
    for dot in larger.dots[len(LABELS) :]:
        dot.setup.model = "PaLM 900B"
    larger.labels[:, len(LABELS) :] = larger.scores[:, len(LABELS) :] = math.nan

    assert [pair.model for pair in restricted_pairs(larger)] == [MODEL, "PaLM 900B"]
    assert [pair.model for pair in restricted_pairs(material)] == [MODEL]
