"""The forms that a dialog may have in a prompt, and where completions in each of them end.

The models of the trade-off paper were trained on its native form (`generation.text.native_dialog`).
The chat models of today were trained on messages. Other models know neither, and continue lines
that say who speaks:

    User: Who built the mill?
    Assistant: Monks did.
    User: When did it close?
    Assistant:

The numbers of turns are in the native form alone. The other forms have the turns in their order.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from generation.records import TurnRecord
from generation.text.native_dialog import STOP, native_lines, one_line, opening_line

Form = Literal["native", "messages", "plain"]
FORMS: Mapping[Form, str] = {
    "native": "Native, as in the paper",
    "messages": "Messages of a chat",
    "plain": "Plain lines",
}
USER, ASSISTANT = "User:", "Assistant:"
FACT = "Fact:"
# Completions end before these texts. A chat model ends its message by itself.
STOPS: Mapping[Form, tuple[str, ...]] = {
    "native": (STOP,),
    "messages": (),
    "plain": (f"\n{USER}",),
}
_NEXT_TURN = re.compile(rf"^{USER}", re.MULTILINE)


def dialog_lines(turns: Sequence[TurnRecord], form: Form) -> list[str]:
    """Return the lines of a dialog with the line to complete; of messages, their texts.

    The tokens of a prompt's dialog are those of these lines.

    Raises:
        ValueError: the form is native, and a turn's parent is not an earlier turn.
    """
    lines = turn_lines(turns, form)
    if form == "native":
        return [*lines, opening_line(turns)]
    return [*lines, ASSISTANT] if form == "plain" else lines


def turn_lines(turns: Sequence[TurnRecord], form: Form) -> list[str]:
    """Return the line of each turn; of messages, their texts.

    Raises:
        ValueError: as in `dialog_lines`.
    """
    if form == "native":
        return native_lines(turns)
    return list(map(_plain_line if form == "plain" else text_of, turns))


def _plain_line(turn: TurnRecord) -> str:
    """Return a turn as one line that says who speaks."""
    return f"{_label(turn)} {one_line(turn.text)}".rstrip()


def text_of(turn: TurnRecord) -> str:
    """Return the text of a turn's message; a third person's has the name before it."""
    text = turn.text.strip()
    is_other = turn.speaker.lower() not in ("user", "assistant")
    return f"{_label(turn)} {text}".rstrip() if is_other else text


def _label(turn: TurnRecord) -> str:
    named = {"user": USER, "assistant": ASSISTANT}
    return named.get(turn.speaker.lower()) or f"{one_line(turn.speaker)}:"


def fact_label(place: int, n_facts: int, form: Form) -> str:
    """Return the label of a fact. In messages, several facts are numbered from 1.

    Args:
        place: the fact's place, from 0.
    """
    if form == "messages" and n_facts > 1:
        return f"{FACT.removesuffix(':')} {place + 1}:"
    return FACT


def fact_lines(facts: Sequence[str], form: Form) -> list[str]:
    """Return each fact as a line of a prompt, in which white space is one space."""
    return [
        f"{fact_label(place, len(facts), form)} {one_line(fact)}".rstrip()
        for place, fact in enumerate(facts)
    ]


def reply_text(completion: str, form: Form) -> str:
    """Return a model's reply without white space around it: its completion up to its end."""
    if form == "native":
        return completion.partition(STOP)[0].strip()
    if form == "plain":
        return _NEXT_TURN.split(completion, 1)[0].strip()
    return completion.strip()
