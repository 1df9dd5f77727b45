"""Votes of other tools: their agreement here equals that of `krippendorff` on the original file."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Literal

import krippendorff
import numpy as np
import pytest

from annotation.models import Rater, Study
from evaluation.exchange.interchange import REPEATED, BadRows
from evaluation.models import AutoScore
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.timing import time_report
from generation.importers import open_material
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import read_mapping
from generation.models import Response
from tests.generation.importers.mapped import langfuse_rows
from tests.makers import import_material, import_path

pytestmark = pytest.mark.once

Level = Literal["nominal", "ordinal"]
FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
MAPPING = """
[columns]
question = "question"
answer = "response"
who = "rater"
grounded = "vote"
quality = "vote"
"""


def alpha_of(votes: dict[object, list[str]], words: list[str], level: Level) -> float:
    """Return alpha by the package: item → what its raters answered."""
    items = [[given.count(word) for word in words] for given in votes.values() if len(given) > 1]
    return float(krippendorff.alpha(value_counts=np.array(items), level_of_measurement=level))


def alpha_here(question: str) -> object:
    rows = raters_report(Study.objects.get()).records
    return next(row["alpha"] for row in rows if row["question"] == question)


@pytest.mark.parametrize("name", ["export.json", "export_min.json", "export.csv"])
def test_votes_of_label_studio_agree_as_its_file_does(name):
    tasks = json.loads((FOREIGN / "label_studio_export.json").read_text("utf-8"))
    given: dict[str, dict[object, list[str]]] = defaultdict(lambda: defaultdict(list))
    for task in tasks:
        for annotation in task["annotations"]:
            for result in annotation["result"] if not annotation["was_cancelled"] else []:
                [said] = result["value"].values()
                said = said[0] if isinstance(said, list) else str(said)
                given[result["from_name"]][task["id"]].append(said)

    import_path(FOREIGN / f"label_studio_{name}")

    words = ["Supported", "Partly supported", "Not supported"]
    assert alpha_here("grounded") == pytest.approx(alpha_of(given["grounded"], words, "nominal"))
    numbers = list("12345")
    assert alpha_here("quality") == pytest.approx(alpha_of(given["quality"], numbers, "ordinal"))
    assert Response.objects.count() == 3


def test_a_judgement_of_label_studio_took_as_long_as_its_annotation():
    import_path(FOREIGN / "label_studio_snapshot.json")

    (row,) = time_report(Study.objects.get()).records
    # 18.9, 21.75, 33.017, 40.5, 9.1 and 11 seconds, whatever the number of answers.
    assert row["mean_seconds"] == pytest.approx(134.267 / 6)
    assert row["median_seconds"] == pytest.approx((18.9 + 21.75) / 2)
    assert (row["n_judgements"], row["n_without_seconds"]) == (6, 0)
    scores = AutoScore.objects.values_list("run__metric", "score")
    assert ("judge-2 score", 0.77) in scores
    assert len(scores) == 6


def test_votes_of_langfuse_agree_as_its_scores_do(tmp_path):
    labels = {"t1": "ffp", "t2": "nnf", "t3": "pf", "t4": "ppp"}  # one letter per annotator
    words = {"f": "fully", "p": "partly", "n": "not"}
    traces = [langfuse_rows.trace(key, input=f"Who built {key}?") for key in labels]
    scores = [
        langfuse_rows.score(
            f"{key}-{number}",
            kind="CATEGORICAL",
            trace_id=key,
            string_value=words[letter],
            author_user_id=f"user-{number}",
        )
        for key, letters in labels.items()
        for number, letter in enumerate(letters)
    ]

    import_path(langfuse_rows.export(tmp_path, traces=traces, scores=scores))

    given: dict[object, list[str]] = {
        key: [words[letter] for letter in letters] for key, letters in labels.items()
    }
    alpha = alpha_of(given, list(words.values()), "nominal")
    assert alpha_here("grounded") == pytest.approx(alpha)
    assert Response.objects.count() == 4


def test_votes_of_a_table_agree_as_the_table_does(tmp_path):
    lines = ["question,answer,who,grounded,quality"]
    answers = {
        1: ("yes,3", "yes,4", "no,1"),
        2: ("no,2", "no,2", ",1"),
        3: ("yes,5", "no,4", "yes,5"),
    }
    for number, of_raters in answers.items():
        lines += [f"Who {number}?,She.,r{n},{said}" for n, said in enumerate(of_raters)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    given: dict[str, dict[object, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader(lines):
        for question in ("grounded", "quality"):
            if row[question]:
                given[question][row["question"]].append(row[question])

    with open_material(path, mapping=read_mapping(MAPPING)) as material:
        import_material(material)

    alpha = alpha_of(given["grounded"], ["no", "yes"], "nominal")
    assert alpha_here("grounded") == pytest.approx(alpha)
    assert alpha_here("quality") == pytest.approx(
        alpha_of(given["quality"], list("12345"), "ordinal")
    )


def test_a_column_for_each_rater_has_the_agreement_of_its_raters(tmp_path):
    rows = ["yes,yes,no", "no,no,no", "yes,no,no", "yes,yes,yes"]
    lines = ["question,answer,R1,R2,R3"]
    lines += [f"Who {number}?,She.,{said}" for number, said in enumerate(rows)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))

    import_path(path)

    [row] = raters_report(Study.objects.get()).records
    # Of three pairs of raters, 1, 3, 1 and 3 agree.
    assert row["percent_agreement"] == pytest.approx((1 + 3 + 1 + 3) / 12)
    given: dict[object, list[str]] = {row: row.split(",") for row in rows}
    assert row["alpha"] == pytest.approx(alpha_of(given, ["no", "yes"], "nominal"))


HEAD = "question,answer,rater,grade,lead_time,note"


def import_votes(tmp_path, *rows, **how):
    path = tmp_path / "rated.csv"
    path.write_text("\n".join([HEAD, *(row + "," * (5 - row.count(",")) for row in rows)]))
    return import_path(path, **how)


def test_a_vote_that_stands_in_a_table_twice_is_stored_once_and_counted(tmp_path):
    outcome = import_votes(tmp_path, "Who?,She.,r1,5,", "Who?,She.,r1,5.0,", "Who?,She.,r2,4,NA")

    assert outcome.counts["votes"] == {"new": 2, "unchanged": 0, "bad": 0}
    assert outcome.notes[REPEATED] == 1


# Each problem names the column of the table, and a conflict the rater, the text and both answers.
@pytest.mark.parametrize(
    ("row", "field", "found", "expected"),
    [
        (
            "Who?,She.,r1,4,",
            "",
            'vote of "r1" on grade of response "She." again: "4"',
            'each one once, and an earlier row has it, with "5"',
        ),
        ("Why?,So.,r1,high,", "grade", '"high"', "a whole number from 3 to 5"),
        # Rows that say something else may be about something else.
        (
            "Who?,She.,r1,5,,again",
            "",
            'vote of "r1" on grade of response "She." again',
            "each one once, and an earlier row has it",
        ),
        # It is not known whether two unknown raters are one.
        (
            "Why?,Or.,,5,",
            "",
            'vote of "published" on grade of response "Or." again',
            "each one once, and an earlier row has it",
        ),
    ],
)
def test_a_bad_vote_of_a_table_is_told_in_its_words(tmp_path, row, field, found, expected):
    rows = ["Who?,She.,r1,5,", "Who?,She.,r2,3,", "Why?,Or.,NA,5,", row]
    with pytest.raises(BadRows) as error:
        import_votes(tmp_path, *rows)

    [problem] = error.value.outcome.problems
    assert problem[1:] == (field, found, expected)
    assert problem.where.line == 5


def test_a_bad_time_in_all_rows_is_the_problem_that_is_told(tmp_path):
    with pytest.raises(DatasetError, match='line 2, lead_time: found "1 min"; expected a finite'):
        import_votes(tmp_path, "Who?,She.,r1,5,1 min", "Who?,She.,r2,4,2 min")


def test_a_rater_whose_code_was_stored_before_keeps_it(tmp_path):
    import_votes(tmp_path, "Who?,She.,r1,5,", "Who?,She.,r2,4,")
    Rater.objects.filter(code="r2").update(code="j_doe84")  # an older code

    outcome = import_votes(tmp_path, "Who?,She.,r1,5,", "Who?,She.,j_doe84,4,")

    assert outcome.counts["votes"] == {"new": 0, "unchanged": 2, "bad": 0}


@pytest.mark.parametrize(
    ("scale", "expected", "n_bad", "says"),
    [
        ("", "a whole number from 3 to 99", 0, "a mapping may state other scales ([scales])"),
        ('grade = "1 to 5"', "a whole number from 1 to 5", 1, "the scales of the mapping"),
        ('grade = ["5", "4", "3"]', "5, 4 or 3", 1, "the scales of the mapping"),
    ],
)
def test_a_mapping_states_the_scale_of_votes_that_come_without_one(
    tmp_path, scale, expected, n_bad, says
):
    path = tmp_path / "rated.csv"
    path.write_text(f"{HEAD}\nWho?,She.,r1,4,,\nWho?,She.,r2,99,,\nWhy?,So.,r1,3,,\n")
    columns = 'question = "question"\nanswer = "response"\nrater = "rater"\ngrade = "vote"'
    mapping = read_mapping(f"[columns]\n{columns}\n[scales]\n{scale}\n")
    with open_material(path, mapping=mapping) as material:
        outcome = import_material(material, skip_bad=True)

    assert outcome.answers == {"grade": expected}
    assert outcome.counts["votes"] == {"new": 3 - n_bad, "unchanged": 0, "bad": n_bad}
    assert outcome.scheme_origin.endswith(says)
    others = mapping._replace(scales={"grade": "1 to 7"})
    with (
        open_material(path, mapping=others) as material,
        pytest.raises(DatasetError, match=r"scales, grade: found .*7.*, as in the study"),
    ):
        import_material(material, skip_bad=True)
