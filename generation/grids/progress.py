"""The progress of grids. This module only reads."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import (
    Case,
    Count,
    F,
    Q,
    Sum,
    When,
)
from django.urls import reverse
from django.utils import timezone

from generation.json_length import JsonLength
from generation.model_specs import Price
from generation.models import Call, Grid, GridChunk, GridSetup, Setup
from work.cards import Card, speed
from work.claims import with_a_worker
from work.kinds import work_kinds

# Tokens of a call's prompt by the model's count; by ours if the model does not report one.
TOKENS_IN = Case(
    When(n_model_prompt_tokens__gt=0, then=F("n_model_prompt_tokens")),
    # A call that failed without a count from the model may have had no answer.
    When(response__isnull=False, then=F("n_tokens")),
    default=0,
)
MOST_LOOKED_AT = 10  # newest grids whose speed is looked at


class GridProgress(NamedTuple):
    """The progress of one grid. Rates, costs and the time left are None if they are not known."""

    grid: Grid
    # planning, planned, queued, running, cancelled, failed, failed in part, done
    state: str
    n_calls: int  # calls of this grid, made or still to make; responses from before do not count
    n_done: int  # calls with a response
    n_empty: int  # calls with a response in which the model said nothing
    n_cut: int  # completions that reached the greatest length allowed
    n_debris: int  # responses that go on with the form of their prompt
    n_not_looked_at: int  # responses made before Attest looked for debris
    n_failed: int
    n_left: int
    n_tokens_in: int  # prompts' tokens by the model's count, or by ours if it reports none
    n_tokens_out: int  # completions' tokens, by the same rule
    cost: float | None  # cost so far of models with a price; None: no model has one
    currency: str
    calls_per_second: float | None
    seconds_left: float | None
    share: float

    @property
    def card(self) -> Card:
        grid = self.grid
        goes_on = grid.state in Grid.GOING_ON
        return Card(
            kind=work_kinds()["grid"],
            pk=grid.pk,
            name=grid.title,
            state=self.state,
            url=reverse("grids:grid", args=[grid.pk]),
            goes_on=goes_on,
            n_done=self.n_done,
            n_total=self.n_calls,
            n_failed=self.n_failed,
            unit="call",
            seen="",
            may_delete=not goes_on and not self.n_done and not self.n_failed,
            ended_at=grid.finished_at,
            rate=speed(self.calls_per_second, "call"),
            seconds_left=self.seconds_left,
        )


class SetupProgress(NamedTuple):
    """The progress of one setup of a grid, in calls that the grid made."""

    setup: Setup
    n_done: int
    n_failed: int
    n_left: int
    n_cut: int  # completions that reached the greatest length allowed
    n_debris: int | None  # responses that go on with the form of their prompt; None: not known
    mean_prompt_tokens: float | None  # our count; for calls with a response
    mean_completion_tokens: float | None  # counted like `n_tokens_out`; for calls with a response
    n_tokens_in: int
    n_tokens_out: int
    cost: float | None


class _Calls(NamedTuple):
    """Counts of the calls of one grid under one setup."""

    n: int = 0
    n_failed: int = 0
    n_empty: int = 0
    n_since: int = 0  # calls since the grid was last started or resumed
    n_cut: int = 0
    n_debris: int = 0
    n_not_looked_at: int = 0
    n_prompt_tokens: int = 0  # tokens of calls with a response, by our count
    n_completion_tokens: int = 0  # tokens of calls with a response
    n_tokens_in: int = 0
    n_tokens_out: int = 0


class _SetupRemainder(NamedTuple):
    """The examples that a grid has left under one setup, and the chunks with a worker."""

    n: int = 0
    n_at_work: int = 0


def grids_progress(grids: Iterable[Grid]) -> list[GridProgress]:
    """Return the progress of some grids, in their order; three statements for any number."""
    found = list(grids)
    now = timezone.now()
    ids = [grid.pk for grid in found]
    calls, left = _calls(ids), _left(ids)
    return [_progress(each, calls[each.pk], left[each.pk], now) for each in found]


def calls_per_second(model: str) -> float | None:
    """Return the speed of the newest finished grid that asked a model alone; None: not known."""
    done = Grid.objects.filter(state=Grid.State.DONE, cells__setup__model=model).distinct()
    alone = [each for each in done.order_by("-pk")[:MOST_LOOKED_AT] if _is_alone(each)]
    speeds = (progress.calls_per_second for progress in grids_progress(alone))
    return next(filter(None, speeds), None)


def _is_alone(grid: Grid) -> bool:
    return len(grid.choices["models"]) == 1


def setups_progress(grid: Grid) -> list[SetupProgress]:
    """Return the progress of a grid's setups, in its order, with three statements."""
    cells = GridSetup.objects.filter(grid=grid).select_related("setup")
    calls = _calls([grid.pk])[grid.pk]
    left = _left([grid.pk])[grid.pk]
    return [
        _setup_progress(
            grid,
            cell.setup,
            calls.get((cell.setup_id, cell.setup.model), _Calls()),
            left.get(cell.setup_id, _SetupRemainder()),
        )
        for cell in cells.order_by("position")
    ]


def _calls(grids: list[int]) -> Mapping[int, dict[tuple[int, str], _Calls]]:
    """Return counts of calls by grid, then by setup and its model."""
    with_response = Q(response__isnull=False)
    counted = (
        Call.objects.filter(grid__in=grids)
        .order_by()
        .values_list("grid", "setup", "setup__model")
        .annotate(
            n=Count("pk"),
            failed=Count("pk", filter=~with_response),
            empty=Count("pk", filter=Q(response__text="")),  # stored without outer spaces
            since=Count("pk", filter=Q(created_at__gte=F("grid__resumed_at"))),
            cut=Count("pk", filter=Q(is_cut=True)),
            debris=Count("pk", filter=Q(is_debris=True)),
            not_looked_at=Count("pk", filter=with_response & Q(is_debris=None)),
            prompt_tokens=Sum("n_tokens", filter=with_response, default=0),
            completion_tokens=Sum("n_model_completion_tokens", filter=with_response, default=0),
            tokens_in=Sum(TOKENS_IN, default=0),
            tokens_out=Sum("n_model_completion_tokens", default=0),
        )
    )
    found: dict[int, dict[tuple[int, str], _Calls]] = defaultdict(dict)
    for grid, setup, model, *counts in counted:
        found[grid][setup, model] = _Calls(*counts)
    return found


def _left(grids: list[int]) -> Mapping[int, dict[int, _SetupRemainder]]:
    """Return the examples in unfinished chunks, which have no call yet, by grid and setup."""
    counted = (
        GridChunk.objects.filter(grid__in=grids)
        .exclude(state=GridChunk.State.DONE)
        .order_by()
        .values_list("grid", "setup")
        .annotate(n=Sum(JsonLength("examples")), n_at_work=Count("pk", filter=with_a_worker()))
    )
    found: dict[int, dict[int, _SetupRemainder]] = defaultdict(dict)
    for grid, setup, *counts in counted:
        found[grid][setup] = _SetupRemainder(*counts)
    return found


def _progress(
    grid: Grid,
    by_setup: Mapping[tuple[int, str], _Calls],
    left: Mapping[int, _SetupRemainder],
    now: datetime,
) -> GridProgress:
    n = sum(calls.n for calls in by_setup.values())
    n_failed = sum(calls.n_failed for calls in by_setup.values())
    n_since = sum(calls.n_since for calls in by_setup.values())
    n_left = sum(each.n for each in left.values())
    is_at_work = n_since > 0 or any(each.n_at_work for each in left.values())
    state = _state(grid, is_at_work, n_failed)
    began, ended = grid.resumed_at, grid.finished_at or now
    seconds = (ended - began).total_seconds() if began else 0.0
    per_second = n_since / seconds if n_since and seconds > 0 else None
    costs = (_cost(grid, model, calls) for (_, model), calls in by_setup.items())
    is_priced = any("price" in model for model in grid.choices.get("models", []))
    return GridProgress(
        grid=grid,
        state=state,
        n_calls=n + n_left,
        n_done=n - n_failed,
        n_empty=sum(calls.n_empty for calls in by_setup.values()),
        n_cut=sum(calls.n_cut for calls in by_setup.values()),
        n_debris=sum(calls.n_debris for calls in by_setup.values()),
        n_not_looked_at=sum(calls.n_not_looked_at for calls in by_setup.values()),
        n_failed=n_failed,
        n_left=n_left,
        n_tokens_in=sum(calls.n_tokens_in for calls in by_setup.values()),
        n_tokens_out=sum(calls.n_tokens_out for calls in by_setup.values()),
        cost=sum(filter(None, costs), 0.0) if is_priced else None,
        currency=grid.choices.get("currency", ""),
        calls_per_second=per_second,
        seconds_left=n_left / per_second if per_second and state == "running" else None,
        share=_share(grid, n, n_left),
    )


def _state(grid: Grid, is_at_work: bool, n_failed: int) -> str:
    if grid.state == Grid.State.RUNNING:
        return "running" if is_at_work else "queued"
    if grid.state == Grid.State.DONE and n_failed:
        return "failed in part"
    return str(grid.state)


def _share(grid: Grid, n: int, n_left: int) -> float:
    """Return the share of calls that are made; without any calls, 1 if the grid is done."""
    if n + n_left:
        return n / (n + n_left)
    return 1.0 if grid.state == Grid.State.DONE else 0.0


def _setup_progress(
    grid: Grid, setup: Setup, calls: _Calls, left: _SetupRemainder
) -> SetupProgress:
    n_done = calls.n - calls.n_failed
    return SetupProgress(
        setup=setup,
        n_done=n_done,
        n_failed=calls.n_failed,
        n_left=left.n,
        n_cut=calls.n_cut,
        n_debris=None if calls.n_not_looked_at else calls.n_debris,
        mean_prompt_tokens=calls.n_prompt_tokens / n_done if n_done else None,
        mean_completion_tokens=calls.n_completion_tokens / n_done if n_done else None,
        n_tokens_in=calls.n_tokens_in,
        n_tokens_out=calls.n_tokens_out,
        cost=_cost(grid, setup.model, calls),
    )


def _cost(grid: Grid, model: str, calls: _Calls) -> float | None:
    """Return the cost of a model's calls; None: its price is not known."""
    for each in grid.choices.get("models", []):
        if each["name"] == model and "price" in each:
            return Price(**each["price"]).cost(calls.n_tokens_in, calls.n_tokens_out)
    return None
