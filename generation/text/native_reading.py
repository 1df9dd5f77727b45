"""Reads what a prompt for a dialog holds: the other way of `generation.text.dialog_prompts`.

Line by line: `Instructions: …`, `Fact: …`, `index parent speaker text [eot]`, and last the line to
complete, `index parent speaker`. All other lines are ignored. An empty line ends a demonstration:
what stands before it is not about the dialog to complete.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from generation.text.context_budget import FACT
from generation.text.dialog_prompts import INSTRUCTIONS
from generation.text.native_dialog import STOP

_TURN = re.compile(
    rf"(?P<index>[0-9]+) (?P<parent>-1|[0-9]+) [0-9]+(?P<said>(?P<text> .*)? {re.escape(STOP)})?"
)


class ReadPrompt(NamedTuple):
    """What there is to answer, and what there is to answer it with."""

    has_instructions: bool
    facts: tuple[str, ...]
    branch: tuple[str, ...]  # the texts from a first turn to the one to answer, by their parents


class _Turn(NamedTuple):
    parent: int
    text: str


def read_prompt(text: str) -> ReadPrompt | None:
    """Return what a prompt holds for its last dialog; None where it has no line to complete."""
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


def _branch(turns: Mapping[int, _Turn], last: int) -> tuple[str, ...]:
    """Return the texts of a turn and of those before it, by their parents, the first one first."""
    texts = []
    while (turn := turns.get(last)) is not None:
        texts.append(turn.text)
        # A parent is an earlier turn; text that says otherwise shall not keep us here.
        last = turn.parent if turn.parent < last else -1
    return tuple(reversed(texts))
