"""The differences between the two ways of counting citations, by setup and by answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import need_graph
from evaluation.graphs.reports.citations import (
    CitationChoices,
    CitationsRow,
    OfRounds,
    citations_report,
)
from evaluation.graphs.reports.cited_answers import (
    REASONS,
    ROUNDS,
    CitedAnswers,
    Rounds,
    cited_answers,
)
from evaluation.graphs.reports.row_answers import (
    AnswerFigures,
    counts_of,
    figures_of,
    question_of,
    responses_at,
)
from evaluation.measures.authors_citation import Difference
from evaluation.measures.citation import CitationFigures, Mode
from evaluation.reports.columns import Column, Format
from evaluation.reports.estimates import signature_of
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow
from generation.models import Dataset, Response

# Reasons why an answer is counted differently, in a sentence each.
REASON_SENTENCES: Mapping[Difference, str] = {
    Difference.EMPTY_GRAPH: (
        "The graph of the answer was empty. By the paper’s definitions the answer counts, and "
        "everything it cites is wrong. The code skips it."
    ),
    Difference.NO_CITATION: (
        "The answer cites nothing. By the paper’s definitions its precision is 0. The code leaves "
        "it out of macro precision."
    ),
    Difference.REPEATED: (
        "The answer cites a member of the minimum set more than once. By the paper’s definitions "
        "each time is precise. In the code only the first time is."
    ),
    Difference.INCOMPLETE: (
        "A citation lacks a qid, relation or value. By the paper’s definitions it is not correct. "
        "The code does not count it at all."
    ),
    Difference.NOT_IN_GRAPH: (
        "The answer cites a member of the minimum set that is not in the graph shown. By the "
        "paper’s definitions this is wrong. The code does not look at the graph and counts a hit."
    ),
    Difference.NAMED: (
        "The answer gives a name or a qid beside other claims, or its minimum set has one. By the "
        "paper’s definitions this identifies an entity. In the code it is a citation."
    ),
    Difference.COLON: (
        "A value has a colon in it. By the paper’s definitions the value is whole. The code cuts "
        "it at the colon."
    ),
    Difference.SPELLING: (
        "The answer spells a name or a value differently from the graph. By the paper’s "
        "definitions they are the same after normalisation. In the code they are different."
    ),
    Difference.READING: (
        "The two ways read a bracket differently: it has other marks, nested brackets, or a qid "
        "that is not first."
    ),
    Difference.TWO_SETS: (
        "The code uses two minimum sets: rounds 2 to 6 for recall, and the whole set for precision."
    ),
}


class DifferentRow(NamedTuple):
    """One answer as both modes count it."""

    response: Response
    paper: AnswerFigures
    authors: AnswerFigures | None  # None: the authors' code skips it
    n_citations: int
    n_citations_of_authors: int | None
    reasons: list[Difference]

    @property
    def question(self) -> str:
        """The last turn of its dialog: the user question."""
        return question_of(self.response)


class BothModes(NamedTuple):
    """The figures of one setup in both modes."""

    setup: str
    setup_id: int
    n_here: int  # answers that count as the paper defines
    n_there: int  # answers that count in the authors' code
    # Name of the figure, value by the paper, value by the code, the latter minus the former.
    figures: list[tuple[str, float | None, float | None, float | None]]


def differing_answers(answers: CitedAnswers, places: Sequence[int]) -> list[DifferentRow]:
    """Return some answers, given by index, as both modes count them, by three queries."""
    responses = responses_at(answers, places)
    rows = []
    for place in places:
        is_counted = bool(answers.is_counted[Mode.AUTHORS_CODE][place])
        there = counts_of(answers, Mode.AUTHORS_CODE, place) if is_counted else None
        rows.append(
            DifferentRow(
                response=responses[int(answers.responses[place])],
                paper=figures_of(answers, Mode.PAPER, place),
                authors=figures_of(answers, Mode.AUTHORS_CODE, place) if is_counted else None,
                n_citations=counts_of(answers, Mode.PAPER, place).n_citations,
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
    """Return every setup's figures in both modes. Differences are the code's minus the paper's.

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


# --- the report -------------------------------------------------------------------------------


class DifferenceChoices(NamedTuple):
    """The choices of a reader about the answers that are counted differently."""

    rounds: OfRounds = "all"


@dataclass(frozen=True, kw_only=True)
class DifferenceRow(ReportRow):
    """One answer as the paper defines counts, and as the authors' code counts.

    If the code skips the answer, its figures are None.
    """

    setup: Annotated[str, Column("Setup")]
    response: Annotated[str, Column("Response")]  # key of the response
    question: Annotated[str, Column("Question")]
    n_citations: Annotated[int, Column("Citations", Format.COUNT, "Paper")]
    correctness: Annotated[float | None, Column("Correct", Format.PERCENT, "Paper")]
    precision: Annotated[float | None, Column("Precision", Format.PERCENT, "Paper")]
    recall: Annotated[float | None, Column("Recall", Format.PERCENT, "Paper")]
    authors_n_citations: Annotated[int | None, Column("Citations", Format.COUNT, "Authors’ code")]
    authors_correctness: Annotated[float | None, Column("Correct", Format.PERCENT, "Authors’ code")]
    authors_precision: Annotated[float | None, Column("Precision", Format.PERCENT, "Authors’ code")]
    authors_recall: Annotated[float | None, Column("Recall", Format.PERCENT, "Authors’ code")]
    reasons: Annotated[str, Column("Why")]  # separated by "; "


def differences_report(dataset: Dataset, choices: DifferenceChoices) -> Report[DifferenceRow]:
    """Return a row for each answer that the two ways of counting count differently.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    answers = cited_answers(dataset, choices.rounds)
    places = np.flatnonzero(answers.reasons.any(axis=1)).tolist()
    n_alike = len(answers.responses) - len(places)
    return Report(
        dataset.name,
        "differences",
        [_difference_row(each) for each in differing_answers(answers, places)],
        {**answers.left_out, "answers_counted_alike": n_alike},
        signature_of(
            "differences", f"minimum set: {ROUNDS[choices.rounds]}", data=answers.data_hash
        ),
    )


def _difference_row(each: DifferentRow) -> DifferenceRow:
    there = each.authors or AnswerFigures(None, None, None)
    return DifferenceRow(
        setup=each.response.setup.name,
        response=each.response.key,
        question=each.question,
        n_citations=each.n_citations,
        **each.paper._asdict(),
        authors_n_citations=each.n_citations_of_authors,
        **{f"authors_{name}": value for name, value in there._asdict().items()},
        reasons="; ".join(each.reasons),
    )


DIFFERENCES = ReportKind(
    key="differences",
    title="Where the two ways of counting differ",
    lede="Lists the answers that the paper and the authors’ code count differently, and why.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.DIFFERENCES,
    choices=DifferenceChoices,
    make=differences_report,
    rows=(DifferenceRow,),
)
