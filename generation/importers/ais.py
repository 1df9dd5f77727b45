"""Published AIS ratings (google-research-datasets/AIS): CSV with consensus answers only.

Each row gives the majority answer of nominally five raters, and the number `a` of raters who
agreed. They become votes of nominal raters "1", "2", and so on. If `a` is 3 to 5, there are `a`
votes for the published answer and 5 - `a` votes against it. For any other `a` there are only the
`a` votes for it, so that the published majority stays. For both questions, the first raters get the
yes votes, so that few raters say 'attributable' but not 'interpretable' (the file does not tell who
did). If a response is not interpretable, 'attributable' is an implied no of every rater who voted.
If the file still gives an answer to Q2, it is left out and counted. A row that says how many raters
agreed on Q2, and not on which answer, says by INT & AIS that it was not yes: these votes
are noes, and such rows are counted. There is no dialog and no evidence text.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from generation.importers.errors import excerpt
from generation.importers.fields import LONGEST_KEY, NOTHING, Row
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.importers.tables import csv_columns, csv_rows
from generation.records import (
    ExampleRecord,
    FlagRecord,
    Problem,
    Record,
    ResponseRecord,
    SetupRecord,
    VoteRecord,
    Where,
)

COLUMNS = (
    "ex-idx",
    "doc-url",
    "doc-url-hash",
    "model-name",
    "output",
    "INT",
    "INT & AIS",
    "Flagged",
    "Q1",
    "Q2",
    "# agree (INT)",
    "# agree (AIS)",
)
QUESTIONS = ("interpretable", "attributable")
N_RATERS = 5
MOST_AGREEING = 10  # some ToTTo items were rated twice
LEFT_OUT = "Q2 answer with INT = 0"
INCOMPLETE = "rows whose answer to Q2 is missing, although raters agreed on one: INT & AIS says no"
_META = ("doc-url", "doc-url-hash")
_MISSING = ("", "-", "na")


class AisRow(NamedTuple):
    """One row, stripped and checked. A missing answer is None, and a missing count is 0."""

    where: Where
    key: str  # the key of the response
    example: str
    model: str
    output: str
    meta: dict[str, str]
    is_flagged: bool
    is_interpretable: bool
    is_attributable: bool | None
    n_agree_interpretable: int
    n_agree_attributable: int
    is_incomplete: bool  # whether raters agreed on an answer to Q2 that the row does not give


class AisMaterial(FileMaterial):
    """One of the published CSV files. The problems of its rows come with the responses."""

    format = "ais"
    one_file = "one AIS CSV file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        # Its raters are nominal, so none of them has closed a gate: the votes are complete.
        self.study = {"scheme": "AIS_2", "without_implied": True}
        self.kinds = ("examples", "responses", "votes", "flags")

    @property
    def bytes_total(self) -> int:
        return self._source.sizes[self._file] * len(self.kinds)

    def records(self, kind: str) -> Iterator[Record | Problem]:
        seen: set[str] = set()
        n_left_out = n_incomplete = 0
        for row in self._rows():
            if isinstance(row, Problem):
                if kind == "responses":
                    yield row
            elif kind == "examples":
                if row.example not in seen:
                    seen.add(row.example)
                    yield _example(row)
            elif kind == "responses":
                yield _response(row)
            elif kind == "votes":
                n_left_out += not row.is_interpretable and row.is_attributable is not None
                n_incomplete += row.is_incomplete
                yield from _votes(row)
            elif kind == "flags" and row.is_flagged:
                yield FlagRecord(row.where, row.key, "published", "separate", "flagged")
        if n_left_out:
            self.n_left_out = {LEFT_OUT: n_left_out}
        if n_incomplete:
            self.notes = {INCOMPLETE: n_incomplete}

    def _rows(self) -> Iterator[AisRow | Problem]:
        seen: Counter[str] = Counter()
        for row in csv_rows(self._source, self._file, COLUMNS, frozenset(COLUMNS), self._note):
            if isinstance(row, Problem):
                yield row
                continue
            found = _checked(row)
            if row.problems:
                yield from row.problems
                continue
            seen[found.key] += 1
            self._source.refuse_more_in_memory(self._file, len(seen))
            if seen[found.key] > 1:
                found = found._replace(key=f"{found.key}|{seen[found.key]}")
            yield found

    def _note(self, column: str) -> None:
        self.note_unknown(f"{self._file}: column {column!r:.100}")


def recognises(source: Source) -> bool:
    """Return whether this is one CSV file with the columns `ex-idx` and `INT`."""
    name = source.only_data_file()
    if name is None:
        return False
    head = source.head(name, 1 << 16).decode("utf-8", "replace")
    return {"ex-idx", "INT"} <= set(csv_columns(head))


def _checked(row: Row) -> AisRow:
    example, model = row.key("ex-idx"), row.key("model-name")
    is_flagged = _bit(row, "Flagged")
    is_interpretable = _bit(row, "INT")
    understood, attributable = (_answer(row, name) for name in ("Q1", "Q2"))
    n_agree_attributable = _n_agreeing(row, "# agree (AIS)")
    is_incomplete = is_interpretable and attributable is None and n_agree_attributable > 0
    found = AisRow(
        where=row.where,
        key=f"{example}|{model}",
        example=example,
        model=model,
        output=row.text("output", "").strip(),
        meta={name: text for name in _META if (text := _present(row, name))},
        is_flagged=is_flagged,
        is_interpretable=is_interpretable,
        is_attributable=False if is_incomplete else attributable,
        n_agree_interpretable=_n_agreeing(row, "# agree (INT)"),
        n_agree_attributable=n_agree_attributable,
        is_incomplete=is_incomplete,
    )
    if len(found.key) > LONGEST_KEY:
        row.refuse("model-name", excerpt(found.key), f"at most {LONGEST_KEY} with ex-idx")
    if not row.problems:
        _check_consistency(row, found, understood)
    return found


def _check_consistency(row: Row, found: AisRow, understood: bool | None) -> None:
    is_both = _bit(row, "INT & AIS")
    if is_both != (found.is_interpretable and bool(found.is_attributable)):
        row.refuse("INT & AIS", _quoted(row, "INT & AIS"), "1 if INT is 1 and Q2 is yes, else 0")
    if understood is not None and understood != found.is_interpretable:
        row.refuse("Q1", _quoted(row, "Q1"), f"the answer of INT = {_quoted(row, 'INT')}")


def _bit(row: Row, name: str) -> bool:
    value = str(row.values.get(name, "")).strip()
    if value not in ("0", "1"):
        row.refuse(name, _quoted(row, name), "0 or 1")
    return value == "1"


def _answer(row: Row, name: str) -> bool | None:
    """Return yes or no from the wording of an answer. None: the answer is missing."""
    text = _present(row, name).lower()
    if not text or text.startswith("na ("):
        return None
    if not text.startswith(("yes", "no")):
        row.refuse(name, _quoted(row, name), "an answer that begins with yes or no")
    return text.startswith("yes")


def _n_agreeing(row: Row, name: str) -> int:
    """Return how many raters agreed. It is 0 if no rater was asked (-1)."""
    if name not in row.values:
        row.refuse(name, NOTHING, f"a whole number from -1 to {MOST_AGREEING}")
    return max(row.whole(name, -1, MOST_AGREEING) or 0, 0)


def _present(row: Row, name: str) -> str:
    text = str(row.values.get(name, "")).strip()
    return "" if text.lower() in _MISSING else text


def _quoted(row: Row, name: str) -> str:
    value = row.values.get(name)
    return NOTHING if value is None else excerpt(value)


def _example(row: AisRow) -> ExampleRecord:
    return ExampleRecord(
        where=row.where,
        key=row.example,
        dialog=row.example.split(":")[0] or row.example,
        turns=(),
        golden_answer=None,
        evidence=(),
        meta=row.meta,
    )


def _response(row: AisRow) -> ResponseRecord:
    return ResponseRecord(
        where=row.where,
        key=row.key,
        example=row.example,
        setup=SetupRecord(row.model, row.model, None, "", "", {}),
        text=row.output,
        evidence_shown=None,
        graph_shown=None,
        removed=None,
        meta=row.meta,
    )


def _votes(row: AisRow) -> Iterator[VoteRecord]:
    if row.is_flagged:
        return
    interpretable = _answers(row.is_interpretable, row.n_agree_interpretable)
    for number, answer in enumerate(interpretable, start=1):
        yield _vote(row, number, "interpretable", answer, is_implied=False)
    if not row.is_interpretable:
        for number in range(1, len(interpretable) + 1):
            yield _vote(row, number, "attributable", False, is_implied=True)
    elif row.is_attributable is not None:
        attributable = _answers(row.is_attributable, row.n_agree_attributable)
        for number, answer in enumerate(attributable, start=1):
            yield _vote(row, number, "attributable", answer, is_implied=False)


def _answers(majority: bool, n_agreeing: int) -> list[bool]:
    """Return the votes that a majority answer and a count stand for, the yes votes first."""
    n_against = N_RATERS - n_agreeing if 3 <= n_agreeing <= N_RATERS else 0
    return sorted([majority] * n_agreeing + [not majority] * n_against, reverse=True)


def _vote(row: AisRow, rater: int, question: str, answer: bool, *, is_implied: bool) -> VoteRecord:
    return VoteRecord(
        where=row.where,
        response=row.key,
        rater=str(rater),
        question=question,
        answer="yes" if answer else "no",
        arm="separate",
        citation=None,
        position=None,
        seconds=None,
        at=None,
        is_implied=is_implied,
    )
