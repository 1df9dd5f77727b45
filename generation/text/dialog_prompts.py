"""Prompts for dialogs: instructions, facts, a demonstration and a native dialog ([A] 6.2).

Each part is in lines of its own, in the paper's words:

    Instructions: …          (none, or one line)
    Fact: …                  (any number of lines)
    0 -1 0 … [eot]           (a native dialog, see `generation.text.native_dialog`)
    1 0 1                    (the line to complete)

A demonstration has facts and a dialog of its own, with its answer. It comes after the instructions
and ends with an empty line. Facts come before the dialog, or just before its last turn. The paper
prints all this without line breaks; the line breaks are our choice.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from generation.records import TurnRecord
from generation.text.context_budget import FACT, Context, fact_line, fitted
from generation.text.flat_graph import Triple
from generation.text.graph_reading import PartName, is_graph_prompt, line_parts
from generation.text.native_dialog import native_dialog, one_line
from generation.text.tokens import count_tokens

Position = Literal["before-dialog", "before-last-turn"]
POSITIONS: tuple[Position, ...] = ("before-dialog", "before-last-turn")
INSTRUCTIONS = "Instructions:"


class BudgetError(ValueError):
    """A prompt that is too long even when everything that may be left out is left out."""


class PromptParts(NamedTuple):
    """The parts from which a prompt is made."""

    turns: tuple[TurnRecord, ...]  # the dialog up to the user's question
    facts: tuple[str, ...] = ()  # in the order shown
    instructions: str = ""  # text with its label, as in its file; "" for none
    demonstration: str = ""  # text made by `demonstration`; "" for none
    position: Position = "before-dialog"  # place of the facts


class BuiltPrompt(NamedTuple):
    """A prompt with its size. The tokens of the three parts add up to those of the whole."""

    text: str
    n_dialog_tokens: int
    n_evidence_tokens: int
    n_instruction_tokens: int  # including a demonstration
    n_tokens: int
    context: Context  # the turns and facts that it holds
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


def build_prompt(parts: PromptParts, budget: int | None = None) -> BuiltPrompt:
    """Return the prompt made of some parts, within a budget of tokens if there is one.

    Raises:
        BudgetError: the prompt does not fit; the message has the counts.
        ValueError: a turn's parent is not an earlier turn.
    """
    instructions = one_line(parts.instructions)
    n_instructions = count_tokens(instructions) + count_tokens(parts.demonstration)
    context = Context(parts.turns, parts.facts)
    if budget is not None:
        context = fitted(parts.turns, parts.facts, budget - n_instructions)

    dialog = native_dialog(context.turns).split("\n")
    facts = [fact_line(fact) for fact in context.facts]
    n_dialog, n_evidence = (sum(map(count_tokens, lines)) for lines in (dialog, facts))
    built = BuiltPrompt(
        text="\n".join(
            [
                *filter(None, [instructions]),
                *([parts.demonstration, ""] if parts.demonstration else []),
                *_with_facts(dialog, facts, parts.position),
            ]
        ),
        n_dialog_tokens=n_dialog,
        n_evidence_tokens=n_evidence,
        n_instruction_tokens=n_instructions,
        n_tokens=n_dialog + n_evidence + n_instructions,
        context=context,
    )
    if budget is not None and built.n_tokens > budget:
        raise BudgetError(
            f"{built.n_tokens:,} tokens where all is left out that may be (dialog {n_dialog:,}, "
            f"evidence {n_evidence:,}, instructions {n_instructions:,}); "
            f"expected at most {budget:,}"
        )
    return built


def demonstration(
    turns: Sequence[TurnRecord],
    facts: Sequence[str],
    answer: str,
    position: Position = "before-dialog",
) -> str:
    """Return a dialog with its evidence and the answer that a model should give.

    Raises:
        ValueError: a turn's parent is not an earlier turn.
    """
    dialog = native_dialog(turns, answer).split("\n")
    return "\n".join(_with_facts(dialog, [fact_line(fact) for fact in facts], position))


def prompt_lines(text: str) -> list[PromptLine]:
    """Return the lines of a built prompt with their parts, without empty lines.

    The prompt may be about a dialog or about a knowledge graph.
    """
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


def _with_facts(dialog: Sequence[str], facts: Sequence[str], position: Position) -> list[str]:
    """Return the lines of a dialog, the answer's line last, with the lines of the facts."""
    place = max(0, len(dialog) - 2) if position == "before-last-turn" else 0
    return [*dialog[:place], *facts, *dialog[place:]]


def _part(line: str, is_demonstrating: bool) -> PartName:
    if line.startswith(INSTRUCTIONS):
        return "instructions"
    if is_demonstrating:
        return "demonstration"
    return "evidence" if line.startswith(FACT) else "dialog"
