"""The parser of prompts about a knowledge graph, which reverses `graph_prompts`.

A sub-graph is one line of flat text, in which values may hold commas and colons. The text between a
comma and a colon begins the next triple only if its first letter is not a capital, as is usual in
names of relations but rare in titles. If all such names in a line but the first begin with a
capital, each of them begins a triple. A triple that is taken for a part of a value by this rule
('Lord Byron, Commons category: Ada') is still the text of the graph, word for word. The text of a
document node comes last, and all of it is one value.
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
# A comma or a colon inside the name of a relation has no space after it. The name neither begins
# nor ends with a space, and no value is empty.
_NEXT = re.compile(r"(?<! ), (?P<relation>(?! )(?:[^,:]|[,:](?! ))+(?<! )): ")


class ReadGraphPrompt(NamedTuple):
    """The question of a prompt, and the sub-graphs to answer it with."""

    graphs: tuple[tuple[Triple, ...], ...]  # in the order shown
    question: str


def read_graph_prompt(text: str) -> ReadGraphPrompt | None:
    """Return what a prompt holds for its last question; None if it is not about a graph."""
    lines = text.split("\n")
    if not is_graph_prompt(text) or lines[-2:] != ["", ANSWER]:
        return None
    *shown, question = lines[_last_opening(lines) + 1 : -2] or [""]
    return ReadGraphPrompt(tuple(map(read_graph, shown)), question)


def is_graph_prompt(text: str) -> bool:
    """Return whether a text is a prompt about a graph, judged by its labels."""
    return text.startswith(INSTRUCTION) and f"\n{OPENING}\n" in text


def read_graph(line: str) -> tuple[Triple, ...]:
    """Return the triples of a sub-graph in flat text, including the name of its entity."""
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
    """Return the part of a prompt about a graph to which each of its lines belongs."""
    opening = _last_opening(lines)
    first_empty = lines.index("") if "" in lines else 0
    last_graph = len(lines) - 3  # before the question, an empty line and the answer's line

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
    """Return the beginnings of the triples in a line; the first triple always begins the line."""
    first = _FIRST.match(body)
    if first is None:
        return []
    others = list(_NEXT.finditer(body, first.end()))
    plain = [start for start in others if not start["relation"][:1].isupper()]
    return [first, *(plain or others)]
