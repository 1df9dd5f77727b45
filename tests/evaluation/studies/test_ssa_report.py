"""SSA of a study: by hand in the report, in the sentences, on the page and on an axis."""

import csv
import io
import json

import pytest

from evaluation.reports.base import Choices
from evaluation.reports.formats import FORMATS, write_report
from evaluation.studies.pages.ssa_answer import ssa_findings
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.study import study_figures
from evaluation.tradeoffs.axes import axes_of, find, values_of
from tests.evaluation.studies.hand_made import PAIR
from tests.makers import rated
from tests.shown import shown

pytestmark = pytest.mark.once

WORDS = {"y": "yes", "n": "no"}


def both(sensible, specific):
    """Return the votes on both questions, written as letters."""
    letters = {"sensible": sensible, "specific": specific}
    return {key: [WORDS[letter] for letter in given] for key, given in letters.items()}


@pytest.fixture
def ten(tmp_path):
    """Return a study of ten answers. Three of five raters call the second five not sensible.

    By majority: sensible 5/10, specific 5/10. By votes: sensible (5 · 1 + 5 · .4) / 10 = .7,
    specific (5 · .8 + 5 · .4) / 10 = .6.
    """
    votes = {f"a{n}": both("yyyyy", "yyyyn") for n in range(5)}
    votes |= {f"b{n}": both("yynnn", "yynnn") for n in range(5)}  # behind the gate: no
    setups = {key: "good" if key.startswith("a") else "bad" for key in votes}
    return rated(tmp_path, votes, scheme=PAIR, setups=setups)


def ssa_of(study, **choices):
    rows = scenarios_report(study, Choices(**choices)).records
    return {row["setup"]: row for row in rows if row["question"] == "SSA"}


def test_ssa_is_the_mean_of_both_questions_by_majority_and_by_votes(ten):
    rows = ssa_of(ten)

    assert {setup: (row["mean"], row["by_votes"]) for setup, row in rows.items()} == {
        "bad": (0.0, pytest.approx((0.4 + 0.4) / 2)),
        "good": (1.0, pytest.approx((1.0 + 0.8) / 2)),
        None: (0.5, pytest.approx((0.7 + 0.6) / 2)),
    }
    assert {row["scenario"] for row in rows.values()} == {None}
    assert {(row["n"], row["n_mean"], row["n_by_votes"]) for row in rows.values()} == {
        (5, 5, 5),
        (10, 10, 10),
    }
    for row in rows.values():
        for name in ("mean", "by_votes"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
            assert row[f"{name}_high"] - row[f"{name}_low"] > 0.1
    # A setup alone has its own rows only.
    assert {setup: row["mean"] for setup, row in ssa_of(ten, setup="good").items()} == {
        "good": 1.0,
        None: 1.0,
    }


def test_an_answer_tied_on_one_question_is_counted_and_in_the_mean_of_the_other(tmp_path):
    # a: yes, yes. b: yes, and two against two. c: two against two, and no.
    votes = {"a": both("yyyy", "yyyy"), "b": both("yyyy", "yynn"), "c": both("yynn", "nnnn")}

    [row, _] = ssa_of(rated(tmp_path, votes, scheme=PAIR)).values()

    # Majorities: sensible 2/2, specific 1/2. Votes: sensible 2.5/3, specific 1.5/3.
    assert (row["mean"], row["by_votes"]) == (0.75, pytest.approx((2.5 / 3 + 1.5 / 3) / 2))
    assert (row["n"], row["tied"], row["n_mean"], row["n_by_votes"]) == (3, 2, 1, 3)
    # With ties as a half: sensible 2.5/3, specific 1.5/3.
    assert (row["waiting"], row["mean_ties_half"]) == (0, pytest.approx(4 / 6))


def test_without_a_mean_of_one_question_there_is_no_ssa(tmp_path):
    only_sensible = {"a": {"sensible": ["yes"], "specific": []}}
    tied = {"a": both("yn", "nn")}

    assert ssa_of(rated(tmp_path / "one", only_sensible, name="one", scheme=PAIR)) == {}
    [row, _] = ssa_of(rated(tmp_path / "tie", tied, name="tie", scheme=PAIR)).values()
    assert (row["mean"], row["by_votes"]) == (None, 0.25)  # (½ + 0) / 2


def test_ssa_is_in_every_format(ten):
    report = scenarios_report(ten)
    written = {key: write_report(report, key).replace("\\", "") for key in (*FORMATS, "table")}

    last = list(csv.DictReader(io.StringIO(written["csv"])))[-1]
    assert (last["question"], last["mean"], last["by_votes"][:4]) == ("SSA", "0.5", "0.65")
    assert json.loads(written["json"])["rows"][-1]["question"] == "SSA"
    for key in ("latex", "markdown", "table"):
        assert "all setups" in written[key]
        assert "65.0 [" in written[key]


def test_the_answer_says_ssa_over_all_setups_and_of_each(ten, rosa, client_for):
    [found] = ssa_findings(ten, study_figures(ten, Choices()))
    page = shown(client_for(rosa).get(f"/studies/{ten.slug}/"))
    table = page.table("Question means by scenario")

    assert found.question == "SSA"
    said = [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in found.sentences]
    assert [sentence.partition(" (")[0] for sentence in said] == [
        "SSA over 2 setups is 50 %",
        "SSA of bad is 0 %",
        "SSA of good is 100 %",
    ]
    assert [sentence.partition(" and ")[2].partition(" (")[0] for sentence in said] == [
        "65 %",
        "40 %",
        "90 %",
    ]
    assert said[0] in page.part("answer").text
    assert table.row("SSA")["Tied"] == "0"
    assert table.row("SSA by votes")["good"].startswith("90 ")


def test_of_many_setups_the_ends_are_named_and_the_table_has_a_line_for_each(
    tmp_path, rosa, client_for
):
    # s0 has the votes no, no; the others yes by all.
    votes = {f"r{n}": both("yyy", "yyy") if n else both("nnn", "nnn") for n in range(5)}
    setups = {f"r{n}": f"s{n}" for n in range(5)}
    study = rated(tmp_path, votes, scheme=PAIR, setups=setups)

    [found] = ssa_findings(study, study_figures(study, Choices()))
    page = shown(client_for(rosa).get(f"/studies/{study.slug}/"))

    plain = [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in found.sentences]
    assert plain[0].startswith("SSA over 5 setups is 80 % (")
    assert plain[1:] == ["By majorities, the highest SSA is 100 % of s1, and the lowest 0 % of s0."]
    rows = page.table("Question means by setup and arm").rows
    of_ssa = rows[[row[0] for row in rows].index("SSA") :]
    assert [row[0] for row in of_ssa[:6]] == ["SSA", *setups.values()]
    assert of_ssa[6][0] == "SSA by votes"
    assert of_ssa[2][1:] == ["100", "1", "0", "0"]  # mean, n, waiting, tied
    assert of_ssa[8][1:] == ["100", "1", "—", "—"]


def test_ssa_is_an_axis_of_raters(tmp_path):
    # c is sensible and not specific: a half.
    votes = {"a": both("yyy", "yyn"), "b": both("ynn", "ynn"), "c": both("yyy", "nnn")}
    study = rated(tmp_path, votes, scheme=PAIR)

    values = values_of(find(axes_of(study.dataset), "SSA"))

    assert values.labels.tolist() == [1.0, 0.0, 0.5]
    assert values.scores.tolist() == pytest.approx([(1 + 2 / 3) / 2, 1 / 3, 0.5])
