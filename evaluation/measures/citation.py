"""Citation quality: correctness, precision, recall, F1 (KaLMA, 4.2).

`text.compared_triples` defines which triples are equal. `authors_citation` computes what the
authors' code computes instead. Both modes return the same kind of counts, and the figures are
computed from counts in the same way.

*Statistics* are one row per answer: a part and a whole for each of the six `SHARES`, with zeros
where an answer is left out of a share. `figure_of` turns them into the figures that
`intervals.bootstrap_intervals` takes.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes, Measure, Statistic, ratio, share_from
from evaluation.statistics.jackknife import InRange
from generation.text.citations import ParsedAnswer, ParsedCitation
from generation.text.compared_triples import citations_of, compared, knowledge, labels
from generation.text.flat_graph import Triple


class Mode(StrEnum):
    """The definitions that figures follow: the paper's, or those of the authors' code."""

    PAPER = "paper"
    AUTHORS_CODE = "authors_code"


class CitationVerdict(StrEnum):
    """The verdict on one citation. Pages show the values."""

    IN_MINIMUM = "in minimum set"  # the citation is also correct
    CORRECT = "correct"  # it is in the shown text, but not needed, or the set is not known
    WRONG = "wrong"  # it is complete, but not in the shown text
    INCOMPLETE = "incomplete"


class JudgedCitation(NamedTuple):
    citation: ParsedCitation
    verdict: CitationVerdict


class CitationCounts(NamedTuple):
    """The counts of one answer, from which figures are computed."""

    n_citations: int  # including incomplete ones
    n_correct: int
    n_precise: int  # citations that are correct and in the minimum set; repeated ones count again
    n_hit: int  # members of the minimum set that some correct citation hits
    n_minimum: int | None  # different members of the minimum set; None: the set is not known
    n_incomplete: int = 0


# --- one answer -----------------------------------------------------------------------------


def judged(
    answer: ParsedAnswer, shown: Collection[Triple], minimum: Collection[Triple] | None
) -> list[JudgedCitation]:
    """Return each citation with its verdict, by number; `minimum` is None if it is not known.

    A name beside other claims is a citation only if it differs from the name in the shown text.
    """
    stated, needed = _stated(shown), knowledge(minimum or ())
    cited = citations_of(answer, shown)
    return [JudgedCitation(each, _verdict(each, stated, needed)) for each in cited]


def count_citations(
    answer: ParsedAnswer, shown: Collection[Triple], minimum: Collection[Triple] | None
) -> CitationCounts:
    """Return the counts of one answer, with the same citations and verdicts as `judged`."""
    stated, needed = _stated(shown), knowledge(minimum or ())
    cited = citations_of(answer, shown)
    complete = [_fact(each) for each in cited if each.is_complete]
    correct = [fact for fact in complete if fact in stated]
    precise = [fact for fact in correct if fact in needed]
    return CitationCounts(
        n_citations=len(cited),
        n_correct=len(correct),
        n_precise=len(precise),
        n_hit=len(set(precise)),
        n_minimum=None if minimum is None else len(needed),
        n_incomplete=len(cited) - len(complete),
    )


def _stated(shown: Collection[Triple]) -> frozenset[Triple]:
    """Return what a correct citation may say: knowledge of the shown graph, or a name in it."""
    return knowledge(shown) | labels(shown)


def _verdict(
    citation: ParsedCitation, stated: Collection[Triple], needed: Collection[Triple]
) -> CitationVerdict:
    if not citation.is_complete:
        return CitationVerdict.INCOMPLETE
    fact = _fact(citation)
    if fact not in stated:
        return CitationVerdict.WRONG
    return CitationVerdict.IN_MINIMUM if fact in needed else CitationVerdict.CORRECT


def _fact(citation: ParsedCitation) -> Triple:
    return compared((citation.qid, citation.relation, citation.value))


# --- many answers ---------------------------------------------------------------------------

SHARES = (
    "correctness",
    "precision",
    "recall",
    "macro_correctness",
    "macro_precision",
    "macro_recall",
)
_COLUMNS = {
    **{name: slice(2 * place, 2 * place + 2) for place, name in enumerate(SHARES)},
    "f1": slice(2, 6),
    "macro_f1": slice(8, 12),
}


class CitationFigures(NamedTuple):
    """The figures of a set of answers, shares in [0, 1]; NaN where undefined.

    Answers whose minimum set is not known count for correctness only. Answers with an empty
    minimum set do not count for recall.
    """

    correctness: float  # micro
    macro_correctness: float  # mean over answers with a citation
    precision: float
    recall: float
    f1: float
    macro_precision: float  # an answer without citations has 0; the authors' code leaves it out
    macro_recall: float
    macro_f1: float


def citation_figures(
    counts: Sequence[CitationCounts] | Floats, mode: Mode = Mode.PAPER
) -> CitationFigures:
    """Return the micro and macro figures of some answers.

    A micro figure is over all citations (correctness, precision) or all needed knowledge (recall).
    A macro figure is the mean of the answers' own shares. F1 is computed from precision and recall;
    it is not a mean of the answers' F1.
    """
    sums = citation_statistics(counts, mode).sum(axis=0)
    return CitationFigures(
        **{name: float(_measure(name)(sums[_COLUMNS[name]])) for name in CitationFigures._fields}
    )


def citation_statistics(
    counts: Sequence[CitationCounts] | Floats, mode: Mode = Mode.PAPER
) -> Floats:
    """Return part and whole of each of the `SHARES`, beside each other: (n_answers, 12).

    Args:
        counts: one entry per answer, or one row of (n_answers, 6), NaN for None.
        mode: in mode `authors_code` an answer without citations has no macro precision, in mode
            `paper` it has 0.
    """
    table = np.array(counts, dtype=np.float64).reshape(-1, len(CitationCounts._fields))
    citations, correct, precise, hit, minimum, _ = table.T
    cites, is_known, is_needed = citations > 0, ~np.isnan(minimum), minimum > 0
    has_precision = is_known & cites if mode is Mode.AUTHORS_CODE else is_known
    of_citations = np.where(cites, citations, 1.0)
    of_minimum = np.where(is_needed, minimum, 1.0)
    pairs = (
        (correct, citations, True),
        (precise, citations, is_known),
        (hit, minimum, is_needed),
        (correct / of_citations, np.ones_like(citations), cites),
        (precise / of_citations, np.ones_like(citations), has_precision),
        (hit / of_minimum, np.ones_like(citations), is_needed),
    )
    return np.column_stack(
        [np.where(counted, side, 0.0) for part, whole, counted in pairs for side in (part, whole)]
    )


def figure_of(name: str, statistics: Floats, dialogs: Indexes) -> Statistic:
    """Return a figure, ready for an interval.

    Args:
        name: a field of `CitationFigures`; the six `SHARES` are shares, the two F1 are not.
        statistics: the result of `citation_statistics`, one row per answer.
        dialogs: the dialog of each answer, as in `intervals.Statistic`.
    """
    return Statistic(statistics[:, _COLUMNS[name]], dialogs, _measure(name))


def f1(precision: Floats, recall: Floats) -> Floats:
    """Return 2PR / (P + R): 0 where both are 0, NaN where one is undefined."""
    both = np.asarray(precision + recall)
    return np.where(both == 0, 0.0, ratio(np.asarray(2 * precision * recall), both))


def f1_from(sums: Floats) -> Floats:
    """Return F1 from sums: part and whole of precision, then of recall; (..., 4) to (...)."""
    return f1(share_from(sums[..., :2]), share_from(sums[..., 2:]))


F1 = InRange(f1_from)


def _measure(name: str) -> Measure:
    return share_from if name in SHARES else F1
