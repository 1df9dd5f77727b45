"""Citation quality as the published code of KaLMA computes it: the mode `authors_code`.

Reading and counting differ from the paper's definitions (`citation`); `differences` returns where.
The two modes agree under these conditions: every answer has a citation, no citation is repeated,
all are complete and correct, no graph is empty, one minimum set is used, and both modes read the
brackets in the same way. The published code cuts a value at ': ' and a bracket at the first ']',
and it compares letter by letter.

Two things are not copied from the published code. An answer with an empty minimum set would stop
the code; here it has no recall. A graph of the code has one value for each relation; here a
relation may have several values, and each of them is right.
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
    """The citations and [NA] marks that the published code reads in an answer."""

    citations: tuple[Triple, ...]  # in order, including repeated ones
    n_na: int  # number of brackets that are exactly '[NA]'


class Difference(StrEnum):
    """The reasons why the two modes count one answer differently. Pages show the values.

    In the comments, 'paper' is the mode of the paper's definitions, and 'code' is `authors_code`.
    """

    EMPTY_GRAPH = "empty graph"  # code: the answer is skipped
    NO_CITATION = "no citation"  # paper: precision is 0; code: there is no precision
    REPEATED = "repeated citation"  # paper: it is precise again; code: it is a miss
    INCOMPLETE = "incomplete citation"  # paper: it is not correct; code: it is not counted
    NOT_IN_GRAPH = "cited but not in the graph"  # paper: it is wrong; code: it is a hit
    # The name is cited beside claims, or is in a minimum set. Paper: no citation; code: a citation.
    NAMED = "name or qid cited"
    COLON = "value with ': '"  # paper: the value is read whole; code: it is cut
    SPELLING = "spelling"  # paper: triples are equal after normalisation; code: they differ
    READING = "bracket read differently"
    TWO_SETS = "two minimum sets"


def authors_citations(text: str) -> AuthorsAnswer:
    """Return the citations of an answer as the published code reads them.

    A bracket ends at the first ']'. Its qid is the text before the first comma. Each ': ' ends the
    name of a relation, which begins after the last ', ' before it. The text between two names is a
    value. A name without ', ' before it does not count, and its value is lost. Nothing is trimmed.
    """
    citations: list[Triple] = []
    n_na = 0
    for inside in _brackets(text):
        if inside == "NA":
            n_na += 1
            continue
        qid = inside.partition(",")[0]
        *before, last = inside.split(": ")
        # Each piece holds a value and, after its last comma, the next name.
        pieces = [_value_and_name(piece) for piece in before] + [(last, "")]
        citations += [
            (qid, relation, value) for (_, relation), (value, _) in pairwise(pieces) if relation
        ]
    return AuthorsAnswer(tuple(citations), n_na)


def _brackets(text: str) -> Iterator[str]:
    """Yield the text between each '[' and the next ']' of the same line."""
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
    """Return the counts of one answer in mode `authors_code`; None if the answer is skipped.

    `n_precise` and `n_hit` are the numbers of different members of a minimum set that are cited,
    correct or not. An answer whose graph is empty is skipped.

    Args:
        text: the answer.
        shown: triples of the graph; those that name an entity count as well.
        minimum: the minimum set; None: not known.
        minimum_of_precision: another minimum set, used for precision alone. The authors computed
            recall from the set without the triples of round 1 of the construction, and precision
            from the whole set.
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
        answer: the same answer as `parse_citations` read it.
        shown: triples of the graph.
        minimum: the minimum set of the paper's mode, and of the code's recall; None: not known.
        minimum_of_precision: that of `count_as_authors`.

    Returns:
        The reasons. The list is empty only when both modes count the same.
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
    """Return the claims about an entity, and separately the triples that only name an entity."""
    both: tuple[list[Triple], list[Triple]] = ([], [])
    for claim in claims:
        both[relation_name(claim[1]) in IDENTIFYING].append(claim)
    return both


def _differences_of_reading(here: Sequence[Triple], there: list[Triple]) -> dict[Difference, bool]:
    """Return for each reason whether it makes the two modes read different claims.

    Args:
        here: complete claims, without names, in the paper's mode.
        there: complete claims, without names, in mode `authors_code`.
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
    """Return whether a claim is in `known` under only one of the two ways to compare triples.

    `citation` compares normalised triples; the published code compares letter by letter.
    """
    facts, stated = knowledge(known), set(known)
    return any((claim in stated) != (compared(claim) in facts) for claim in claims)
