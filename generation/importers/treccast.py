"""TREC CAsT topics: conversations of 2021, and conversation trees of 2022, as one JSON list.

From https://github.com/daltonj/treccastweb (evaluation topics, automatic or manual). Each user turn
is an example whose dialog is its topic. Our readings:

- 2021: a topic is a line of user utterances, each answered by a `passage`. That passage is the
  system's turn for the questions after it, and the golden passage of the question that it answers.
  The file does not tell what the system should say in its own words, so there is no golden answer.
  One passage id comes with two texts; the key of the second ends with '|2'.
- 2022: a topic is a tree, in which each turn names its parent. The dialog of an example is every
  earlier turn of the topic in the order of the file, including other branches, each with its
  parent: these tell a reader of the dialog what the question follows. The golden answer is the
  first system turn that answers the question and names passages (`provenance`). A turn that names
  none asks back. A question without such a turn has no golden answer. The file has only the ids of
  passages, so there is no evidence; the ids are stored in `meta`.
- Utterances are taken as they were asked. The rewritten ones are stored in `meta`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import LONGEST_KEY, NOTHING, Row
from generation.importers.material import FileMaterial
from generation.importers.short_keys import short_key
from generation.importers.sources import Source
from generation.records import ExampleRecord, PassageRecord, Problem, Record, TurnRecord, Where

SPEAKERS = {"User": "user", "System": "assistant"}
REWRITES = ("automatic_rewritten_utterance", "manual_rewritten_utterance")
TOPIC_FIELDS = frozenset({"number", "turn"})
LINEAR_FIELDS = frozenset(
    {"number", "raw_utterance", "passage", "canonical_result_id", "passage_id", *REWRITES}
)
TREE_FIELDS = frozenset(
    {"number", "parent", "participant", "utterance", "response", "provenance", *REWRITES}
)
LARGEST_NUMBER = 1_000_000
# Turns of one topic, at most. Each question comes with all turns before it, so that the work grows
# with the square.
MOST_TURNS = 1_000
_BETWEEN_REPORTS = 50  # examples
_TURNS = re.compile(rb'"turn"\s*:\s*\[')
_UTTERANCES = re.compile(rb'"(raw_utterance|participant)"\s*:')


class LinearTurn(NamedTuple):
    """One turn of 2021: a question and the passage that answers it."""

    number: str
    utterance: str
    passage: str
    meta: dict[str, Any]  # document, passage number, rewrite


class TreeTurn(NamedTuple):
    """One turn of 2022, by the user or by the system."""

    number: str
    parent: str  # "" for the first turn
    speaker: str
    text: str
    provenance: list[str]
    meta: dict[str, Any]  # rewrite


class TrecCastMaterial(FileMaterial):
    """The whole file in memory, as the published ones have 0.3 MB. A bad topic has no examples."""

    format = "treccast"
    one_file = "one TREC CAsT JSON file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        topics = source.whole_json(self._file)
        if not isinstance(topics, list):
            raise DatasetError(self._file, excerpt(topics), "a JSON list of topics")
        self._topics = topics
        self.kinds = ("examples",)

    @property
    def bytes_read(self) -> int:
        return self.bytes_total  # the whole file is read before the first record

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind != "examples":
            return
        texts: dict[str, list[str]] = {}
        for line, item in enumerate(self._topics, start=1):
            where = Where(self._file, line)
            if not isinstance(item, dict):
                yield Problem(where, "", excerpt(item), "a topic: an object with 'number', 'turn'")
                continue
            topic = Row(where, item)
            examples = self._examples(topic, texts)
            yield from topic.problems or self._working(examples)

    def _working(self, examples: Iterable[ExampleRecord]) -> Iterator[ExampleRecord]:
        """Yield the examples and report work now and then, as a topic may take long."""
        for number, example in enumerate(examples):
            if number % _BETWEEN_REPORTS == 0:
                self.on_work()
            yield example

    def _examples(self, topic: Row, texts: dict[str, list[str]]) -> Iterable[ExampleRecord]:
        """Return the examples of a topic. They are valid only if the topic has no problems now."""
        dialog = topic.key("number")
        turns_said = topic.required_list("turn", "turns")
        self._note_unknown(topic.unknown(TOPIC_FIELDS))
        if len(turns_said) > MOST_TURNS:
            topic.refuse("turn", f"{len(turns_said):,} turns", f"at most {MOST_TURNS:,} in a topic")
            return ()
        rows = list(topic.objects("turn", turns_said))
        if any("participant" in row.values for row in rows):
            self._note_unknown(*(row.unknown(TREE_FIELDS) for row in rows))
            tree_turns = [_tree_turn(row) for row in rows]
            places = {turn.number: place for place, turn in enumerate(tree_turns)}
            _refuse_bad_numbers(topic, dialog, [turn.number for turn in tree_turns])
            _refuse_bad_parents(topic, tree_turns, places)
            return _tree_examples(topic.where, dialog, tree_turns, places)
        self._note_unknown(*(row.unknown(LINEAR_FIELDS) for row in rows))
        turns = [_linear_turn(row) for row in rows]
        _refuse_bad_numbers(topic, dialog, [turn.number for turn in turns])
        return _linear_examples(topic.where, dialog, turns, texts)

    def _note_unknown(self, *unknown: Mapping[str, Any]) -> None:
        for names in unknown:
            for name in names:
                self.note_unknown(f"{self._file}: key {name!r:.100}")


def recognises(source: Source) -> bool:
    """Return whether this is a JSON list of topics whose turns are utterances."""
    name = source.only_data_file()
    if name is None or not source.head(name, 64).lstrip().startswith(b"["):
        return False
    return source.mentions(name, (_TURNS, _UTTERANCES), source.limits.max_whole_json_bytes)


# --- 2021: one line of turns ----------------------------------------------------------------


def _linear_turn(row: Row) -> LinearTurn:
    document = row.key("canonical_result_id")
    passage = row.whole("passage_id", 0, LARGEST_NUMBER)
    if row.values.get("passage_id") is None:
        row.refuse("passage_id", NOTHING, "the number of the passage in its document")
    return LinearTurn(
        number=row.key("number"),
        utterance=row.filled_text("raw_utterance"),
        passage=row.filled_text("passage"),
        meta={"document": document, "passage": passage} | _rewrite(row),
    )


def _linear_examples(
    where: Where, dialog: str, turns: list[LinearTurn], texts: dict[str, list[str]]
) -> Iterator[ExampleRecord]:
    """Yield an example for each question. `texts` has the texts of each passage id so far."""
    before: tuple[TurnRecord, ...] = ()
    for turn in turns:
        question = TurnRecord("user", turn.utterance, len(before) - 1)
        key = f"{turn.meta['document']}-{turn.meta['passage']}"
        evidence = PassageRecord(_told_apart(key, turn.passage, texts), turn.passage, "", "", True)
        turns_shown = (*before, question)
        yield _example(where, dialog, turn.number, turns_shown, None, (evidence,), turn.meta)
        before = (*before, question, TurnRecord("assistant", turn.passage, len(before)))


def _told_apart(key: str, text: str, texts: dict[str, list[str]]) -> str:
    """Return the key of a passage. If its id had another text before, it gets '|2', '|3'.

    A key that is too long is cut, with a hash at its end.
    """
    known = texts.setdefault(key, [])
    if text not in known:
        known.append(text)
    place = known.index(text) + 1
    return short_key(key if place == 1 else f"{key}|{place}")


# --- 2022: a tree of turns ------------------------------------------------------------------


def _tree_turn(row: Row) -> TreeTurn:
    participant = row.choice("participant", tuple(SPEAKERS), "")
    if row.values.get("participant") is None:
        row.refuse("participant", NOTHING, " or ".join(SPEAKERS))
    is_user = participant == "User"
    return TreeTurn(
        number=row.key("number"),
        parent=row.key("parent", ""),
        speaker=SPEAKERS.get(participant, ""),
        text=row.filled_text("utterance" if is_user else "response"),
        provenance=list(
            row.keys("provenance", row.optional_list("provenance", "passage ids") or [])
        ),
        meta=_rewrite(row),
    )


def _tree_examples(
    where: Where, dialog: str, turns: list[TreeTurn], places: Mapping[str, int]
) -> Iterator[ExampleRecord]:
    dialog_turns = [TurnRecord(t.speaker, t.text, places.get(t.parent, -1)) for t in turns]
    answers: dict[str, TreeTurn] = {}
    for turn in turns:
        if turn.speaker == "assistant" and turn.provenance:
            answers.setdefault(turn.parent, turn)
    for place, turn in enumerate(turns):
        if turn.speaker != "user":
            continue
        before = tuple(dialog_turns[: place + 1])
        answer = answers.get(turn.number)
        provenance = {"provenance": answer.provenance} if answer else {}
        meta = turn.meta | provenance
        text = answer.text if answer else None
        yield _example(where, dialog, turn.number, before, text, (), meta)


def _refuse_bad_parents(topic: Row, turns: list[TreeTurn], places: Mapping[str, int]) -> None:
    """Refuse a parent that is no earlier turn, and a later turn without a parent."""
    for place, turn in enumerate(turns):
        name = f"turn[{place + 1}].parent"
        if turn.parent and places.get(turn.parent, place) >= place:
            topic.refuse(name, excerpt(turn.parent), "the number of an earlier turn of the topic")
        elif place and not turn.parent:
            topic.refuse(name, NOTHING, "the number of the turn that this one follows")


# --- both -----------------------------------------------------------------------------------


def _rewrite(row: Row) -> dict[str, Any]:
    """Return the utterance that was rewritten to be understood alone, if there is one.

    Of two, return the one that was written by hand.
    """
    found = [row.optional_text(name) for name in REWRITES if name in row.values]
    rewrites = [text for text in found if text is not None]
    return {"rewrite": rewrites[-1]} if rewrites else {}


def _refuse_bad_numbers(topic: Row, dialog: str, numbers: list[str]) -> None:
    """Refuse a number that two turns have, and one that makes an example's key too long."""
    longest = _key(dialog, max(numbers, key=len, default=""))
    if len(longest) > LONGEST_KEY:
        topic.refuse("number", excerpt(longest), f"at most {LONGEST_KEY} with the turn's number")
    ordered = sorted(numbers)
    for number in dict.fromkeys(one for one, other in pairwise(ordered) if one == other):
        topic.refuse("turn", f"{excerpt(number)} twice", "each turn number once in a topic")


def _key(dialog: str, number: str) -> str:
    return f"{dialog}_{number}"


def _example(
    where: Where,
    dialog: str,
    number: str,
    turns: tuple[TurnRecord, ...],
    golden_answer: str | None,
    evidence: tuple[PassageRecord, ...],
    meta: dict[str, Any],
) -> ExampleRecord:
    key = _key(dialog, number)
    return ExampleRecord(where, key, dialog, turns, golden_answer, evidence, meta)
