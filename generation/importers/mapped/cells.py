"""The content of cells: turns, texts, scores. In CSV, lists are JSON or written as by Python."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from generation.importers.cell_meanings import ScoreCell, is_missing, no_score, score_in
from generation.importers.errors import excerpt
from generation.importers.fields import NOTHING, Row
from generation.importers.interchange_rows import passage_key
from generation.importers.mapped.written_lists import written_cell
from generation.importers.messages import (
    CONTENTS,
    NOT_SAID,
    OF_THE_SYSTEM,
    SPEAKERS,
    TOOLS,
    are_messages,
    content_in,
    field,
    is_message,
    role_of,
    scalar_text,
    text_in,
    unwrapped,
)
from generation.records import PassageRecord, TurnRecord

TEXTS = ("text", "content", "page_content", "context")  # possible names of the text in an object
SEVERAL = " + "  # separates labels
NESTING_OF_A_RESULT = 3
_OF_A_RESULT = re.compile(r"""\s*\[?\s*\{\s*["'](?:rating|number|choices)["']""")
SYSTEM = (
    "messages of the system, which raters do not see (with system_messages = "
    '"shown" in a mapping they are evidence)'
)
PASSAGE, TEXT = "one passage", "one text"  # what a list that cannot be read is taken as
METRICS = ("name", "metric")  # possible names of the metric in a list of scores
SCORES = ("score", "value")
PROBLEMS = ("error", "problem")


def listed(row: Row, name: str) -> list[Any] | None:
    """Return the list in a cell. None: the cell holds something else."""
    value = nested(row, name)
    return value if isinstance(value, list) else None


def nested(row: Row, name: str) -> Any:
    """Return the content of a cell. A list or an object is read from its text too."""
    value = row.values.get(name)
    return written_cell(value, row.max_nesting).value if isinstance(value, str) else value


def _noted(row: Row, name: str, taken_as: str) -> Any:
    """Return the content of a cell. A list that cannot be read is counted."""
    value = row.values.get(name)
    if not isinstance(value, str):
        return value
    cell = written_cell(value, row.max_nesting)
    if cell.is_unread:
        row.notes.append(f"cells of {name} that begin like a list and were taken as {taken_as}")
    return cell.value


def turns_of(row: Row, question: str, history: str | None) -> tuple[TurnRecord, ...]:
    """Return the turns up to a question. If there is no question, note a problem."""
    turns = list(_earlier(row, history)) if history else []
    asked = _noted(row, question, TEXT)
    if not (isinstance(asked, list) and (not asked or any(map(is_message, asked)))):
        asked = asked if _says_text(asked) else row.values.get(question)
        text = _filled(row, question, text_in(asked, row.notes.append), asked)
        turns.append(TurnRecord("user", text, len(turns) - 1))
        return tuple(turns)
    turns += _said(row, question, asked, len(turns))
    if not row.problems and (not turns or turns[-1].speaker != "user"):
        row.refuse(question, excerpt(asked), "messages of which the last one is the user's")
    return tuple(turns)


def _says_text(value: Any) -> bool:
    """Return whether a list or an object is a message, messages, or parts of one.

    Any other one in the text of a cell may be what a user or a model wrote.
    """
    if isinstance(value, dict):
        return is_message(value) or value.keys() in ({"text"}, {"content"}, {"type", "text"})
    return isinstance(value, list) and bool(value) and all(map(_says_text, value))


def response_of(row: Row, name: str) -> str:
    """Return the response in a cell, which may be empty.

    It is a text, or what says one (see `text_in`). Of messages it is all that the assistant says
    after the last question.
    """
    value = row.values.get(name)
    if isinstance(value, str) and _says_text(found := nested(row, name)):
        value = found
    if isinstance(value, list) and are_messages(value):
        turns, _ = _split(tuple(_said(row, name, value, 0)))
        return "\n".join(turn.text for turn in turns)
    text = "" if value is None else text_in(value, row.notes.append)
    if text is None:
        row.refuse(name, excerpt(value), "text")
    return text or ""


def conversation_of(row: Row, name: str) -> tuple[tuple[TurnRecord, ...], str]:
    """Return the turns of a conversation up to its last question, and the response after it.

    All that the assistant said after that question is one response, with line breaks between.
    """
    messages = _noted(row, name, TEXT)
    if not isinstance(messages, list):
        row.refuse(name, excerpt(row.values.get(name)), "a list of messages")
        return (), ""
    answers, asked = _split(tuple(_said(row, name, messages, 0)))
    if not row.problems and not (asked and answers):
        row.refuse(name, excerpt(messages), "messages of which the last answers the user's")
    return asked, "\n".join(turn.text for turn in answers)


def _split(
    turns: tuple[TurnRecord, ...],
) -> tuple[tuple[TurnRecord, ...], tuple[TurnRecord, ...]]:
    """Return the turns after the last question, and those up to it."""
    n_asked = max((n for n, turn in enumerate(turns, 1) if turn.speaker == "user"), default=0)
    return turns[n_asked:], turns[:n_asked]


def _earlier(row: Row, name: str) -> Iterator[TurnRecord]:
    """Yield the turns before a question: messages, or texts of which the last is an answer."""
    found = _noted(row, name, TEXT)
    if not isinstance(found, list):
        if row.values.get(name):
            row.refuse(name, excerpt(row.values[name]), "a list of messages, or of texts")
        return
    texts = [scalar_text(each) for each in found]
    if any(text is None for text in texts):
        yield from _said(row, name, found, 0)
        return
    for number, text in enumerate(texts):
        speaker = "user" if (len(found) - number) % 2 == 0 else "assistant"
        yield TurnRecord(speaker, text or "", number - 1)


def _said(row: Row, name: str, messages: list[Any], n_before: int) -> Iterator[TurnRecord]:
    n = n_before
    for message in row.objects(name, messages):
        values = unwrapped(message.values)
        role = role_of(values)
        if role in NOT_SAID:
            row.notes.append(SYSTEM if role in OF_THE_SYSTEM else TOOLS)
            continue
        if not isinstance(role, str) or role not in SPEAKERS:
            message.refuse("role", excerpt(role), " or ".join(SPEAKERS))
            continue
        left_out: list[str] = []
        content = field(values, *CONTENTS)
        text = content_in(content, left_out.append)
        row.notes.extend(left_out)
        is_silent = text is not None and not text.strip()
        if is_silent and (SPEAKERS[role] == "assistant" or {*left_out} == {TOOLS}):
            continue  # the message only calls tools, or says what they answered
        yield TurnRecord(SPEAKERS[role], _filled(message, "content", text, content), n - 1)
        n += 1


def _filled(row: Row, name: str, text: str | None, found: Any) -> str:
    """Return a text. If it is none or blank, note what was found as a problem."""
    if text is None or not text.strip():
        nothing = NOTHING if found is None else excerpt(found)
        row.refuse(name, nothing, "text that is not empty")
    return text or ""


def system_messages_in(row: Row, names: Iterable[str]) -> tuple[PassageRecord, ...]:
    """Return what the system says in cells of messages, as passages."""
    values = (nested(row, name) for name in names)
    listed_messages = (message for value in values if are_messages(value) for message in value)
    found: dict[str, PassageRecord] = {}
    for message in map(unwrapped, listed_messages):
        if role_of(message) in OF_THE_SYSTEM:
            text = content_in(field(message, *CONTENTS), row.notes.append)
            if text and text.strip():
                key = passage_key("", text)
                found[key] = PassageRecord(key, text, "", "", False)
    return tuple(found.values())


def golden_answer_of(row: Row, name: str) -> str | None:
    """Return the golden answer in a cell: its text, or the first one of a list. None: it is blank.

    An object in the text of a cell may be what is to be answered, unless it says a text.
    """
    value = _noted(row, name, TEXT)
    if isinstance(value, dict) and field(value, *TEXTS) is None:
        value = row.values.get(name)
    found = _passages(row, name, value)
    return found[0].text if found else None


def texts_of(row: Row, names: Iterable[str]) -> tuple[PassageRecord, ...]:
    """Return the texts in cells, each once. A cell holds one or a list. Blank ones are left out.

    A cell that only says a word for nothing has none, and is counted.
    """
    found: list[PassageRecord] = []
    for name in names:
        value = row.values.get(name)
        if not says_nothing(value):
            found += _passages(row, name, _noted(row, name, PASSAGE))
        elif str(value).strip():
            row.notes.append(f"cells of {name} that say {str(value).strip()}, taken as no evidence")
    return tuple({passage.key: passage for passage in found}.values())


def says_nothing(value: Any) -> bool:
    """Return whether a cell is blank or only says that there is nothing: NA, nan, None."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or (isinstance(value, str) and is_missing(value))


def _passages(row: Row, name: str, value: Any) -> list[PassageRecord]:
    items = value if isinstance(value, list) else [value]
    found = [
        _passage(row, f"{name}[{number}]", item)
        for number, item in enumerate(items, 1)
        if item is not None
    ]
    return [passage for passage in found if passage]


def _passage(row: Row, label: str, item: Any) -> PassageRecord | None:
    title, said = "", item
    if isinstance(item, dict):
        named = field(item, "title")
        title = named if isinstance(named, str) else ""
        said = field(item, *TEXTS)
    text = text_in(said, row.notes.append)
    if text is None:
        row.refuse(label, excerpt(item), "a text, or an object with a text")
    elif text.strip():
        return PassageRecord(passage_key(title, text), text, title, "", False)
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
        value = written_cell(value, NESTING_OF_A_RESULT).value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or len(value) != 1:
        return None
    [(kind, said)] = value.items()
    if kind == "choices" and isinstance(said, list) and said:
        return SEVERAL.join(said) if all(isinstance(each, str) for each in said) else None
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return str(said) if kind in ("rating", "number") and is_number else None
