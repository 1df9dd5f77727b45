"""A cell of a vote or of a score says what the table in docs/formats.md tells, line by line."""

import re
from pathlib import Path

import pytest

from annotation.guessed_schemes import guess_scheme
from annotation.schemes import YES_NO, Scale, load_scheme
from generation.importers.cell_meanings import is_missing, meaning_of, score_in, whole_number

DOCS = Path(__file__).parents[3] / "docs" / "formats.md"
SCALES = (
    YES_NO,
    Scale("ordinal", (1, 2, 3, 4, 5), ("1", "2", "3", "4", "5")),
    Scale("nominal", (0, 1), ("café", "so so")),
)


def lines_of_the_docs() -> list[list[str]]:
    section = DOCS.read_text("utf-8").partition("### What a cell may say")[2].partition("\n- ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return [[cell, *said] for words, *said in rows[2:] for cell in cells_of(words)]


def cells_of(words: str) -> list[str]:
    return [""] if words == "nothing" else re.findall("`([^`]+)`", words)


def vote_in(cell: str, scale: Scale) -> str:
    answer = scale.answer(cell)
    if answer is not None:
        return scale.label(answer)
    if not is_missing(cell):
        return "a bad row"
    return "you are asked" if cell and scale.kind == "nominal" else "no vote"


@pytest.mark.parametrize(("cell", "yes_no", "ordinal", "nominal", "score"), lines_of_the_docs())
def test_a_cell_says_what_the_docs_say(cell, yes_no, ordinal, nominal, score):
    assert [vote_in(cell, scale) for scale in SCALES] == [yes_no, ordinal, nominal]

    found = score_in(cell)
    if score.startswith("no score"):
        assert found.score is None
        assert bool(found.problem) == score.endswith("with the reason")
    else:
        assert found.score == float(score)


@pytest.mark.parametrize(
    "written",
    ["cafe\u0301", "CAFE\u0301", "caf\u00e9\u00a0", "\ufeffcafé", "ca\u00adfé"],
)
def test_labels_that_look_the_same_are_one(written):
    assert SCALES[2].answer(written) == 0
    assert SCALES[2].answer("so\u00a0so") == SCALES[2].answer("so\u2009so") == 1


def test_labels_that_a_scheme_keeps_apart_stay_apart():
    both = Scale("nominal", (0, 1), ("caf\u00e9", "cafe\u0301"))

    assert [both.answer(label) for label in both.labels] == [0, 1]


@pytest.mark.parametrize(
    ("text", "number"),
    [("-2", -2), ("+3.", 3), (" 007 ", 7), ("1,000", None), ("1e2", None), ("٣", None), ("", None)],
)
def test_a_whole_number_has_a_few_spellings(text, number):
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("value", "decimal", "score"),
    [
        (True, ".", 1),
        (3, ".", 3),
        ("0,75", ",", 0.75),
        ("1,500", ",", 1.5),
        ("12,5 %", ".", 0.125),
        ("\u22120.5", ".", -0.5),
        (".7", ".", 0.7),
        ("1e-3", ".", 0.001),
        ("1_000", ".", None),
        ([0.5], ".", None),
        (10**400, ".", None),
        (float("nan"), ".", None),
    ],
)
def test_a_score_is_read_from_any_value(value, decimal, score):
    found = score_in(value, decimal)

    assert found.score == (None if score is None else pytest.approx(score))
    assert found.note or score is not None


def test_a_mapping_names_words_in_any_spelling():
    meanings = {"1": "supported", "Nicht  belegt": "no", "unsure": ""}

    assert meaning_of("1.0", meanings) == "supported"
    assert meaning_of("nicht belegt", meanings) == "no"
    assert meaning_of("Unsure", meanings) == ""
    assert meaning_of("2", meanings) is None


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        (["1.0", "4.0", "5.0"], {"ordinal": [1, 5]}),
        (["70.0", "85.0", "100"], {"ordinal": [70, 100]}),
        (["1.0", "0.0", "1"], "yes_no"),
        (["café", "CAFE\u0301", "so\u00a0so"], {"nominal": ["café", "so so"]}),
        (["1", "1.0", "a", "b", "c"], {"nominal": ["1", "1.0", "a", "b", "c"]}),
    ],
)
def test_a_scale_is_made_of_what_the_cells_say(words, scale):
    scheme = guess_scheme("s", {"q": dict.fromkeys(words, 1)})

    assert scheme["questions"][0]["scale"] == scale
    assert load_scheme(scheme).question("q") is not None
