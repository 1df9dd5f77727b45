"""How far grids are. Reads only."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import (
    Case,
    Count,
    F,
    Q,
    QuerySet,
    Sum,
    When,
)
from django.utils import timezone

from generation.grids.grid_file import Price
from generation.json_length import JsonLength
from generation.models import Call, Experiment, ExperimentChunk, ExperimentSetup, Setup

# Tokens of a call's prompt, as the model counts; where it does not say, as we do.
TOKENS_IN = Case(
    When(n_model_prompt_tokens__gt=0, then=F("n_model_prompt_tokens")),
    # A call that failed without a word from the model may have had no answer.
    When(response__isnull=False, then=F("n_tokens")),
    default=0,
)


class ExperimentProgress(NamedTuple):
    """How far one grid is. Rates, costs and the time left are None where they cannot be told."""

    experiment: Experiment
    # planning, planned, queued, running, cancelled, failed, failed in part, done
    state: str
    n_calls: int  # made by this grid, or still to be made; what was there before is not among them
    n_done: int  # with a response
    n_empty: int  # of these: the model said nothing
    n_failed: int
    n_left: int
    n_tokens_in: int  # of prompts, as the model counts; where it does not say, as we do
    n_tokens_out: int  # of completions, likewise
    cost: float | None  # so far, of models with a price; None: there is none
    currency: str
    calls_per_second: float | None
    seconds_left: float | None
    share: float

    @property
    def percent(self) -> int:
        return int(100 * self.share)


class SetupProgress(NamedTuple):
    """How far one setup of a grid is; calls are those that the grid made."""

    setup: Setup
    n_done: int
    n_failed: int
    n_left: int
    n_cut: int  # completions as long as they may be
    mean_prompt_tokens: float | None  # as we count; of calls with a response
    mean_completion_tokens: float | None  # likewise, as `n_tokens_out`
    n_tokens_in: int
    n_tokens_out: int
    cost: float | None


class _Calls(NamedTuple):
    """Counts of the calls of one grid under one setup."""

    n: int = 0
    n_failed: int = 0
    n_empty: int = 0
    n_since: int = 0  # since the grid was last taken up
    n_cut: int = 0
    n_prompt_tokens: int = 0  # of those with a response, as we count
    n_completion_tokens: int = 0  # of those with a response
    n_tokens_in: int = 0
    n_tokens_out: int = 0


class _SetupRemainder(NamedTuple):
    """What a grid has left under one setup: examples, and chunks that somebody is at."""

    n: int = 0
    n_at_work: int = 0


def experiment_progress(experiments: QuerySet[Experiment]) -> list[ExperimentProgress]:
    """Return the progress of some grids, in their order; three statements, however many."""
    found = list(experiments)
    now = timezone.now()
    ids = [experiment.pk for experiment in found]
    calls, left = _calls(ids), _left(ids, now)
    return [_progress(each, calls[each.pk], left[each.pk], now) for each in found]


def setups_progress(experiment: Experiment) -> list[SetupProgress]:
    """Return the progress of a grid's setups, in its order; three statements."""
    cells = ExperimentSetup.objects.filter(experiment=experiment).select_related("setup")
    calls = _calls([experiment.pk])[experiment.pk]
    left = _left([experiment.pk], timezone.now())[experiment.pk]
    return [
        _setup_progress(
            experiment,
            cell.setup,
            calls.get((cell.setup_id, cell.setup.model), _Calls()),
            left.get(cell.setup_id, _SetupRemainder()),
        )
        for cell in cells.order_by("position")
    ]


def _calls(experiments: list[int]) -> Mapping[int, dict[tuple[int, str], _Calls]]:
    """Count calls by grid, then by setup and its model."""
    with_response = Q(response__isnull=False)
    counted = (
        Call.objects.filter(experiment__in=experiments)
        .order_by()
        .values_list("experiment", "setup", "setup__model")
        .annotate(
            n=Count("pk"),
            failed=Count("pk", filter=~with_response),
            empty=Count("pk", filter=Q(response__text="")),  # as `said` leaves it
            since=Count("pk", filter=Q(created_at__gte=F("experiment__resumed_at"))),
            cut=Count("pk", filter=Q(is_cut=True)),
            prompt_tokens=Sum("n_tokens", filter=with_response, default=0),
            completion_tokens=Sum("n_model_completion_tokens", filter=with_response, default=0),
            tokens_in=Sum(TOKENS_IN, default=0),
            tokens_out=Sum("n_model_completion_tokens", default=0),
        )
    )
    found: dict[int, dict[tuple[int, str], _Calls]] = defaultdict(dict)
    for experiment, setup, model, *counts in counted:
        found[experiment][setup, model] = _Calls(*counts)
    return found


def _left(experiments: list[int], now: datetime) -> Mapping[int, dict[int, _SetupRemainder]]:
    """Count what is in unfinished chunks, by grid and setup: what has no call yet."""
    at_work = Q(state=ExperimentChunk.State.RUNNING, lease_until__gte=now)
    counted = (
        ExperimentChunk.objects.filter(experiment__in=experiments)
        .exclude(state=ExperimentChunk.State.DONE)
        .order_by()
        .values_list("experiment", "setup")
        .annotate(n=Sum(JsonLength("examples")), n_at_work=Count("pk", filter=at_work))
    )
    found: dict[int, dict[int, _SetupRemainder]] = defaultdict(dict)
    for experiment, setup, *counts in counted:
        found[experiment][setup] = _SetupRemainder(*counts)
    return found


def _progress(
    experiment: Experiment,
    by_setup: Mapping[tuple[int, str], _Calls],
    left: Mapping[int, _SetupRemainder],
    now: datetime,
) -> ExperimentProgress:
    n = sum(calls.n for calls in by_setup.values())
    n_failed = sum(calls.n_failed for calls in by_setup.values())
    n_since = sum(calls.n_since for calls in by_setup.values())
    n_left = sum(each.n for each in left.values())
    is_at_work = n_since > 0 or any(each.n_at_work for each in left.values())
    state = _state(experiment, is_at_work, n_failed)
    began, ended = experiment.resumed_at, experiment.finished_at or now
    seconds = (ended - began).total_seconds() if began else 0.0
    per_second = n_since / seconds if n_since and seconds > 0 else None
    costs = (_cost(experiment, model, calls) for (_, model), calls in by_setup.items())
    is_priced = any("price" in model for model in experiment.grid.get("models", []))
    return ExperimentProgress(
        experiment=experiment,
        state=state,
        n_calls=n + n_left,
        n_done=n - n_failed,
        n_empty=sum(calls.n_empty for calls in by_setup.values()),
        n_failed=n_failed,
        n_left=n_left,
        n_tokens_in=sum(calls.n_tokens_in for calls in by_setup.values()),
        n_tokens_out=sum(calls.n_tokens_out for calls in by_setup.values()),
        cost=sum(filter(None, costs), 0.0) if is_priced else None,
        currency=experiment.grid.get("currency", ""),
        calls_per_second=per_second,
        seconds_left=n_left / per_second if per_second and state == "running" else None,
        share=_share(experiment, n, n_left),
    )


def _state(experiment: Experiment, is_at_work: bool, n_failed: int) -> str:
    if experiment.state == Experiment.State.RUNNING:
        return "running" if is_at_work else "queued"
    if experiment.state == Experiment.State.DONE and n_failed:
        return "failed in part"
    return str(experiment.state)


def _share(experiment: Experiment, n: int, n_left: int) -> float:
    """Return which part of the calls is made; of none, all are once the grid is done."""
    if n + n_left:
        return n / (n + n_left)
    return 1.0 if experiment.state == Experiment.State.DONE else 0.0


def _setup_progress(
    experiment: Experiment, setup: Setup, calls: _Calls, left: _SetupRemainder
) -> SetupProgress:
    n_done = calls.n - calls.n_failed
    return SetupProgress(
        setup=setup,
        n_done=n_done,
        n_failed=calls.n_failed,
        n_left=left.n,
        n_cut=calls.n_cut,
        mean_prompt_tokens=calls.n_prompt_tokens / n_done if n_done else None,
        mean_completion_tokens=calls.n_completion_tokens / n_done if n_done else None,
        n_tokens_in=calls.n_tokens_in,
        n_tokens_out=calls.n_tokens_out,
        cost=_cost(experiment, setup.model, calls),
    )


def _cost(experiment: Experiment, model: str, calls: _Calls) -> float | None:
    """Return what the calls of a model cost; None: its price is not known."""
    for each in experiment.grid.get("models", []):
        if each["name"] == model and "price" in each:
            return Price(**each["price"]).cost(calls.n_tokens_in, calls.n_tokens_out)
    return None
