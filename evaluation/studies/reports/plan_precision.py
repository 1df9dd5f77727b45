"""The precision of a planned study, by formulas for large numbers and a normal distribution."""

import math

from scipy.special import ndtri

from evaluation.statistics import planning
from evaluation.studies.reports.assumptions import PlanAssumptions
from evaluation.studies.reports.plan_choices import Goal, PlanChoices


class PlanPrecision:
    """The precision of numbers of dialogs for a goal, by raters alone or with a metric."""

    def __init__(self, choices: PlanChoices, assumptions: PlanAssumptions) -> None:
        material, share = assumptions.material, assumptions.value("share")
        self.choices, self.wish = choices, choices.wish / 100
        self.quantile = planning.normal_quantile(choices.level)
        self.distance = self.quantile + (float(ndtri(choices.power)) if choices.detects else 0.0)
        self.per_dialog = assumptions.value("examples")
        if choices.goal in (Goal.ARMS, Goal.ACCURACY):  # every setup's response is an item
            self.per_dialog *= max(1, material.n_setups)
        self.effect = planning.design_effect_of(self.per_dialog, assumptions.value("icc"))
        self.deviation = math.sqrt(share * (1 - share))
        if choices.goal in (Goal.DIFFERENCE, Goal.ARMS):
            other = share - self.wish if share >= self.wish else share + self.wish
            self.deviation = planning.deviation_of_difference(
                share, other, assumptions.value("correlation")
            )
        scored = assumptions.assumed.get("scored")
        metric = assumptions.assumed.get("metric_correlation")
        self.n_scored = scored.value * self.per_dialog if scored else math.nan
        self.correlation = metric.value if metric else math.nan

    @property
    def has_metric(self) -> bool:
        return not math.isnan(self.correlation)

    def dialogs_needed(self, *, with_metric: bool) -> int | None:
        """Return the smallest number of dialogs that reaches the wish; None if no number does."""
        n_labels = planning.labels_for_error(
            self.wish / self.distance,
            self.deviation,
            total=self.n_scored if with_metric else math.inf,
            correlation=self.correlation if with_metric else 0.0,
            effect=self.effect,
        )
        if math.isnan(n_labels):
            return None
        return max(1, math.ceil(n_labels / self.per_dialog - 1e-9))

    def error(self, n_dialogs: int, *, with_metric: bool) -> float:
        """Return the standard error to expect.

        With a metric it is NaN if the metric is unknown, or has no score of an unrated response.
        """
        if with_metric and not self._is_helped(n_dialogs):
            return math.nan
        return planning.error_of_mean(
            n_dialogs * self.per_dialog,
            self.deviation,
            total=self.n_scored if with_metric else math.inf,
            correlation=self.correlation if with_metric else 0.0,
            effect=self.effect,
        )

    def n_effective(self, n_dialogs: int) -> float:
        """Return how many labels by raters alone are as precise as these with the metric."""
        if not self._is_helped(n_dialogs):
            return math.nan
        n = n_dialogs * self.per_dialog
        return planning.effective_labels(n, self.n_scored - n, self.correlation)

    def _is_helped(self, n_dialogs: int) -> bool:
        """Return whether a metric is known and has scores of responses that are not rated."""
        return self.has_metric and n_dialogs * self.per_dialog < self.n_scored
