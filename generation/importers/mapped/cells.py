"""The content of cells: turns, texts, scores. In CSV, lists are JSON or written as by Python."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from generation.importers.cell_meanings import ScoreCell, is_missing, no_score, score_in
from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.interchange_rows import passage_key
from generation.importers.json_text import JSONTrouble, check_texts, has_too_many_values, parse_row
from generation.records import PassageRecord, TurnRecord

SPEAKERS = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot"), "assistant"),
}
NOT_SAID = ("system", "tool", "developer")  # messages that raters do not see
TEXTS = ("text", "content", "page_content", "context")  # possible names of the text in an object
SEVERAL = " + "  # separates labels
NESTING_OF_A_RESULT = 3
_OF_A_RESULT = re.compile(r"""\s*\[?\s*\{\s*["'](?:rating|number|choices)["']""")
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""", re.DOTALL)
# Texts in brackets without commas between them. Python would read them as one text.
_AS_NUMPY_WRITES_IT = re.compile(
    rf"\[(?:{_QUOTED.pattern})(?:\s+(?:{_QUOTED.pattern}))++\]", re.DOTALL
)
METRICS = ("name", "metric")  # possible names of the metric in a list of scores
SCORES = ("score", "value")
PROBLEMS = ("error", "problem")


def listed(row: Row, name: str) -> list[Any] | None:
    """Return the list in a cell. None: the cell holds something else."""
    value = nested(row, name)
    return value if isinstance(value, list) else None


def nested(row: Row, name: str) -> Any:
    """Return the content of a cell. In CSV, a list or an object of texts is read from its text."""
    value = row.values.get(name)
    if not row.is_csv or not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        found = parse_row(value, row.max_nesting)
    except JSONTrouble:
        found = _as_python_writes_it(value)
    # '[1846]' and '[1] The light …' are texts.
    is_text = isinstance(found, list) and any(isinstance(each, int | float) for each in found)
    return value if found is None or is_text else found


def _as_python_writes_it(text: str) -> Any:
    """Return the list or object that Python, and so pandas, writes like this. None: it is none."""
    text = text.strip()
    if has_too_many_values(text):
        return None
    try:
        if _AS_NUMPY_WRITES_IT.fullmatch(text):
            value = [ast.literal_eval(each) for each in _QUOTED.findall(text)]
        else:
            value = ast.literal_eval(text)
            if repr(value) != text:
                return None
        check_texts(value)  # an escape may stand for a character that cannot be stored
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # JSONTrouble is a ValueError
        return None
    return value


def turns_of(row: Row, question: str, history: str | None) -> tuple[TurnRecord, ...]:
    """Return the turns up to a question. If there is no question, note a problem."""
    turns = list(_earlier(row, history)) if history else []
    messages = listed(row, question)
    if messages is None:
        turns.append(TurnRecord("user", row.filled_text(question), len(turns) - 1))
        return tuple(turns)
    turns += _said(row, question, messages, len(turns))
    if not row.problems and (not turns or turns[-1].speaker != "user"):
        row.refuse(question, excerpt(messages), "messages of which the last one is the user's")
    return tuple(turns)


def conversation_of(row: Row, name: str) -> tuple[tuple[TurnRecord, ...], str]:
    """Return the turns of a conversation up to its last question, and the response after it.

    All that the assistant said after that question is one response, with line breaks between.
    """
    messages = listed(row, name)
    if messages is None:
        row.refuse(name, excerpt(row.values.get(name)), "a list of messages")
        return (), ""
    turns = list(_said(row, name, messages, 0))
    n_asked = max((n for n, turn in enumerate(turns, 1) if turn.speaker == "user"), default=0)
    if not row.problems and (not n_asked or n_asked == len(turns)):
        row.refuse(name, excerpt(messages), "messages of which the last answers the user's")
    return tuple(turns[:n_asked]), "\n".join(turn.text for turn in turns[n_asked:])


def _earlier(row: Row, name: str) -> Iterator[TurnRecord]:
    """Yield the turns before a question: messages, or texts of which the last is an answer."""
    found = listed(row, name)
    if found is None:
        if row.values.get(name):
            row.refuse(name, excerpt(row.values[name]), "a list of messages, or of texts")
        return
    if not all(isinstance(each, str) for each in found):
        yield from _said(row, name, found, 0)
        return
    for number, text in enumerate(found):
        speaker = "user" if (len(found) - number) % 2 == 0 else "assistant"
        yield TurnRecord(speaker, text, number - 1)


def _said(row: Row, name: str, messages: list[Any], n_before: int) -> Iterator[TurnRecord]:
    n = n_before
    for message in row.objects(name, messages):
        role = message.values.get("role", message.values.get("type"))
        if role in NOT_SAID:
            continue
        if not isinstance(role, str) or role not in SPEAKERS:
            message.refuse("role", excerpt(role), " or ".join(SPEAKERS))
            continue
        if SPEAKERS[role] == "assistant" and message.values.get("content") in (None, ""):
            continue  # the message has only called a tool
        yield TurnRecord(SPEAKERS[role], message.filled_text("content"), n - 1)
        n += 1


def texts_of(row: Row, names: Iterable[str]) -> tuple[PassageRecord, ...]:
    """Return the texts in cells, each once. A cell holds one or a list. Blank ones are left out."""
    found: dict[str, PassageRecord] = {}
    for name in names:
        value = nested(row, name)
        items = value if isinstance(value, list) else [] if value is None else [value]
        for number, item in enumerate(items, 1):
            if passage := _passage(row, f"{name}[{number}]", item):
                found[passage.key] = passage
    return tuple(found.values())


def _passage(row: Row, label: str, item: Any) -> PassageRecord | None:
    title = ""
    if isinstance(item, dict):
        title = item["title"] if isinstance(item.get("title"), str) else ""
        item = next((item[each] for each in TEXTS if each in item), None)
    if not isinstance(item, str):
        row.refuse(label, excerpt(item), "a text, or an object with a text")
    elif item.strip():
        return PassageRecord(passage_key(title, item), item, title, "", False)
    return None


def scores_of(row: Row, name: str) -> Iterator[tuple[str, ScoreCell]]:
    """Yield metric and score of each score in a cell: an object of numbers, or a list."""
    value = nested(row, name)
    if isinstance(value, dict):
        for metric, score in value.items():
            yield metric, score_in(score)
    elif isinstance(value, list):
        for item in row.objects(name, value):
            metric = next((item.values[each] for each in METRICS if each in item.values), None)
            problem = next((item.values[each] for each in PROBLEMS if item.values.get(each)), "")
            score = next((item.values[each] for each in SCORES if each in item.values), None)
            if not isinstance(metric, str):
                item.refuse("name", excerpt(metric), "the name of a metric")
            else:
                yield metric, ScoreCell(None, str(problem)) if problem else score_in(score)
    elif isinstance(value, str) and is_missing(value):
        yield name, score_in(value)
    elif value is not None:
        yield name, no_score(value, "an object of numbers, or a list of scores")


def seconds_in(row: Row, names: Iterable[str], decimal: str) -> float | None:
    """Return the seconds in the first of some cells, 0 or more. None: there is no cell."""
    for name in names:
        value = row.values[name]
        if row.is_csv and isinstance(value, str):
            value = value.replace(decimal, ".")
        cell = Row(row.where, {name: value}, is_csv=row.is_csv, problems=row.problems)
        return cell.duration(name)
    return None


def answer_in(value: Any) -> str | None:
    """Return the answer in a cell of Label Studio's tables. None: the cell is not of that form.

    A rating is `[{"rating": 4}]`, a number `[{"number": 4}]`, and several labels are
    `{"choices": ["a", "b"]}`.
    """
    if isinstance(value, str):
        if not _OF_A_RESULT.match(value):
            return None
        try:
            value = parse_row(value, NESTING_OF_A_RESULT)
        except JSONTrouble:
            value = _as_python_writes_it(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or len(value) != 1:
        return None
    [(kind, said)] = value.items()
    if kind == "choices" and isinstance(said, list) and said:
        return SEVERAL.join(said) if all(isinstance(each, str) for each in said) else None
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return str(said) if kind in ("rating", "number") and is_number else None
