"""The report on controls: whether the metrics of a dataset tell right from wrong."""

from dataclasses import dataclass
from typing import Annotated

from django.conf import settings

from evaluation.measures.fitness import FEWEST, LEAST_TRUE, MOST_FALSE, Fitness, ShareOfYes
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import data_hash
from evaluation.reports.local_ids import RunId
from evaluation.reports.methods import OF_INTERVALS, Methods
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow, number
from evaluation.runs.control_figures import fitness_of_runs
from evaluation.runs.names import run_key
from evaluation.runs.progress import titles_by_key
from evaluation.statistics.intervals import SHARE_METHOD
from generation.models import Dataset

METHODS = Methods(
    "Each run also scored controls of drawn responses, whose right labels are known: wrong ones "
    "(for attribution, the response with the evidence of another dialog), right ones (a sentence "
    "of the evidence), and texts that say nothing. The shares labelled yes are given. A metric is "
    f"called unfit if it says yes to more than {100 * MOST_FALSE:.0f} % of what is wrong or says "
    f"nothing, or to less than {100 * LEAST_TRUE:.0f} % of what is right; of fewer than {FEWEST} "
    "controls nothing is said. Shares have Wilson intervals with the design effect of dialogs.",
    OF_INTERVALS,
)
FIT, UNFIT, NOT_KNOWN = "fit", "unfit", ""


@dataclass(frozen=True, kw_only=True)
class FitnessColumns(ReportRow):
    """The controls of one run, as shares labelled yes, and what they say about its metric."""

    floor: Annotated[Estimate, Column("Yes to wrong", Format.PERCENT)]
    nothing: Annotated[Estimate, Column("Yes to nothing", Format.PERCENT)]
    top: Annotated[Estimate, Column("Yes to right", Format.PERCENT)]
    n_floor: int
    n_nothing: int
    n_top: int
    verdict: Annotated[str, Column("Controls")]  # "fit", "unfit", or "" if it is not known
    faults: str  # what is wrong with an unfit metric, in words


def fitness_columns(fitness: Fitness) -> FitnessColumns:
    """Return the columns of a run's controls."""
    return FitnessColumns(
        floor=_estimate(fitness.floor),
        nothing=_estimate(fitness.nothing),
        top=_estimate(fitness.top),
        n_floor=fitness.floor.n,
        n_nothing=fitness.nothing.n,
        n_top=fitness.top.n,
        verdict=UNFIT if fitness.is_unfit else FIT if fitness.is_known else NOT_KNOWN,
        faults=", and it ".join(fitness.faults),
    )


def _estimate(share: ShareOfYes) -> Estimate:
    return Estimate(number(share.share), number(share.low), number(share.high))


@dataclass(frozen=True, kw_only=True)
class ControlsRow(ReportRow):
    """One run with its controls."""

    named_by = ("run_title",)

    run: RunId
    run_title: Annotated[str, Column("Run")]
    metric: str
    of_controls: FitnessColumns
    n: Annotated[int, Column("n", Format.COUNT)]  # controls with a label
    n_left_out: Annotated[int, Column("No label", Format.COUNT)]


def controls_report(dataset: Dataset) -> Report[ControlsRow]:
    """Return a row for each run that has controls, in the order of lists of runs.

    Runs without controls, and metrics that have none, are left out and counted.
    """
    runs = list(MetricRun.objects.filter(dataset=dataset))
    found = fitness_of_runs(runs)
    titles = titles_by_key(runs)
    with_any = [run for run in runs if any(each.n or each.n_left_out for each in found[run.pk])]
    rows = [_row(run, titles[run_key(run)], found[run.pk]) for run in with_any]
    can_have = [run for run in runs if run.metric in METRICS and METRICS[run.metric].controls]
    without = sum(not run.is_imported for run in can_have) - len(with_any)
    left_out = {
        "runs_without_controls": without,
        "runs_of_other_metrics": len(runs) - len(with_any) - without,
    }
    data = data_hash([(row.run_title, row.of_controls) for row in rows])
    signature = f"controls | {SHARE_METHOD} | data {data} | attest {settings.VERSION}"
    return Report(dataset.name, "controls", rows, left_out, signature)


def _row(run: MetricRun, title: str, fitness: Fitness) -> ControlsRow:
    return ControlsRow(
        run=run.pk,
        run_title=title,
        metric=run.metric,
        of_controls=fitness_columns(fitness),
        n=sum(each.n for each in fitness),
        n_left_out=sum(each.n_left_out for each in fitness),
    )


CONTROLS = ReportKind(
    key="controls",
    title="Right from wrong",
    lede="Says whether each metric tells right from wrong where the right label is known.",
    group=ReportGroup.METRICS,
    about=Dataset,
    methods=METHODS,
    choices=NoChoices,
    make=lambda dataset, chosen: controls_report(dataset),
    rows=(ControlsRow,),
)
