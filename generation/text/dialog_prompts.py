"""Prompts for dialogs: instructions, facts, a demonstration and a dialog ([A] 6.2).

A dialog has one of three forms (`generation.text.dialog_forms`). In the native and the plain form a
prompt is a text, and each part is in lines of its own, in the paper's words:

    Instructions: …          (none, or one line)
    Fact: …                  (any number of lines)
    0 -1 0 … [eot]           (a dialog)
    1 0 1                    (the line to complete)

A demonstration has facts and a dialog of its own, with its answer. It comes after the instructions
and ends with an empty line. Facts come before the dialog, or just before its last turn. The paper
prints all this without line breaks; the line breaks are our choice.

In the form of messages, the instructions are the system message, without their label, and the turns
are messages. Turns of one side that follow each other are one message, and turns without a text are
none. Facts come after the instructions in the system message, or open the last message of the user.
The demonstration is messages before the dialog; its facts open its own question.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from generation.records import TurnRecord
from generation.text.chat_messages import (
    BETWEEN,
    Message,
    as_json,
    joined,
    read_messages,
)
from generation.text.context_budget import Context, fitted, n_dialog_tokens, n_evidence_tokens
from generation.text.dialog_forms import Form, dialog_lines, fact_lines, text_of
from generation.text.flat_graph import Triple
from generation.text.graph_reading import PartName, is_graph_prompt, line_parts
from generation.text.languages import NOT_SAID
from generation.text.native_dialog import STOP, one_line
from generation.text.tokens import count_tokens

Position = Literal["before-dialog", "before-last-turn"]
POSITIONS: tuple[Position, ...] = ("before-dialog", "before-last-turn")
INSTRUCTIONS = "Instructions:"
_IS_FACT = re.compile(r"Fact(?: [0-9]+)?:")


class BudgetError(ValueError):
    """A prompt that is too long even when everything that may be left out is left out."""


class Demonstration(NamedTuple):
    """A dialog with its evidence and the answer that a model should give."""

    turns: tuple[TurnRecord, ...]
    facts: tuple[str, ...]
    answer: str


class PromptParts(NamedTuple):
    """The parts from which a prompt is made."""

    turns: tuple[TurnRecord, ...]  # the dialog up to the user's question
    facts: tuple[str, ...] = ()  # in the order shown
    instructions: str = ""  # text with its label, as in its file; "" for none
    demonstration: Demonstration | None = None
    position: Position = "before-dialog"  # place of the facts
    form: Form = "native"
    language: str = NOT_SAID  # what the dataset calls the language of its texts


class BuiltPrompt(NamedTuple):
    """A prompt with its size. The tokens of the three parts add up to those of the whole."""

    text: str  # messages are written as JSON
    n_dialog_tokens: int
    n_evidence_tokens: int
    n_instruction_tokens: int  # including a demonstration
    n_tokens: int
    context: Context  # the turns and facts that it holds
    messages: tuple[Message, ...] = ()  # empty unless its form is that of messages
    n_demonstrating: int = 0  # messages of the demonstration, after the system's
    # For a question about a knowledge graph (`generation.text.graph_prompts`): the triples in the
    # prompt, word for word. None: the prompt is about a dialog.
    graph: tuple[Triple, ...] | None = None
    n_triples_left_out: int = 0  # triples without room in the budget
    n_missing_entities: int = 0  # entities of its question that the graph lacks: not shown

    @property
    def n_turns_left_out(self) -> int:
        """The number of turns that had no room in the budget."""
        return self.context.n_turns_left_out

    @property
    def n_sentences_left_out(self) -> int:
        """The number of sentences of evidence that had no room in the budget."""
        return self.context.n_sentences_left_out

    @property
    def n_graphs(self) -> int:
        """The number of sub-graphs in the prompt."""
        return len({qid for qid, _, _ in self.graph or ()})


class PromptLine(NamedTuple):
    """One line of a prompt, and the part of the prompt to which it belongs."""

    part: PartName
    text: str
    role: str = ""  # the role of the message that begins with this line; "" for other lines


def build_prompt(parts: PromptParts, budget: int | None = None) -> BuiltPrompt:
    """Return the prompt made of some parts, within a budget of tokens if there is one.

    Raises:
        BudgetError: the prompt does not fit; the message has the counts.
        ValueError: the form is native, and a turn's parent is not an earlier turn.
    """
    n_instructions = _n_instruction_tokens(parts)
    context = Context(parts.turns, parts.facts)
    if budget is not None:
        room = budget - n_instructions
        context = fitted(parts.turns, parts.facts, room, parts.form, parts.language)
    n_dialog = n_dialog_tokens(context.turns, parts.form)
    n_evidence = n_evidence_tokens(context.facts, parts.form)
    demonstrated = demonstrating_messages(parts.demonstration, parts.form)
    messages = _messages(parts, context, demonstrated) if parts.form == "messages" else ()
    built = BuiltPrompt(
        text=as_json(messages) if messages else _text(parts, context),
        n_dialog_tokens=n_dialog,
        n_evidence_tokens=n_evidence,
        n_instruction_tokens=n_instructions,
        n_tokens=n_dialog + n_evidence + n_instructions,
        context=context,
        messages=messages,
        n_demonstrating=len(demonstrated),
    )
    if budget is not None and built.n_tokens > budget:
        raise BudgetError(
            f"{built.n_tokens:,} tokens where all is left out that may be (dialog {n_dialog:,}, "
            f"evidence {n_evidence:,}, instructions {n_instructions:,}); "
            f"expected at most {budget:,}"
        )
    return built


def _n_instruction_tokens(parts: PromptParts) -> int:
    """Return how many tokens the instructions and the demonstration have."""
    lines = [_instructions(parts)]
    if parts.demonstration:
        lines += demonstration_lines(parts.demonstration, parts.position, parts.form)
    return sum(map(count_tokens, lines))


def _instructions(parts: PromptParts) -> str:
    said_here = one_line(parts.instructions)
    if parts.form == "messages":
        return said_here.removeprefix(INSTRUCTIONS).strip()
    return said_here


# --- texts ----------------------------------------------------------------------------------


def _text(parts: PromptParts, context: Context) -> str:
    lines = list(filter(None, [_instructions(parts)]))
    if parts.demonstration:
        lines += [*demonstration_lines(parts.demonstration, parts.position, parts.form), ""]
    dialog = dialog_lines(context.turns, parts.form)
    return "\n".join(
        [*lines, *_with_facts(dialog, fact_lines(context.facts, parts.form), parts.position)]
    )


def demonstration_lines(shown: Demonstration, position: Position, form: Form) -> list[str]:
    """Return the lines of a demonstration; of messages, their texts."""
    *turns, last = [*dialog_lines(shown.turns, form), *[""] * (form == "messages")]
    answer = shown.answer if form == "messages" else one_line(shown.answer)
    ended = [last, answer, *[STOP] * (form == "native")]
    dialog = [*turns, " ".join(filter(None, ended))]
    return _with_facts(dialog, fact_lines(shown.facts, form), position)


def _with_facts(dialog: Sequence[str], facts: Sequence[str], position: Position) -> list[str]:
    """Return the lines of a dialog, the answer's line last, with the lines of the facts."""
    place = max(0, len(dialog) - 2) if position == "before-last-turn" else 0
    return [*dialog[:place], *facts, *dialog[place:]]


# --- messages -------------------------------------------------------------------------------


def _messages(
    parts: PromptParts, context: Context, demonstrated: Sequence[Message]
) -> tuple[Message, ...]:
    dialog = _said(context.turns)
    facts = fact_lines(context.facts, "messages")
    is_in_system = bool(context.turns) and parts.position == "before-dialog"
    if not is_in_system:
        dialog = _opened(dialog, facts)
    system = [_instructions(parts), "\n".join(facts) if is_in_system else ""]
    said_first = [Message("system", text) for text in system if text]
    if demonstrated and dialog[0].role == "assistant":
        dialog.insert(0, Message("user", ""))  # it is not the assistant's answer that goes on
    return (*joined(said_first), *demonstrated, *dialog)


def demonstrating_messages(shown: Demonstration | None, form: Form) -> list[Message]:
    """Return the messages of a demonstration; none in a form that has no messages."""
    if shown is None or form != "messages":
        return []
    asked = _opened(_said(shown.turns), fact_lines(shown.facts, "messages"))
    return [*asked, Message("assistant", shown.answer.strip())]


def _said(turns: Sequence[TurnRecord]) -> list[Message]:
    """Return turns as messages, of which the user has the last, even if it has no text.

    All speakers but the assistant are on the user's side.
    """
    messages = [
        Message("assistant" if turn.speaker.lower() == "assistant" else "user", text_of(turn))
        for turn in turns
    ]
    return joined([*(each for each in messages if each.text), Message("user", "")])


def _opened(dialog: Sequence[Message], facts: Sequence[str]) -> list[Message]:
    """Return a dialog whose last message begins with facts."""
    *before, last = dialog
    opened = BETWEEN.join(filter(None, ["\n".join(facts), last.text]))
    return [*before, Message(last.role, opened)]


# --- reading --------------------------------------------------------------------------------


def prompt_lines(text: str, n_demonstrating: int = 0) -> list[PromptLine]:
    """Return the lines of a built prompt with their parts, without empty lines.

    The prompt may be about a dialog or about a knowledge graph.

    Args:
        n_demonstrating: how many messages after the system's belong to a demonstration.
    """
    if (messages := read_messages(text)) is not None:
        return _message_lines(messages, n_demonstrating)
    lines = text.split("\n")
    if is_graph_prompt(text):
        parts = zip(line_parts(lines), lines, strict=True)
        return [PromptLine(part, line) for part, line in parts if line]
    end_of_demonstration = lines.index("") if "" in lines else 0
    return [
        PromptLine(_part(line, place < end_of_demonstration), line)
        for place, line in enumerate(lines)
        if line
    ]


def _message_lines(messages: Sequence[Message], n_demonstrating: int) -> list[PromptLine]:
    n_system = sum(message.role == "system" for message in messages)
    found = []
    for place, (role, text) in enumerate(messages):
        is_demonstrating = n_system <= place < n_system + n_demonstrating
        otherwise: PartName = "instructions" if role == "system" else "dialog"
        lines = [line for line in text.split("\n") if line] or [""]
        for number, line in enumerate(lines):
            part = _part(line, is_demonstrating, otherwise)
            found.append(PromptLine(part, line, "" if number else role))
    return found


def _part(line: str, is_demonstrating: bool, otherwise: PartName = "dialog") -> PartName:
    if line.startswith(INSTRUCTIONS):
        return "instructions"
    if is_demonstrating:
        return "demonstration"
    return "evidence" if _IS_FACT.match(line) else otherwise
