"""Reads what a prompt about a knowledge graph holds: the other way of `graph_prompts`.

A sub-graph is one line of flat text, in which values may hold commas and colons. What stands
between a comma and a colon begins the next triple only if its first letter is no capital, as in
names of relations and seldom in titles; where no name of a line but the first begins so, each does.
What is taken for a part of a value that way ('Lord Byron, Commons category: Ada') is still the
text of the graph, word by word. The text of a document node stands last: all of it is one value.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from generation.text.flat_graph import DOCUMENT_TEXT, Triple

INSTRUCTION = "Instruction:"
OPENING = "Question: Considering the information:"
ANSWER = "Answer:"

PartName = Literal["instructions", "demonstration", "evidence", "dialog"]

_QID = ", qid: "
_TEXT = f", {DOCUMENT_TEXT}: "
_FIRST = re.compile(r"(?P<relation>.*?): ")
# A comma or a colon inside a name of a relation has no space behind it, and the name neither begins
# nor ends with one; no value is empty.
_NEXT = re.compile(r"(?<! ), (?P<relation>(?! )(?:[^,:]|[,:](?! ))+(?<! )): ")


class ReadGraphPrompt(NamedTuple):
    """What there is to answer, and the sub-graphs to answer it with."""

    graphs: tuple[tuple[Triple, ...], ...]  # in the order shown
    question: str


def read_graph_prompt(text: str) -> ReadGraphPrompt | None:
    """Return what a prompt holds for its last question; None where it is not about a graph."""
    lines = text.split("\n")
    if not is_graph_prompt(text) or lines[-2:] != ["", ANSWER]:
        return None
    *shown, question = lines[_last_opening(lines) + 1 : -2] or [""]
    return ReadGraphPrompt(tuple(map(read_graph, shown)), question)


def is_graph_prompt(text: str) -> bool:
    """Return whether a text is a prompt about a graph, as far as its labels say that."""
    return text.startswith(INSTRUCTION) and f"\n{OPENING}\n" in text


def read_graph(line: str) -> tuple[Triple, ...]:
    """Return the triples of a sub-graph in flat text, the name of its entity among them."""
    inside = line.removeprefix("{").removesuffix("}")
    body, _, qid = inside.rpartition(_QID)
    body, has_text, text = body.partition(_TEXT)
    starts = _starts(body)
    ends = [*(start.start() for start in starts[1:]), len(body)]
    stated = tuple(
        (qid, start["relation"], body[start.end() : end])
        for start, end in zip(starts, ends, strict=False)
    )
    return (*stated, (qid, DOCUMENT_TEXT, text)) if has_text else stated


def line_parts(lines: Sequence[str]) -> list[PartName]:
    """Return which part of a prompt about a graph each of its lines belongs to."""
    opening = _last_opening(lines)
    first_empty = lines.index("") if "" in lines else 0
    last_graph = len(lines) - 3  # then the question, an empty line and the answer's

    def part(place: int) -> PartName:
        if place < first_empty:
            return "instructions"
        if place < opening:
            return "demonstration"
        return "evidence" if opening < place < last_graph else "dialog"

    return [part(place) for place in range(len(lines))]


def _last_opening(lines: Sequence[str]) -> int:
    return len(lines) - 1 - list(reversed(lines)).index(OPENING)


def _starts(body: str) -> list[re.Match[str]]:
    """Return where the triples of a line begin; the first one begins it, whatever it says."""
    first = _FIRST.match(body)
    if first is None:
        return []
    others = list(_NEXT.finditer(body, first.end()))
    plain = [start for start in others if not start["relation"][:1].isupper()]
    return [first, *(plain or others)]
