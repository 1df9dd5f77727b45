"""Citation quality as the published code of KaLMA computes it: the mode `authors_code`.

Reading and counting differ from the paper's definitions (`citation`); `differences` says where. The
two agree when every answer cites, no citation repeats, all are complete and correct, no graph is
empty and one minimum set is used, and when both read the brackets alike: the code cuts a value at
': ' and a bracket at the first ']', and compares letter by letter.

What is left open here: an answer with an empty minimum set would stop the code; it has no recall.
A graph of the code has one value for each relation; here any of several is right.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from evaluation.measures.citation import CitationCounts
from generation.text.citations import IDENTIFYING, ParsedAnswer, relation_name
from generation.text.compared_triples import citations_of, compared, knowledge, labels
from generation.text.flat_graph import Triple


class AuthorsAnswer(NamedTuple):
    """What the published code reads in an answer."""

    citations: tuple[Triple, ...]  # in order, repeated ones too
    n_na: int  # exactly '[NA]'


class Difference(StrEnum):
    """Why the two modes count one answer differently; its value is what pages call it."""

    EMPTY_GRAPH = "empty graph"  # skipped there
    NO_CITATION = "no citation"  # precision 0 here, none there
    REPEATED = "repeated citation"  # precise again here, a miss there
    INCOMPLETE = "incomplete citation"  # not correct here, not counted there
    NOT_IN_GRAPH = "cited but not in the graph"  # wrong here, a hit there
    NAMED = "name or qid cited"  # beside claims or of a minimum set: here none, there a citation
    COLON = "value with ': '"  # whole here, cut there
    SPELLING = "spelling"  # the same here after normalisation, another there
    READING = "bracket read differently"
    TWO_SETS = "two minimum sets"


def authors_citations(text: str) -> AuthorsAnswer:
    """Return the citations of an answer as the published code reads them.

    A bracket ends at the first ']'. Its qid is what stands before the first comma. Each ': ' ends
    the name of a relation, which begins behind the last ', ' before it; what is left between two
    names is a value. A name without ', ' before it is none, and its value is lost. Nothing is
    trimmed.
    """
    citations: list[Triple] = []
    n_na = 0
    for inside in _brackets(text):
        if inside == "NA":
            n_na += 1
            continue
        qid = inside.partition(",")[0]
        *before, last = inside.split(": ")
        # Each piece holds a value and, behind its last comma, the next name.
        pieces = [_value_and_name(piece) for piece in before] + [(last, "")]
        citations += [
            (qid, relation, value) for (_, relation), (value, _) in pairwise(pieces) if relation
        ]
    return AuthorsAnswer(tuple(citations), n_na)


def _brackets(text: str) -> Iterator[str]:
    """Return what stands between a '[' and the next ']' of the same line."""
    for line in text.split("\n"):
        for piece in line.split("]")[:-1]:
            _, bracket, inside = piece.partition("[")
            if bracket:
                yield inside


def _value_and_name(piece: str) -> tuple[str, str]:
    value, comma, name = piece.rpartition(", ")
    return (value, name) if comma else (piece, "")


def count_as_authors(
    text: str,
    shown: Collection[Triple],
    minimum: Collection[Triple] | None,
    minimum_of_precision: Collection[Triple] | None = None,
) -> CitationCounts | None:
    """Return what one answer adds to the figures of mode `authors_code`; None: it is skipped.

    `n_precise` and `n_hit` are the different members of a minimum set that are cited, correct or
    not. An answer whose graph is empty is skipped.

    Args:
        text: the answer.
        shown: triples of the graph; those that name an entity count as well.
        minimum: the minimum set; None: not known.
        minimum_of_precision: another one for precision alone. The authors took recall from the set
            without what round 1 of the construction gave, precision from the whole set.
    """
    if not shown:
        return None
    cited = authors_citations(text).citations
    graph = {*shown, *((qid, "qid", qid) for qid, _, _ in shown)}
    needed = set(minimum or ())
    helpful = needed if minimum_of_precision is None else set(minimum_of_precision)
    return CitationCounts(
        n_citations=len(cited),
        n_correct=sum(each in graph for each in cited),
        n_precise=len(helpful & set(cited)),
        n_hit=len(needed & set(cited)),
        n_minimum=None if minimum is None else len(needed),
    )


def differences(
    text: str,
    answer: ParsedAnswer,
    shown: Collection[Triple],
    minimum: Collection[Triple] | None,
    minimum_of_precision: Collection[Triple] | None = None,
) -> list[Difference]:
    """Return why the two modes count an answer differently, in the order of `Difference`.

    Args:
        text: the answer.
        answer: what `parse_citations` read in it.
        shown: triples of the graph.
        minimum: the minimum set of the paper's mode, and of the code's recall; None: not known.
        minimum_of_precision: as for `count_as_authors`.

    Returns:
        Nothing only when both count the same.
    """
    if not shown:
        return [Difference.EMPTY_GRAPH]
    cited = citations_of(answer, shown)
    complete = [(each.qid, each.relation, each.value) for each in cited if each.is_complete]
    here, names_here = _without_names(complete)
    there, names_there = _without_names(authors_citations(text).citations)
    needed = set(minimum or ())
    helpful = needed if minimum_of_precision is None else set(minimum_of_precision)
    uses = Counter(each for each in (*there, *names_there) if each in needed | helpful)
    names_of_sets = _without_names((*needed, *uses))[1]
    found = {
        Difference.NO_CITATION: not (cited or there or names_there) and minimum is not None,
        Difference.REPEATED: any(times > 1 for times in uses.values()),
        Difference.INCOMPLETE: len(complete) < len(cited),
        Difference.NOT_IN_GRAPH: not knowledge(uses) <= knowledge(shown),
        Difference.NAMED: sorted(names_here) != sorted(names_there) or bool(names_of_sets),
        Difference.TWO_SETS: needed & uses.keys() != helpful & uses.keys(),
        **_differences_of_reading(here, there),
    }
    found[Difference.SPELLING] |= (
        _are_known_by_spelling(there, shown)
        or _are_known_by_spelling(there, needed)
        or any((name in shown) != (compared(name) in labels(shown)) for name in names_here)
        or len(knowledge(needed)) < sum(name not in IDENTIFYING for _, name, _ in needed)
    )
    return [reason for reason in Difference if found.get(reason)]


def _without_names(claims: Iterable[Triple]) -> tuple[list[Triple], list[Triple]]:
    """Return what claims something of an entity, and what only says which one is meant."""
    both: tuple[list[Triple], list[Triple]] = ([], [])
    for claim in claims:
        both[relation_name(claim[1]) in IDENTIFYING].append(claim)
    return both


def _differences_of_reading(here: Sequence[Triple], there: list[Triple]) -> dict[Difference, bool]:
    """Return which reasons there are for other claims, from the complete ones of both.

    Names are none of them.
    """
    reread = [authors_citations(f"[{qid}, {name}: {value}]").citations for qid, name, value in here]
    cut = [claim for claim, again in zip(here, reread, strict=True) if again != (claim,)]
    expected = [claim for again in reread for claim in again]
    same_but_for_spelling = [*map(compared, expected)] == [*map(compared, there)]
    return {
        Difference.COLON: any(": " in value for _, _, value in cut),
        Difference.SPELLING: same_but_for_spelling and expected != there,
        Difference.READING: not same_but_for_spelling
        or any(": " not in value for _, _, value in cut),
    }


def _are_known_by_spelling(claims: Iterable[Triple], known: Collection[Triple]) -> bool:
    """Return whether a claim meets one of some triples only as `citation` compares them."""
    facts, stated = knowledge(known), set(known)
    return any((claim in stated) != (compared(claim) in facts) for claim in claims)
