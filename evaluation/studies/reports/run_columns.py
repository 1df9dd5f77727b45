"""The columns of rows about a metric run: the run itself, and the number of missing scores."""

from dataclasses import dataclass
from typing import Annotated, Any

from django.urls import reverse

from evaluation.models import MetricRun
from evaluation.reports.columns import Column
from evaluation.reports.local_ids import RunId
from evaluation.reports.report import ReportRow
from evaluation.runs.item_scores import ItemScores
from evaluation.runs.progress import title_of
from evaluation.statistics.human_auto import Bools


@dataclass(frozen=True, kw_only=True)
class RunColumns(ReportRow):
    """The columns that identify a run."""

    run: RunId  # the run's id
    metric: str
    title: Annotated[str, Column("Metric")]
    model: Annotated[str, Column("Model")]  # the model; the backend, if there is no model
    run_signature: str


def to_run(subject: object, choices: object, row: Any) -> str:
    """Return the address of the run that a row is about; "" when it is about no run."""
    run = row.value("run")
    return reverse("evaluation:run", args=[run]) if run else ""


def run_columns(run: MetricRun) -> RunColumns:
    """Return the columns that identify a run."""
    return RunColumns(
        run=run.pk,
        metric=run.metric,
        title=title_of(run),
        model=run.model_name or run.backend,
        run_signature=run.full_signature,
    )


@dataclass(frozen=True, kw_only=True)
class WithoutScore(ReportRow):
    """The numbers of rated targets without a score of the run's own, by reason."""

    unscored: int
    failed: int
    assumed: int

    @property
    def n(self) -> int:
        """The number of these targets for all reasons together."""
        return self.unscored + self.failed + self.assumed


def without_score(scores: ItemScores, here: Bools) -> WithoutScore:
    """Return how many of the items in `here` have no score, by reason."""
    return WithoutScore(
        unscored=int((here & ~scores.has_row).sum()),
        failed=int((here & scores.is_failed).sum()),
        assumed=int((here & scores.is_assumed).sum()),
    )
