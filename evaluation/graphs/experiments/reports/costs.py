"""The costs of the calls behind runs: tokens, seconds and money. This module only reads.

Costs are those of the last attempt of each call, because an attempt replaces the failed one before
it. Prices are those that the grid itself gave for the model when the model was asked.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from django.db.models import Count, Sum

from evaluation.reports.columns import Column, Format
from evaluation.reports.report import ReportRow
from generation.grids.progress import TOKENS_IN
from generation.model_specs import Price
from generation.models import Call, Grid


class Cost(NamedTuple):
    """The cost of the calls of one grid under one setup, by the last attempt of each call."""

    setup: int
    n_calls: int
    n_failed_calls: int
    prompt_tokens: int  # the model's count or, if it gives none, ours
    completion_tokens: int  # the model's count or, if it gives none, ours
    seconds: float | None  # sum over the calls whose time is known; None: no call's is
    n_calls_without_seconds: int
    price: float | None  # None: the grid gives no price
    currency: str


def costs_of(setups: Collection[int]) -> dict[int, list[Cost]]:
    """Return the costs of some setups, by id, with an entry for each grid that has asked.

    A setup without calls here, such as an imported one, is left out. This takes two queries.
    """
    counted = (
        Call.objects.filter(setup__in=list(setups))
        .order_by("setup", "grid")
        .values_list("grid", "setup__model", "setup")
        .annotate(
            n_calls=Count("pk"),
            n_answered=Count("response"),
            tokens_in=Sum(TOKENS_IN, default=0),
            tokens_out=Sum("n_model_completion_tokens", default=0),
            known_seconds=Sum("seconds"),
            n_with_seconds=Count("seconds"),
        )
    )
    rows = list(counted)
    grids = dict(Grid.objects.filter(pk__in={row[0] for row in rows}).values_list("pk", "choices"))
    found: dict[int, list[Cost]] = defaultdict(list)
    for grid, model, setup, n, n_answered, n_in, n_out, seconds, n_with_seconds in rows:
        price = _price(grids[grid], model)
        found[setup].append(
            Cost(
                setup=setup,
                n_calls=n,
                n_failed_calls=n - n_answered,
                prompt_tokens=n_in,
                completion_tokens=n_out,
                seconds=seconds,
                n_calls_without_seconds=n - n_with_seconds,
                price=price.cost(n_in, n_out) if price else None,
                currency=grids[grid].get("currency", "") if price else "",
            )
        )
    return found


@dataclass(frozen=True, kw_only=True)
class CostColumns(ReportRow):
    """The total cost of some runs. Sums are None if there was no call.

    Seconds and price are also None if some call has none (`n_calls_without_…`), because a sum over
    the other calls would look like the sum over all. A price in several currencies is None too;
    `currency` names them.
    """

    n_calls: Annotated[int | None, Column("Calls", Format.COUNT, "Costs")]
    n_failed_calls: int | None
    prompt_tokens: Annotated[int | None, Column("Tokens in", Format.COUNT, "Costs")]
    completion_tokens: Annotated[int | None, Column("Tokens out", Format.COUNT, "Costs")]
    seconds: Annotated[float | None, Column("Seconds", Format.SECONDS, "Costs")]
    n_calls_without_seconds: int
    price: Annotated[float | None, Column("Price", Format.DECIMAL, "Costs")]
    currency: Annotated[str, Column("Currency", group="Costs")]
    n_calls_without_price: int
    n_runs_without_calls: int


def cost_columns(costs: Iterable[Cost], n_runs_without_calls: int = 0) -> CostColumns:
    """Return the sums of some costs."""
    found = list(costs)
    priced = [cost for cost in found if cost.price is not None]
    currencies = sorted({cost.currency for cost in priced})
    n_untimed = sum(cost.n_calls_without_seconds for cost in found)
    n_unpriced = sum(cost.n_calls for cost in found if cost.price is None)
    is_summable = len(currencies) == 1 and not n_unpriced
    return CostColumns(
        n_calls=_sum(cost.n_calls for cost in found),
        n_failed_calls=_sum(cost.n_failed_calls for cost in found),
        prompt_tokens=_sum(cost.prompt_tokens for cost in found),
        completion_tokens=_sum(cost.completion_tokens for cost in found),
        seconds=None if n_untimed else _sum(cost.seconds for cost in found),
        n_calls_without_seconds=n_untimed,
        price=_sum(cost.price for cost in priced) if is_summable else None,
        currency=", ".join(currencies),
        n_calls_without_price=n_unpriced,
        n_runs_without_calls=n_runs_without_calls,
    )


def cost_of_runs(costs: Mapping[int, list[Cost]], setups: Collection[int]) -> CostColumns:
    """Return the total cost of some setups."""
    of_runs = [costs.get(pk, []) for pk in setups]
    return cost_columns((cost for of in of_runs for cost in of), sum(not of for of in of_runs))


def _sum(values: Iterable[Any]) -> Any:
    given = list(values)
    return sum(given) if given else None


def _price(grid: dict[str, Any], model: str) -> Price | None:
    for each in grid.get("models", []):
        if each["name"] == model and each.get("price") is not None:
            return Price(**each["price"])
    return None
