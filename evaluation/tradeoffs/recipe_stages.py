"""The progress of a recipe: asked, scored, re-ranked, compared.

It is derived from the database each time.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.models import MetricRun
from evaluation.runs.progress import RunProgress, progress_of_runs
from evaluation.tradeoffs.recipes import Recipe, aggregates_of, responses_to_score
from evaluation.tradeoffs.scorers import Scorer, Scorers, n_without_score
from generation.grids.progress import GridProgress, grids_progress
from generation.models import Grid, Setup


class ScorerResult(NamedTuple):
    """The progress of one scorer with the responses of a recipe."""

    scorer: Scorer
    n: int  # responses
    n_left: int  # responses without a score
    progress: RunProgress | None  # progress of its run; None: there is no run

    @property
    def is_going_on(self) -> bool:
        return bool(self.progress and self.progress.run.state == MetricRun.State.RUNNING)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to score; without a plan (raters), some scores are enough."""
        return self.n > 0 and (not self.n_left or (not self.scorer.plan and self.n_left < self.n))


class RecipeState(NamedTuple):
    """The progress of a recipe with some scorers."""

    asked: GridProgress
    scored: tuple[ScorerResult, ...]  # attribution, sensibleness, then other judges
    aggregate: Setup | None  # the newest; None: its examples are not re-ranked yet

    @property
    def is_asked(self) -> bool:
        return self.asked.grid.state == Grid.State.DONE

    @property
    def is_scored(self) -> bool:
        """Whether the scorers that re-rank have scored all responses."""
        return self.is_asked and all(each.is_done for each in self.scored[:2])

    @property
    def n_to_score(self) -> int:
        """The number of scores that can be requested."""
        return sum(each.n_left for each in self.scored if each.scorer.plan)

    @property
    def is_scoring(self) -> bool:
        return any(each.is_going_on for each in self.scored)

    @property
    def is_going_on(self) -> bool:
        """Whether a worker is doing something that the next stage waits for."""
        return self.asked.grid.state in Grid.GOING_ON or self.is_scoring


def state_of(recipe: Recipe, scorers: Scorers, judges: Sequence[Scorer] = ()) -> RecipeState:
    """Return the progress of a recipe with the scorers that re-rank and the other judges."""
    responses = list(responses_to_score(recipe).values_list("pk", flat=True))
    known = {each.key for each in scorers}
    ordered = [*scorers, *{each.key: each for each in judges if each.key not in known}.values()]
    progress = progress_of_runs([each.run.pk for each in ordered if each.run])
    asked = Grid.objects.filter(pk=recipe.grid.pk)
    [of_grid] = grids_progress(asked.select_related("dataset", "sample", "requested_by"))
    stored = aggregates_of(recipe, scorers.axes) if scorers.axes else []
    return RecipeState(
        asked=of_grid,
        scored=tuple(
            ScorerResult(
                scorer,
                len(responses),
                n_without_score(scorer, responses),
                progress.get(scorer.run.pk) if scorer.run else None,
            )
            for scorer in ordered
        ),
        aggregate=stored[0].setup if stored else None,
    )
