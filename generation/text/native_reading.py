"""The parser of prompts for dialogs, which reverses `generation.text.dialog_prompts`.

It reads line by line: `Instructions: …`, `Fact: …`, `index parent speaker text [eot]`, and last the
line to complete, `index parent speaker`. It ignores all other lines. An empty line ends a
demonstration: the facts and turns before it do not belong to the dialog to complete.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from generation.records import TurnRecord
from generation.text.dialog_forms import FACT
from generation.text.dialog_prompts import INSTRUCTIONS, Demonstration
from generation.text.native_dialog import ASSISTANT, STOP

_TURN = re.compile(
    r"(?P<index>[0-9]+) (?P<parent>-1|[0-9]+) (?P<speaker>[0-9]+)"
    rf"(?P<said>(?P<text> .*)? {re.escape(STOP)})?"
)


class ReadPrompt(NamedTuple):
    """The dialog of a prompt, and the facts to answer it with."""

    has_instructions: bool
    facts: tuple[str, ...]
    branch: tuple[str, ...]  # texts from a first turn to the one to answer, by their parents


class _Turn(NamedTuple):
    parent: int
    text: str


def read_prompt(text: str) -> ReadPrompt | None:
    """Return what a prompt holds for its last dialog; None if it has no line to complete."""
    has_instructions = False
    facts: list[str] = []
    turns: dict[int, _Turn] = {}
    answered: int | None = None  # the turn that the line to complete answers
    for line in text.split("\n"):
        if line.startswith(FACT):
            facts.append(line.removeprefix(FACT).strip())
        elif found := _TURN.fullmatch(line):
            parent = int(found["parent"])
            if found["said"]:
                turns[int(found["index"])] = _Turn(parent, (found["text"] or "").strip())
            else:
                answered = parent
        elif not line and turns:  # a demonstration is over
            facts, turns = [], {}
        else:
            has_instructions = has_instructions or line.startswith(INSTRUCTIONS)
    if answered is None:
        return None
    return ReadPrompt(has_instructions, tuple(facts), _branch(turns, answered))


def read_demonstration(text: str) -> Demonstration:
    """Return a demonstration that is written as facts and a native dialog, its answer last."""
    lines = text.split("\n")
    facts = [line.removeprefix(FACT).strip() for line in lines if line.startswith(FACT)]
    *turns, answer = [
        TurnRecord(
            "assistant" if int(found["speaker"]) == ASSISTANT else "user",
            (found["text"] or "").strip(),
            int(found["parent"]),
        )
        for found in map(_TURN.fullmatch, lines)
        if found and found["said"]
    ]
    return Demonstration(tuple(turns), tuple(facts), answer.text)


def _branch(turns: Mapping[int, _Turn], last: int) -> tuple[str, ...]:
    """Return the texts of a turn and of its ancestors, the first turn first."""
    texts = []
    while (turn := turns.get(last)) is not None:
        texts.append(turn.text)
        # A parent is an earlier turn. A text that breaks this rule must not cause an endless loop.
        last = turn.parent if turn.parent < last else -1
    return tuple(reversed(texts))
