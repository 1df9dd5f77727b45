"""The calls of runs, counted before the runs are requested. Nothing is stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.ordering import random_key
from evaluation.backends.judge import Judge
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.base import (
    AutoMetric,
    ScoreRequest,
    ScoringMaterial,
    content_key,
    digest_of,
)
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.budget import price_of
from evaluation.runs.choices import USUAL_CONTROLS
from evaluation.runs.controls import failed_controls, n_to_draw
from evaluation.runs.materials import content_of, material_of
from evaluation.runs.plan import RunPlan, plan_again
from evaluation.runs.progress import progress_of_runs, title_of
from evaluation.runs.scoring import known_scores, score_signature
from evaluation.runs.services.runs import (
    ids_without_score,
    n_controls_left,
    precision_check,
)
from generation.backends.base import Completion, Decoding, Prompt
from generation.backends.registry import LANGUAGE_MODELS
from generation.call_plan import CallPlan, CallRow, together
from generation.model_specs import USUAL_CURRENCY
from generation.models import Dataset, Response
from generation.services.citations import cited_facts
from generation.text.tokens import count_tokens

MOST_COUNTED = 200  # responses whose questions are counted; of more, so many are drawn
LOOKED_AT_FOR_CONTROLS = 50  # responses whose questions are counted for controls
MOST_LOOKED_AT = 5  # newest runs whose speed is looked at
TESTS_JUDGE = "Each worker also asks two plain questions, to test that the model can judge."


class _Counted(NamedTuple):
    """The calls about some responses."""

    n_requests: int  # responses about which anything is asked
    n_calls: int
    n_there: int
    n_prompt_tokens: int
    n_most_tokens: int


def needs_yes(plan: RunPlan) -> bool:
    """Return whether a run asks a model, and so costs money or time."""
    return plan.spec.backend not in BACKENDS or BACKENDS[plan.spec.backend].needs_model


def runs_asking(
    dataset: Dataset, plans: Iterable[RunPlan], responses: QuerySet[Response]
) -> CallPlan:
    """Return what runs would ask about the responses that have no score yet.

    A baseline without a model costs nothing, and has no row.
    """
    return together(
        part for plan in plans if needs_yes(plan) for part in _parts(dataset, plan, responses)
    )


def _parts(dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]) -> Iterator[CallPlan]:
    """Yield what a run asks about its responses, and what it asks about its controls."""
    left = ids_without_score(dataset, plan, responses)
    yield _asking(dataset, plan, left)
    if n_controls := n_controls_left(dataset, plan, responses):
        there = responses.filter(dataset=dataset).order_by().values_list("pk", "key")
        yield _asking_of_controls(dataset, plan, n_controls, left or dict(there))


def precision_asking(run: MetricRun, n: int, seed: int = 0) -> CallPlan:
    """Return what a check of a run's precision would ask.

    Raises:
        RunError: as in `request_precision_check`.
    """
    plan, responses = precision_check(run, n, seed)
    return runs_asking(run.dataset, [plan], responses)


def controls_asking(run: MetricRun, n: int = USUAL_CONTROLS) -> CallPlan:
    """Return what the controls of a run's scored targets would ask."""
    if run.is_imported or not needs_yes(plan := plan_again(run)):
        return CallPlan()
    scored = AutoScore.objects.filter(run=run).order_by()
    n_new = n_to_draw(run, min(n, scored.count()))
    return _asking_of_controls(run.dataset, plan, n_new, _keys_of(scored))


def _keys_of(scores: QuerySet[Any]) -> dict[int, str]:
    """Return the responses of scores or controls, id → key."""
    return dict(scores.order_by().values_list("target__response", "target__response__key"))


def retry_asking(run: MetricRun) -> CallPlan:
    """Return what another try of a run's failed targets would ask, at most."""
    if run.is_imported or not needs_yes(plan := plan_again(run)):
        return CallPlan()
    failed = AutoScore.objects.filter(run=run, score=None)
    controls = failed_controls(run)
    n_targets = controls.values("target").distinct().count()
    asking = together(
        [
            _asking(run.dataset, plan, _keys_of(failed)),
            _asking_of_controls(run.dataset, plan, n_targets, _keys_of(controls)),
        ]
    )
    return asking._replace(
        rows=tuple(row._replace(title=f"{row.title}, failed before") for row in asking.rows)
    )


def _asking(dataset: Dataset, plan: RunPlan, left: Mapping[int, str]) -> CallPlan:
    """Return what a run asks about responses, id → key, that it has no score of."""
    run = _run_of(dataset, plan)
    drawn = _drawn(left, MOST_COUNTED)
    counted = _counted(run, plan.metric, _materials(run, plan.metric, drawn))
    scale = len(left) / len(drawn) if drawn else 0.0
    row = _row(f"{title_of(run)}, by {plan.spec.name}", run, counted, scale)
    # Responses that were not looked at may be new.
    row = row._replace(n_calls=row.n_calls or len(left) - len(drawn))
    row = row._replace(n_there=round(scale * counted.n_there), seconds=_seconds(run, row.n_calls))
    return CallPlan((row,), tuple(_notes(plan, len(drawn), len(left))))


def _asking_of_controls(
    dataset: Dataset, plan: RunPlan, n: int, like: Mapping[int, str]
) -> CallPlan:
    """Return what the controls of `n` targets ask: each as much as one of these responses does.

    Args:
        dataset: the dataset of the run.
        plan: the choices of the run.
        n: the number of targets.
        like: the responses of the run, id → key, of which some are looked at.
    """
    run = _run_of(dataset, plan)
    drawn = _drawn(like, LOOKED_AT_FOR_CONTROLS)
    counted = _counted(run, plan.metric, _materials(run, plan.metric, drawn), skips_known=False)
    n_controls = n * len(plan.metric.controls)
    scale = n_controls / counted.n_requests if counted.n_requests else 0.0
    row = _row(f"{title_of(run)}, by {plan.spec.name}: controls", run, counted, scale)
    return CallPlan((row,) if row.n_calls else ())


def _run_of(dataset: Dataset, plan: RunPlan) -> MetricRun:
    """Return a run of these choices, which is not stored."""
    return MetricRun(
        dataset=dataset,
        metric=plan.metric.key,
        backend=plan.spec.backend,
        model_name=plan.spec.name,
        model_location=plan.spec.location,
        parameters=plan.parameters,
    )


def _drawn(keys: Mapping[int, str], n: int) -> list[int]:
    return nsmallest(n, keys, key=lambda pk: (random_key(0, "plan", keys[pk]), pk))


def _row(title: str, run: MetricRun, counted: _Counted, scale: float) -> CallRow:
    """Return the row of `scale` times as many calls as were counted."""
    n_calls, n_in, n_out = (
        round(scale * n) for n in (counted.n_calls, counted.n_prompt_tokens, counted.n_most_tokens)
    )
    row = CallRow(title, n_calls, seconds=_seconds(run, n_calls))
    if run.backend not in LANGUAGE_MODELS:
        return row
    price = price_of(run.model_name)
    return row._replace(
        n_prompt_tokens=n_in,
        n_completion_tokens=n_out,
        cost=price.cost(n_in, n_out) if price else None,
        currency=USUAL_CURRENCY,
    )


def _notes(plan: RunPlan, n_drawn: int, n_left: int) -> Iterator[str]:
    if n_drawn < n_left:
        yield f"Estimated from {n_drawn:,} of {n_left:,} responses, which are drawn."
    if plan.spec.backend in LANGUAGE_MODELS:
        yield "Tokens are words and punctuation marks. A model's tokenizer finds more."
        if also := TESTS_JUDGE if plan.metric.asks_pairs else plan.metric.asks_again:
            yield also


def _materials(run: MetricRun, metric: AutoMetric, drawn: Sequence[int]) -> list[ScoringMaterial]:
    """Return what a run would score of some responses. The targets have no rows yet."""
    if metric.judges == "responses":
        return material_of({pk: pk for pk in drawn}, drawn, run)
    facts = list(cited_facts(drawn, {}).values())
    response_of = {number: fact.response_id for number, fact in enumerate(facts)}
    citations = {number: content_of(fact) for number, fact in enumerate(facts)}
    return material_of(response_of, list(response_of), run, citations)


def _counted(
    run: MetricRun,
    metric: AutoMetric,
    materials: Sequence[ScoringMaterial],
    *,
    skips_known: bool = True,
) -> _Counted:
    """Count the questions about some responses, each once.

    Args:
        run: a run of the metric.
        metric: the metric.
        materials: the responses.
        skips_known: whether to leave out questions with a known answer.
    """
    requests = [
        request
        for material in materials
        if isinstance(request := metric.asked(material), ScoreRequest)
    ]
    digests = [digest_of(request.asks) for request in requests]
    known = _known(run, metric, digests) if skips_known else frozenset()
    new = [
        request for request, digest in zip(requests, digests, strict=True) if digest not in known
    ]
    asks = dict.fromkeys(ask for request in new for ask in request.asks)
    model = _CountingModel()
    for _ in metric.answers(Judge(model, False) if metric.asks_pairs else model, list(asks)):
        pass
    n_there = sum(len(request.asks) for request in requests) - model.n_calls
    counts = model.n_calls, n_there, model.n_prompt_tokens, model.n_most_tokens
    return _Counted(len(requests), *counts)


def _known(run: MetricRun, metric: AutoMetric, digests: Iterable[str]) -> frozenset[str]:
    """Return the digests of questions with a known score, if this model was opened before."""
    opened = [each for each in _earlier(run) if each.backend_signature]
    if not opened:
        return frozenset()
    signature = score_signature(run, metric, _Opened(opened[-1]))
    keys = {content_key(signature, digest): digest for digest in digests}
    return frozenset(keys[key] for key in known_scores(keys))


def _earlier(run: MetricRun) -> list[MetricRun]:
    """Return the runs of the same metric by the same model, oldest first."""
    runs = MetricRun.objects.filter(
        is_imported=False,
        metric=run.metric,
        backend=run.backend,
        model_name=run.model_name,
        model_location=run.model_location,
    )
    return [each for each in runs.order_by("pk") if _of_model(each) == _of_model(run)]


def _of_model(run: MetricRun) -> tuple[Any, ...]:
    usual = {"precision": "fp32", "entailment_index": None, "served_name": ""}
    return tuple(run.parameters.get(name, value) for name, value in usual.items())


def _seconds(run: MetricRun, n_calls: int) -> float | None:
    """Return how long calls take at the speed of the newest run that shows one; None: not known."""
    done = [each.pk for each in _earlier(run) if each.state == MetricRun.State.DONE]
    newest = progress_of_runs(done[-MOST_LOOKED_AT:])  # newest first
    speeds = (each.pairs_per_second for each in newest.values())
    speed = next(filter(None, speeds), None)
    return n_calls / speed if speed else None


class _Opened:
    """A backend as an earlier run has opened it, for the signature of scores."""

    def __init__(self, run: MetricRun) -> None:
        self.signature, self.revision = run.backend_signature, run.revision
        self.files: dict[str, str] = {}
        self.device = run.device


class _CountingModel:
    """A language model that only counts what it is asked."""

    signature = revision = device = ""
    files: dict[str, str] = {}

    def __init__(self) -> None:
        self.n_calls = self.n_prompt_tokens = self.n_most_tokens = 0

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        for prompt in prompts:
            self.n_calls += 1
            self.n_prompt_tokens += count_tokens(prompt.system) + count_tokens(prompt.text)
            self.n_most_tokens += decoding.max_tokens
            yield Completion(problem="this call was only counted")
