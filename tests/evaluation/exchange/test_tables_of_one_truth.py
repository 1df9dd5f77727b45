"""Small tables of all kinds, made from one truth: the import finds that truth, or asks."""

import csv
import io
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import krippendorff
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from annotation.models import Study, Vote
from annotation.schemes import load_scheme
from evaluation.exchange.given_votes import UndecidedWords
from evaluation.reports.base import Choices
from evaluation.studies.reports.raters import raters_report
from tests.makers import import_path

WORDS = {
    "yes_no": ("yes", "no"),
    "ordinal": ("1", "2", "3", "4", "5"),
    "nominal": ("fully supported", "in part", "not supported", "café"),
}
# How a table may spell an answer, for the whole of a column of votes.
SPELLINGS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "yes_no": (
        {"yes": "yes", "no": "no"},
        {"yes": "Yes", "no": "No"},
        {"yes": "TRUE", "no": "FALSE"},
        {"yes": "true", "no": "false"},
        {"yes": "1", "no": "0"},
        {"yes": "1.0", "no": "0.0"},
    ),
    "ordinal": ({}, {n: f"{n}.0" for n in "12345"}, {n: f"0{n}" for n in "12345"}),
    "nominal": (
        {},
        {"café": "Cafe\N{COMBINING ACUTE ACCENT}"},
        {"in part": "In\N{NO-BREAK SPACE}part"},
    ),
}
MISSING = ("", "NA", "N/A", "nan", "None", "null", "-", ".", "#N/A")
QUESTIONS = ("question", "query", "user_input", "prompt")
ANSWERS = ("answer", "response", "output")
RATERS = ("annotator", "rater_id", "WorkerId", "annotator_name", "coder", "completed_by", "user")
VOTES = ("rating", "label", "faithful", "human_score", "verdict", "supported")
OF_RATERS = ("annotator_{}", "rater{}", "R{}", "coder_{}")
# Columns that say something else, by the number of the row.
BESIDE: Mapping[str, Callable[[int], str]] = {
    "index": str,
    "model": lambda number: "gpt-4",
    "comment": lambda number: f"I was unsure of line {number}." if number % 3 else "",
    "created_at": lambda number: f"2026-03-0{1 + number % 7} 10:00",
}
DELIMITERS = (",", ";", "\t")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")


class Truth(NamedTuple):
    """The votes of some raters, as item → rater → answer, on a scale of one kind."""

    kind: str
    votes: dict[int, dict[str, str]]

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha by his library; NaN: it is not defined."""
        raters = sorted({rater for said in self.votes.values() for rater in said})
        number = {word: float(n) for n, word in enumerate(WORDS[self.kind])}
        data = [
            [number[said[rater]] if rater in said else math.nan for said in self.votes.values()]
            for rater in raters
        ]
        is_paired = any(len(said) > 1 for said in self.votes.values())
        if not is_paired or len({w for said in self.votes.values() for w in said.values()}) < 2:
            return math.nan
        level: Literal["ordinal", "nominal"] = "ordinal" if self.kind == "ordinal" else "nominal"
        return float(
            krippendorff.alpha(reliability_data=np.array(data), level_of_measurement=level)
        )


class Table(NamedTuple):
    """A truth as a file: its rows, its name, its content, and whether the import may ask."""

    truth: Truth
    rows: Sequence[Mapping[str, str]]
    name: str
    content: bytes
    question: str
    may_ask: bool


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    kind = draw(st.sampled_from(list(WORDS)))
    raters = [f"w{n}" for n in range(1, draw(st.integers(2, 4)) + 1)]
    said = st.one_of(st.sampled_from(WORDS[kind]), st.sampled_from(WORDS[kind]), st.none())
    votes = {
        item: {rater: word for rater in raters if (word := draw(said)) is not None}
        for item in range(draw(st.integers(2, 6)))
    }
    # All have rated two items, with two answers that no other scale has.
    high, low = WORDS[kind][-1 if kind == "ordinal" else 0], WORDS[kind][1]
    for item in (0, 1):
        votes[item] = {rater: high if (n + item) % 2 else low for n, rater in enumerate(raters)}
    return Truth(kind, votes)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    truth = draw(truths())
    spelling = draw(st.sampled_from(SPELLINGS[truth.kind]))
    missing = draw(st.sampled_from((None, *MISSING)))  # None: the row or the cell is left out
    raters = list(truth.votes[0])
    question, answer, vote = (draw(st.sampled_from(each)) for each in (QUESTIONS, ANSWERS, VOTES))
    ending = draw(st.sampled_from(["csv", "xlsx", "json", "jsonl", "parquet"]))
    rows: list[dict[str, Any]] = []
    is_long = draw(st.booleans())
    of_raters = draw(st.sampled_from(OF_RATERS))
    rater = draw(st.sampled_from(RATERS))
    for item, said in truth.votes.items():
        texts = {
            question: f"Who is number {item}?",
            answer: f"She is no. {item}; née Olé.",
            "bleu": f"0.{item}7",
        }
        words = {each: spelling.get(said[each], said[each]) for each in raters if each in said}
        if is_long:
            for each in raters:
                if each in words or missing is not None:
                    rows.append({**texts, rater: each, vote: words.get(each, missing)})
        else:
            rows.append(
                texts
                | {
                    of_raters.format(n): words.get(each, missing or "")
                    for n, each in enumerate(raters, 1)
                }
            )
    for column, cell in BESIDE.items():
        if draw(st.booleans()):
            for number, row in enumerate(rows):
                row[column] = cell(number)
    columns = draw(st.permutations(list(rows[0])))
    rows = [{column: row[column] for column in columns} for row in draw(st.permutations(rows))]
    cells = [word for row in rows for word in row.values()]
    has_words = truth.kind == "nominal" and missing not in (None, "") and missing in cells
    name, content = f"t.{ending}", _written(draw, ending, rows)
    asked = vote if is_long else "vote"
    return Table(truth, rows, name, content, asked, may_ask=has_words)


def _written(draw: st.DrawFn, ending: str, rows: Sequence[Mapping[str, str]]) -> bytes:
    if ending == "csv":
        mark, encoding = draw(st.sampled_from(DELIMITERS)), draw(st.sampled_from(ENCODINGS))
        if any("\N{COMBINING ACUTE ACCENT}" in cell for row in rows for cell in row.values()):
            encoding = "utf-8"  # the other one cannot say it
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(rows[0]), delimiter=mark)
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode(encoding)
    typed = [{column: _typed(cell) for column, cell in row.items()} for row in rows]
    if ending == "json":
        return json.dumps(typed).encode()
    if ending == "jsonl":
        return "\n".join(map(json.dumps, typed)).encode()
    out = io.BytesIO()
    if ending == "xlsx":
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet()
        for line in ([*rows[0]], *([*row.values()] for row in typed)):
            sheet.append(line)
        book.save(out)
    else:
        texts = {column: [row[column] for row in rows] for column in rows[0]}
        pq.write_table(pa.table(texts), out)
    return out.getvalue()


def _typed(cell: str) -> object:
    """Return a cell as a spreadsheet or JSON holds it: a number, a truth value, or a text."""
    if cell in ("", "nan"):
        return None
    if cell in ("TRUE", "FALSE"):
        return cell == "TRUE"
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell


def imported(table: Table) -> Study:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / table.name
        path.write_bytes(table.content)
        import_path(path)
    return Study.objects.get()


def check(table: Table) -> None:
    """Import a table, and compare its votes, raters, scale and alpha with the truth."""
    note(f"{table.name}: {table.rows}\nfrom {table.truth}")
    with transaction.atomic():
        try:
            study = imported(table)
        except UndecidedWords:
            assert table.may_ask
        else:
            compare(study, table)
        transaction.set_rollback(True)


def compare(study: Study, table: Table) -> None:
    truth = table.truth
    [question] = load_scheme(study.scheme).questions
    assert (question.key, question.scale.kind) == (table.question, truth.kind)
    words = question.scale.labels
    votes: dict[int, dict[int, str]] = {}
    for vote in Vote.objects.select_related("target__response", "rater"):
        item = int(vote.target.response.text.partition("no. ")[2].partition(";")[0])
        votes.setdefault(item, {})[vote.rater_id] = words[question.scale.values.index(vote.answer)]
    found = {item: sorted(w.lower() for w in said.values()) for item, said in votes.items()}
    assert found == {item: sorted(said.values()) for item, said in truth.votes.items() if said}
    assert len({each for said in votes.values() for each in said}) == len(
        {each for said in truth.votes.values() for each in said}
    )
    [row] = raters_report(study, Choices()).rows
    assert (row.alpha.value is None) == math.isnan(truth.alpha)
    if row.alpha.value is not None:
        assert row.alpha.value == pytest.approx(truth.alpha, abs=1e-9)


@pytest.mark.once
@settings(max_examples=60, deadline=timedelta(seconds=20), suppress_health_check=list(HealthCheck))
@given(tables())
def test_a_table_gives_its_truth_or_asks(table: Table) -> None:
    check(table)


@pytest.mark.faults
@pytest.mark.once
@settings(max_examples=500, deadline=timedelta(seconds=20), suppress_health_check=list(HealthCheck))
@given(tables())
def test_many_tables_give_their_truth_or_ask(table: Table) -> None:
    check(table)
