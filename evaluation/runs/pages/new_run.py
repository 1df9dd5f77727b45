"""The contents of the page of a new run beside its form: the metrics, and a preview of the run."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evaluation.backends.registry import BACKENDS
from evaluation.measures.fitness import Fitness
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.runs.control_figures import fitness_of_runs
from evaluation.runs.model_checks import too_large_here, why_unusable
from evaluation.runs.names import distinct_names, run_parts
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.runs import n_without_score
from generation.models import Dataset


class MetricChoice(NamedTuple):
    """One metric as the page offers it."""

    key: str
    title: str
    lede: str
    is_chosen: bool


class JudgedRun(NamedTuple):
    """An earlier run of the chosen metric and model on these data, with what its controls say."""

    pk: int
    title: str
    fitness: Fitness


class NewRunPage(NamedTuple):
    """The page of a new run. Its form may be incomplete."""

    kind: type[AutoMetric]  # the chosen metric
    n_to_score: int | None = None  # responses without a score; None: the form is not valid
    model_problem: str = ""  # why the model cannot be used; "": no problem was found
    judged: Sequence[JudgedRun] = ()  # earlier runs that have enough controls
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
        judged=_judged(wanted["dataset"], plan),
        model_hint=too_large_here(plan.spec),
    )


def _judged(dataset: Dataset, plan: RunPlan) -> list[JudgedRun]:
    of_model = MetricRun.objects.filter(
        dataset=dataset,
        metric=plan.metric.key,
        backend=plan.spec.backend,
        model_name=plan.spec.name,
        is_imported=False,
    )
    runs = list(of_model.order_by("pk"))
    fitness = fitness_of_runs(runs)
    known = [run for run in runs if fitness[run.pk].is_known]
    names = distinct_names([(", ".join(run_parts(run)), run.signature) for run in known])
    return [
        JudgedRun(run.pk, name, fitness[run.pk]) for run, name in zip(known, names, strict=True)
    ]
