"""Dialogs in the format in which the models of the trade-off paper were trained ([A] 6.1).

A turn is one line, `index parent speaker text [eot]`, with single spaces. Indexes count from 0, and
the parent of a first turn is -1. The last line, `index parent speaker`, is for the model to
complete: it answers the last turn. With no turn at all that line is `0 -1 1`. The paper prints its
examples without line breaks. One of them ends in `3 0 1` although its dialog is linear; we take
that for a misprint of `3 2 1`.

White space inside a text becomes one space, so that a line break cannot begin another turn. `[eot]`
is written `(eot)`, so that no text can end its own turn.
"""

from collections.abc import Sequence

from generation.records import TurnRecord

STOP = "[eot]"  # the end of a completion
USER, ASSISTANT = 0, 1  # ids of speakers; all others are numbered from 2
FIRST_PARENT = -1


def native_dialog(turns: Sequence[TurnRecord], answer: str | None = None) -> str:
    """Return a dialog for a model to continue, or with the answer that was given.

    Args:
        turns: the turns in order; `parent` is an index into them, -1 for none.
        answer: the assistant's answer, which ends the last line; None leaves that line open.

    Raises:
        ValueError: a parent is not an earlier turn.
    """
    opening = opening_line(turns)
    last = opening if answer is None else _said_line(opening, answer)
    return "\n".join([*native_lines(turns), last])


def opening_line(turns: Sequence[TurnRecord]) -> str:
    """Return the line for the model to complete, after some turns."""
    return f"{len(turns)} {len(turns) - 1} {ASSISTANT}"


def native_lines(turns: Sequence[TurnRecord]) -> list[str]:
    """Return the line of each turn.

    Raises:
        ValueError: a parent is not an earlier turn.
    """
    speakers = _speaker_ids(turns)
    lines = []
    for index, turn in enumerate(turns):
        if not FIRST_PARENT <= turn.parent < index:
            raise ValueError(
                f"turn {index} has the parent {turn.parent}; expected an earlier turn, or -1"
            )
        lines.append(_said_line(f"{index} {turn.parent} {speakers[index]}", turn.text))
    return lines


def newest(turns: Sequence[TurnRecord], n: int) -> tuple[TurnRecord, ...]:
    """Return the newest `n` turns, counted from 0 again; a missing parent becomes -1.

    Raises:
        ValueError: `n` is negative.
    """
    if n < 0:
        raise ValueError(f"the newest {n} turns; expected 0 or more")
    n_gone = max(0, len(turns) - n)
    return tuple(
        turn._replace(parent=max(FIRST_PARENT, turn.parent - n_gone)) for turn in turns[n_gone:]
    )


def one_line(text: str) -> str:
    """Return a text as one line that holds no `[eot]`."""
    return " ".join(text.replace(STOP, "(eot)").split())


def _said_line(opening: str, text: str) -> str:
    return " ".join(filter(None, [opening, one_line(text), STOP]))


def _speaker_ids(turns: Sequence[TurnRecord]) -> list[int]:
    """Return the id of each turn's speaker: user, assistant, then others by first appearance."""
    ids = {"user": USER, "assistant": ASSISTANT}
    return [ids.setdefault(turn.speaker.lower(), len(ids)) for turn in turns]
