"""Published AIS ratings: consensus answers become nominal votes."""

from collections import Counter, defaultdict
from typing import Any

import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from generation.importers import open_material
from generation.records import Problem

HEADER = (
    "ex-idx ,doc-url,doc-url-hash,model-name,output,INT,INT & AIS,Flagged,Q1,Q2,"
    "# agree (INT),# agree (AIS)\n"
)
YES_1, NO_1 = '"Yes, I understand it."', '"No, the response is unclear.}}"'
YES_2, NO_2 = '"Yes, fully attributable."', '"No, not fully attributable."'


def read(tmp_path, *rows):
    path = tmp_path / "ann.csv"
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows))
    with open_material(path) as material:
        assert material.format == "ais"
        return {kind: list(material.records(kind)) for kind in material.kinds}


def answers(found, question):
    return [
        (vote.rater, vote.answer, vote.is_implied)
        for vote in found["votes"]
        if vote.question == question
    ]


def test_three_to_five_agreeing_raters_are_five_votes(tmp_path):
    found = read(tmp_path, f"7:2,http://x,NA,t5, hi ,1,0,0,{YES_1},{NO_2},5,4")

    assert answers(found, "interpretable") == [(str(n), "yes", False) for n in (1, 2, 3, 4, 5)]
    assert [answer for _, answer, _ in answers(found, "attributable")] == ["yes"] + ["no"] * 4
    (example,), (response,) = found["examples"], found["responses"]
    assert (example.key, example.dialog, example.turns) == ("7:2", "7", ())
    assert example.meta == {"doc-url": "http://x"}
    assert (response.key, response.text, response.setup.name) == ("7:2|t5", "hi", "t5")
    assert response.evidence_shown is None


@pytest.mark.parametrize(("n_agreeing", "n_votes"), [(10, 10), (2, 2), (1, 1), (0, 0), (-1, 0)])
def test_other_numbers_of_agreeing_raters_vote_alone(tmp_path, n_agreeing, n_votes):
    found = read(tmp_path, f"7:2,NA,NA,t5,hi,1,1,0,{YES_1},{YES_2},{n_agreeing},5")

    expected = [(str(n), "yes", False) for n in range(1, n_votes + 1)]
    assert answers(found, "interpretable") == expected


def test_not_interpretable_makes_attributable_an_implied_no_of_everybody(tmp_path):
    found = read(tmp_path, f"7:2,NA,NA,t5,hi,0,0,0,{NO_1},{YES_2},3,-1")

    assert [a for _, a, _ in answers(found, "interpretable")] == ["yes", "yes", "no", "no", "no"]
    assert answers(found, "attributable") == [(str(n), "no", True) for n in (1, 2, 3, 4, 5)]


def test_a_row_without_its_second_answer_is_read_by_int_and_ais_and_counted(tmp_path):
    path = tmp_path / "ann.csv"
    path.write_text(f"{HEADER}7:2,NA,NA,t5,hi,1,0,0,{YES_1},-,3,2\n")

    with open_material(path) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        notes = material.notes

    assert len(found["responses"]) == 1
    assert [a for _, a, _ in answers(found, "interpretable")] == ["yes", "yes", "yes", "no", "no"]
    assert answers(found, "attributable") == [("1", "no", False), ("2", "no", False)]
    said = "rows whose answer to Q2 is missing, although raters agreed on one: INT & AIS says no"
    assert notes == {said: 1}


def test_a_flagged_row_is_one_flag_and_no_votes(tmp_path):
    found = read(tmp_path, "7:2,NA,NA,t5,hi,0,0,1,NA ( Flagged),-,-1,-1")

    assert found["votes"] == []
    assert [(flag.response, flag.rater) for flag in found["flags"]] == [("7:2|t5", "published")]


def test_a_row_that_comes_twice_stays_two_responses(tmp_path):
    row = f"7:2,NA,NA,t5,hi,1,1,0,{YES_1},{YES_2},5,5"

    found = read(tmp_path, row, row)

    assert [response.key for response in found["responses"]] == ["7:2|t5", "7:2|t5|2"]
    assert len({(v.response, v.rater, v.question) for v in found["votes"]}) == 20
    assert len(found["examples"]) == 1


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (f"7:2,NA,NA,t5,hi,2,0,0,{YES_1},{NO_2},5,5", "INT"),
        (f"7:2,NA,NA,t5,hi,1,1,0,{YES_1},{NO_2},5,5", "INT & AIS"),
        (f"7:2,NA,NA,t5,hi,1,0,0,{NO_1},{NO_2},5,5", "Q1"),
        ("7:2,NA,NA,t5,hi,1,0,0,Maybe,,5,0", "Q1"),
        (f"7:2,NA,NA,t5,hi,1,0,0,{YES_1},{NO_2},five,5", "# agree (INT)"),
        (f"7:2,NA,NA,t5,hi,1,0,0,{YES_1},{NO_2},11,5", "# agree (INT)"),
        (f",NA,NA,t5,hi,1,0,0,{YES_1},{NO_2},5,5", "ex-idx"),
    ],
)
def test_a_row_that_breaks_the_rules_is_reported_once_and_gives_no_record(tmp_path, row, field):
    found = read(tmp_path, row)

    problems = [item for items in found.values() for item in items]
    assert all(isinstance(item, Problem) for item in problems)
    assert [item.field for item in problems] == [field]
    assert problems[0].where == ("ann.csv", 2)


@pytest.fixture(scope="module", params=["qrecc", "wow"])
def published(request, shared):
    with open_material(shared / "data/ais" / f"ann_{request.param}.csv") as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        return request.param, found, dict(material.n_left_out)


# Counted from the published CSV files: rows, examples, flagged, Q2 answers where INT = 0
SIZES = {"qrecc": (1390, 200, 3, 22), "wow": (997, 757, 56, 2)}
# ..., "Per-model rates": model → n, flagged, INT, INT & AIS
PER_MODEL = {
    "qrecc": {
        "qrecc-reference": (200, 1, 197, 173),
        "t5-base": (200, 0, 196, 171),
        "t5-base-no-evidence": (196, 1, 119, 26),
        "t5-base-pretrained": (195, 0, 94, 65),
        "t5-small": (200, 0, 198, 174),
        "t5-small-no-evidence": (199, 1, 115, 29),
        "t5-small-pretrained": (200, 0, 86, 71),
    },
    "wow": {
        "wow-controlled_t5": (200, 15, 184, 170),
        "wow-dinan_et_al": (200, 8, 162, 32),
        "wow-dodeca": (198, 15, 183, 110),
        "wow-reference": (200, 8, 192, 30),
        "wow-t5": (199, 10, 186, 74),
    },
}


def test_published_files_are_read_whole(published):
    name, found, left_out = published

    n_rows, n_examples, n_flagged, n_ignored_answers = SIZES[name]
    assert not [item for items in found.values() for item in items if isinstance(item, Problem)]
    assert len({response.key for response in found["responses"]}) == n_rows
    assert len(found["examples"]) == n_examples
    assert len(found["flags"]) == n_flagged
    assert left_out == {"Q2 answer with INT = 0": n_ignored_answers}


def test_majorities_of_the_votes_give_the_published_counts_per_model(published):
    name, found, _ = published
    votes: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for vote in found["votes"]:
        votes[vote.response, vote.question][vote.answer] += 1
    flagged = {flag.response for flag in found["flags"]}

    per_model: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for response in found["responses"]:
        counts = per_model[response.setup.name]
        counts[0] += 1
        counts[1] += response.key in flagged
        for place, question in ((2, "interpretable"), (3, "attributable")):
            by_answer = votes[response.key, question]
            counts[place] += 2 * by_answer["yes"] > by_answer.total()

    assert {model: tuple(counts) for model, counts in per_model.items()} == PER_MODEL[name]


def test_agreement_of_the_votes_is_the_reference_figure(published):
    name, found, _ = published
    votes: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for vote in found["votes"]:
        if vote.question == "interpretable":
            votes[vote.response][vote.answer] += 1

    five = [[c["yes"], c["no"]] for c in votes.values() if c.total() == 5]

    # ais_figures.md: 1386 items, kappa 0.9047; 904 items, kappa 0.4182
    n_items, kappa = {"qrecc": (1386, 0.9047), "wow": (904, 0.4182)}[name]
    assert len(five) == n_items
    assert round(fleiss_kappa(five), 4) == kappa
