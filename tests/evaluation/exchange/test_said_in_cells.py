"""Votes and scores as cells of people's files say them, imported: whatever the kind of file."""

import json
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.models import Study, Vote
from evaluation.exchange.given_votes import UndecidedWords
from evaluation.models import AutoScore
from evaluation.studies.reports.raters import raters_report
from generation.importers import open_material
from generation.importers.mapped.mapping import read_mapping
from generation.models import Response
from tests.makers import example_row, import_material, import_path, response_row, write_files

pytestmark = pytest.mark.once

NAN = float("nan")
GRADES: list[list[Any]] = [
    [1, 1, 2],
    [4, 5, NAN],
    [NAN, 3, 3],
    [5, NAN, 4],
]  # an item a row, a rater a column
MAPPING = (
    '[columns]\nquestion = "question"\nanswer = "response"\nwho = "rater"\ngrade = "vote"\n'
    'faith = "score"\n'
)
# For each kind of file, how a whole number and a missing one are written.
WRITTEN: dict[str, tuple[Callable[[int], object], object]] = {
    "csv": (lambda grade: f"{grade}.0", "NA"),
    "xlsx": (float, None),
    "jsonl": (float, NAN),
    "parquet": (float, None),
}


def rows_of(kind):
    whole, missing = WRITTEN[kind]
    return [
        {
            "question": f"Who built {item}?",
            "answer": f"Person {item}.",
            "who": f"r{rater}",
            "grade": missing if grade is NAN else whole(grade),
        }
        for item, grades in enumerate(GRADES)
        for rater, grade in enumerate(grades)
    ]


def file_of(tmp_path, kind):
    rows = [row | {"faith": 0.5} for row in rows_of(kind)]
    path = tmp_path / f"grades.{kind}"
    if kind == "csv":
        lines = [rows[0].keys(), *(row.values() for row in rows)]
        path.write_text("\n".join(",".join(map(str, line)) for line in lines))
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        book: Any = openpyxl.Workbook()
        for line in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(line)
        book.save(path)
    return path


def import_table(path, mapping=MAPPING, **how):
    with open_material(path, mapping=read_mapping(mapping)) as material:
        return import_material(material, **how)


@pytest.mark.parametrize("kind", WRITTEN)
def test_grades_with_gaps_are_one_scale_in_every_kind_of_table(tmp_path, kind):
    outcome = import_table(file_of(tmp_path, kind))

    assert outcome.answers == {"grade": "a whole number from 1 to 5"}
    (row,) = raters_report(Study.objects.get()).records
    assert row["n_votes"] == 9
    table = np.array(GRADES, dtype=float).T
    alpha = krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")
    assert row["alpha"] == pytest.approx(float(alpha))
    said = 'cells without a vote ("NA")' if kind == "csv" else "cells without a vote (empty)"
    assert outcome.notes[said] == 3


RESPONSES = {
    "examples": [example_row(f"e{n}") for n in range(3)],
    "responses": [response_row(f"r{n}", f"e{n}") for n in range(3)],
}


def folder_of(tmp_path, *answers, **more):
    votes = [
        {"response": f"r{item}", "rater": f"p{rater}", "question": "supported", "answer": word}
        for item, words in enumerate(answers)
        for rater, word in enumerate(words)
    ]
    return write_files(tmp_path / "in", votes=votes, **RESPONSES, **more)


def test_words_for_nothing_are_no_votes_on_yes_or_no(tmp_path):
    folder = folder_of(tmp_path, ["yes", "1.0", "NA"], ["TRUE", "no", "None"], ["-", "", "N/A"])

    outcome = import_path(folder)

    assert outcome.answers == {"supported": "no or yes"}
    assert outcome.counts["votes"] == {"new": 4, "unchanged": 0, "bad": 0}
    assert outcome.notes == {
        'cells without a vote ("NA")': 1,
        'cells without a vote ("None")': 1,
        'cells without a vote ("-")': 1,
        "cells without a vote (empty)": 1,
        'cells without a vote ("N/A")': 1,
    }
    # Two items with two votes each; one pair of two agrees.
    (row,) = raters_report(Study.objects.get()).records
    assert row["percent_agreement"] == 0.5
    assert import_path(folder).counts["votes"] == {"new": 0, "unchanged": 4, "bad": 0}


def test_a_word_for_nothing_among_labels_is_asked_about_unless_a_scheme_says_it(tmp_path):
    words = ["partly", "fully", "NA"], ["not", "NA", "none"], ["fully"]

    with pytest.raises(UndecidedWords) as error:
        import_path(folder_of(tmp_path, *words))

    assert str(error.value) == (
        'votes, "supported": found labels, and "NA" (2), "none" (1); expected empty cells if these '
        "are no votes, or a scheme.json that has them as labels"
    )
    labels = ["fully", "partly", "not", "NA"]
    scale = {"key": "supported", "wording": "?", "scale": {"nominal": labels}}
    outcome = import_path(
        folder_of(tmp_path, *words, scheme={"key": "own", "questions": [scale]}), study_name="b"
    )
    assert outcome.counts["votes"]["new"] == 6
    assert outcome.notes == {'cells without a vote ("none")': 1}


VERDICTS = "question,answer,who,verdict\n" + "".join(
    f"Who {n}?,She.,r{rater},{word}\n"
    for n, words in enumerate((("good", "None"), ("Good", "unsure"), ("bad", "NA")))
    for rater, word in enumerate(words)
)
OF_VERDICTS = MAPPING.partition("grade")[0] + 'verdict = "vote"\n'


def test_a_mapping_says_which_words_are_no_votes_and_which_are_labels(tmp_path):
    path = tmp_path / "verdicts.csv"
    path.write_text(VERDICTS)
    with pytest.raises(UndecidedWords, match=r'write missing = \["None", "NA"\]\. If one is a'):
        import_table(path, OF_VERDICTS)

    told = 'missing = ["na", "Unsure"]\n' + OF_VERDICTS + '[values.verdict]\nNone = "None"\n'
    outcome = import_table(path, told)

    assert outcome.answers == {"verdict": "bad, good or None"}
    assert outcome.counts["votes"]["new"] == 4
    assert outcome.notes['cells without a vote ("unsure")'] == 1
    assert outcome.notes['cells without a vote ("NA")'] == 1
    spelled = "votes whose label is spelled otherwise (accents, blanks or capitals), "
    assert outcome.notes[f"{spelled}taken as the label"] == 1


def test_a_bad_score_of_a_table_costs_neither_the_response_nor_its_vote(tmp_path):
    path = tmp_path / "scored.csv"
    cells = ("0.5", "nan", '"1,5"', "50%", "inf")
    lines = [f"Who {n}?,She.,r1,4,{cell}" for n, cell in enumerate(cells)]
    path.write_text("\n".join(["question,answer,who,grade,faith", *lines]))

    outcome = import_table(path)

    assert outcome.n_problems == 0
    assert (Response.objects.count(), Vote.objects.count()) == (5, 5)
    scores = AutoScore.objects.order_by("pk").values_list("score", "problem")
    assert list(scores) == [
        (0.5, ""),
        (1.5, ""),
        (0.5, ""),
        (None, 'found "inf"; expected a number'),
    ]
    assert import_table(path).counts["scores"] == {"new": 0, "unchanged": 4, "bad": 0}


METRIC = {"name": "Faithfulness", "score": NAN}
CASE = {"name": "t", "input": "Who?", "actualOutput": "She.", "metricsData": [METRIC]}
OUTPUT = {
    "testIdx": 0,
    "promptIdx": 0,
    "vars": {"question": "Who?"},
    "provider": {"id": "p"},
    "response": {"output": "She."},
    "score": 1,
    "namedScores": {"faith": NAN},
}


@pytest.mark.parametrize(
    ("data", "n_scores"),
    [
        ({"testCases": [CASE, CASE | {"input": "When?"}], "metricsScores": []}, 0),
        ({"results": {"version": 3, "results": [OUTPUT]}}, 1),
    ],
)
def test_nan_in_a_result_of_another_tool_costs_its_score(tmp_path, data, n_scores):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(data))

    outcome = import_path(path)

    assert outcome.counts["responses"]["new"] == 2 - n_scores
    assert outcome.counts["scores"] == {"new": n_scores, "unchanged": 0, "bad": 0}
    assert outcome.notes["cells without a score (empty)"] == 2 - n_scores
