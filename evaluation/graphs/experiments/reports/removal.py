"""Table 5 and figure 4: citations and [NA] while pieces of knowledge are removed (KaLMA, 5.2)."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

from evaluation.graphs.experiments.reports.ablations import (
    SAID,
    Ablation,
    AblationStep,
    MicroCorrect,
    MicroF1,
    MicroPrecision,
    MicroRecall,
    RowOfStep,
    StepCounts,
    ablation,
)
from evaluation.graphs.experiments.reports.chosen_runs import runs_read
from evaluation.graphs.experiments.reports.run_rows import (
    MADE_WITH,
    NOTHING,
    OneRun,
    per_run,
    with_means,
)
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import Counted, need_graph
from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.graphs.reports.incompetence import (
    METRIC,
    NaAnswer,
    incompetence_counts,
    is_failure,
    na_answers,
    na_figures,
    na_statistics,
)
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import data_hash, signature_of
from evaluation.reports.local_ids import RunId
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report
from evaluation.reports.setups import setup_columns
from evaluation.runs.item_scores import cut_of
from evaluation.runs.seeded_setups import GroupColumns
from evaluation.statistics.intervals import Statistic
from generation.json_length import JsonLength
from generation.models import Dataset, Response
from generation.text.prompt_types import PromptType

REPORT = "removal"


class _RemovalMaterial(NamedTuple):
    made: Ablation
    run: MetricRun | None  # the run of [NA]
    na: Mapping[int, list[NaAnswer]]  # setup id → the run's scores for its answers
    n_removed: Mapping[int, list[int | None]]  # setup id → removed triples by answer; None: unknown
    figures: Mapping[int, Mapping[str, Statistic]]  # setup id → its figures


@dataclass(frozen=True, kw_only=True)
class RemovalRow(RowOfStep):
    """Citations and [NA] of answers from whose graphs a given number of members was removed."""

    named_by = ("label", "n_removed")

    paper_columns = (
        "label",
        "n_removed",
        "correctness",
        "precision",
        "recall",
        "f1",
    )  # [K] table 5

    n_removed: Annotated[int, Column("Removed", Format.COUNT)]  # the number in the prompt's name
    runs: GroupColumns | OneRun
    step: StepCounts
    n_triples_removed: Annotated[int, Column("Triples removed", Format.COUNT)]
    removed_per_answer: float | None
    n_unknown_removed: int
    n_na_answers: int
    n_na_failed: int
    n_asked_sentences: Annotated[int, Column("Sentences", Format.COUNT, "[NA]")]
    n_right_sentences: int
    n_asked_triples: Annotated[int, Column("Triples", Format.COUNT, "[NA]")]
    n_found_triples: int
    na_run: RunId | None
    correctness: MicroCorrect
    precision: MicroPrecision
    recall: MicroRecall
    na_precision: Annotated[Estimate, Column("Precision", Format.PERCENT, "[NA]")]
    na_recall: Annotated[Estimate, Column("Recall", Format.PERCENT, "[NA]")]
    f1: MicroF1
    na_f1: Annotated[Estimate, Column("F1", Format.PERCENT, "[NA]")]
    over_runs: Mapping[str, float | int | None]

    @property
    def at(self) -> int:
        return self.n_removed


def removal_report(dataset: Dataset) -> Report[RemovalRow]:
    """Return a row for each group of seeded runs, by the number of members that were removed.

    `n_removed` is that of the prompts' names, from 0 for the gold graphs. `n_triples_removed` is
    counted, because some sets have fewer members. Figures are as in `RowOfRuns`. Those on citations
    are micro. `na_precision`, `na_recall` and `na_f1` are those of the finished run of [NA] that
    `runs_read` chooses. They are undefined where nothing was removed; if a run admits nothing, its
    recall and F1 are 0. A family's rows are over the `n_common` examples that all of them have (see
    `ablations`), and `n_other_answers` to other examples are left out.

    Raises:
        CannotReport: there is no graph.
    """
    return with_run_rows(dataset, "")[0]


def with_run_rows(dataset: Dataset, group: str) -> tuple[Report[RemovalRow], list[RemovalRow]]:
    """Return the report, and a row for each run of a group. There are none for an unknown group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    material = _material(dataset)
    made, figures, n_dialogs = material.made, material.figures, material.made.answers.n_dialogs
    planned = [
        (
            _row(material, step, step.runs.columns, step.runs.ids),
            [figures[pk] for pk in step.runs.ids],
        )
        for step in made.steps
    ]
    said = [f"[NA] by {material.run.full_signature}"] if material.run and material.na else []
    report = Report(
        dataset.name,
        REPORT,
        with_means(planned, n_dialogs),
        made.left_out,
        signature_of(REPORT, *SAID, MADE_WITH, *said, data=_hash(material)),
    )
    step = made.step_of(group)
    alone = [
        (_row(material, step, OneRun(of=setup_columns(setup)), [setup.pk]), figures[setup.pk])
        for setup in (step.runs.setups if step else ())
        if step
    ]
    return report, per_run(alone, n_dialogs)


def _row(
    material: _RemovalMaterial, step: AblationStep, runs: GroupColumns | OneRun, setups: list[int]
) -> Callable[..., RemovalRow]:
    """Return a function that makes a row about some runs of a step from its figures.

    The counts of what was removed, and of what the run of [NA] was asked about, are set already.
    """
    lengths = [n for pk in setups for n in material.n_removed.get(pk, ())]
    known = [n for n in lengths if n is not None]
    of_runs = [each for pk in setups for each in material.na.get(pk, ())]
    scored = _scored(of_runs)
    cut = cut_of(material.run) if material.run else 0.5
    counts = incompetence_counts(na_statistics(scored, cut))
    return partial(
        RemovalRow,
        n_removed=step.at,
        runs=runs,
        step=material.made.counts(step, setups),
        n_triples_removed=sum(known),
        removed_per_answer=sum(known) / len(known) if known else None,
        n_unknown_removed=len(lengths) - len(known),
        n_na_answers=len(scored),
        n_na_failed=sum(map(is_failure, of_runs)),
        n_asked_sentences=counts.n_na_sentences,
        n_right_sentences=counts.n_right_sentences,
        n_asked_triples=counts.n_removed,
        n_found_triples=counts.n_found,
        na_run=material.run.pk if material.run and scored else None,
    )


def compared_answers(dataset: Dataset) -> CitedAnswers:
    """Return the answers of all rows that the figures are over."""
    return ablation(dataset, _at, first=0).answers


def _at(kind: PromptType) -> int | None:
    return kind.n_removed if kind.accuracy == 100 else None


def _material(dataset: Dataset) -> _RemovalMaterial:
    made = ablation(dataset, _at, first=0)
    run = runs_read(dataset, [METRIC]).get(METRIC)
    by_setup: dict[int, list[NaAnswer]] = defaultdict(list)
    for each in na_answers([run], dict.fromkeys(made.setups), _counted(made)) if run else ():
        by_setup[each.setup].append(each)
    figures = made.figures()
    for pk in made.setups:
        figures[pk] |= _na_figures(run, _scored(by_setup[pk]))
    return _RemovalMaterial(made, run, by_setup, _n_removed(made), figures)


def _counted(made: Ablation) -> Counted:
    """Return the answers in the form that reports on scores need."""
    answers = made.answers
    responses = answers.responses.tolist()
    return Counted(
        dict(zip(responses, answers.setups.tolist(), strict=True)),
        dict(zip(responses, answers.dialogs.tolist(), strict=True)),
        answers.n_dialogs,
        answers.n_left_out,
    )


def _scored(found: list[NaAnswer]) -> list[NaAnswer]:
    return [each for each in found if each.of_removed and not each.problem]


def _na_figures(run: MetricRun | None, scored: list[NaAnswer]) -> dict[str, Statistic]:
    if run is None or not scored:
        return {f"na_{name}": NOTHING for name in ("precision", "recall", "f1")}
    figures = na_figures(na_statistics(scored, cut_of(run)), scored)
    return {f"na_{name}": figure for name, figure in figures.items()}


def _n_removed(made: Ablation) -> dict[int, list[int | None]]:
    """Return how many triples were removed for each answer, by setup id. This takes one query.

    An answer to a whole graph has 0 if the number is not stored.
    """
    whole = {pk for step in made.steps if step.at == 0 for pk in step.runs.ids}
    here = set(made.answers.responses.tolist())
    found: dict[int, list[int | None]] = defaultdict(list)
    lengths = Response.objects.filter(setup__in=made.setups).order_by()
    for pk, setup, n in lengths.values_list("pk", "setup", JsonLength("removed")).iterator():
        if pk in here:
            found[setup].append(0 if n is None and setup in whole else n)
    return found


def _hash(material: _RemovalMaterial) -> str:
    said = [(each.key, *each[4:]) for of in material.na.values() for each in of]
    return data_hash([material.made.answers.data_hash, *said])


REMOVAL = ReportKind(
    key="removal",
    title="Removal of knowledge",
    lede="Shows what answers say when knowledge that they need is removed from the graph.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.REMOVAL,
    choices=NoChoices,
    make=lambda dataset, _: removal_report(dataset),
    rows=(RemovalRow,),
)
