"""What may score responses that were just made: runs that go on, new runs, raters. Reads only."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from evaluation.auto_metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.choices import ChoiceError, model_called, models_for, plan_of
from evaluation.runs.plan import RunPlan, spec_of
from evaluation.tradeoffs.axes import (
    ATTRIBUTION_METRICS,
    SENSIBLENESS_METRICS,
    Axes,
    Axis,
    axes_of,
    find,
    of_run,
    values_of,
)
from generation.evidence import EvidenceChoice
from generation.models import Dataset

Side = Literal["attribution", "sensibleness"]
SIDES: tuple[Side, ...] = get_args(Side)
METRIC_OF = {"attribution": ATTRIBUTION_METRICS[0], "sensibleness": SENSIBLENESS_METRICS[0]}


class Scorer(NamedTuple):
    """What says of responses whether they are attributable, or sensible."""

    key: str  # 'run-12', 'auto_ais/lexical', or of raters 'pilot/separate/attributable'
    title: str
    plan: RunPlan | None = None  # how what is missing is scored; None: it cannot be from here
    axis: Axis | None = None  # None: a run that nobody has asked for

    @property
    def run(self) -> MetricRun | None:
        return self.axis.run if self.axis else None


class Scorers(NamedTuple):
    """What scores the two sides."""

    attribution: Scorer
    sensibleness: Scorer

    @property
    def axes(self) -> Axes | None:
        """The axes that they make; None: one of them has been asked nothing yet."""
        attribution, sensibleness = self.attribution.axis, self.sensibleness.axis
        return Axes(attribution, sensibleness) if attribution and sensibleness else None


def scorers_of(dataset: Dataset, side: Side) -> list[Scorer]:
    """Return what may score one side, the usual first.

    Runs of its metric that can be made here, by golden evidence before other; then new ones, with
    each model that can be asked; then all else that an axis of the dataset can show.
    """
    metric = METRIC_OF[side]
    there = [_of_axis(axis) for axis in _axes(dataset)]
    own = sorted(
        (each for each in there if each.plan and each.run and each.run.metric == metric),
        key=lambda each: each.plan is None or each.plan.evidence != EvidenceChoice.GOLDEN,
    )
    signatures = {each.plan.signature for each in there if each.plan}
    new = [each for each in _new(metric) if each.plan and each.plan.signature not in signatures]
    return [*own, *new, *(each for each in there if each not in own)]


def scorer_called(dataset: Dataset, side: Side, text: str) -> Scorer:
    """Return the scorer that somebody names.

    Args:
        text: a metric, METRIC/MODEL, the key of an axis, or what only one axis shows; "" for the
            usual metric of the side with its usual model, against golden evidence.

    Raises:
        LookupError: there is none.
        ChoiceError: the metric cannot ask that model.
    """
    axes = _axes(dataset)
    metric, _, model = (text or METRIC_OF[side]).partition("/")
    if metric in METRICS:
        plan = _plan(metric, model)
        runs = [axis for axis in axes if axis.run and _is_of(axis.run, plan)]
        return _of_axis(runs[0]) if runs else _of_plan(plan, model)
    return _of_axis(find(axes, text))


def scorer_among(there: Sequence[Scorer], dataset: Dataset, side: Side, text: str) -> Scorer:
    """Return the one of `scorers_of` that somebody asks for, see `scorer_called`.

    What was new when it was offered may have become a run since: then it is that run.

    Raises:
        LookupError: it is not among them.
    """
    by_key = {each.key: each for each in there}
    if text in by_key:
        return by_key[text]
    try:
        return by_key[scorer_called(dataset, side, text).key]
    except ChoiceError as error:
        raise LookupError(str(error)) from error


def n_without_score(scorer: Scorer, responses: Sequence[int]) -> int:
    """Return how many of some responses (ids) a scorer has not come to."""
    if scorer.axis is None:
        return len(responses)
    if scorer.run is None:
        return len(set(responses).difference(values_of(scorer.axis).ids.tolist()))
    come_to = AutoScore.objects.filter(run=scorer.run, target__citation=None)
    return len(set(responses).difference(come_to.values_list("target__response", flat=True)))


def _axes(dataset: Dataset) -> list[Axis]:
    """Return the axes of a dataset, with those of runs that have not scored anything yet."""
    axes = axes_of(dataset)
    known = {axis.run.pk for axis in axes if axis.run}
    begun = MetricRun.objects.filter(dataset=dataset, is_imported=False).exclude(pk__in=known)
    return [*axes, *map(of_run, begun.order_by("pk"))]


def _of_axis(axis: Axis) -> Scorer:
    return Scorer(axis.key, axis.title, _plan_of(axis.run) if axis.run else None, axis)


def _plan_of(run: MetricRun) -> RunPlan | None:
    """Return what a run was asked to be; None: it cannot be made here, or is over a sample."""
    if run.is_imported or run.metric not in METRICS or run.parameters.get("n_sampled"):
        return None
    return RunPlan(
        spec=spec_of(run),
        metric=metric_of(run.metric, run.parameters),
        evidence=run.parameters.get("evidence", EvidenceChoice.SHOWN),
        threshold=run.threshold,
    )


def _new(metric: str) -> Iterator[Scorer]:
    for model, _ in models_for(metric):
        try:
            yield _of_plan(_plan(metric, model), model)
        except ChoiceError:  # listed for a backend that the metric asks otherwise
            continue


def _plan(metric: str, model: str) -> RunPlan:
    evidence = EvidenceChoice.GOLDEN if METRICS[metric].needs_evidence else ""
    return plan_of(metric, model_called(model), evidence=evidence)


def _of_plan(plan: RunPlan, model: str) -> Scorer:
    evidence = [f"{plan.evidence} evidence"] if plan.metric.needs_evidence else []
    said = [plan.metric.title, plan.spec.name or plan.spec.backend, *evidence]
    return Scorer(f"{plan.metric.key}/{model or plan.spec.backend}", ", ".join(said), plan)


def _is_of(run: MetricRun, plan: RunPlan) -> bool:
    return not run.is_imported and run.signature == plan.signature
