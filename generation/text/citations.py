"""Citations of a knowledge graph in generated text (KaLMA, 3.3 and 4.2)."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from generation.text.sentences import BRACKET, split_sentences

_IDENTIFYING = {"name", "qid"}  # they say which entity is meant; nothing is claimed about it
_QID = re.compile(r"(?:^|[,;])\s*+(?:qid\s*+:\s*+)?+(Q[0-9]{1,99})\b\s*+[,;:]?+")
_NO_SPACE_BEFORE = (".", ",", ";", ":", "!", "?", ")", "]", "”", "’", "…")


class Citation(NamedTuple):
    """One citation: what it claims, and the sentence it stands in, without any citation."""

    number: int  # from 1, in reading order, incomplete ones included
    qid: str
    relation: str
    value: str
    sentence: str

    @property
    def is_complete(self) -> bool:
        return bool(self.qid and self.relation and self.value)


class ParsedAnswer(NamedTuple):
    """What the brackets of an answer say."""

    citations: tuple[Citation, ...]
    na_sentences: tuple[str, ...]  # sentences with [NA], without citations; each once
    n_other_brackets: int  # '[1]', '[sic]': they are text


class _Claim(NamedTuple):
    qid: str
    relation: str
    value: str


class _Bracket(NamedTuple):
    start: int
    end: int
    claims: tuple[_Claim, ...] | None  # (): [NA]; None: text


def parse_citations(
    text: str, relations: Collection[str] = (), qids: Collection[str] = ()
) -> ParsedAnswer:
    """Return the citations of an answer, numbered from 1 in reading order.

    `[Q1, ethnic group: Italians, occupation: painter]` holds two. The qid is the part between
    commas that begins like Q123, follows `qid:`, or comes first and is one of `qids`. `name: X`
    and a bare name only identify the entity. A bracket with a qid but no `relation: value`, or
    with a known relation but no qid, is one incomplete citation; `[NA]` is none; any other
    bracket is text. A bracket on a line of its own belongs to the sentence above it.

    Values may hold commas and colons, so what comes between a comma (or the bracket's beginning)
    and a colon starts the next citation only if it

    - is one of `relations` ('date_of_birth' stands for 'date of birth' too), or
    - begins with a lower-case letter, as names of relations do and titles of works seldom: one
      that a model made up is a citation of its own and does not spoil the value before it, or
    - when no `relations` are given: is anything at all.

    Args:
        text: the answer.
        relations: names of relations that the shown graph has.
        qids: names of its entities, where they do not look like Q123.
    """
    sentences = split_sentences(text)
    brackets = list(_brackets(text, relations, qids))
    cited = [bracket for bracket in brackets if bracket.claims is not None]
    bare = _bare_sentences(text, [(s.start, s.end) for s in sentences], cited)
    starts = [sentence.start for sentence in sentences]

    citations: list[Citation] = []
    na_sentences: dict[str, None] = {}
    for bracket in cited:
        sentence = bare[bisect_right(starts, bracket.start) - 1]
        for claim in bracket.claims or ():
            citations.append(Citation(len(citations) + 1, *claim, sentence))
        if not bracket.claims:
            na_sentences[sentence] = None
    return ParsedAnswer(tuple(citations), tuple(na_sentences), len(brackets) - len(cited))


def without_citations(
    text: str, relations: Collection[str] = (), qids: Collection[str] = ()
) -> str:
    """Return a text without its citations and [NA], as `parse_citations` finds them.

    Line breaks stay; other white space is tidied.
    """
    cited = [b for b in _brackets(text, relations, qids) if b.claims is not None]
    lines = _cut(text, 0, len(text), cited).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def relation_name(relation: str) -> str:
    """Return the form in which names of relations are compared: 'date_of_birth' ≡ 'date of birth'.

    Unicode NFC, no white space around it, one space for underscores and for white space.
    """
    return " ".join(unicodedata.normalize("NFC", relation).replace("_", " ").split())


# --- brackets -------------------------------------------------------------------------------


def _brackets(text: str, relations: Collection[str], qids: Collection[str]) -> Iterator[_Bracket]:
    """Return all brackets in reading order; those inside another only when that one is text."""
    opening = _opening(frozenset(map(relation_name, relations)) - _IDENTIFYING - {""})
    position = 0
    while found := BRACKET.search(text, position):
        claims = _claims(found[0][1:-1], opening, is_known=bool(relations), qids=qids)
        yield _Bracket(found.start(), found.end(), claims)
        position = found.start() + 1 if claims is None else found.end()


@lru_cache(maxsize=256)
def _opening(relations: frozenset[str]) -> re.Pattern[str]:
    """Return what may start a citation inside a bracket: the name of a relation and a colon."""
    longest_first = sorted(relations, key=lambda name: (-len(name), name))
    spelt = [r"[\s_]+".join(map(re.escape, name.split())) for name in longest_first]
    known = "|".join(spelt) or r"(?!)"  # that never matches
    return re.compile(rf"(?:^|[,;])(?:\s*+(?P<known>{known})\s*+:|(?P<other>[^,;:]+):(?=\s|$))")


def _claims(
    inside: str, opening: re.Pattern[str], *, is_known: bool, qids: Collection[str]
) -> tuple[_Claim, ...] | None:
    """Return what a bracket claims; nothing for [NA], None when it is text."""
    inside = unicodedata.normalize("NFC", inside).strip()
    if inside == "NA":
        return ()
    qid, body = _qid_and_rest(inside, qids)
    starts = [
        found
        for found in opening.finditer(body)
        if found["known"] or _may_be_relation(found["other"].strip(), is_known)
    ]
    edges = [*(found.start() for found in starts), len(body)]
    stated = [
        ((found["known"] or found["other"]).strip(), body[found.end() : end].strip().rstrip(",; "))
        for found, end in zip(starts, edges[1:], strict=True)
    ]
    identified = [value.partition(",")[0].strip() for name, value in stated if name == "qid"]
    qid = qid or next(filter(None, identified), "")
    if qid:
        claims = [_Claim(qid, *pair) for pair in stated if pair[0] not in _IDENTIFYING]
        return tuple(claims or [_Claim(qid, "", "")])

    for found, (name, value) in zip(starts, stated, strict=True):
        if found["known"]:
            return (_Claim("", name, value),)
    whole = opening.fullmatch(f"{body}:")  # '[occupation]'
    return (_Claim("", body, ""),) if whole and whole["known"] else None


def _qid_and_rest(inside: str, qids: Collection[str]) -> tuple[str, str]:
    first, _, rest = inside.partition(",")
    if first.strip() in qids:
        return first.strip(), rest
    if found := _QID.search(inside):
        before, after = inside[: found.start()], inside[found.end() :]
        return found[1], f"{before},{after}" if before else after
    return "", inside


def _may_be_relation(name: str, is_known: bool) -> bool:
    """Return whether an unknown name is one of a relation."""
    return bool(name) and (name[0].islower() or not is_known)


# --- text without citations -----------------------------------------------------------------


def _bare_sentences(
    text: str, spans: Iterable[tuple[int, int]], cited: Iterable[_Bracket]
) -> list[str]:
    """Return each sentence without citations; where only citations stood, the one before."""
    waiting = list(reversed(list(cited)))
    bare: list[str] = []
    for start, end in spans:
        inside: list[_Bracket] = []
        while waiting and waiting[-1].start < end:
            inside.append(waiting.pop())
        sentence = " ".join(_cut(text, start, end, inside).split())
        has_words = any(character.isalnum() for character in sentence)
        bare.append(bare[-1] if bare and inside and not has_words else sentence)
    return bare


def _cut(text: str, start: int, end: int, cited: Iterable[_Bracket]) -> str:
    """Return a part of a text with brackets taken out, and the space before each."""
    edges = [start, *(edge for b in cited for edge in (b.start, b.end)), end]
    kept = [text[first:last] for first, last in list(pairwise(edges))[::2]]
    parts = [kept[0]]
    for following in kept[1:]:
        parts[-1] = parts[-1].rstrip(" \t")
        is_apart = not following[:1].strip() or following.startswith(_NO_SPACE_BEFORE)
        parts += ["" if is_apart else " ", following]
    return "".join(parts)
