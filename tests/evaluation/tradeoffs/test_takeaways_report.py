"""The report on takeaways, worked out by hand. No database."""

import json
import math
import re

import pytest

from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.figures.builders import chart_file
from evaluation.reports.formats import write_report
from evaluation.tradeoffs.effects import Sizes
from evaluation.tradeoffs.figures.effects import effects_chart
from evaluation.tradeoffs.pages.takeaway_verdicts import takeaway_verdicts
from evaluation.tradeoffs.pools import pool_of
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.takeaways import EffectRow, takeaways_report
from tests.charts import valid
from tests.evaluation.tradeoffs.by_hand import AXES, dot, material_by_hand

SMALL, MIDDLE, LARGE = "PaLM 8B", "PaLM 62B", "PaLM 540B"


def row_of(report, effect, of=""):
    [row] = [row for row in report.records if (row["effect"], row["of"]) == (effect, of)]
    return row


def parts(report, effect):
    return [row["of"] for row in report.records if row["effect"] == effect]


# Each of 10 examples, its own dialog.
GOLDEN = dot("golden"), "1111111100", "1111111100"  # .8, .8: F1 .8
ALONE = dot("no-evidence"), "1100000000", "1111111100"  # .2, .8: F1 .32
WITHOUT_HISTORY = dot("no-history-golden"), "1111110000", "1111000000"  # .6, .4: F1 .48
NOTHING = dot("no-history-no-evidence"), "0000000000", "0000000000"  # 0, 0: no F1
INSTRUCTED = dot("golden-instructions"), "1111111110", "1111111000"  # .9, .7: F1 1.26 / 1.6
SAMPLED = dot("golden", temperature=0.7), "1111100000", "1111100000"  # .5, .5: F1 .5
OF_SMALL = dot("golden", SMALL), "1111000000", "1111000000"  # .4, .4: F1 .4
GRID = [GOLDEN, ALONE, WITHOUT_HISTORY, NOTHING, INSTRUCTED, SAMPLED, OF_SMALL]


# --- takeaways ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "takeaway", "f1_difference", "attribution", "sensibleness", "n_pairs"),
    [
        # golden − no history: F1 .8 - .48, A .2, S .4. None − nothing: no F1, A .2, S .8.
        ("history", 1, 0.32, (0.2 + 0.2) / 2, (0.4 + 0.8) / 2, 2),
        # golden − none: .8 - .32, A .6, S 0. Without history: no F1, A .6, S .4.
        ("golden evidence", 1, 0.48, (0.6 + 0.6) / 2, (0 + 0.4) / 2, 2),
        ("size", 2, 0.4, 0.4, 0.4, 1),
        ("temperature", 2, 0.3, 0.3, 0.3, 1),
        ("instructions", 3, 1.26 / 1.6 - 0.8, 0.1, -0.1, 1),
    ],
)
def test_effects_are_means_over_pairs(
    effect, takeaway, f1_difference, attribution, sensibleness, n_pairs
):
    row = row_of(takeaways_report(material_by_hand(GRID)), effect)

    assert row["takeaway"] == takeaway
    assert row["f1_difference"] == pytest.approx(f1_difference)
    assert row["attribution_difference"] == pytest.approx(attribution)
    assert row["sensibleness_difference"] == pytest.approx(sensibleness)
    assert (row["n_pairs"], row["n"], row["n_dialogs"]) == (n_pairs, 10, 10)
    assert row["f1_difference_low"] <= row["f1_difference"] <= row["f1_difference_high"]
    assert row["why"] == ""


def test_pairs_without_f1_are_counted_and_not_favourable():
    report = takeaways_report(material_by_hand(GRID))
    row = row_of(report, "history")

    assert row["n_without_f1"] == 1
    assert row["share_favourable"] == 1  # the share in the one pair that has an F1
    assert row_of(report, "instructions")["share_favourable"] == 0
    assert report.left_out["pairs_without_f1"] == 2  # one of history, one of golden evidence


def test_a_pair_is_over_the_examples_that_both_know():
    golden = dot("golden"), "1111111.", "11110000"
    alone = dot("no-evidence"), "..001111", "11111111"

    row = row_of(takeaways_report(material_by_hand([golden, alone])), "golden evidence")

    # Known of both: the third to the seventh. A 1 - 3/5, S 2/5 - 1.
    assert row["n"] == 5
    assert row["attribution_difference"] == pytest.approx(2 / 5)
    assert row["sensibleness_difference"] == pytest.approx(-3 / 5)


def test_effects_have_rows_for_their_parts():
    middle = dot("golden", MIDDLE), "1111110000", "1111110000"  # .6, .6: F1 .6
    report = takeaways_report(material_by_hand([*GRID, middle, (dot("random"), *ALONE[1:])]))

    assert parts(report, "golden evidence") == [
        "",
        "against no evidence",
        "against random non-evidence",
    ]
    assert parts(report, "size") == [
        "",
        f"{MIDDLE} − {SMALL}",
        f"{LARGE} − {MIDDLE}",
    ]
    differences = [row["f1_difference"] for row in report.records if row["effect"] == "size"]
    assert differences == pytest.approx([0.2, 0.2, 0.2])  # neighbours: (.2 + .2) / 2


def test_of_three_sizes_the_ends_are_compared_too():
    middle = dot("golden", MIDDLE), "1111110000", "1111110000"  # .6, .6: F1 .6
    report = takeaways_report(material_by_hand([GOLDEN, middle, OF_SMALL]))

    row = row_of(report, "largest size")
    assert (row["takeaway"], row["compared"]) == (2, f"{LARGE} − {SMALL}")
    assert row["f1_difference"] == pytest.approx(0.8 - 0.4)
    assert "2 largest size" in names_in_chart(report)


def test_what_cannot_be_compared_says_why():
    report = takeaways_report(material_by_hand([GOLDEN]))

    assert {row["effect"]: row["why"] for row in report.records} == {
        "history": "no pair of setups differs in history alone",
        "golden evidence": "no pair of setups differs in golden evidence alone",
        "size": "two sizes of models are not known: choose the larger model",
        "temperature": "no pair of setups differs in temperature alone",
        "instructions": "no pair of setups differs in instructions alone",
        "restricted share": "no setups of restricted context differ in their share alone",
        "top k": "no restricted context, or not with both golden and non-evidence",
        "re-ranking": "nothing is re-ranked yet",
        "re-ranking, best of pool": "nothing is re-ranked yet",
        "small re-ranked": "nothing is re-ranked yet",
    }
    assert all(row["f1_difference"] is None for row in report.records)
    assert [row["takeaway"] for row in report.records] == [1, 1, 2, 2, 3, 4, 5, 6, 6, 6]
    assert effects_chart(report.rows) is None


def test_nothing_known_of_both_and_nothing_yes_are_told_apart():
    golden, alone = (dot("golden"), "11..", "11.."), (dot("no-evidence"), "..11", "..11")
    both_no = (dot("golden"), "0011", "0011"), (dot("no-evidence"), "0000", "0000")

    unknown = row_of(takeaways_report(material_by_hand([golden, alone])), "golden evidence")
    no_f1 = row_of(takeaways_report(material_by_hand(both_no)), "golden evidence")

    assert unknown["why"] == "no example has values for both setups of a pair"
    assert no_f1["why"] == "no pair has an F1: attribution and sensibleness are both 0"
    assert no_f1["attribution_difference"] == 0.5


def test_models_whose_names_say_no_size_are_compared_as_said():
    new, old = (dot("golden", "new"), "1110", "1110"), (dot("golden", "old"), "1100", "1100")
    material = material_by_hand([new, old])

    report = takeaways_report(material, Sizes("new", "old"))

    row = row_of(report, "size")
    assert row["compared"] == "new − old"
    assert row["f1_difference"] == pytest.approx(0.25)
    assert "new larger than old" in report.signature
    assert row_of(takeaways_report(material), "size")["n_pairs"] == 0


# --- takeaways: restricted context ----------------------------------------------------------

RESTRICTED = [
    (dot("restricted-golden-1.0"), "1100000000", "1111111111"),  # .2, 1
    (dot("restricted-golden-0.8"), "1111110000", "1111111100"),  # .6, .8
    (dot("restricted-golden-0.6"), "1111111100", "1111000000"),  # .8, .4
    (dot("restricted-next-best-1.0"), "1100000000", "1111111111"),  # .2, 1
    (dot("restricted-next-best-0.8"), "0000000000", "1111111100"),  # 0, .8
    (dot("restricted-next-best-0.6"), "1100000000", "1111000000"),  # .2, .4
]


def test_steps_from_dialog_to_evidence_are_along_the_curve_of_each_evidence():
    recalls = Recalls(0.5, 0.75, 2)
    report = takeaways_report(material_by_hand(RESTRICTED), recalls=recalls)
    row = row_of(report, "restricted share", "golden")

    # .2 → .6 → .8 in two steps; 1 → .8 → .4.
    assert row["n_pairs"] == 2
    assert row["attribution_difference"] == pytest.approx((0.8 - 0.2) / 2)
    assert row["sensibleness_difference"] == pytest.approx((0.4 - 1) / 2)


def test_top_k_is_minus_top_1_where_golden_evidence_is_measured():
    recalls = Recalls(0.5, 0.75, 2)

    row = row_of(takeaways_report(material_by_hand(RESTRICTED), recalls=recalls), "top k")

    # At .8 two passages leave 1 - 2 · .2 = .6; at .6 they leave .2, which is not measured; at 1
    # no evidence is shown. Top 1: half of (.6, .8) and (0, .8): (.3, .8), F1 .48 / 1.1.
    # Top 2: three quarters of (.8, .4), one of (0, .8): (.6, .5), F1 .6 / 1.1.
    assert row["n_pairs"] == 1
    assert row["attribution_difference"] == pytest.approx(0.6 - 0.3)
    assert row["sensibleness_difference"] == pytest.approx(0.5 - 0.8)
    assert row["f1_difference"] == pytest.approx(0.6 / 1.1 - 0.48 / 1.1)
    assert row["share_favourable"] == 1


def test_top_k_without_recalls_is_not_measured():
    recalls = Recalls(math.nan, math.nan, 2)

    row = row_of(takeaways_report(material_by_hand(RESTRICTED), recalls=recalls), "top k")

    assert row["f1_difference"] is None
    assert row["why"].startswith("not measured")


# --- takeaways: re-ranking ------------------------------------------------------------------

POOL = [
    (dot("golden", SMALL), "1111000000", "1111000000"),  # .4, .4: F1 .4
    (dot("one-shot", SMALL), "1111110000", "1111110000"),  # .6, .6: F1 .6
]
NAMES = [of_setup.setup.name for of_setup, *_ in POOL]
POOL_KEY = pool_of(of_setup.setup for of_setup, *_ in POOL).key


def aggregate(model=SMALL, **settings):
    said = {"pool": NAMES, "function": "sensible-first"} | settings
    return dot("reranked", model, **said), "1111111100", "1111111100"  # .8, .8: F1 .8


def test_re_ranking_is_compared_with_its_pool_and_with_the_largest_model():
    large = [GOLDEN[:1] + ("1111111000",) * 2, (dot("no-evidence"), *ALONE[1:])]  # F1 .7; no part
    report = takeaways_report(material_by_hand([*POOL, *large, aggregate()]))

    assert row_of(report, "re-ranking")["f1_difference"] == pytest.approx((0.4 + 0.2) / 2)
    assert row_of(report, "re-ranking")["n_pairs"] == 2
    assert row_of(report, "re-ranking, best of pool")["f1_difference"] == pytest.approx(0.2)
    assert row_of(report, "small re-ranked")["f1_difference"] == pytest.approx(0.8 - 0.7)
    assert row_of(report, "small re-ranked")["n_pairs"] == 1


def test_the_largest_model_re_ranked_is_no_small_one():
    names = [GOLDEN[0].setup.name]
    report = takeaways_report(material_by_hand([GOLDEN, *POOL, aggregate(LARGE, pool=names)]))

    row = row_of(report, "small re-ranked")
    assert (
        row["why"]
        == "no re-ranked model has a larger model with golden evidence at its temperature"
    )


@pytest.mark.parametrize(("said", "is_flattered"), [(AXES.attribution.said, True), ("x", False)])
def test_an_axis_that_chose_is_said_to_flatter(said, is_flattered):
    report = takeaways_report(material_by_hand([*POOL, aggregate(attribution=said)]))

    assert row_of(report, "re-ranking")["is_flattered"] is is_flattered
    assert row_of(report, "history")["is_flattered"] is False


def test_each_aggregate_has_a_row_of_its_own():
    weighted = aggregate(function="weighted", weights=[1, 2])
    report = takeaways_report(material_by_hand([*POOL, aggregate(), weighted]))

    assert sorted(parts(report, "re-ranking")) == [
        "",
        f"PaLM 8B, T 0.0, 1 · sensibleness + 2 · attribution of 2 #{POOL_KEY}",
        f"PaLM 8B, T 0.0, sensible first of 2 #{POOL_KEY}",
    ]


def test_the_report_is_json_and_has_the_columns_of_a_table():
    report = takeaways_report(material_by_hand(GRID))

    rows = json.loads(write_report(report, "json"))["rows"]

    assert rows == report.records
    assert "golden evidence" in write_report(report, "latex")
    assert report.signature.startswith("takeaways | means over pairs | attribution auto_ais")


def test_the_chart_draws_every_effect_that_is_defined():
    assert names_in_chart(takeaways_report(material_by_hand(GRID))) == [
        "1 history",
        "1 golden evidence",
        "2 size",
        "2 temperature",
        "3 instructions",
    ]


def test_of_several_restricted_grids_the_chart_draws_top_k_over_all():
    small = [(dot(of.setup.prompt, SMALL), x, y) for of, x, y in RESTRICTED]
    small[2] = small[2][0], "1111110000", "1111000000"  # golden .6: .6, .4
    report = takeaways_report(
        material_by_hand([*RESTRICTED, *small]), recalls=Recalls(0.5, 0.75, 2)
    )

    # Of the large model as above: attribution .3, sensibleness -.3. Of the small one top 2 is three
    # quarters of (.6, .4), one of (0, .8): (.45, .5); top 1 is the same (.3, .8).
    row = row_of(report, "top k")
    assert row["n_pairs"] == 2
    assert row["attribution_difference"] == pytest.approx((0.3 + 0.15) / 2)
    assert row["sensibleness_difference"] == pytest.approx((-0.3 - 0.3) / 2)
    of_small, of_large = f"{SMALL}, T 0.0, next-best non-evidence", parts(report, "top k")[1]
    assert of_large == f"{LARGE}, T 0.0, next-best non-evidence"
    assert row_of(report, "top k", of_small)["attribution_difference"] == pytest.approx(0.15)
    assert names_in_chart(report).count("5 top k") == 1


def test_the_chart_fits_a_phone():
    material = material_by_hand([*GRID, *RESTRICTED, *POOL, aggregate()])
    spec = effects_chart(takeaways_report(material, recalls=Recalls(0.5, 0.75, 2)).rows)

    [width] = re.findall(rb'<svg[^>]* width="([\d.]+)"', chart_file(valid(spec), "svg"))
    assert float(width) <= 326


def names_in_chart(report):
    spec = effects_chart(report.rows)
    assert spec
    [values] = spec["datasets"].values()
    return [value["effect"] for value in values]


# --- verdicts -------------------------------------------------------------------------------

UP, DOWN, OVER_0 = Estimate(0.2, 0.1, 0.3), Estimate(-0.2, -0.3, -0.1), Estimate(0.1, 0.0, 0.2)
NO_INTERVAL = Estimate(0.2)


def row(takeaway, effect, f1=UNKNOWN, attribution=UNKNOWN, sensibleness=UNKNOWN):
    return EffectRow(
        takeaway=takeaway,
        effect=effect,
        compared="",
        of="",
        is_flattered=False,
        why="",
        f1_difference=f1,
        attribution_difference=attribution,
        sensibleness_difference=sensibleness,
    )


def test_each_effect_has_a_verdict_and_they_make_that_of_the_takeaway():
    # Takeaway 1 raises F1 twice; takeaway 4 raises attribution and lowers sensibleness.
    table = [
        ([row(1, "a", UP), row(1, "b", UP)], "holds", []),
        ([row(1, "a", OVER_0), row(1, "b", UP)], "holds in part", ["b"]),
        ([row(1, "a"), row(1, "b", UP)], "holds in part", ["b"]),
        ([row(1, "a", DOWN), row(1, "b", UP)], "the opposite", ["a"]),
        ([row(1, "a", OVER_0), row(1, "b")], "not shown", ["a"]),
        ([row(1, "a", NO_INTERVAL), row(1, "b")], "cannot be tested", []),
        ([], "cannot be tested", []),
        ([row(4, "s", DOWN, attribution=UP, sensibleness=DOWN)], "holds", []),
        ([row(4, "s", UP, OVER_0, UP)], "the opposite", ["sensibleness"]),
        ([row(4, "s", UP, DOWN, UP)], "the opposite", []),
        ([row(4, "s", UP, OVER_0, OVER_0)], "not shown", []),
    ]
    for rows, verdict, deciding in table:
        number = rows[0].takeaway if rows else 1
        [found] = [each for each in takeaway_verdicts(rows) if each.number == number]
        assert (found.verdict, found.deciding) == (verdict, deciding)

    [first, *_] = takeaway_verdicts([row(1, "a", OVER_0), row(1, "b", UP), row(1, "c", DOWN)])
    assert [part.verdict for part in first.parts] == ["not shown", "holds", "the opposite"]
