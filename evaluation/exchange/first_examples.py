"""The first examples of an import as raters will see them, to be looked at before storing."""

from collections.abc import Iterable
from typing import Any

from generation.records import (
    CollectionPassageRecord,
    ExampleRecord,
    PassageRecord,
    Record,
    ResponseRecord,
)

N_EXAMPLES = 3
MOST_PASSAGES = 60  # passages that are kept until a response refers to them
MOST_TURNS = 10
LONGEST_TEXT = 4_000  # characters of one text; a rater sees the whole text


class FirstExamples:
    """The first examples of one pass, each with its first response and its evidence."""

    def __init__(self) -> None:
        self._passages: dict[str, dict[str, str]] = {}
        self._golden: dict[str, list[dict[str, str]]] = {}
        self._found: dict[str, dict[str, Any]] = {}

    def note(self, records: Iterable[Record]) -> None:
        """Take what is needed from good rows; passages and examples come before responses."""
        for record in records:
            match record:
                case CollectionPassageRecord() if len(self._passages) < MOST_PASSAGES:
                    self._passages[record.key] = _passage(record)
                case ExampleRecord() if len(self._found) < N_EXAMPLES:
                    self._passages |= {each.key: _passage(each) for each in record.evidence}
                    golden = (each for each in record.evidence if each.is_golden)
                    self._golden[record.key] = list(map(_passage, golden))
                    self._found[record.key] = {
                        "turns": [
                            {"speaker": turn.speaker, "text": _cut(turn.text)}
                            for turn in record.turns[-MOST_TURNS:]
                        ]
                    }
                case ResponseRecord() if record.example in self._found:
                    self._found[record.example].setdefault("response", self._response(record))

    def _response(self, record: ResponseRecord) -> dict[str, Any]:
        shown = record.evidence_shown
        passages = [self._passages[key] for key in shown or () if key in self._passages]
        return {
            "setup": record.setup.name,
            "text": _cut(record.text),
            "passages": passages if shown is not None else self._golden[record.example],
        }

    def as_list(self) -> list[dict[str, Any]]:
        """Return the examples that have a response: `turns`, and `response` with its `passages`."""
        return [example for example in self._found.values() if "response" in example]


def _passage(passage: PassageRecord | CollectionPassageRecord) -> dict[str, str]:
    return {"title": passage.title, "text": _cut(passage.text), "url": passage.url}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} …"
