"""What the page of a new run shows beside its form: the metrics, and what the run would be."""

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
    """The page of a new run, also where its form is half filled."""

    kind: type[AutoMetric]  # that is chosen
    n_to_score: int | None = None  # responses without a score; None: the form is not valid
    model_problem: str = ""  # why the model cannot be used; "": its files look well
    model_hint: str = ""  # what may become of it where workers are as this machine

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
        """What to do when no model is there that the chosen metric can ask."""
        kinds = [BACKENDS[key].title for key in self.kind.backends if key in BACKENDS]
        asked = f" It can ask: {', '.join(kinds)}." if kinds else ""
        return f"An admin lists the models that {self.kind.title} may ask.{asked}"


def new_run_page(kind: type[AutoMetric], wanted: Mapping[str, Any] | None) -> NewRunPage:
    """Return the page of a metric.

    Args:
        wanted: what a valid form asks for; None: it is not valid.
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
