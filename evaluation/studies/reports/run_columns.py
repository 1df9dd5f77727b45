"""What rows about a metric run say of it, and of the scores that it does not have."""

from dataclasses import dataclass
from typing import Annotated, Any

from django.urls import reverse

from annotation.models import Study
from evaluation.models import MetricRun
from evaluation.reports.columns import Column
from evaluation.reports.report import ReportRow
from evaluation.runs.item_scores import ItemScores
from evaluation.runs.progress import title_of
from evaluation.statistics.human_auto import Bools


@dataclass(frozen=True, kw_only=True)
class RunColumns(ReportRow):
    """What a run is."""

    run: int  # its id
    metric: str
    title: Annotated[str, Column("Metric")]
    model: Annotated[str, Column("Model")]  # or backend
    run_signature: str


def to_run(study: Study, choices: object, row: Any) -> str:
    """Return the address of the run that a row is about; "" of a row about none."""
    run = row.value("run")
    return reverse("evaluation:run", args=[run]) if run else ""


def run_columns(run: MetricRun) -> RunColumns:
    """Return what a run is."""
    return RunColumns(
        run=run.pk,
        metric=run.metric,
        title=title_of(run),
        model=run.model_name or run.backend,
        run_signature=run.full_signature,
    )


@dataclass(frozen=True, kw_only=True)
class WithoutScore(ReportRow):
    """How many of the rated targets a run has no score of its own for, by reason."""

    unscored: int
    failed: int
    assumed: int

    @property
    def n(self) -> int:
        """How many for any reason."""
        return self.unscored + self.failed + self.assumed


def without_score(scores: ItemScores, here: Bools) -> WithoutScore:
    """Return how many of some items have no score."""
    return WithoutScore(
        unscored=int((here & ~scores.has_row).sum()),
        failed=int((here & scores.is_failed).sum()),
        assumed=int((here & scores.is_assumed).sum()),
    )
