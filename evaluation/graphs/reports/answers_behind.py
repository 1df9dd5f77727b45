"""The answers behind the figures on citations, and where the two ways of counting part."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluation.graphs.reports.citations import CitationChoices, CitationsRow, citations_report
from evaluation.graphs.reports.cited_answers import REASONS, CitedAnswers, Rounds
from evaluation.measures.authors_citation import Difference
from evaluation.measures.citation import CitationCounts, CitationFigures, Mode, citation_statistics
from evaluation.reports.report import number
from generation.models import Dataset, Response

# Why an answer is counted differently, in a sentence.
REASON_SENTENCES: Mapping[Difference, str] = {
    Difference.EMPTY_GRAPH: "Its graph was empty: the code skips it; by the paper’s definitions it "
    "counts, and whatever it cites is wrong.",
    Difference.NO_CITATION: "It cites nothing: its precision is 0 here, and has no part in the "
    "code’s macro precision.",
    Difference.REPEATED: "It cites a member of the minimum set more than once: each time is "
    "precise here, only the first one is in the code.",
    Difference.INCOMPLETE: "A citation lacks qid, relation or value: not correct here, not counted "
    "at all in the code.",
    Difference.NOT_IN_GRAPH: "It cites a member of the minimum set that the shown graph does not "
    "hold: wrong here, a hit in the code, which does not look at the graph.",
    Difference.NAMED: "It gives a name or a qid beside other claims, or its minimum set has one: "
    "that identifies an entity here, and is a citation in the code.",
    Difference.COLON: "A value holds a colon: it is whole here, and cut there in the code.",
    Difference.SPELLING: "It spells a name or a value otherwise than the graph does: the same here "
    "after normalisation, another one in the code.",
    Difference.READING: "A bracket is read differently: other marks, nested brackets, a qid that "
    "is not first.",
    Difference.TWO_SETS: "Two minimum sets are used: the code takes recall from rounds 2 to 6 and "
    "precision from the whole set.",
}


class AnswerFigures(NamedTuple):
    """The figures of one answer in one mode, in [0, 1]; None where undefined."""

    correctness: float | None
    precision: float | None
    recall: float | None


class AnswerRow(NamedTuple):
    """One answer with what became of its citations."""

    response: Response
    n_citations: int
    n_in_minimum: int | None  # None: the set is not known
    n_correct: int  # and not in the minimum set, where that is known
    n_wrong: int
    n_incomplete: int
    n_na: int
    figures: AnswerFigures

    @property
    def question(self) -> str:
        """The last turn of its dialog."""
        return _question(self.response)


class DifferentRow(NamedTuple):
    """One answer as both modes count it."""

    response: Response
    paper: AnswerFigures
    authors: AnswerFigures | None  # None: skipped
    n_citations: int
    n_citations_of_authors: int | None
    reasons: list[Difference]

    @property
    def question(self) -> str:
        """The last turn of its dialog."""
        return _question(self.response)


class BothModes(NamedTuple):
    """The figures of one setup in both modes: name of the figure, here, there, difference."""

    setup: str
    setup_id: int
    n_here: int
    n_there: int
    figures: list[tuple[str, float | None, float | None, float | None]]


def answers_behind(answers: CitedAnswers, places: Sequence[int]) -> list[AnswerRow]:
    """Return some answers by their places, as the paper’s definitions count them; three queries."""
    responses = _responses(answers, places)
    rows = []
    for place in places:
        counts = _counts(answers, Mode.PAPER, place)
        rows.append(
            AnswerRow(
                response=responses[int(answers.responses[place])],
                n_citations=counts.n_citations,
                n_in_minimum=None if counts.n_minimum is None else counts.n_precise,
                n_correct=counts.n_correct - counts.n_precise,
                n_wrong=counts.n_citations - counts.n_correct - counts.n_incomplete,
                n_incomplete=counts.n_incomplete,
                n_na=int(answers.n_na[Mode.PAPER][place]),
                figures=_figures(answers, Mode.PAPER, place),
            )
        )
    return rows


def differing_answers(answers: CitedAnswers, places: Sequence[int]) -> list[DifferentRow]:
    """Return some answers by their places, as both modes count them; three queries."""
    responses = _responses(answers, places)
    rows = []
    for place in places:
        is_counted = bool(answers.is_counted[Mode.AUTHORS_CODE][place])
        there = _counts(answers, Mode.AUTHORS_CODE, place) if is_counted else None
        rows.append(
            DifferentRow(
                response=responses[int(answers.responses[place])],
                paper=_figures(answers, Mode.PAPER, place),
                authors=_figures(answers, Mode.AUTHORS_CODE, place) if is_counted else None,
                n_citations=_counts(answers, Mode.PAPER, place).n_citations,
                n_citations_of_authors=there.n_citations if there else None,
                reasons=[
                    reason
                    for reason, holds in zip(REASONS, answers.reasons[place], strict=True)
                    if holds
                ],
            )
        )
    return rows


def both_modes(dataset: Dataset, rounds: Rounds) -> list[BothModes]:
    """Return every setup's figures in both modes; a difference is the code's minus the paper's.

    Raises:
        CannotReport: there is no graph.
    """
    here, there = (
        {
            row.of.setup_id: row
            for row in citations_report(dataset, CitationChoices(mode, rounds)).rows
        }
        for mode in (Mode.PAPER, Mode.AUTHORS_CODE)
    )
    return [_beside(row, there[pk]) for pk, row in here.items()]


def _beside(here: CitationsRow, there: CitationsRow) -> BothModes:
    of_paper, of_code = _values(here), _values(there)
    return BothModes(
        here.of.setup,
        here.of.setup_id,
        here.counts.n_answers,
        there.counts.n_answers,
        [(name, of_paper[name], of, _minus(of, of_paper[name])) for name, of in of_code.items()],
    )


def _values(row: CitationsRow) -> dict[str, float | None]:
    """Return the figures of a setup by name, without their intervals."""
    return {name: getattr(row, name).value for name in CitationFigures._fields}


def _minus(there: float | None, here: float | None) -> float | None:
    return None if there is None or here is None else there - here


def _counts(answers: CitedAnswers, mode: Mode, place: int) -> CitationCounts:
    """Return the counts of an answer that is not skipped."""
    citations, correct, precise, hit, minimum, incomplete = answers.counts[mode][place].tolist()
    return CitationCounts(
        round(citations),
        round(correct),
        round(precise),
        round(hit),
        None if math.isnan(minimum) else round(minimum),
        round(incomplete),
    )


def _figures(answers: CitedAnswers, mode: Mode, place: int) -> AnswerFigures:
    """Return what an answer adds to the macro figures."""
    # Part and whole of each of the six shares, macro ones last.
    shares = citation_statistics(answers.counts[mode][[place]], mode)[0, 6:].reshape(3, 2)
    correctness, precision, recall = (
        number(part / whole) if whole else None for part, whole in shares.tolist()
    )
    return AnswerFigures(correctness, precision, recall)


def _question(response: Response) -> str:
    turns = list(response.example.turns.all())
    return turns[-1].text if turns else ""


def _responses(answers: CitedAnswers, places: Sequence[int]) -> dict[int, Response]:
    found = Response.objects.select_related("example__kg_question", "setup")
    ids = [int(answers.responses[place]) for place in places]
    return found.prefetch_related("example__turns").in_bulk(ids)
