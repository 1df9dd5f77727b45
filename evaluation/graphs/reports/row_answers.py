"""The answers behind the figures on citations."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.measures.citation import CitationCounts, Mode, citation_statistics
from evaluation.reports.report import number
from generation.models import Response


class AnswerFigures(NamedTuple):
    """The figures of one answer in one mode, in [0, 1], or None where undefined."""

    correctness: float | None
    precision: float | None
    recall: float | None


class AnswerRow(NamedTuple):
    """One answer with the numbers of its citations by verdict."""

    response: Response
    n_citations: int
    n_in_minimum: int | None  # None: the set is not known
    n_correct: int  # correct ones that are not in the minimum set, or whose set is not known
    n_wrong: int
    n_incomplete: int
    n_na: int
    figures: AnswerFigures

    @property
    def question(self) -> str:
        """The last turn of its dialog: the user question."""
        return question_of(self.response)


def answers_behind(answers: CitedAnswers, places: Sequence[int]) -> list[AnswerRow]:
    """Return some answers, given by index, counted as the paper defines, by three queries."""
    responses = responses_at(answers, places)
    rows = []
    for place in places:
        counts = counts_of(answers, Mode.PAPER, place)
        rows.append(
            AnswerRow(
                response=responses[int(answers.responses[place])],
                n_citations=counts.n_citations,
                n_in_minimum=None if counts.n_minimum is None else counts.n_precise,
                n_correct=counts.n_correct - counts.n_precise,
                n_wrong=counts.n_citations - counts.n_correct - counts.n_incomplete,
                n_incomplete=counts.n_incomplete,
                n_na=int(answers.n_na[Mode.PAPER][place]),
                figures=figures_of(answers, Mode.PAPER, place),
            )
        )
    return rows


def counts_of(answers: CitedAnswers, mode: Mode, place: int) -> CitationCounts:
    """Return the counts of an answer. The mode must not skip it."""
    citations, correct, precise, hit, minimum, incomplete = answers.counts[mode][place].tolist()
    return CitationCounts(
        round(citations),
        round(correct),
        round(precise),
        round(hit),
        None if math.isnan(minimum) else round(minimum),
        round(incomplete),
    )


def figures_of(answers: CitedAnswers, mode: Mode, place: int) -> AnswerFigures:
    """Return the contribution of an answer to the macro figures."""
    # The statistics hold part and whole of six shares, of which the macro ones are the last three.
    shares = citation_statistics(answers.counts[mode][[place]], mode)[0, 6:].reshape(3, 2)
    correctness, precision, recall = (
        number(part / whole) if whole else None for part, whole in shares.tolist()
    )
    return AnswerFigures(correctness, precision, recall)


def question_of(response: Response) -> str:
    """Return the last turn of the dialog of a response, or "" if it has no turns."""
    turns = list(response.example.turns.all())
    return turns[-1].text if turns else ""


def responses_at(answers: CitedAnswers, places: Sequence[int]) -> dict[int, Response]:
    """Return the responses of some answers by id, with their questions, by three queries."""
    found = Response.objects.select_related("example__kg_question", "setup")
    ids = [int(answers.responses[place]) for place in places]
    return found.prefetch_related("example__turns").in_bulk(ids)
