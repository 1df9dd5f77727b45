"""What the extractive model answers from a knowledge graph: its triples, each with its citation.

It follows its prompt as KaLMA's demonstration does (table 10): sentences about each entity that is
shown, their citations in one bracket at the end, and [NA] where the graph does not say what the
question asks. Nothing is cited that the prompt does not hold, or that its text could not be read
back from the answer.
"""

import random
import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

from generation.backends.base import Decoding
from generation.backends.softmax_draw import drawn_place
from generation.filters import EMPTY_WORDS
from generation.text.citations import IDENTIFYING, parse_citations, relation_name
from generation.text.flat_graph import DOCUMENT_TEXT, Triple
from generation.text.function_words import FUNCTION_WORDS
from generation.text.graph_reading import ReadGraphPrompt
from generation.text.tokens import tokens

MOST_SENTENCES = 4  # with citations
TOGETHER = 2  # triples of a sentence
# They say what kind of thing it is or what its name is made of: what Wikidata keeps of everything.
HOUSEKEEPING = frozenset(
    {
        "instance of",
        "given name",
        "family name",
        "surname",
        "sex or gender",
        "described by source",
    }
)
CATEGORY = "Category:"  # a value that begins so is no knowledge either
# What a question asks for in other words than relations do.
ASKS_FOR = {
    "born": "birth",
    "die": "death",
    "died": "death",
    "dies": "death",
    "husband": "spouse",
    "married": "spouse",
    "studied": "educated",
    "when": "date",
    "where": "place",
    "wife": "spouse",
    "worked": "occupation",
}
NOT_SAID = "Nothing here"

_ROUND = str.maketrans("[]", "()")
_WORD = re.compile(r"\w+")
_BESIDE = re.compile(r"[\s'’-]*")  # what may stand between the words of a phrase


class _Fact(NamedTuple):
    """One triple that can be cited, and how well it fits the question."""

    relation: str
    value: str
    weight: int  # words that it shares with the question
    is_housekeeping: bool


_Group = Sequence[_Fact]  # of one sentence


class _Entity(NamedTuple):
    name: str
    qid: str
    facts: tuple[_Fact, ...]  # in the order shown


def graph_answer(read: ReadGraphPrompt, decoding: Decoding, draws: random.Random) -> str:
    """Return an answer to a question from the sub-graphs of its prompt.

    At most `MOST_SENTENCES` sentences of `TOGETHER` triples each, taken from the entities in turn:
    of each the triples that share most words with the question, then those that come first;
    housekeeping last, and the text of a document node never. With a temperature the next triple is
    drawn among the best. Then one sentence with [NA] that names what of the question nothing shown
    says, texts included; it is all there is where nothing can be cited.
    """
    wanted = _wanted(read.question)
    vocabulary = _Vocabulary.of(read.graphs)
    entities = [_entity(graph, wanted, vocabulary) for graph in read.graphs if graph]
    waiting = [list(_groups(_in_order(entity.facts, decoding, draws))) for entity in entities]
    said = [
        sentence
        for entity, groups in zip(entities, _in_turn(waiting), strict=True)
        for group in groups
        for sentence in _sentences(entity, group, vocabulary)
    ]
    missing = _not_said(read)
    if missing:
        said.append(f"{NOT_SAID} says more about {_listed(missing)} [NA].")
    elif not said:
        said.append(f"{NOT_SAID} answers that [NA].")
    return " ".join(said)


class _Vocabulary(NamedTuple):
    """What citations of the graph may name."""

    relations: frozenset[str]
    qids: frozenset[str]

    @classmethod
    def of(cls, graphs: Sequence[Sequence[Triple]]) -> "_Vocabulary":
        triples = [triple for graph in graphs for triple in graph]
        return cls(
            frozenset(relation for _, relation, _ in triples),
            frozenset(qid for qid, _, _ in triples),
        )


# --- triples --------------------------------------------------------------------------------


def _entity(graph: Sequence[Triple], wanted: Set[str], vocabulary: _Vocabulary) -> _Entity:
    qid = graph[0][0]
    name = next((value for _, relation, value in graph if relation == "name"), qid)
    of_name = set(tokens(name))
    facts = []
    for _, relation, value in graph:
        fact = _Fact(
            relation,
            value,
            len((wanted - of_name) & set(tokens(f"{relation_name(relation)} {value}"))),
            relation_name(relation) in HOUSEKEEPING or value.startswith(CATEGORY),
        )
        is_knowledge = relation_name(relation) not in IDENTIFYING and relation != DOCUMENT_TEXT
        if is_knowledge and _is_read_back(_sentence(name, qid, [fact]), qid, [fact], vocabulary):
            facts.append(fact)
    return _Entity(name, qid, tuple(facts))


def _in_order(facts: Sequence[_Fact], decoding: Decoding, draws: random.Random) -> Iterator[_Fact]:
    """Yield facts, the best fitting first, or as they are drawn; housekeeping last."""
    for is_housekeeping in (False, True):
        left = [fact for fact in facts if fact.is_housekeeping == is_housekeeping]
        left.sort(key=lambda fact: -fact.weight)  # stable: ties by place
        while left:
            yield left.pop(drawn_place([fact.weight for fact in left], decoding, draws))


def _groups(facts: Iterator[_Fact]) -> Iterator[list[_Fact]]:
    """Yield the facts of one sentence after the other."""
    while group := list(islice(facts, TOGETHER)):
        yield group


def _in_turn(waiting: Sequence[Sequence[_Group]]) -> list[Sequence[_Group]]:
    """Return what each entity may say: one sentence in each round, while there is room."""
    n_said = [0] * len(waiting)
    for number in range(MOST_SENTENCES):
        for place, groups in enumerate(waiting):
            if number < len(groups) and sum(n_said) < MOST_SENTENCES:
                n_said[place] += 1
    return [groups[:n] for groups, n in zip(waiting, n_said, strict=True)]


# --- sentences ------------------------------------------------------------------------------


def _sentences(entity: _Entity, group: _Group, vocabulary: _Vocabulary) -> list[str]:
    """Return a sentence of all facts; one of each where their citations would run together."""
    together = _sentence(entity.name, entity.qid, group)
    if _is_read_back(together, entity.qid, group, vocabulary):
        return [together]
    return [_sentence(entity.name, entity.qid, [fact]) for fact in group]


def _sentence(name: str, qid: str, facts: _Group) -> str:
    """Return 'Ada Lovelace's place of birth is London [Q7259, place of birth: London].'

    Square brackets are those of citations: elsewhere they become round ones.
    """
    said = [f"{relation_name(fact.relation)} is {fact.value}" for fact in facts]
    cited = ", ".join(f"{fact.relation}: {fact.value}" for fact in facts)
    return f"{name}'s {_listed(said)}".translate(_ROUND) + f" [{qid}, {cited}]."


def _is_read_back(sentence: str, qid: str, facts: _Group, vocabulary: _Vocabulary) -> bool:
    """Return whether just these facts are found in a sentence."""
    parsed = parse_citations(sentence, *vocabulary)
    found = [(each.qid, each.relation, each.value) for each in parsed.citations]
    wanted = [(qid, fact.relation, fact.value) for fact in facts]
    return found == list(map(_composed, wanted)) and not parsed.na_sentences


def _composed(triple: Triple) -> Triple:
    qid, relation, value = (unicodedata.normalize("NFC", part) for part in triple)
    return qid, relation, value


def _listed(parts: Sequence[str]) -> str:
    """Return 'a, b and c'."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


# --- the question ---------------------------------------------------------------------------


def _wanted(question: str) -> set[str]:
    """Return the words that a relation or a value should have."""
    asked = tokens(question)
    return {ASKS_FOR.get(word, word) for word in asked} - EMPTY_WORDS


def _not_said(read: ReadGraphPrompt) -> list[str]:
    """Return the phrases of the question of which nothing shown has a word, each once.

    Words beside each other are one phrase, with the function words between them.
    """
    shown = {
        word
        for graph in read.graphs
        for _, relation, value in graph
        for word in tokens(f"{relation_name(relation)} {value}")
    }
    phrases: list[tuple[int, int]] = []
    for found in _WORD.finditer(read.question):
        word = found[0].lower()
        if word in EMPTY_WORDS or word in shown or ASKS_FOR.get(word) in shown:
            continue
        if phrases and _is_within_phrase(read.question[phrases[-1][1] : found.start()]):
            phrases[-1] = phrases[-1][0], found.end()
        else:
            phrases.append(found.span())
    return list(dict.fromkeys(read.question[start:end] for start, end in phrases))


def _is_within_phrase(between: str) -> bool:
    """Return whether function words alone stand between two words, without a mark."""
    words = {word.lower() for word in _WORD.findall(between)}
    return words <= FUNCTION_WORDS and _BESIDE.fullmatch(_WORD.sub("", between)) is not None
