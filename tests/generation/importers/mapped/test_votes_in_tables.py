"""Tables say who voted and what is a vote, and no row of a response is lost in silence."""

import json
from pathlib import Path

import openpyxl
import pytest

from generation.importers import UnmappedError
from generation.importers.mapped.mapped_rows import PASSED_OVER
from generation.importers.mapped.mapping import read_mapping
from generation.importers.mapped.repeated_rows import REPEATED
from generation.records import Problem
from tests.generation.importers.reading import opened

DOCS = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
LINES = DOCS.partition("### How votes may stand in a table")[2].partition("|---|---|\n")[2]
STANDING = [line.strip("| ").split(" | ") for line in LINES.partition("\n\n")[0].splitlines()]
FOREIGN = Path(__file__).parents[3] / "data" / "foreign"


def table(tmp_path, *lines, name="t.csv"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(path, mapping=None):
    with opened(path, mapping=mapping) as material:
        found = {kind: list(material.records(kind)) for kind in material.kinds}
        return found, material


def said_of(path):
    """Return what becomes of a table, in the words of the docs."""
    try:
        found, material = read(path)
    except UnmappedError as error:
        return f"you are asked {error.look.asks.partition(' (')[0]}"
    if material.losses:
        [(what, n)] = material.losses.items()
        if what.startswith("cells of "):
            return f"needs a yes: {n} cell of {what.removeprefix('cells of ').partition(',')[0]}"
        column = what.partition("other values in ")[2].partition(",")[0]
        return f"needs a yes: {n} row with another {column}"
    by_question: dict[str, list[str]] = {}
    for vote in found.get("votes", ()):
        by_question.setdefault(vote.question, []).append(f"{vote.rater} {vote.answer}")
    votes = [f"votes on {asked}: {', '.join(answers)}" for asked, answers in by_question.items()]
    counted = [what.split()[2].strip(",") for what in material.notes if PASSED_OVER in what]
    is_are = "is" if len(counted) == 1 else "are"
    said = [f"{' and '.join(counted)} {is_are} counted"] if counted else []
    if not votes:
        return f"no votes: {''.join(said) or 'the label stays in meta'}"
    return "; ".join(votes + said)


@pytest.mark.parametrize(("rows", "becomes"), STANDING)
def test_votes_stand_in_a_table_as_the_docs_say(tmp_path, rows, becomes):
    assert said_of(table(tmp_path, *rows.strip("`").split(" / "))) == becomes


def test_the_docs_have_lines_to_try():
    assert len(STANDING) >= 10


@pytest.mark.parametrize(
    "name",
    [
        *("annotator_name", "Annotator ID", "_worker_id", "WorkerId", "worker-id", "username"),
        *("user", "user_id", "completed_by", "coder", "judge", "Rater", "reviewer", "e-mail"),
        *("E-Mail", "annotator email", "LABELER", "labelledBy", "Assessor", "participant"),
    ],
)
def test_a_column_of_raters_is_told_by_each_usual_name(tmp_path, name):
    path = table(tmp_path, f"question,answer,{name},ok", "Who?,She.,r1,yes", "Who?,She.,r2,no")

    assert said_of(path) == "votes on ok: r1 yes, r2 no"


@pytest.mark.parametrize(
    ("column", "answers"),
    [
        *(
            (name, ("yes", "no"))
            for name in ("label", "rating", "human_score", "faithful", "supported", "annotation")
        ),
        *(("Verdict", each) for each in (("1", "0"), ("True", "False"), ("4", "5"), ("5.0", "4"))),
        ("human rating", ("Fully supported", "Not supported")),
    ],
)
def test_the_column_of_votes_is_told_and_said(tmp_path, column, answers):
    rows = [f"Who?,She.,anna,3.5,{answers[0]}", f"Who?,She.,ben,3.5,{answers[1]}"]

    found, material = read(table(tmp_path, f"question,answer,annotator,bleu,{column}", *rows))

    assert [(vote.question, vote.answer) for vote in found["votes"]] == [
        (column, answer) for answer in answers
    ]
    assert len(found["responses"]) == 1
    what = f"votes in {column}, taken for votes because they look like some"
    assert material.notes[what] == 2


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("user,answered", ("kim,yes", "lee,no")),  # each asks something of their own
        ("seed,passed", ("1,yes", "2,no")),
        ("r1,r2", ("0.31,0.52", "0.4,0.18")),  # ROUGE
    ],
)
def test_what_is_no_vote_stays_in_meta(tmp_path, header, rows):
    lines = [f"Q{number}?,A{number}.,{row}" for number, row in enumerate(rows)]

    found, material = read(table(tmp_path, f"question,answer,{header}", *lines))

    assert "votes" not in found
    assert material.losses == {}


def test_numbers_of_raters_are_no_scores_in_a_frame_of_a_tool(tmp_path):
    header = "question,contexts,answer,faithfulness,worker_id,rating"
    rows = [f"Q{n % 2}?,\"['It is tall.']\",She.,0.{n % 2},{n // 2},{n}" for n in range(1, 5)]

    found, material = read(table(tmp_path, header, *rows))

    assert material.look.recipe == "RAGAS (0.1)"
    assert {score.metric for score in found["scores"]} == {"faithfulness"}
    assert [(vote.rater, vote.answer) for vote in found["votes"]] == [
        ("0", "1"),
        ("1", "2"),
        ("1", "3"),
        ("2", "4"),
    ]


def test_numbers_of_rows_and_runs_are_no_scores_in_a_frame_of_a_tool(tmp_path):
    header = "Unnamed: 0,index,seed,run,trial,temperature,question,contexts,answer,faithfulness"

    found, _ = read(table(tmp_path, header, "0,0,7,1,2,0.5,Q?,\"['It is tall.']\",She.,0.25"))

    assert [(score.metric, score.score) for score in found["scores"]] == [("faithfulness", 0.25)]


def test_cells_that_say_nothing_are_not_counted_among_the_votes_that_were_found(tmp_path):
    rows = ("Who?,She.,r1,yes", "Who?,She.,r2,no", "Why?,So.,r1,NA", "Why?,So.,r2,")

    _, material = read(table(tmp_path, "question,answer,rater,supported", *rows))

    assert material.notes["votes in supported, taken for votes because they look like some"] == 2


def test_not_available_in_a_workbook_is_a_text_and_any_other_error_a_bad_row(tmp_path):
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for line in (
        ("question", "answer", "rater", "supported"),
        ("Who?", "She.", "r1", "yes"),
        ("Who?", "She.", "r2", "#N/A"),
        ("Why?", "So.", "r1", "#REF!"),
    ):
        sheet.append(line)
    book.save(path)

    found, _ = read(path)

    assert [vote.answer for vote in found["votes"]] == ["yes", "#N/A"]
    [problem] = (each for each in found["responses"] if isinstance(each, Problem))
    assert "an error" in str(problem)
    assert "D4" in str(problem)


def test_a_vote_column_that_is_empty_in_the_first_rows_is_asked_about(tmp_path):
    rows = ("Who?,She.,r1,", "Who?,She.,r2,")

    with pytest.raises(
        UnmappedError, match=r"rating holds votes .* \(rating is empty in the first"
    ):
        read(table(tmp_path, "question,answer,rater,rating", *rows))


@pytest.mark.parametrize("who", ["annotator_name", "stage"])
def test_the_scores_of_a_response_count_once_however_many_rows_it_has(tmp_path, who):
    """Means: (.9 + .5 + .1) / 3 = .5, and not (3 · .9 + .5 + .1) / 5 = .66."""
    text = '[columns]\nquestion = "question"\nanswer = "response"\ntrust = "score"\n'
    rows = ["Who?,She.,.9,a", "Who?,She.,.9,b", "Who?,She.,.9,c", "When?,Then.,.5,a"]
    path = table(tmp_path, f"question,answer,trust,{who}", *rows, "Why?,So.,.1,a")

    found, material = read(path, read_mapping(text))

    assert [score.score for score in found["scores"]] == [0.9, 0.5, 0.1]
    assert len(found["responses"]) == 3
    assert [n for what, n in material.losses.items() if f"values in {who}," in what] == [2]


@pytest.mark.parametrize(
    ("header", "rows", "lost"),
    [
        ("n", ("1", "1"), None),
        ("", ("0", "1"), None),  # pandas' index
        (
            "n",
            ("1", ""),
            "rows that repeat a response with other values in n, which",
        ),  # 1 is a mark
        (
            "n",
            ("", "1"),
            "rows that repeat a response with other values in n, which are lost unless",
        ),
        ("context", ("It is tall.", "It is wide."), "with other values in context, which"),
        ("n,note", ("1,x", "2,y"), "other values in n and note, which"),
    ],
)
def test_a_row_that_repeats_a_response_is_counted_and_needs_a_yes_where_it_differs(
    tmp_path, header, rows, lost
):
    lines = [f"Who?,She.,{row}" for row in rows]

    found, material = read(table(tmp_path, f"question,answer,{header}", *lines))

    assert len(found["responses"]) == 1
    assert material.notes[REPEATED] == 1
    assert [*material.losses.values()] == ([1] if lost else [])
    assert all(lost in what for what in material.losses)


def test_scores_that_differ_need_a_yes_also_among_votes_and_remarks_are_counted(tmp_path):
    text = (
        '[columns]\nquestion = "question"\nanswer = "response"\ns = "score"\nr = "rater"\n'
        'v = "vote"'
    )
    lines = ("question,answer,s,r,v,note", "Who?,She.,.5,r1,yes,a", "Who?,She.,.7,r2,no,b")

    found, material = read(table(tmp_path, *lines), read_mapping(text))

    assert (len(found["votes"]), [score.score for score in found["scores"]]) == (2, [0.5])
    [what] = material.losses
    assert what == (
        "rows that repeat a response with other scores in s, which are lost: only the scores of "
        "its first row are stored"
    )
    assert any("something else in note than the first row" in note for note in material.notes)


def test_a_mapping_says_which_columns_are_raters_and_their_question(tmp_path):
    text = (
        '[columns]\nquestion = "question"\nanswer = "response"\n"rated *" = "rater_votes"\n'
        'Anna = "rater_votes"\n[names]\n"rated *" = "true"\nAnna = "true"\n'
        '[raters]\nAnna = "r7"\n[values.Anna]\nja = "yes"'
    )
    path = table(tmp_path, "question,answer,rated 1,rated b2,Anna", "Who?,She.,no,,ja")
    mapping = read_mapping(text)
    assert read_mapping(mapping.as_toml()) == mapping

    found, _ = read(path, mapping)

    anna, one = found["votes"]
    assert (one.question, one.answer, anna.question, anna.answer) == ("true", "no", "true", "yes")
    assert one.rater.startswith("rater-")  # a name with a blank may be a person's
    assert anna.rater == "r7"


def test_a_rater_who_has_not_voted_yet_is_a_rater_all_the_same(tmp_path):
    rows = ("Who?,She.,good,,bad", "Why?,So.,good,,ok", "When?,Then.,ok,,bad")

    _, material = read(table(tmp_path, "question,answer,R1,R2,R3", *rows))

    assert material.look.mapping.of("rater_votes") == ("R1", "R2", "R3")


def test_names_of_raters_beside_columns_of_labels_are_asked_about(tmp_path):
    header = "question,answer,annotator_1,annotator_2,label_1,label_2"
    rows = ("Who?,She.,anna,ben,good,bad", "Why?,So.,ben,anna,bad,bad")

    asked = said_of(table(tmp_path, header, *rows))

    asks = "whether annotator_1 and annotator_2 say who gave the votes in label_1 and label_2"
    assert asked == f"you are asked {asks}"


@pytest.mark.parametrize("name", ["label_studio_export.csv", "label_studio_export_min.json", "tsv"])
def test_tables_of_label_studio_have_the_votes_of_its_json(tmp_path, name):
    path = FOREIGN / name
    if name == "tsv":
        rows = json.loads((FOREIGN / "label_studio_export_min.json").read_text("utf-8"))
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = [[row.get(c, "") for c in columns] for row in rows]
        texts = [[each if isinstance(each, str) else json.dumps(each) for each in r] for r in cells]
        quoted = [['"' + each.replace('"', '""') + '"' for each in row] for row in texts]
        path = table(tmp_path, "\t".join(columns), *map("\t".join, quoted))

    def votes(source):
        found, _ = read(source)
        assert len(found["responses"]) == 3
        return sorted(
            (v.response, v.question, v.answer, v.source_id, v.seconds) for v in found["votes"]
        )

    assert votes(path) == votes(FOREIGN / "label_studio_export.json")


def test_a_number_of_any_length_may_stand_in_a_name(tmp_path):
    names = ["p1", f"p{'9' * 5_000}"]

    found, _ = read(table(tmp_path, f"question,answer,{','.join(names)}", "Who?,She.,3,4"))

    assert "votes" not in found


@pytest.mark.parametrize(
    ("header", "rows", "role", "n_examples", "n_responses"),
    [
        # One rater judges the same text in two items.
        ("item_id,rater", ("1,r1,Q1?,No.", "2,r1,Q1?,No.", "1,r2,Q1?,No."), "example", 2, 2),
        ("HITId,rater", ("1,r1,Q1?,No.", "2,r1,Q1?,No.", "2,r2,Q1?,No."), "example", 2, 2),
        # ... and items are responses where they part the responses to one question.
        ("item,rater", ("1,r1,Q1?,No.", "2,r1,Q1?,No.", "3,r1,Q1?,Yes."), "response_id", 1, 3),
        # Each item has a question of its own.
        ("_unit_id,rater", ("1,r1,Q1?,No.", "1,r2,Q1?,No.", "2,r1,Q2?,No."), "example", 2, 2),
        # Items that part nothing, have two questions, or go with the raters.
        ("item_id,rater", ("1,r1,Q1?,No.", "2,r1,Q1?,Yes.", "1,r2,Q1?,No."), None, 1, 2),
        ("doc_id,rater", ("1,r1,Q1?,No.", "1,r1,Q2?,No.", "2,r1,Q3?,No."), None, 3, 3),
        ("task_id,rater", ("1,r1,Q1?,No.", "2,r2,Q1?,No.", "3,r3,Q1?,No."), None, 1, 1),
    ],
)
def test_items_are_told_apart_where_they_part_what_a_rater_says(
    tmp_path, header, rows, role, n_examples, n_responses
):
    lines = [f"{row},{('yes', 'no')[number % 2]}" for number, row in enumerate(rows)]

    found, material = read(table(tmp_path, f"{header},question,answer,supported", *lines))

    assert material.look.mapping.columns.get(header.partition(",")[0]) == role
    assert len(found["votes"]) == 3
    assert len({response.example for response in found["responses"]}) == n_examples
    assert len(found["responses"]) == n_responses
