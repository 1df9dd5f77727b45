"""The progress of an experiment over a dataset: asked, scored, read.

It is not stored but computed each time. This module only reads.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.models import Study
from evaluation.graphs.experiments.pages.human_alignment import StudySoFar, studies_of
from evaluation.graphs.experiments.registry import EXPERIMENTS, KGExperiment
from evaluation.graphs.experiments.reports.chosen_runs import runs_read
from evaluation.graphs.experiments.services import (
    MetricProgress,
    answers_of,
    grids_of,
    scoring,
    why_not,
)
from evaluation.graphs.reports.answer_figures import need_graph
from evaluation.models import MetricRun
from evaluation.reports.registry import CannotReport
from generation.grids.progress import GridProgress, grids_progress
from generation.models import Dataset, Grid

RUNNING, DONE = MetricRun.State.RUNNING, MetricRun.State.DONE
MOST_GRIDS = 3  # grids on the page of an experiment; the others are in the list of grids


class ExperimentState(NamedTuple):
    """The state of one experiment over one dataset."""

    kind: KGExperiment
    lacking: list[str]  # what the dataset lacks for it, in a sentence each
    grids: list[Grid]  # newest first
    scored: list[MetricProgress]  # in the order of its metrics
    runs_read: Mapping[str, MetricRun]  # metric → the run that its table reads
    n_answers: int  # answers that it is about; for an ablation, those of steps after the first
    studies: list[StudySoFar]  # newest first; empty for an experiment with a grid

    @property
    def asked(self) -> str:
        """'done', 'going on', 'planned', 'next' or 'not possible'; 'later' if it asks nothing."""
        if any(grid.state in Grid.GOING_ON for grid in self.grids):
            return "going on"
        if self.n_answers:
            return "done"
        if any(grid.state == Grid.State.PLANNED for grid in self.grids):
            return "planned"
        if not self.kind.has_grid:
            return "later"
        return "not possible" if self.lacking else "next"

    @property
    def rated(self) -> str:
        """The state of ratings: 'going on', 'done', 'planned', 'next' or 'later'.

        With several studies, the first of these states that some study has is returned.
        """
        if not self.studies:
            return "next" if self.n_answers else "later"
        states = {each.study.state for each in self.studies}
        if states & {Study.State.OPEN, Study.State.PAUSED}:
            return "going on"
        return "done" if Study.State.CLOSED in states else "planned"

    @property
    def is_scoring(self) -> bool:
        return any(_state_of(each) == RUNNING for each in self.scored)

    @property
    def n_missing(self) -> int:
        """The number of metrics without a run, or whose run stopped early or missed answers."""
        return sum(
            _state_of(each) not in (DONE, RUNNING) or _is_short(each) for each in self.scored
        )

    @property
    def scores(self) -> list[tuple[MetricProgress, MetricRun | None]]:
        """Each metric with the finished run that the table reads, or with None."""
        return [(each, self.runs_read.get(each.metric)) for each in self.scored]

    @property
    def score(self) -> str:
        """The state of scoring: 'done', 'going on', 'next', 'later' or 'not needed'."""
        if not self.kind.metrics:
            return "not needed"
        if self.is_scoring:
            return "going on"
        if not self.n_answers:
            return "later"
        return "next" if self.n_missing else "done"

    @property
    def read(self) -> str:
        """'done' or 'later': whether the results can be read.

        They can as soon as there is an answer, because some figures need no score. For human
        alignment, there must be a vote.
        """
        if not self.kind.has_grid:
            return "done" if any(each.n_votes for each in self.studies) else "later"
        return "done" if self.n_answers else "later"

    @property
    def word(self) -> str:
        """The words that the list of experiments shows for this state."""
        if not self.kind.has_grid and self.rated != "done":
            words = {"later": "no answers", "next": "no study", "planned": "study planned"}
            return words.get(self.rated, "rating")
        if self.asked != "done":
            words = {"next": "nothing asked", "going on": "asking"}
            return words.get(self.asked, self.asked)
        return {"next": "to be scored", "going on": "scoring"}.get(self.score, "done")


def _state_of(scoring: MetricProgress) -> str:
    """Return the state of the run, or "" if there is no run."""
    return str(scoring.run.run.state) if scoring.run else ""


def _is_short(scoring: MetricProgress) -> bool:
    return scoring.state == "incomplete"


def state_of(dataset: Dataset, key: str) -> ExperimentState:
    """Return the state of an experiment.

    The number of queries does not depend on the number of grids and answers.
    """
    kind = EXPERIMENTS[key]
    answers = answers_of(dataset, key)
    # The first step of an ablation is shared with other experiments, so its answers do not count.
    if kind.needs:
        answers = answers.filter(setup__prompt__in=kind.prompts[1:])
    return ExperimentState(
        kind=kind,
        lacking=why_not(dataset, kind),
        grids=grids_of(dataset, key) if kind.has_grid else [],
        scored=scoring(dataset, key) if kind.metrics else [],
        runs_read=runs_read(dataset, kind.metrics) if kind.metrics else {},
        n_answers=answers.count(),
        studies=[] if kind.has_grid else studies_of(dataset),
    )


def progress_of(state: ExperimentState) -> list[GridProgress]:
    """Return the progress of the newest grids of an experiment, newest first."""
    newest = [grid.pk for grid in state.grids[:MOST_GRIDS]]
    of_grids = Grid.objects.filter(pk__in=newest)
    found = grids_progress(of_grids.select_related("dataset", "sample", "requested_by"))
    return sorted(found, key=lambda each: -each.grid.pk)


def states_of(dataset: Dataset) -> dict[str, Any]:
    """Return what the list of experiments shows: their states, or why there can be none."""
    try:
        need_graph(dataset)
    except CannotReport as exc:
        return {"dataset": dataset, "is_going_on": False, "problem": str(exc)}
    states = [state_of(dataset, key) for key in EXPERIMENTS]
    is_going_on = any("going on" in (each.asked, each.score) for each in states)
    return {"dataset": dataset, "is_going_on": is_going_on, "states": states}
