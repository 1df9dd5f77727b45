"""Scorers of responses that were just made: runs that can go on, new runs, raters.

This module only reads.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from django.db.models import Count, QuerySet

from annotation.models import Vote
from evaluation.metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.budget import budget_of
from evaluation.runs.choices import knows_questions_of, model_called, models_for, plan_of
from evaluation.runs.main_metrics import SIDES as AXIS_SIDES
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import RunPlan, in_language_of, spec_of
from evaluation.tradeoffs.axes import (
    Axes,
    Axis,
    axes_of,
    find,
    of_run,
    values_of,
)
from evaluation.tradeoffs.selection_bias import chooser_of
from generation.choices.declaration import ChoiceError
from generation.evidence import EvidenceChoice
from generation.grids.dataset_material import material_of
from generation.models import Dataset, Response

Side = Literal["attribution", "sensibleness"]
SIDES: tuple[Side, ...] = get_args(Side)
METRIC_OF = {side.name: side.metrics[0] for side in AXIS_SIDES}


class Scorer(NamedTuple):
    """A source of judgements on whether responses are attributable, or sensible."""

    key: str  # 'run-12', 'auto_ais/lexical', or for raters 'pilot/separate/attributable'
    title: str
    plan: RunPlan | None = None  # how missing scores are made; None: not possible here
    axis: Axis | None = None  # None: a run that has not been requested

    @property
    def run(self) -> MetricRun | None:
        return self.axis.run if self.axis else None

    @property
    def signature_part(self) -> str:
        """The `said` of its axis; of a new run, what that will be before its backend is opened."""
        if self.axis or not self.plan:
            return self.axis.said if self.axis else self.key
        return f"{self.plan.metric.key}: {self.plan.signature}"


class Scorers(NamedTuple):
    """The scorers of the two sides."""

    attribution: Scorer
    sensibleness: Scorer

    @property
    def axes(self) -> Axes | None:
        """The axes of both scorers; None if one of them is a run that has not been requested."""
        attribution, sensibleness = self.attribution.axis, self.sensibleness.axis
        return Axes(attribution, sensibleness) if attribution and sensibleness else None


def scorers_of(dataset: Dataset, side: Side) -> list[Scorer]:
    """Return the possible scorers of one side, the usual first.

    Runs of the side's metric that can be made here come first, in the order of usual axes. Then
    come new runs, with each model that can be asked, and then all other axes of the dataset.
    """
    metric = METRIC_OF[side]
    there = [_of_axis(axis) for axis in _axes(dataset)]
    own = sorted(
        (each for each in there if each.plan and each.run and each.run.metric == metric),
        key=lambda each: each.axis.place(side) if each.axis else math.inf,
    )
    signatures = {each.plan.signature for each in there if each.plan}
    every = _new(dataset, metric)
    new = [each for each in every if each.plan and each.plan.signature not in signatures]
    return [*own, *new, *(each for each in there if each not in own)]


def usual_plan(dataset: Dataset, side: Side) -> RunPlan:
    """Return the run that scores the responses of a dataset for one side if none is chosen.

    It is the usual run of the side's metric, to be continued, or else a new one. A baseline, which
    needs no model, comes first among new ones. A new run judges against the golden evidence, or
    against what the model was shown where the dataset has none.
    """
    plan, run = next((each.plan, each.run) for each in scorers_of(dataset, side) if each.plan)
    there = material_of(Dataset.objects.filter(pk=dataset.pk))
    has_golden = there.has_golden or "graph-gold" in there.about_graph
    if run or has_golden or not plan.metric.needs_evidence:
        return plan
    return plan._replace(evidence=EvidenceChoice.SHOWN.value)


def scorer_called(
    dataset: Dataset,
    side: Side,
    text: str,
    options: Mapping[str, Any] | None = None,
    evidence: str = "",
) -> Scorer:
    """Return the scorer that a text names.

    A metric is scored by an existing run that agrees with everything given; of several, by the
    pinned one, else by the oldest that may be the usual axis, so that a recipe goes on with it. A
    new run is made if the dataset has no scores by the metric, or none by the given choices: its
    model, options, evidence.

    Args:
        text: a metric, METRIC/MODEL, the key of an axis, or what only one axis shows; "" for the
            usual metric of the side.
        options: options of the metric by name; those that are not given are as usual.
        evidence: the choice of evidence; for a metric that needs evidence, "" is golden.

    Raises:
        LookupError: there is no such scorer, or its evidence must be given.
        ChoiceError: the metric cannot ask that model, or has no such option.
    """
    axes = _axes(dataset)
    metric = metric_named(side, text)
    if not metric:
        return _of_axis(find(axes, text))
    model, options = text.partition("/")[2], options or {}
    plan = _plan(dataset, metric, model, options, evidence)
    of_metric = [axis for axis in axes if axis.run and axis.run.metric == metric]
    alike = [
        each
        for each in map(_of_axis, of_metric)
        if each.plan and _is_as_said(each.plan, plan, model, options)
    ]
    same_evidence = [each for each in alike if each.plan and each.plan.evidence == plan.evidence]
    if same_evidence:
        return min(same_evidence, key=lambda each: _age(each.axis, side))
    if alike and not evidence:
        there = sorted({str(each.plan.evidence) for each in alike if each.plan})
        raise LookupError(
            f"{plan.metric.title} has scores here against {' and '.join(there)} evidence, and none "
            f"against {plan.evidence} evidence. Give --evidence {' or '.join(there)} to use them, "
            f"or --evidence {plan.evidence} for a new run."
        )
    if of_metric and not (model or options or evidence):
        raise LookupError(
            f"{plan.metric.title} has only scores that were imported or that are of a sample, and "
            "no further responses can be added to them. Name a model that scores the responses, "
            f"such as {metric}/{plan.spec.name or plan.spec.backend}."
        )
    return _of_plan(plan, model)


def metric_named(side: Side, text: str) -> str:
    """Return the metric that a text names, see `scorer_called`; "" if it names something else."""
    metric = text.partition("/")[0] or METRIC_OF[side]
    return metric if metric in METRICS else ""


def _is_as_said(there: RunPlan, asked: RunPlan, model: str, options: Mapping[str, Any]) -> bool:
    """Return whether a run agrees with the model and the options that were given."""
    name, asked_name = there.spec.name or there.spec.backend, asked.spec.name or asked.spec.backend
    own, others = there.metric.parameters, asked.metric.parameters
    is_model = not model or name == asked_name
    return is_model and all(own.get(option) == others.get(option) for option in options)


def scorer_among(there: Sequence[Scorer], dataset: Dataset, side: Side, text: str) -> Scorer:
    """Return the scorer with a key among those of `scorers_of`.

    A scorer that was a new run when it was offered may be an existing run by now, which is returned
    then.

    Raises:
        LookupError: no scorer has this key.
    """
    by_key = {each.key: each for each in there}
    if text in by_key:
        return by_key[text]
    if metric := metric_named(side, text):
        try:
            plan = _plan(dataset, metric, text.partition("/")[2])
        except ChoiceError as error:
            raise LookupError(str(error)) from error
        runs = [each for each in there if each.run and _is_of(each.run, plan)]
        if runs:
            return runs[0]
    raise LookupError(f"There is no {text!r} that could score {side}.")


def judge_beside(
    dataset: Dataset, side: Side, choosing: Scorers, responses: QuerySet[Response]
) -> Scorer | None:
    """Return the usual judge of a side: something that did not choose itself.

    Raters come first, then the side's metric with another model, in the order of usual axes. A
    judge must exist already, and must have scored all responses or be able to. None is returned if
    there is no judge.

    Args:
        responses: the responses that are judged.
    """
    [of_side] = [each for each in AXIS_SIDES if each.name == side]
    choosers = [chooser_of(each.signature_part) for each in choosing]
    others = [
        axis
        for axis in _axes(dataset)
        if axis.shows(of_side) and not any(map(chooser_of(axis.said).is_same, choosers))
    ]
    whole = _come_to_all(others, responses)
    others.sort(key=lambda axis: (not axis.is_human, axis.place(side)))
    in_order = map(_of_axis, others)
    return next((each for each in in_order if each.key in whole or _can_be_asked(each)), None)


def _age(axis: Axis | None, side: Side) -> tuple[bool, bool, int]:
    """Return a key that puts the pinned run first, then the oldest that may be the usual axis."""
    of_run = axis.ranks.get(side) if axis else None
    pk = axis.run.pk if axis and axis.run else 0
    return not (of_run and of_run.is_pinned), of_run is None, pk


def _can_be_asked(scorer: Scorer) -> bool:
    """Return whether a run can score more; one that failed or was cancelled counts as unable."""
    if scorer.plan is None or scorer.run is None:
        return False
    has_ended_early = scorer.run.state in (MetricRun.State.FAILED, MetricRun.State.CANCELLED)
    return not has_ended_early and not why_unusable(scorer.plan.spec, scorer.plan.metric.key)


def _come_to_all(axes: Sequence[Axis], responses: QuerySet[Response]) -> set[str]:
    """Return the keys of the axes that have a score of, or a vote on, each of some responses."""
    n_responses = responses.count() if axes else 0
    if not n_responses:
        return set()
    ids = responses.order_by().values("pk")
    scores = AutoScore.objects.filter(
        run__in=[axis.run for axis in axes if axis.run],
        target__citation=None,
        target__response__in=ids,
    )
    of_runs = scores.order_by().values_list("run").annotate(n=Count("target__response"))
    votes = Vote.objects.filter(
        arm__in=[axis.arm for axis in axes if axis.arm],
        is_surplus=False,
        rater__is_excluded=False,
        target__citation=None,
        target__response__in=ids,
    )
    of_questions = votes.order_by().values_list("arm", "question")
    n_rated = of_questions.annotate(n=Count("target__response", distinct=True))
    whole = {pk for pk, n in of_runs if n == n_responses}
    rated = {(arm, question) for arm, question, n in n_rated if n == n_responses}
    return {axis.key for axis in axes if _who(axis) in whole | rated}


def _who(axis: Axis) -> int | tuple[int, str] | None:
    """Return the id of an axis's run, or of its arm with the question; of SSA, with the last."""
    if axis.run:
        return axis.run.pk
    question = axis.mean_of[-1] if axis.mean_of else axis.question
    return (axis.arm.pk, question.key) if axis.arm and question else None


def n_without_score(scorer: Scorer, responses: Sequence[int]) -> int:
    """Return how many of some responses (ids) a scorer has not scored."""
    if scorer.axis is None:
        return len(responses)
    if scorer.run is None:
        return len(set(responses).difference(values_of(scorer.axis).ids.tolist()))
    come_to = AutoScore.objects.filter(run=scorer.run, target__citation=None)
    return len(set(responses).difference(come_to.values_list("target__response", flat=True)))


def _axes(dataset: Dataset) -> list[Axis]:
    """Return the axes of a dataset, including those of runs that have not scored anything yet."""
    axes = axes_of(dataset)
    known = {axis.run.pk for axis in axes if axis.run}
    begun = MetricRun.objects.filter(dataset=dataset, is_imported=False).exclude(pk__in=known)
    return [*axes, *map(of_run, begun.order_by("pk"))]


def _of_axis(axis: Axis) -> Scorer:
    return Scorer(axis.key, axis.title, _plan_of(axis.run) if axis.run else None, axis)


def _plan_of(run: MetricRun) -> RunPlan | None:
    """Return the plan of a run; None: it cannot be made here, or is over a sample."""
    if run.is_imported or run.metric not in METRICS or run.parameters.get("n_sampled"):
        return None
    return RunPlan(
        spec=spec_of(run),
        metric=metric_of(run.metric, run.parameters),
        evidence=run.parameters.get("evidence", EvidenceChoice.SHOWN),
        threshold=run.threshold,
        budget=budget_of(run),
    )


def _new(dataset: Dataset, metric: str) -> Iterator[Scorer]:
    for model, _ in models_for(metric):
        try:
            yield _of_plan(_plan(dataset, metric, model), model)
        except ChoiceError:  # the metric asks the model's backend in another way
            continue


def _plan(
    dataset: Dataset,
    metric: str,
    model: str,
    options: Mapping[str, Any] | None = None,
    evidence: str = "",
) -> RunPlan:
    usually = EvidenceChoice.GOLDEN if METRICS[metric].needs_evidence else ""
    plan = plan_of(
        metric,
        model_called(model),
        options=options,
        evidence=evidence or usually,
        knows_questions=knows_questions_of(dataset),
    )
    return in_language_of(dataset, plan)


def _of_plan(plan: RunPlan, model: str) -> Scorer:
    evidence = [f"{plan.evidence} evidence"] if plan.metric.needs_evidence else []
    said = [plan.metric.title, plan.spec.name or plan.spec.backend, *evidence]
    return Scorer(f"{plan.metric.key}/{model or plan.spec.backend}", ", ".join(said), plan)


def _is_of(run: MetricRun, plan: RunPlan) -> bool:
    return not run.is_imported and run.signature == plan.signature
