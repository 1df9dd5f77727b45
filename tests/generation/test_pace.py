"""The pace of listed models: places for calls, which all grids and workers share."""

import heapq
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from generation.models import Checkpoint
from generation.services.pace import calls_at_once, is_limited, not_free_within, reserve
from tests.annotation.crowd import at_once

pytestmark = pytest.mark.both

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.time = BEGIN

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


def listed(calls_per_minute: int | None, name: str = "slow") -> Checkpoint:
    return Checkpoint.objects.create(
        name=name,
        backend="openai",
        location="https://models.example.org/v1",
        calls_per_minute=calls_per_minute,
    )


# --- places ---------------------------------------------------------------------------------


def test_of_six_calls_a_minute_one_is_made_every_ten_seconds(clock):
    listed(6)

    assert [reserve("slow", 1) for _ in range(4)] == [0, 10, 20, 30]
    clock.time += timedelta(seconds=35)
    assert reserve("slow", 1) == 5  # the place at 40 seconds


def test_calls_that_are_made_together_take_up_the_time_of_all(clock):
    # Ten of a hundred may go out together, which leaves 100 - 10 + 1 = 91 to be shared out over
    # a minute: 60 / 91 = 0.6593407 seconds for one, rounded up to microseconds.
    listed(100)

    waits = [reserve("slow", n) for n in (10, 3, 1)]

    assert waits == pytest.approx([0, 10 * 0.659341, 13 * 0.659341], abs=1e-9)


def test_who_has_less_patience_than_the_wait_is_long_gets_no_place(clock):
    listed(6)
    reserve("slow", 1)

    assert reserve("slow", 1, patience_seconds=9.9) == 10
    assert reserve("slow", 1, patience_seconds=10) == 10  # the place is still free
    assert reserve("slow", 1) == 20


def test_which_models_may_not_be_called_soon(clock):
    listed(6)
    listed(None, "free")
    reserve("slow", 1)

    assert not_free_within(9.9) == ["slow"]
    assert not_free_within(10) == []
    assert [is_limited(name) for name in ("slow", "free", "extractive")] == [True, False, False]


def test_time_in_which_nobody_calls_is_not_saved_up(clock):
    listed(6)
    reserve("slow", 1)

    clock.time += timedelta(hours=1)

    assert [reserve("slow", 1) for _ in range(2)] == [0, 10]


def test_each_model_has_a_pace_of_its_own(clock):
    listed(6)
    listed(1, "slower")

    assert [reserve("slow", 1), reserve("slower", 1)] == [0, 0]
    assert [reserve("slow", 1), reserve("slower", 1)] == [10, 60]


def test_a_new_limit_holds_from_the_next_place_on(clock):
    slow = listed(6)
    reserve("slow", 1)

    Checkpoint.objects.filter(pk=slow.pk).update(calls_per_minute=2)

    assert [reserve("slow", 1) for _ in range(3)] == [10, 40, 70]


@pytest.mark.parametrize("name", ["free", "extractive"])
def test_a_model_without_a_limit_and_one_that_is_not_listed_never_wait(name):
    listed(None, "free")

    assert [reserve(name, n) for n in (1, 1000, 1)] == [0, 0, 0]
    assert calls_at_once(name, 16) == 16
    assert Checkpoint.objects.get().next_call_at is None


@pytest.mark.parametrize(
    ("limit", "most", "together"),
    [(1, 16, 1), (19, 16, 1), (20, 16, 2), (160, 16, 16), (600, 1, 1)],
)
def test_a_tenth_of_a_minutes_calls_may_go_out_together(limit, most, together):
    listed(limit)

    assert calls_at_once("slow", most) == together


@pytest.mark.parametrize("n", [0, -1])
def test_no_place_is_reserved_for_no_calls(n):
    listed(6)

    with pytest.raises(ValueError, match=f"{n} calls; expected 1 or more"):
        reserve("slow", n)

    assert Checkpoint.objects.get().next_call_at is None


# --- the promise ----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 7, 13, 20, 97, 600])
def test_no_minute_holds_more_calls_than_the_limit(limit, clock):
    """Six workers ask for lots of any size that is allowed, and call when it is their turn."""
    listed(limit)

    calls = list(called(clock, limit, n_reservations=60))

    assert max(in_the_minute_from(start, calls) for start in calls) <= limit


@pytest.mark.parametrize("limit", [1, 7, 97])
def test_where_nobody_pauses_nine_tenths_of_the_limit_are_used(limit, clock):
    listed(limit)
    together = calls_at_once("slow", limit)
    starts = [clock.time + timedelta(seconds=reserve("slow", together)) for _ in range(60)]

    calls = [start for start in starts for _ in range(together)]
    mean = len(calls[:-together]) / ((starts[-1] - BEGIN) / MINUTE)

    assert 0.9 * limit <= mean <= limit


def called(clock: Clock, limit: int, n_reservations: int) -> Iterator[datetime]:
    """Yield when each call is made, where workers pause for a while now and then."""
    draw = random.Random(limit)
    largest = calls_at_once("slow", limit)
    asks_at = [(BEGIN, worker) for worker in range(6)]
    for _ in range(n_reservations):
        clock.time, worker = heapq.heappop(asks_at)
        n = draw.randint(1, largest)
        starts_at = clock.time + timedelta(seconds=reserve("slow", n))
        yield from [starts_at] * n
        pause = draw.choice([0, 0, 0.5, 40])
        heapq.heappush(asks_at, (starts_at + timedelta(seconds=pause), worker))


def in_the_minute_from(start: datetime, calls: list[datetime]) -> int:
    return sum(start <= call < start + MINUTE for call in calls)


# --- many workers at once -------------------------------------------------------------------


@pytest.mark.both(transaction=True)
def test_of_twenty_workers_at_once_each_gets_a_place_of_its_own():
    slow = listed(1)
    first = timezone.now() + timedelta(hours=1)  # no place goes by while they ask
    Checkpoint.objects.filter(pk=slow.pk).update(next_call_at=first)

    def three_places() -> list[float]:
        return [reserve("slow", 1) for _ in range(3)]

    waits = [wait for each in at_once(*[three_places] * 20) for wait in each]

    # Since the first place was set, less than half a minute has gone by.
    assert sorted(round(wait / 60) for wait in waits) == list(range(60, 120))
    assert Checkpoint.objects.get().next_call_at == first + 60 * MINUTE
