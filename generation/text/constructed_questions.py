"""Questions under construction: a model's texts and the knowledge that they need (KaLMA, 2.2).

Round 1 annotates a paragraph with the sub-graphs of two people. A triple enters the minimum
knowledge set if the answer cites it and the sub-graphs really state it. Each later round adds one
more triple, which enters the set whether the answer cites it or not.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from generation.seeded_random import random_key
from generation.text.citations import IDENTIFYING, parse_citations, relation_name
from generation.text.cited_vocabulary import Vocabulary
from generation.text.compared_triples import compared, knowledge
from generation.text.construction_prompts import GENERATED_ANSWER, GENERATED_QUESTION
from generation.text.flat_graph import Triple
from generation.text.graph_prompts import NAME, Graph

LONGEST_ANSWER = 20_000  # characters; six rounds of a few sentences have a tenth of that
LONGEST_QUESTION = 2_000
CATEGORY = "Category:"  # pages of an encyclopedia, which are no knowledge
# These relations say who is meant or hold for everyone, so a question cannot be about them.
NEVER_INJECTED = frozenset(
    {
        *IDENTIFYING,
        *("given name", "surname", "family name", "instance of", "sex or gender"),
        "commons category",
    }
)
_WITHOUT_LABEL = re.compile(r"P[1-9]\d*", re.ASCII)  # a relation for which the graph has no words
_NO_WORDS = re.compile(r"Q[1-9]\d*|[a-z][a-z0-9+.-]*://\S*", re.ASCII | re.IGNORECASE)  # qid or URL

_BEGINS_A_PART = re.compile(
    r"^[ \t*_#]*"
    r"(?P<part>generated answer|generated question|instruction|sentence|knowledge|answer|question)"
    r"[ \t*_]*:[ \t*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_ASKS = re.compile(r"Generated Question[ \t*_]*:[ \t*_]*", re.IGNORECASE)
_ANSWERS = ("generated answer", "answer")
_QUESTIONS = ("generated question", "question")


class UnreadableError(ValueError):
    """A completion without an answer and its question; the message says what was found instead."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}; expected {expected}")


class Written(NamedTuple):
    """The texts that a model wrote in a round."""

    answer: str  # the answer with its citations
    question: str


class Member(NamedTuple):
    """A member of a minimum knowledge set, in the graph's spelling."""

    qid: str
    relation: str
    value: str
    round: int

    @property
    def triple(self) -> Triple:
        return self.qid, self.relation, self.value


class RoundCall(Protocol):
    """A call that could be read: its texts, and from round 2 the triple that it added."""

    @property
    def round(self) -> int: ...
    @property
    def answer(self) -> str: ...
    @property
    def qid(self) -> str: ...
    @property
    def relation(self) -> str: ...
    @property
    def value(self) -> str: ...


# --- completions ----------------------------------------------------------------------------


def written(completion: str) -> Written:
    """Return the answer, up to 'Generated Question:', and the question after it.

    The question ends where a model goes on with the next part of a prompt. If the model repeats a
    label before its answer, the label is removed, and so are asterisks around labels.

    Raises:
        UnreadableError: there is no question, or the answer or question is empty or too long.
    """
    answer, question = _cut(_without_label(completion, *_ANSWERS))
    if not answer:
        raise UnreadableError("no answer", f"an answer before {GENERATED_QUESTION!r}")
    _check_length(answer, "an answer", LONGEST_ANSWER)
    return Written(answer, _question(question))


def simple_question(completion: str) -> str:
    """Return a question in the simple style, without the label that models put before it.

    Raises:
        UnreadableError: the question is empty or too long.
    """
    return _question(_without_label(completion, *_QUESTIONS))


def _cut(text: str) -> tuple[str, str]:
    """Return the text before the question's label, and the text after it."""
    asks = _ASKS.search(text)
    parts = list(_BEGINS_A_PART.finditer(text[: asks.start()] if asks else text))
    # A line of the answer may begin with 'question:'. The prompt asked for the whole label, so that
    # one counts.
    if asks and all(each["part"].lower() in _QUESTIONS for each in parts):
        return _before_label(text[: asks.start()]), text[asks.end() :]
    part = parts[0] if parts else None
    if part and part["part"].lower() in _QUESTIONS:
        return text[: part.start()].strip(), text[part.end() :]
    found = f"{part[0].strip()!r} before any question" if part else "no question"
    raise UnreadableError(found, f"{GENERATED_QUESTION!r} behind {GENERATED_ANSWER!r}")


def _before_label(text: str) -> str:
    """Return the text before a label, without the asterisks that open the label."""
    bare = text.rstrip(" \t").rstrip("*_#")
    return (text if bare[-1:].strip() else bare).strip()


def _question(text: str) -> str:
    """Return the question that a text begins with, in one line."""
    part = _BEGINS_A_PART.search(text)
    question = " ".join(text[: part.start() if part else None].split())
    if not question:
        raise UnreadableError("an empty question", f"a question behind {GENERATED_QUESTION!r}")
    _check_length(question, "a question", LONGEST_QUESTION)
    return question


def _without_label(text: str, *labels: str) -> str:
    stripped = text.strip()
    label = _BEGINS_A_PART.match(stripped)
    return stripped[label.end() :] if label and label["part"].lower() in labels else stripped


def _check_length(text: str, what: str, longest: int) -> None:
    if len(text) > longest:
        raise UnreadableError(f"{what} of {len(text):,} characters", f"at most {longest:,}")


# --- knowledge ------------------------------------------------------------------------------


def first_members(answer: str, graphs: Sequence[Graph]) -> tuple[Member, ...]:
    """Return the triples that an answer of round 1 cites and the sub-graphs state.

    Each triple comes once, in the order of the answer. Names only identify entities and 'Category:'
    values are no knowledge, so neither are members.
    """
    return tuple(
        Member(*triple, 1)
        for triple in _cited(answer, graphs)
        if not triple[2].strip().startswith(CATEGORY)
    )


def is_cited(answer: str, triple: Triple, graphs: Sequence[Graph]) -> bool:
    """Return whether an answer cites a triple of the sub-graphs."""
    return compared(triple) in set(map(compared, _cited(answer, graphs)))


def may_be_injected(triple: Triple) -> bool:
    """Return whether a round may add a triple.

    A name, given name, surname, family name, instance of, sex or gender, a 'Category:' value and an
    empty value are never added. Nor is anything without words: the number of a property, a bare
    qid, a URL, a Commons category.
    """
    _, relation, value = triple
    text = value.strip()
    if not text or text.startswith(CATEGORY) or _NO_WORDS.fullmatch(text):
        return False
    return _plain(relation) not in NEVER_INJECTED and not _WITHOUT_LABEL.fullmatch(relation.strip())


def next_triple(
    graphs: Sequence[Graph], used: Collection[Triple], seed: int, key: str, round: int
) -> Triple | None:
    """Return the triple that a round adds; None if none is left.

    It is drawn from both sub-graphs. It is the same for the same seed, key and round, in whatever
    order the triples come.

    Args:
        used: the triples that are in the set already.
        key: the key of the entry.
        round: 2 or more.
    """
    taken = set(map(compared, used))
    left = [
        triple
        for triple in _stated(graphs)
        if may_be_injected(triple) and compared(triple) not in taken
    ]
    return min(
        left,
        key=lambda triple: (random_key(seed, "injected", key, round, *compared(triple)), triple),
        default=None,
    )


def minimum_set(
    graphs: Sequence[Graph], calls: Iterable[RoundCall], taken_out: Iterable[Triple] = ()
) -> tuple[Member, ...]:
    """Return the knowledge that a question needs: what round 1 cites, then the triples added later.

    A triple keeps the first round in which it occurs. The round of the simple style adds none.

    Args:
        calls: the calls that could be read, by round.
        taken_out: the triples that a reviewer removed from the set.
    """
    taken = set(map(compared, taken_out))
    members: dict[Triple, Member] = {}
    for call in calls:
        for member in _brought(call, graphs):
            members.setdefault(compared(member.triple), member)
    return tuple(member for form, member in members.items() if form not in taken)


def _brought(call: RoundCall, graphs: Sequence[Graph]) -> tuple[Member, ...]:
    if call.round == 1:
        return first_members(call.answer, graphs)
    return (Member(call.qid, call.relation, call.value, call.round),) if call.qid else ()


def _cited(answer: str, graphs: Sequence[Graph]) -> Iterator[Triple]:
    """Yield the triples that an answer cites, in the sub-graphs' spelling, each once."""
    stated = [triple for graph in graphs for triple in graph]
    known = knowledge(stated)
    spelt: dict[Triple, Triple] = {}
    for triple in stated:
        spelt.setdefault(compared(triple), triple)
    parsed = parse_citations(answer, *Vocabulary.of(stated))
    claims = (compared((each.qid, each.relation, each.value)) for each in parsed.citations)
    return (spelt[claim] for claim in dict.fromkeys(claims) if claim in known)


def _stated(graphs: Sequence[Graph]) -> Iterator[Triple]:
    return (triple for graph in graphs for triple in graph if triple[1] != NAME)


def _plain(relation: str) -> str:
    return relation_name(relation).casefold()
