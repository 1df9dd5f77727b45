"""The report on comparable setups, worked out by hand. No database."""

import math

import pytest

from evaluation.reports.figures.free_places import Rectangle
from evaluation.tradeoffs.figures.tradeoff.frame import Frame
from evaluation.tradeoffs.figures.tradeoff.moves import figure_of_moves
from evaluation.tradeoffs.pages.comparable import clear_moves
from evaluation.tradeoffs.reports import comparable_setups as comparable_module
from evaluation.tradeoffs.reports.comparable_setups import comparable_report, moves_by_reason
from tests.evaluation.tradeoffs.by_hand import dot, material_by_hand

SMALL, MIDDLE, LARGE = "PaLM 8B", "PaLM 62B", "PaLM 540B"

# Each of 10 examples, its own dialog.
GOLDEN = dot("golden"), "1111111100", "1111111100"  # .8, .8
INSTRUCTED = dot("golden-instructions"), "1111111110", "1111111000"  # .9, .7
OF_SMALL = dot("golden", SMALL), "1111000000", "1111000000"  # .4, .4


def test_a_comparable_pair_has_its_move_and_what_makes_it_comparable():
    report = comparable_report(material_by_hand([GOLDEN, INSTRUCTED]))

    [row] = report.records
    assert (row["from_setup"], row["to_setup"]) == (
        GOLDEN[0].setup.name,
        INSTRUCTED[0].setup.name,
    )
    assert row["reasons"] == "instructions"
    # (.8, .8) → (.9, .7): middle (.85, .75), F1 rises by (.5625, .7225).
    length = math.hypot(0.5625, 0.7225)
    assert row["attribution_difference"] == pytest.approx(0.1)
    assert row["sensibleness_difference"] == pytest.approx(-0.1)
    assert row["f1_difference"] == pytest.approx(f1_of(0.9, 0.7) - 0.8)
    assert row["across"] == pytest.approx((0.05625 - 0.07225) / length)
    assert row["along"] == pytest.approx((0.07225 + 0.05625) / length)
    assert row["n"] == 10


def f1_of(attribution, sensibleness):
    return 2 * attribution * sensibleness / (attribution + sensibleness)


FAR = [
    # 40 examples: (1, .2) and (.2, 1) have the same F1; (.2, .2) is across the curves from (1, 1).
    (dot("golden", tokens=100), "1" * 40, "1" * 8 + "0" * 32),
    (dot("one-shot", tokens=100), "1" * 8 + "0" * 32, "1" * 40),
    (dot("golden", SMALL, tokens=100), "1" * 8 + "0" * 32, "1" * 8 + "0" * 32),
    (dot("one-shot", SMALL, tokens=95), "1" * 40, "1" * 40),
    (dot("golden", MIDDLE, tokens=100), "10" * 20, "10" * 20),
    (dot("one-shot", MIDDLE, tokens=95), "10" * 20, "10" * 20),
    (dot("golden", "PaLM 1B", tokens=100), "0" * 40, "0" * 40),
    (dot("one-shot", "PaLM 1B", tokens=95), "0" * 40, "0" * 40),
    (dot("golden", "PaLM 2B", tokens=100), "." * 40, "." * 40),
    (dot("one-shot", "PaLM 2B", tokens=95), "1" * 40, "1" * 40),
]


def test_moves_are_classed_and_counted_by_reason():
    report = comparable_report(material_by_hand(FAR))

    moves = [(row["model"], row["move"], row["why"]) for row in report.records]
    # As long: √2 · .8 both, so by name.
    assert moves == [
        (LARGE, "along", ""),
        (SMALL, "across", ""),
        ("PaLM 1B", None, "neither setup has any attribution or sensibleness"),
        ("PaLM 2B", None, "no example has values for both setups"),
        (MIDDLE, None, "fewer than 5 dialogs, or in none do the setups differ"),
    ]
    everything, by_context = moves_by_reason(report.rows)
    assert everything == ("", 5, 1, 1, 0, 0)
    assert by_context == ("context", 5, 1, 1, 0, 0)
    assert (everything.n_undefined, everything.share_along) == (3, 0.5)
    assert report.left_out["pairs_without_a_move"] == 3


def test_a_move_both_along_and_across_is_a_clear_one():
    # From (.2, .4) to (.9, .4): middle (.55, .4), direction (.16, .3025), length .3422;
    # across .7 · .16 / .3422 = .33, along .7 · .3025 / .3422 = .62.
    low = dot("golden", tokens=100), "1" * 8 + "0" * 32, "1" * 16 + "0" * 24
    high = dot("one-shot", tokens=100), "1" * 36 + "0" * 4, "1" * 16 + "0" * 24
    report = comparable_report(material_by_hand([low, high, *FAR[2:4]]))

    assert [row["move"] for row in report.records] == ["across", "both"]  # 1.13 and .7 long
    [everything, *_] = moves_by_reason(report.rows)
    assert everything == ("", 2, 0, 1, 1, 0)
    assert (everything.n_clear, everything.n_undefined, everything.share_along) == (2, 0, 0)


def test_between_setups_whose_f1_is_0_nothing_is_traded():
    low = dot("golden", tokens=100, temperature=0.7), "0" * 40, "1" * 8 + "0" * 32
    high = dot("one-shot", tokens=100, temperature=0.7), "0" * 40, "1" * 40
    report = comparable_report(material_by_hand([low, high, *FAR[:2]]))

    along, none = report.rows
    assert (along.move, none.move, none.why) == ("along", None, comparable_module.F1_IS_0)
    assert none.of_setups == f"{none.model}, T 0.7"
    assert report.left_out["pairs_with_f1_0"] == 1
    assert report.left_out["pairs_without_a_move"] == 0
    assert moves_by_reason(report.rows)[0].n_undefined == 1


def test_of_very_many_pairs_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(comparable_module, "MOST_PAIRS", 2)
    monkeypatch.setattr(comparable_module, "BATCH", 1)

    report = comparable_report(material_by_hand(FAR))

    assert len(report.records) == 2
    assert report.left_out["comparable_pairs_beyond_the_first"] == 3


def test_without_comparable_setups_there_are_no_rows():
    report = comparable_report(material_by_hand([GOLDEN, OF_SMALL]))

    assert report.records == []
    assert moves_by_reason(report.rows)[0].share_along is None


# --- arrows ---------------------------------------------------------------------------------


def test_clear_moves_are_arrows_from_setup_to_setup():
    material = material_by_hand(FAR)
    square = Frame(160, 100, Rectangle(60, 0, 160, 100), most_ticks=5)

    moves = list(clear_moves(material, comparable_report(material).rows))
    figure = figure_of_moves(moves, square)

    # Along: from (.2, 1) to (1, .2). Across: from (1, 1) to (.2, .2). The plane begins at .1.
    found = {move.kind: {move.start, move.end} for move in moves}
    assert found == {"along": {(0.2, 1.0), (1.0, 0.2)}, "across": {(0.2, 0.2), (1.0, 1.0)}}
    assert [line.style for line in figure.lines] == ["across", "along"]  # the local ones on top
    assert [title for _, title in figure.line_legend] == [
        "Mostly along the curve (local)",
        "Mostly across (global)",
    ]
    [(x, y)] = [move.end for move in moves if move.kind == "along"]
    tip = f"L{60 + 100 * x:.1f} {100 * (1 - y) / 0.9:.1f}"
    assert figure.lines[1].path.count(tip) == 2  # the end of the line is the tip of its head
    still = moves[0]._replace(end=moves[0].start)
    assert figure_of_moves([still], square).lines == []
