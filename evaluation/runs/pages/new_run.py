"""The contents of the page of a new run beside its form: the metrics, and a preview of the run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evaluation.backends.registry import BACKENDS
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.registry import METRICS
from evaluation.runs.model_checks import too_large_here, why_unusable
from evaluation.runs.services.runs import n_without_score


class MetricChoice(NamedTuple):
    """One metric as the page offers it."""

    key: str
    title: str
    lede: str
    is_chosen: bool


class NewRunPage(NamedTuple):
    """The page of a new run. Its form may be incomplete."""

    kind: type[AutoMetric]  # the chosen metric
    n_to_score: int | None = None  # responses without a score; None: the form is not valid
    model_problem: str = ""  # why the model cannot be used; "": no problem was found
    model_hint: str = ""  # a warning if the model is too large for workers with this much memory

    @property
    def groups(self) -> list[tuple[str, list[MetricChoice]]]:
        """The metrics by family."""
        found: dict[str, list[MetricChoice]] = {}
        for key, kind in METRICS.items():
            choice = MetricChoice(key, kind.title, kind.lede, kind is self.kind)
            found.setdefault(kind.family or kind.title, []).append(choice)
        return list(found.items())

    @property
    def no_model_text(self) -> str:
        """The advice when there is no model that the chosen metric can ask."""
        kinds = [BACKENDS[key].title for key in self.kind.backends if key in BACKENDS]
        asked = f" Their kind must be one of: {', '.join(kinds)}." if kinds else ""
        return f"{self.kind.title} may use only models that an admin has listed.{asked}"


def new_run_page(kind: type[AutoMetric], wanted: Mapping[str, Any] | None) -> NewRunPage:
    """Return the page of a metric.

    Args:
        kind: the metric.
        wanted: the cleaned data of a valid form; None: the form is not valid.
    """
    if wanted is None:
        return NewRunPage(kind)
    plan = wanted["plan"]
    return NewRunPage(
        kind,
        n_to_score=n_without_score(wanted["dataset"], plan, wanted["responses"]),
        model_problem=why_unusable(plan.spec, kind.key),
        model_hint=too_large_here(plan.spec),
    )
