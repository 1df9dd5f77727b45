"""Langfuse: files of observations, traces and scores, from its pages or its blob storage.

A response is a trace, or a generation in it (see `Trace`). A session is a dialog. The documents
that the retrievers of a trace found are its evidence. Scores of annotators are votes; the others
are scores.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice

from generation.importers.fields import NOTHING, Row
from generation.importers.mapped.encoded_texts import are_encoded, decoded
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.traces import OF_VOTES, Score, Trace, TracePart
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.sources import Source, plain_name
from generation.records import Problem

ELSEWHERE = "scores of no trace that is among the files"
TEXTS = "scores that are texts"
CATEGORIES = "categories that no annotator gave"
JUDGED = "observations and traces of Langfuse's own judge"
# Types of observations that may stand for their trace.
ANSWERING = ("SPAN", "AGENT", "CHAIN", "GENERATION")
JUDGE = "langfuse-llm-as-a-judge"  # the environment of its observations and traces
_LOOKED_AT = 10  # rows that are looked at
_TOLD_BY = {  # fields that all files of a kind have
    "scores": {"trace_id", "name", "value", "source", "data_type"},
    "observations": {"trace_id", "type", "start_time"},
    "traces": {"timestamp", "session_id", "bookmarked", "output"},
}
_FIELDS = {"observation_id", "parent_observation_id", "provided_model_name", "string_value"}
_FIELDS |= {"model_parameters", "author_user_id"}.union(*_TOLD_BY.values())
_SPELT = {re.sub("_(.)", lambda found: found[1].upper(), field): field for field in _FIELDS}
_SPELT |= {"authorUserName": "author_user_id", "model": "provided_model_name"}


class _Export:
    """The content of all the files."""

    def __init__(self) -> None:
        self.traces: dict[str, Trace] = defaultdict(Trace)
        self.scores: dict[str, tuple[str, Score]] = {}  # id → trace, score
        self.left_out: Counter[str] = Counter()

    def add_score(self, key: str, row: Row) -> None:
        kind, is_vote = _text(row, "data_type"), _text(row, "source") == "ANNOTATION"
        if kind not in ("NUMERIC", "BOOLEAN", "CATEGORICAL"):
            self.left_out[TEXTS] += 1
            return
        if kind == "CATEGORICAL" and not is_vote:
            self.left_out[CATEGORIES] += 1
            return
        label = _text(row, "string_value") if is_vote and kind != "NUMERIC" else ""
        value = label or (None if kind == "CATEGORICAL" else row.optional_number("value"))
        if value is None and not row.problems:
            row.refuse("value", NOTHING, "a number, or the label of a category as string_value")
        if value is None:
            return
        part, rater = _text(row, "observation_id"), _text(row, "author_user_id") or None
        score = Score(key, part, row.values.get("name"), value, is_vote, rater)
        self.scores[key] = (_text(row, "trace_id"), score)

    def add_part(self, key: str, row: Row) -> None:
        if _text(row, "environment") == JUDGE:
            self.left_out[JUDGED] += 1
            return
        kind = _text(row, "type")
        trace = self.traces[_text(row, "trace_id") or key]
        trace.session = trace.session or _text(row, "session_id")
        said = _text(row, "input"), _text(row, "output"), _text(row, "provided_model_name")
        meta = {name: text for name in ("name", "model_parameters") if (text := _text(row, name))}
        part = TracePart(row.where, key, *said, meta)
        if not kind:
            trace.own[key] = part
        if kind == "GENERATION":
            trace.generations[key] = part
        if kind == "RETRIEVER":
            trace.retrievers[key] = part
        if kind in ANSWERING and not _text(row, "parent_observation_id"):
            trace.roots[key] = part

    def rows(self) -> Iterator[Row]:
        """Yield the rows. Columns that are empty in all of them are left out."""
        self._decode()
        for of_trace, score in self.scores.values():
            if of_trace in self.traces:
                self.traces[of_trace].scores.append(score)
            else:
                self.left_out[ELSEWHERE] += 1
        scores = [score for trace in self.traces.values() for score in trace.scores]
        columns = dict.fromkeys(OF_VOTES, any(score.is_vote for score in scores))
        columns["scores"] = not all(score.is_vote for score in scores)
        columns["documents"] = any(trace.retrievers for trace in self.traces.values())
        for key, trace in self.traces.items():
            for row in trace.rows(key, self.left_out):
                there = {c: value for c, value in row.values.items() if columns.get(c, True)}
                yield Row(row.where, there)

    def _decode(self) -> None:
        """Take JSON off the texts that older exports have encoded twice, where all of them are."""
        groups = [group for trace in self.traces.values() for group in trace.groups]
        parts = [part for group in groups for part in group.values()]
        of_inputs = decoded if are_encoded(part.input for part in parts) else str
        of_outputs = decoded if are_encoded(part.output for part in parts) else str
        for group in groups:
            for key, part in group.items():
                said = of_inputs(part.input), of_outputs(part.output)
                group[key] = part._replace(input=said[0], output=said[1])


def files(source: Source) -> tuple[str, ...]:
    """Return the files of Langfuse. Empty: there are no observations and no traces."""
    names = [name for name in source.data_files() if not plain_name(name).endswith(".xlsx")]
    kinds = {name: kind for name in names if (kind := _kind(_table(source, name)))}
    return tuple(kinds) if {*kinds.values()} - {"scores"} else ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each vote on a response, or one without. Its line is the response's."""
    export = _Export()
    n_held = 0
    for name in names:
        table = _table(source, name)
        add = export.add_score if _kind(table) == "scores" else export.add_part
        for raw in table.rows() if table else ():
            if isinstance(raw, Problem):
                yield raw
                continue
            values = {_SPELT.get(column, column): value for column, value in raw.values.items()}
            row = Row(raw.where, values, is_csv=raw.is_csv)
            key = row.key("id")
            if not row.problems:
                add(key, row)
            yield from row.problems
            n_held += 1
            source.refuse_more_in_memory(name, n_held)
    yield from export.rows()
    left_out |= {what: n for what, n in export.left_out.items() if n}


def _table(source: Source, name: str) -> TableFile | None:
    return table_in(source, name, ColumnMapping())  # no search for a list inside an object


def _kind(table: TableFile | None) -> str:
    """Return the kind of a file, by its header or first good row. "": it is not Langfuse's."""
    if table is None:
        return ""
    found = (row for row in islice(table.rows(), _LOOKED_AT) if isinstance(row, Row))
    columns = table.header() if table.header else next((row.values.keys() for row in found), ())
    told = {_SPELT.get(column, column) for column in columns}
    return next((kind for kind, fields in _TOLD_BY.items() if fields <= told), "")


def _text(row: Row, name: str) -> str:
    """Return a field as text, and a list or an object as JSON. "": the field is empty."""
    value = row.values.get(name)
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
