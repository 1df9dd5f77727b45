"""The report on citations: correctness, precision, recall and F1 of each setup (KaLMA, 4.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.graphs.reports import methods
from evaluation.graphs.reports.alignment import Aligned, aligned, aligned_figures, newest_alignment
from evaluation.graphs.reports.answer_figures import chosen_setups, need_graph, share_figure
from evaluation.graphs.reports.cited_answers import ROUNDS, CitedAnswers, Rounds, cited_answers
from evaluation.graphs.reports.leads import answers_address
from evaluation.measures.citation import CitationFigures, Mode, figure_of
from evaluation.reports.base import SetupName
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, signature_of, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.reports.setups import SetupColumns, setup_columns
from evaluation.statistics.intervals import Statistic
from generation.choices.declaration import Choice
from generation.models import Dataset, Setup

MICRO = ("correctness", "precision", "recall")
MODES: Mapping[Mode, str] = {
    Mode.PAPER: "as the paper defines",
    Mode.AUTHORS_CODE: "as the authors’ code computes",
}


OfRounds = Annotated[
    Rounds,
    Choice(
        "Minimum set",
        {rounds: title.capitalize() for rounds, title in ROUNDS.items()},
        help="The whole minimum set, or (later) what rounds 2 to 6 added.",
    ),
]


# Version of the rules by which citations are read. 1 knew [ ] on one line alone, and 2 ended
# sentences at English marks only.
READING = 3


class CitationChoices(NamedTuple):
    """The choices of a reader. All of them are in the signature."""

    mode: Annotated[
        Mode,
        Choice(
            "Counted",
            {str(mode): title.capitalize() for mode, title in MODES.items()},
            help="As the paper defines, or as the authors' code computes.",
        ),
    ] = Mode.PAPER
    rounds: OfRounds = "all"  # the rounds whose members of minimum sets count
    setup: SetupName = ""

    @property
    def signature_parts(self) -> list[str]:
        said = [
            f"mode {self.mode}",
            f"citations read v:{READING}",
            f"minimum set: {ROUNDS[self.rounds]}",
        ]
        if self.rounds == "later" and self.mode is Mode.AUTHORS_CODE:
            said[-1] += " for recall, the whole set for precision"
        return [*said, f"setup {self.setup} only"] if self.setup else said


USUAL = CitationChoices()


@dataclass(frozen=True, kw_only=True)
class AnswerCounts(ReportRow):
    """The numbers of answers by kind, and of their citations."""

    n_answers: Annotated[int, Column("Answers", Format.COUNT)]
    n_with_minimum: int
    n_unknown_minimum: int
    n_empty_minimum: int
    n_skipped: int
    n_without_citations: int
    n_citations: Annotated[int, Column("Citations", Format.COUNT)]
    n_incomplete: int
    citations_per_answer: float | None
    n_na_sentences: int
    na_per_answer: Annotated[float | None, Column("[NA] per answer", Format.DECIMAL)]
    n_other_brackets: int


@dataclass(frozen=True, kw_only=True)
class CitationsRow(ReportRow):
    """The citations of a setup and their quality."""

    of: SetupColumns
    counts: AnswerCounts
    correctness: Annotated[Estimate, Column("Correct", Format.PERCENT)]
    macro_correctness: Estimate
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)]
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)]
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]
    macro_precision: Annotated[Estimate, Column("Macro precision", Format.PERCENT)]
    macro_recall: Annotated[Estimate, Column("Macro recall", Format.PERCENT)]
    macro_f1: Annotated[Estimate, Column("Macro F1", Format.PERCENT)]
    n_aligned_pairs: int  # pairs that the run of alignment has scored
    aligned: Annotated[Estimate, Column("Aligned", Format.PERCENT)] = UNKNOWN
    macro_aligned: Estimate = UNKNOWN


def citations_report(dataset: Dataset, choices: CitationChoices = USUAL) -> Report[CitationsRow]:
    """Return a row for each setup with answers whose graph is known.

    `correctness`, `precision`, `recall` and their `f1` are micro: over all citations or all needed
    knowledge. The figures `macro_…` are means over answers. `aligned` and `macro_aligned` are from
    the run `newest_alignment` for the same answers (KaLMA's table 3 has them side by side).
    `n_answers` are counted, and `n_with_minimum` of them have a known minimum set that is not
    empty. `n_incomplete` citations are not correct here, and are not counted in the authors' code.

    Raises:
        CannotReport: there is no graph, or no setup of that name.
    """
    need_graph(dataset)
    setups = chosen_setups(dataset, choices.setup)
    answers = cited_answers(dataset, choices.rounds).of_setups(setups)
    run = newest_alignment(dataset)
    of_run = aligned([run.pk], answers) if run else []
    of_setups: dict[int, list[Aligned]] = defaultdict(list)
    for each in of_run:
        of_setups[int(answers.setups[each.place])].append(each)
    planned = [
        _planned(setups[pk], answers, choices.mode, of_setups[pk])
        for pk in _in_order(setups, answers)
    ]
    said, data = choices.signature_parts, answers.data_hash
    if run and of_run:
        said = [*said, f"alignment by {run.full_signature}"]
        data = data_hash([data, *(each[1:] for each in of_run)])
    return Report(
        dataset.name,
        "citations",
        list(with_estimates(planned, answers.n_dialogs)),
        left_out_of(answers, choices),
        signature_of("citations", *said, data=data),
    )


def _in_order(setups: Mapping[int, Setup], answers: CitedAnswers) -> list[int]:
    """Return the setups that have answers, in the order of their names."""
    there = set(np.unique(answers.setups).tolist())
    return [pk for pk in setups if pk in there]


def _planned(
    setup: Setup, answers: CitedAnswers, mode: Mode, of_run: Sequence[Aligned]
) -> Planned[CitationsRow]:
    here = answers.at(np.flatnonzero(answers.setups == setup.pk))
    figures: Mapping[str, Statistic] = citation_shares(here, mode)
    if of_run:
        figures = {**figures, **aligned_figures(of_run, answers)}
    make = partial(
        CitationsRow,
        of=setup_columns(setup),
        counts=citation_counts(here, mode),
        n_aligned_pairs=sum(each.n for each in of_run),
    )
    return Planned(make, figures)


def citation_counts(answers: CitedAnswers, mode: Mode) -> AnswerCounts:
    """Return the numbers of answers by kind, and of their citations."""
    here = _counted(answers, mode)
    n = len(here.responses)
    n_citations = round(here.column(mode, "n_citations").sum())
    n_na = int(here.n_na[mode].sum())
    minimum = here.column(mode, "n_minimum")
    return AnswerCounts(
        n_answers=n,
        n_with_minimum=int((minimum > 0).sum()),
        n_unknown_minimum=int(np.isnan(minimum).sum()),
        n_empty_minimum=int((minimum == 0).sum()),
        n_skipped=len(answers.responses) - n,
        n_without_citations=int((here.column(mode, "n_citations") == 0).sum()),
        n_citations=n_citations,
        n_incomplete=round(here.column(Mode.PAPER, "n_incomplete").sum()),
        citations_per_answer=n_citations / n if n else None,
        n_na_sentences=n_na,
        na_per_answer=n_na / n if n else None,
        n_other_brackets=int(here.n_other_brackets.sum()),
    )


def citation_shares(answers: CitedAnswers, mode: Mode) -> dict[str, Statistic]:
    """Return the figures of some answers. Micro shares have a row for each citation or member."""
    here = _counted(answers, mode)
    statistics = here.statistics(mode)
    figures = {}
    for name in CitationFigures._fields:
        figure = figure_of(name, statistics, here.dialogs)
        if name in MICRO:
            part, whole = figure.statistics.round().astype(np.int64).T
            figure = share_figure(part, whole, here.dialogs)
        figures[name] = figure
    return figures


def _counted(answers: CitedAnswers, mode: Mode) -> CitedAnswers:
    return answers.at(np.flatnonzero(answers.is_counted[mode]))


def answers_of(dataset: Dataset, choices: CitationChoices, setups: Iterable[int]) -> str:
    """Return the address of the list of the answers of some setups, given by id."""
    rounds = {} if choices.rounds == USUAL.rounds else {"rounds": choices.rounds}
    return answers_address(dataset, setup=",".join(map(str, sorted(setups))), **rounds)


def _to_answers(dataset: Dataset, choices: CitationChoices, row: CitationsRow) -> str:
    return answers_of(dataset, choices, [row.of.setup_id])


def left_out_of(answers: CitedAnswers, choices: CitationChoices) -> LeftOut:
    """Return how many answers or citations are left out of some figure, by reason."""
    mode = choices.mode
    is_counted = answers.is_counted[mode]
    minimum = answers.column(mode, "n_minimum")[is_counted]
    found = {
        **answers.left_out,
        "answers_with_unknown_minimum": int(np.isnan(minimum).sum()),
        "answers_with_empty_minimum": int((minimum == 0).sum()),
        "answers_without_citations": int((answers.column(mode, "n_citations") == 0).sum()),
    }
    if mode is Mode.AUTHORS_CODE:
        incomplete = answers.column(Mode.PAPER, "n_incomplete")[is_counted]
        found["citations_not_counted"] = round(incomplete.sum())
        found["answers_with_an_empty_graph"] = int((~is_counted).sum())
    return found


CITATIONS = ReportKind(
    key="citations",
    title="Citations",
    lede="Gives correctness, precision, recall and F1 of the citations of each setup.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.CITATIONS,
    choices=CitationChoices,
    make=citations_report,
    rows=(CitationsRow,),
    leads={"setup": _to_answers},
)
