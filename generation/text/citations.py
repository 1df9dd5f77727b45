"""Citations of a knowledge graph in generated text (KaLMA, 3.3 and 4.2)."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import count, islice
from typing import NamedTuple

from generation.text.brackets import (
    lookalikes,
    on_one_line,
    plain_brackets,
    with_plain_separators,
)
from generation.text.flat_graph import Triple
from generation.text.sentences import BRACKET, split_sentences

NAME = "name"
IDENTIFYING = frozenset({NAME, "qid"})  # these identify the entity and claim nothing about it
_MARKS = frozenset(",;:")
_QID = re.compile(r"(?:^|[,;])\s*+(?:qid\s*+:\s*+)?+(Q[0-9]{1,99})\b\s*+[,;:]?+")
_ENDS = ",; \uff0c\uff1b"
_NO_SPACE_BEFORE = (".", ",", ";", ":", "!", "?", ")", "]", "”", "’", "…")


class ParsedCitation(NamedTuple):
    """One citation: its claim, and the sentence that holds it, without any citation."""

    number: int  # 1, 2, … in reading order, incomplete citations included
    qid: str
    relation: str
    value: str
    sentence: str

    @property
    def is_complete(self) -> bool:
        return bool(self.qid and self.relation and self.value)


class ParsedAnswer(NamedTuple):
    """The citations and marks in the brackets of an answer."""

    citations: tuple[ParsedCitation, ...]
    na_sentences: tuple[str, ...]  # sentences with [NA], without citations; each place counts once
    # '[1]', '[sic]', '【4:0】', and what only looks like a citation: '(Q1, …)'. These are text.
    n_other_brackets: int
    # The names that entities are given beside other claims, numbered after all citations. Such a
    # name is a citation only if the entity has another name: see `compared_triples.other_names`.
    names: tuple[ParsedCitation, ...] = ()


class _Bracket(NamedTuple):
    start: int
    end: int
    claims: tuple[Triple, ...] | None  # (): [NA]; None: the bracket is text
    names: tuple[Triple, ...] = ()  # names beside the claims; a bare name has no relation


def parse_citations(
    text: str,
    relations: Collection[str] = (),
    qids: Collection[str] = (),
    values: Collection[str] = (),
) -> ParsedAnswer:
    """Return the citations of an answer, numbered from 1 in reading order.

    `[Q1, ethnic group: Italians, occupation: painter]` holds two citations. The qid is the part
    between commas that looks like Q123, follows `qid:`, or comes first and is one of `qids`.
    `name: X` and a bare name only identify the entity: beside other claims they are `names`, but
    `[Q1, name: X]` alone is one citation. A bracket with a qid but no `relation: value`, or with a
    known relation but no qid, is one incomplete citation. `[NA]` is no citation, and any other
    bracket is text. A bracket on a line of its own belongs to the sentence above it. Citations may
    also be in 【】, in brackets of full width, or over a line break.

    Names are numbered after all citations. So the number to which votes and scores refer does not
    depend on whether an entity has a name.

    Values may hold commas and colons. One of `values` is read whole. Otherwise, the text between a
    comma (or the beginning of the bracket) and a colon starts the next citation only in these
    cases:

    - It is one of `relations` ('date_of_birth' means 'date of birth' too).
    - It begins with a lower-case letter and has more than one, as names of relations do and titles
      of works seldom do. So a relation that a model made up is a citation of its own and does not
      spoil the value before it.
    - No `relations` are given.

    Args:
        text: the answer.
        relations: the names of the relations of the graph that was shown.
        qids: the names of its entities, if they do not look like Q123.
        values: its values that hold a comma and a colon; `Vocabulary.of` returns all three.
    """
    plain, brackets, n_others = _read(text, relations, qids, values)
    sentences = split_sentences(plain)
    cited = [bracket for bracket in brackets if bracket.claims is not None]
    bare = _bare_sentences(text, [(s.start, s.end) for s in sentences], cited)
    starts = [sentence.start for sentence in sentences]

    citations: list[ParsedCitation] = []
    named: list[tuple[Triple, str]] = []
    na_sentences: dict[int, str] = {}  # keys are places: a model may repeat a sentence
    for bracket in cited:
        place, sentence = bare[bisect_right(starts, bracket.start) - 1]
        for claim in bracket.claims or ():
            citations.append(ParsedCitation(len(citations) + 1, *claim, sentence))
        named += [(name, sentence) for name in bracket.names]
        if not bracket.claims:
            na_sentences[place] = sentence
    names = tuple(
        ParsedCitation(number, *name, sentence)
        for number, (name, sentence) in enumerate(named, start=len(citations) + 1)
    )
    na = tuple(na_sentences.values())
    return ParsedAnswer(tuple(citations), na, n_others, names)


class TextPiece(NamedTuple):
    """A part of an answer, unchanged: text, or a bracket with the numbers of its citations."""

    text: str
    numbers: tuple[int, ...] = ()  # numbers of its citations, as in `parse_citations`
    is_na: bool = False
    names: tuple[int, ...] = ()  # numbers of its names


def pieces(
    text: str,
    relations: Collection[str] = (),
    qids: Collection[str] = (),
    values: Collection[str] = (),
) -> list[TextPiece]:
    """Return an answer cut at its citations and [NA]; the texts of the pieces make up the answer.

    Args:
        text: the answer.
        relations: as in `parse_citations`.
        qids: as in `parse_citations`.
        values: as in `parse_citations`.
    """
    _, brackets, _ = _read(text, relations, qids, values)
    brackets = [each for each in brackets if each.claims is not None]
    numbers = count(1)
    of_claims = [tuple(islice(numbers, len(bracket.claims or ()))) for bracket in brackets]
    of_names = [tuple(islice(numbers, len(bracket.names))) for bracket in brackets]
    cut: list[TextPiece] = []
    end = 0
    for bracket, claims, names in zip(brackets, of_claims, of_names, strict=True):
        if bracket.start > end:
            cut.append(TextPiece(text[end : bracket.start]))
        inside = text[bracket.start : bracket.end]
        cut.append(TextPiece(inside, claims, is_na=not bracket.claims, names=names))
        end = bracket.end
    return [*cut, TextPiece(text[end:])] if end < len(text) else cut


def without_citations(
    text: str,
    relations: Collection[str] = (),
    qids: Collection[str] = (),
    values: Collection[str] = (),
) -> str:
    """Return a text without its citations and [NA], as `parse_citations` finds them.

    Line breaks are kept. Other white space becomes one space, and none at the ends of lines.
    """
    _, brackets, _ = _read(text, relations, qids, values)
    cited = [bracket for bracket in brackets if bracket.claims is not None]
    lines = _cut(text, 0, len(text), cited).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines).strip()


@lru_cache(maxsize=4096)
def relation_name(relation: str) -> str:
    """Return the form in which names of relations are compared: 'date_of_birth' ≡ 'date of birth'.

    The form is Unicode NFC, without white space around it, and with one space for each run of
    underscores and white space.
    """
    return " ".join(unicodedata.normalize("NFC", relation).replace("_", " ").split())


# --- brackets -------------------------------------------------------------------------------


class _KnownGraph(NamedTuple):
    """The relations of a graph, in the forms that are needed to read brackets."""

    names: frozenset[str]  # names of relations, in the form of `relation_name`
    opening: re.Pattern[str]  # matches a name and a colon
    values: re.Pattern[str]  # matches a value that holds a comma and a colon, whole


class _ReadBrackets(NamedTuple):
    """An answer whose brackets are all [ ] on one line, with them, and how many are text."""

    plain: str
    brackets: list[_Bracket]
    n_others: int


def _read(
    text: str, relations: Collection[str], qids: Collection[str], values: Collection[str]
) -> _ReadBrackets:
    known = _known(frozenset(relations), frozenset(values))

    def cites(inside: str) -> bool:
        return _claims(inside, known, qids, any_name=not relations)[0] is not None

    plain = plain_brackets(text, cites)
    brackets = list(_brackets(text, plain.text, known, qids, any_name=not relations))
    others = [(each.start, each.end) for each in brackets if each.claims is None]
    others += plain.others
    spans = sorted([*((each.start, each.end) for each in brackets), *plain.others])
    starts = [start for start, _ in spans]
    n_alike = 0
    for place in lookalikes(plain.text):
        before = bisect_right(starts, place) - 1
        n_alike += before < 0 or spans[before][1] <= place
    return _ReadBrackets(plain.text, brackets, len(others) + n_alike)


def _brackets(
    text: str, plain: str, known: _KnownGraph, qids: Collection[str], *, any_name: bool
) -> Iterator[_Bracket]:
    """Yield all brackets in reading order; brackets inside another only if that one is text.

    They are found in `plain`, and `text` has what they hold.
    """
    position = 0
    while found := BRACKET.search(plain, position):
        start, position = found.span()
        claims, names = _claims(text[start + 1 : position - 1], known, qids, any_name=any_name)
        yield _Bracket(start, position, claims, names)
        if claims is None:
            position = start + 1


@lru_cache(maxsize=4096)
def _known(relations: frozenset[str], values: frozenset[str]) -> _KnownGraph:
    """Return what may start a citation inside a bracket.

    This is any text without marks, whose name is looked up, or a name that holds marks itself
    ('child, adopted'). There are many graphs but few such names, so the pattern is nearly always
    the same.
    """
    names = frozenset(map(relation_name, relations)) - IDENTIFYING - {""}
    marked = sorted((n for n in names if not _MARKS.isdisjoint(n)), key=lambda n: (-len(n), n))
    spelt = [r"[\s_]+".join(map(re.escape, name.split())) for name in marked]
    whole = "|".join(spelt) or r"(?!)"  # never matches
    spelt = [r"\s+".join(map(re.escape, value.split())) for value in sorted(values, key=len)[::-1]]
    held = "|".join(spelt) or r"(?!)"
    return _KnownGraph(
        names,
        re.compile(rf"(?:^|[,;])(?:\s*+(?P<marked>{whole})\s*+|(?P<plain>[^,;:]++)):"),
        re.compile(rf"\s*(?:{held})\s*(?=[,;\uff0c\uff1b]|$)"),
    )


def _claims(
    inside: str, known: _KnownGraph, qids: Collection[str], *, any_name: bool
) -> tuple[tuple[Triple, ...] | None, tuple[Triple, ...]]:
    """Return the claims of a bracket and the names beside them.

    The claims are empty for [NA] and None if the bracket is text. With `any_name`, a name of a
    relation need not look like one.
    """
    inside = on_one_line(inside)
    if inside == "NA":
        return (), ()
    qid, body = _qid_and_rest(inside, qids)
    before, stated = _stated(body, known, any_name=any_name)
    if not qid:
        identified = (value.partition(",")[0].strip() for name, value, _ in stated if name == "qid")
        qid = next(filter(None, identified), "")
    if qid:
        return _of_entity(qid, before, [(name, value) for name, value, _ in stated])

    for name, value, is_of_graph in stated:
        if is_of_graph:
            return (("", name, value),), ()
    bare = body.lstrip(_ENDS)  # '[occupation]'
    return ((("", bare, ""),) if relation_name(bare) in known.names else None), ()


def _of_entity(
    qid: str, before: str, stated: Iterable[tuple[str, str]]
) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Return a bracket's claims about an entity, at least one, and the names beside them.

    Without another claim, the first `name: X` is the claim. Without any, the qid alone is.

    Args:
        before: the text before the first relation.
    """
    claims: list[Triple] = []
    names: dict[str, Triple] = {before: (qid, "", before)} if before not in ("", qid) else {}
    for relation, value in stated:
        if relation_name(relation) not in IDENTIFYING:
            claims.append((qid, relation, value))
        elif relation_name(relation) == NAME and value:
            names[value] = (qid, relation, value)  # the same name twice counts once
    if claims:
        return tuple(claims), tuple(names.values())
    alone = next((name for name in names.values() if name[1]), None)
    if alone is None:
        return ((qid, "", ""),), ()
    return (alone,), tuple(name for name in names.values() if name != alone)


def _stated(
    body: str, known: _KnownGraph, *, any_name: bool
) -> tuple[str, list[tuple[str, str, bool]]]:
    """Return the text before the first relation in a bracket, and the statements of the bracket.

    A statement is a relation, its value, and whether the graph has the relation.
    """
    starts: list[tuple[int, int, str, bool]] = []
    whole_until = 0  # the end of a value that the graph has
    for found in known.opening.finditer(with_plain_separators(body)):
        start, end = found.span()
        if start < whole_until:
            continue
        name = (found["marked"] or found["plain"]).strip()
        is_of_graph = relation_name(name) in known.names
        is_apart = body[end - 1] != ":" or not body[end : end + 1].strip()  # 'a: b', not '12:30'
        may_be_one = name and (any_name or (name[0].islower() and len(name) > 1))
        if is_of_graph or (may_be_one and is_apart):
            starts.append((start, end, name, is_of_graph))
            held = known.values.match(body, end)
            whole_until = held.end() if held else 0
    edges = [*(start for start, *_ in starts), len(body)]
    return body[: edges[0]].strip(_ENDS), [
        (name, body[begin:end].strip().rstrip(_ENDS), is_of_graph)
        for (_, begin, name, is_of_graph), end in zip(starts, edges[1:], strict=True)
    ]


def _qid_and_rest(inside: str, qids: Collection[str]) -> tuple[str, str]:
    plain = with_plain_separators(inside)
    first = inside[: len(plain.partition(",")[0])]
    if first.strip() in qids:
        return first.strip(), inside[len(first) + 1 :]
    if found := _QID.search(plain):
        before, after = inside[: found.start()], inside[found.end() :]
        return found[1], f"{before},{after}" if before else after
    return "", inside


# --- text without citations -----------------------------------------------------------------


def _bare_sentences(
    text: str, spans: Iterable[tuple[int, int]], cited: Iterable[_Bracket]
) -> list[tuple[int, str]]:
    """Return place and text of each sentence, without citations.

    A sentence of citations alone gets the place and text of the sentence before it.
    """
    waiting = list(reversed(list(cited)))
    bare: list[tuple[int, str]] = []
    for start, end in spans:
        inside: list[_Bracket] = []
        while waiting and waiting[-1].start < end:
            inside.append(waiting.pop())
        sentence = " ".join(_cut(text, start, end, inside).split())
        has_words = any(character.isalnum() for character in sentence)
        bare.append(bare[-1] if bare and inside and not has_words else (len(bare), sentence))
    return bare


def _cut(text: str, start: int, end: int, cited: Iterable[_Bracket]) -> str:
    """Return a part of a text without some brackets and without the space before each of them."""
    kept = []
    for bracket in cited:
        kept.append(text[start : bracket.start])
        start = bracket.end
    kept.append(text[start:end])
    parts = kept[:1]
    for following in kept[1:]:
        parts[-1] = parts[-1].rstrip(" \t")
        is_apart = not following[:1].strip() or following.startswith(_NO_SPACE_BEFORE)
        parts += ["" if is_apart else " ", following]
    return "".join(parts)
