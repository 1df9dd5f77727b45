"""Table 3: citation quality and alignment by model and temperature, over seeded runs (KaLMA)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

from evaluation.graphs.experiments.reports.costs import Cost, CostColumns, cost_of_runs, costs_of
from evaluation.graphs.experiments.reports.run_rows import (
    MADE_WITH,
    OneRun,
    RowOfWholeGraphs,
    of_prompts_word,
    per_run,
    run_figures,
    with_answers,
    with_means,
)
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.alignment import (
    Aligned,
    aligned,
    n_complete_citations,
    newest_alignment,
)
from evaluation.graphs.reports.answer_figures import need_graph
from evaluation.graphs.reports.citations import (
    USUAL,
    AnswerCounts,
    CitationChoices,
    citation_counts,
    left_out_of,
)
from evaluation.graphs.reports.cited_answers import CitedAnswers, cited_answers
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import data_hash, signature_of
from evaluation.reports.local_ids import RunId
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report
from evaluation.reports.setups import setup_columns
from evaluation.runs.seeded_setups import GroupColumns, SeededRuns, grouped, seeded_runs
from evaluation.statistics.intervals import Statistic
from generation.models import Dataset

REPORT = "citation_table"


class _CitationMaterial(NamedTuple):
    """The data that rows are made from."""

    answers: CitedAnswers  # answers of the requested setups
    alignment: MetricRun | None
    aligned: list[Aligned]
    figures: Mapping[int, Mapping[str, Statistic]]  # setup id → its figures
    costs: Mapping[int, list[Cost]]


@dataclass(frozen=True, kw_only=True)
class CitationTableRow(RowOfWholeGraphs):
    """The citation quality, the alignment and the costs of some runs."""

    paper_columns = (  # [K] table 3
        "label",
        "aligned",
        "correctness",
        "precision",
        "recall",
        "f1",
        "macro_precision",
        "macro_recall",
        "macro_f1",
    )

    runs: GroupColumns | OneRun
    counts: AnswerCounts
    n_answers_least: int  # answers of the smallest run
    n_answers_most: int  # answers of the largest run
    n_unknown_graph: int
    n_repeated: int
    n_made_up_minimum: int
    n_aligned_pairs: int
    n_without_alignment: Annotated[int | None, Column("Without alignment", Format.COUNT)]
    alignment_run: RunId | None
    costs: CostColumns
    correctness: Annotated[Estimate, Column("Correct", Format.PERCENT, "Micro")]
    macro_correctness: Estimate
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT, "Micro")]
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT, "Micro")]
    macro_precision: Annotated[Estimate, Column("Precision", Format.PERCENT, "Macro")]
    macro_recall: Annotated[Estimate, Column("Recall", Format.PERCENT, "Macro")]
    aligned: Annotated[Estimate, Column("Aligned", Format.PERCENT, "Alignment")]
    macro_aligned: Estimate
    f1: Annotated[Estimate, Column("F1", Format.PERCENT, "Micro")]
    macro_f1: Annotated[Estimate, Column("F1", Format.PERCENT, "Macro")]
    over_runs: Mapping[str, float | int | None]


def citation_table(dataset: Dataset, choices: CitationChoices = USUAL) -> Report[CitationTableRow]:
    """Return a row for each group of seeded runs that were shown a whole graph.

    Figures are as in `RowOfRuns`: those of `citations_report`, and `aligned` and `macro_aligned` of
    the run that `newest_alignment` returns. That run has no score for `n_without_alignment` answers
    that it could score. Counts are sums over the `n_runs`. The smallest run has `n_answers_least`
    answers, and the largest `n_answers_most`. Answers from whose graph knowledge was removed are
    left out. `graph` tells which graph the answers were made with; it is "" if only the responses
    tell. Of the `choices`, only mode and rounds have an effect.

    Raises:
        CannotReport: there is no graph.
    """
    return with_run_rows(dataset, "", choices)[0]


def with_run_rows(
    dataset: Dataset, group: str, choices: CitationChoices = USUAL
) -> tuple[Report[CitationTableRow], list[CitationTableRow]]:
    """Return the table, and a row for each run of a group. There are none for an unknown group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    choices = choices._replace(setup="")
    whole = counted_answers(dataset, choices)
    every = seeded_runs(dataset)
    groups = with_answers(every, whole)
    made = _material(dataset, whole, [pk for group in groups for pk in group.ids], choices)
    n_others = len(set(whole.setups.tolist()) - set(made.figures))
    of_any = whole.of_setups([pk for group in every for pk in group.ids])
    report = Report(
        dataset.name,
        REPORT,
        _means(made, groups, choices),
        {**left_out_of(of_any, choices), "setups_of_ablations": n_others},
        signature_of(
            REPORT, *choices.signature_parts, MADE_WITH, *_by(made), data=_data_hash(made)
        ),
    )
    alone = [
        (_row(made, OneRun(of=setup_columns(one)), [one.pk], choices), made.figures[one.pk])
        for each in groups
        if each.key == group
        for one in each.setups
    ]
    return report, per_run(alone, whole.n_dialogs)


def citations_by_group(
    dataset: Dataset, choices: CitationChoices = USUAL
) -> list[CitationTableRow]:
    """Return a row for each group of seeded runs, whatever graph they were shown.

    The answers are those of `citations_report`, which has a row for each setup.
    """
    answers = cited_answers(dataset, choices.rounds)
    groups = with_answers(grouped(dataset, lambda _: True), answers)
    made = _material(dataset, answers, [pk for group in groups for pk in group.ids], choices)
    return _means(made, groups, choices)


def counted_answers(dataset: Dataset, choices: CitationChoices = USUAL) -> CitedAnswers:
    """Return the answers that may be counted, and those of ablations.

    Answers with removed knowledge whose prompt type removes none are left out.
    """
    return of_prompts_word(dataset, cited_answers(dataset, choices.rounds))


def _material(
    dataset: Dataset, whole: CitedAnswers, setups: Collection[int], choices: CitationChoices
) -> _CitationMaterial:
    answers = whole.of_setups(setups)
    run = newest_alignment(dataset)
    found = aligned([run.pk], answers) if run else []
    return _CitationMaterial(
        answers,
        run,
        found,
        run_figures(answers, setups, choices.mode, found),
        costs_of(setups),
    )


def _means(
    made: _CitationMaterial, groups: Sequence[SeededRuns], choices: CitationChoices
) -> list[CitationTableRow]:
    """Return the row of each group, with the means over its runs."""
    planned = [
        (_row(made, each.columns, each.ids, choices), [made.figures[pk] for pk in each.ids])
        for each in groups
    ]
    return with_means(planned, made.answers.n_dialogs)


def _row(
    made: _CitationMaterial,
    runs: GroupColumns | OneRun,
    setups: Collection[int],
    choices: CitationChoices,
) -> Callable[..., CitationTableRow]:
    """Return a function that makes a row about some runs from its figures.

    The row's counts and costs are set already.
    """
    here = made.answers.of_setups(setups)
    left_out = here.left_out
    found = [each for each in made.aligned if int(made.answers.setups[each.place]) in set(setups)]
    n_pairs = sum(each.n for each in found)
    of_runs = [int((here.setups == pk).sum()) for pk in setups]
    return partial(
        CitationTableRow,
        runs=runs,
        counts=citation_counts(here, choices.mode),
        n_answers_least=min(of_runs),
        n_answers_most=max(of_runs),
        n_unknown_graph=left_out["responses_without_a_known_graph"],
        n_repeated=left_out["repeated_responses"],
        n_made_up_minimum=sum(each in here.made_up for each in here.examples.tolist()),
        n_aligned_pairs=n_pairs,
        n_without_alignment=_n_without_alignment(made, here, found),
        alignment_run=made.alignment.pk if made.alignment and n_pairs else None,
        costs=cost_of_runs(made.costs, setups),
    )


def _n_without_alignment(
    made: _CitationMaterial, here: CitedAnswers, found: Sequence[Aligned]
) -> int | None:
    """Return how many answers with a complete citation have no scored pair; None without a run."""
    if made.alignment is None:
        return None
    scored = {int(made.answers.responses[each.place]) for each in found if each.n}
    can_be = here.responses[n_complete_citations(here) > 0].tolist()
    return sum(pk not in scored for pk in can_be)


def _by(made: _CitationMaterial) -> list[str]:
    """Return the part of the signature about alignment, if there is any."""
    said = made.alignment and made.aligned and f"alignment by {made.alignment.full_signature}"
    return [said] if said else []


def _data_hash(made: _CitationMaterial) -> str:
    of_costs = [cost[1:] for of in made.costs.values() for cost in of]
    if not made.aligned and not of_costs:
        return made.answers.data_hash
    return data_hash([made.answers.data_hash, *(each[1:] for each in made.aligned), *of_costs])


CITATION_TABLE = ReportKind(
    key="citation_table",
    title="Citation quality (table 3)",
    lede="Gives citation quality and alignment by model and temperature, over seeded runs.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.CITATION_TABLE,
    choices=NoChoices,
    make=lambda dataset, _: citation_table(dataset),
    rows=(CitationTableRow,),
)
