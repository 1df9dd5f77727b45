"""Answers of the extractive model from a knowledge graph: triples, each with its citation.

An answer follows its prompt as KaLMA's demonstration does (table 10). It has sentences about each
entity that is shown, with their citations in one bracket at the end, and [NA] where the graph does
not say what the question asks. A triple is cited only if the prompt holds it and if it can be read
back from the text of the answer.
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
from generation.text.cited_vocabulary import Vocabulary
from generation.text.flat_graph import DOCUMENT_TEXT, Triple
from generation.text.graph_reading import ReadGraphPrompt
from generation.text.languages import function_words
from generation.text.tokens import tokens

MOST_SENTENCES = 4  # sentences with citations in an answer
TOGETHER = 2  # triples in one sentence
# These relations say what kind of thing an entity is or what its name is made of. Wikidata has them
# for every entity.
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
CATEGORY = "Category:"  # a value that begins with this is no knowledge either
# Words of questions → the words that relations use instead.
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
_BESIDE = re.compile(r"[\s'’-]*")  # characters that may separate the words of a phrase


class _Fact(NamedTuple):
    """A triple that can be cited, and how well it fits the question."""

    relation: str
    value: str
    weight: int  # number of words that it shares with the question
    is_housekeeping: bool


_Group = Sequence[_Fact]  # the facts of one sentence


class _Entity(NamedTuple):
    name: str
    qid: str
    facts: tuple[_Fact, ...]  # in the order in which the prompt shows them


def graph_answer(read: ReadGraphPrompt, decoding: Decoding, draws: random.Random) -> str:
    """Return an answer to a question from the sub-graphs of its prompt.

    The answer has at most `MOST_SENTENCES` sentences of `TOGETHER` triples each. They are taken
    from the entities in turn. Within an entity, the triples that share the most words with the
    question come first, and ties keep their order. Housekeeping relations come last, and the text
    of a document node is never used. With a temperature, the next triple is drawn among the best.

    A last sentence with [NA] names the parts of the question about which nothing that is shown,
    texts included, says anything. It is the whole answer if nothing can be cited.
    """
    wanted = _wanted(read.question)
    vocabulary = Vocabulary.of(triple for graph in read.graphs for triple in graph)
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


# --- triples --------------------------------------------------------------------------------


def _entity(graph: Sequence[Triple], wanted: Set[str], vocabulary: Vocabulary) -> _Entity:
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
    """Yield facts, the best fitting first or as they are drawn; housekeeping comes last."""
    for is_housekeeping in (False, True):
        left = [fact for fact in facts if fact.is_housekeeping == is_housekeeping]
        left.sort(key=lambda fact: -fact.weight)  # stable: facts that tie keep their order
        while left:
            yield left.pop(drawn_place([fact.weight for fact in left], decoding, draws))


def _groups(facts: Iterator[_Fact]) -> Iterator[list[_Fact]]:
    """Yield the facts of each sentence."""
    while group := list(islice(facts, TOGETHER)):
        yield group


def _in_turn(waiting: Sequence[Sequence[_Group]]) -> list[Sequence[_Group]]:
    """Return the sentences that each entity gets: one in each round, while there is room."""
    n_said = [0] * len(waiting)
    for number in range(MOST_SENTENCES):
        for place, groups in enumerate(waiting):
            if number < len(groups) and sum(n_said) < MOST_SENTENCES:
                n_said[place] += 1
    return [groups[:n] for groups, n in zip(waiting, n_said, strict=True)]


# --- sentences ------------------------------------------------------------------------------


def _sentences(entity: _Entity, group: _Group, vocabulary: Vocabulary) -> list[str]:
    """Return one sentence of all facts, or one sentence for each fact.

    Facts get separate sentences if they could not be read back from their common citations.
    """
    together = _sentence(entity.name, entity.qid, group)
    if _is_read_back(together, entity.qid, group, vocabulary):
        return [together]
    return [_sentence(entity.name, entity.qid, [fact]) for fact in group]


def _sentence(name: str, qid: str, facts: _Group) -> str:
    """Return a sentence about an entity with its citations.

    An example is 'Ada Lovelace's place of birth is London [Q7259, place of birth: London].' Square
    brackets are kept for citations, so they become round brackets elsewhere.
    """
    said = [f"{relation_name(fact.relation)} is {fact.value}" for fact in facts]
    cited = ", ".join(f"{fact.relation}: {fact.value}" for fact in facts)
    return f"{name}'s {_listed(said)}".translate(_ROUND) + f" [{qid}, {cited}]."


def _is_read_back(sentence: str, qid: str, facts: _Group, vocabulary: Vocabulary) -> bool:
    """Return whether exactly these facts are read back from a sentence."""
    parsed = parse_citations(sentence, *vocabulary)
    found = [(each.qid, each.relation, each.value) for each in parsed.citations]
    wanted = [(qid, fact.relation, fact.value) for fact in facts]
    return found == list(map(_composed, wanted)) and not parsed.na_sentences


def _composed(triple: Triple) -> Triple:
    qid, relation, value = (unicodedata.normalize("NFC", part) for part in triple)
    return qid, relation, value


def _listed(parts: Sequence[str]) -> str:
    """Return parts as a list in words: 'a, b and c'."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


# --- the question ---------------------------------------------------------------------------


def _wanted(question: str) -> set[str]:
    """Return the words of a question that a fitting relation or value should have."""
    asked = tokens(question)
    return {ASKS_FOR.get(word, word) for word in asked} - EMPTY_WORDS


def _not_said(read: ReadGraphPrompt) -> list[str]:
    """Return the phrases of the question that share no word with anything shown, each once.

    Neighbouring words form one phrase, together with the function words between them.
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
    """Return whether only function words separate two words, and no punctuation mark.

    Apostrophes and hyphens do not count as punctuation marks here.
    """
    words = {word.lower() for word in _WORD.findall(between)}
    return words <= function_words() and _BESIDE.fullmatch(_WORD.sub("", between)) is not None
