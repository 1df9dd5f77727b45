"""The budget of a run by a language model: the calls, tokens and money that it may spend."""

from typing import Annotated, Any, NamedTuple

from evaluation.models import MetricRun
from generation.choices.declaration import Choice, ChoiceError
from generation.model_specs import MOST_PRICE, USUAL_CURRENCY, BackendError, Price
from generation.models import Checkpoint
from work.amounts import money

MOST = 10**12
PER_RUN = "Before a call that would exceed it, the run stops and says so."


class BudgetSpent(BackendError):
    """A run may not ask its model any more, because a further call would exceed its budget."""


class Budget(NamedTuple):
    """The limits of a run over all its requests. None: no limit."""

    most_calls: Annotated[
        int | None,
        Choice("Calls at most", help=PER_RUN, low=1, high=MOST, usual="no limit"),
    ] = None
    most_tokens: Annotated[
        int | None,
        Choice(
            "Tokens at most",
            help=f"Tokens of prompts and replies together. {PER_RUN}",
            low=1,
            high=MOST,
            usual="no limit",
        ),
    ] = None
    most_cost: Annotated[
        float | None,
        Choice(
            f"Cost at most, in {USUAL_CURRENCY}",
            help=f"Only a listed model with a price has a cost. {PER_RUN}",
            low=0,
            high=MOST_PRICE,
            usual="no limit",
        ),
    ] = None

    def stored(self, model: str) -> dict[str, Any]:
        """Return what a run stores: the limits that are given, and the price of its model.

        Raises:
            ChoiceError: the cost is limited, and the model has no price.
        """
        price = price_of(model)
        if self.most_cost is not None and price is None:
            raise ChoiceError(
                "most_cost",
                f"{model} has no price here. An admin can give it one on the page Models.",
            )
        limits = {name: limit for name, limit in self._asdict().items() if limit is not None}
        return limits | ({"price": list(price)} if price else {})


NO_BUDGET = Budget()


def budget_of(run: MetricRun) -> Budget:
    """Return the limits that a run was given."""
    return Budget(**{name: run.budget.get(name) for name in Budget._fields})


def spent_in_words(run: MetricRun) -> str:
    """Return the calls, the tokens and the cost of a run so far, each with its limit if any."""
    limits = {name: run.budget.get(name) for name in Budget._fields}
    n_tokens = run.n_tokens_in + run.n_tokens_out
    said = [f"{run.n_calls:,} calls{_of(limits['most_calls'])}"]
    split = f" ({run.n_tokens_in:,} of prompts, {run.n_tokens_out:,} of replies)"
    said.append(f"{n_tokens:,} tokens{_of(limits['most_tokens'])}{split}")
    if run.cost is not None:
        most = limits["most_cost"]
        of_most = "" if most is None else f" of at most {money(most)}"
        said.append(f"{money(run.cost)}{of_most} {USUAL_CURRENCY}")
    return ", ".join(said)


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of at most {limit:,}"


def price_of(model: str) -> Price | None:
    """Return the price of a listed model's tokens; None: not known."""
    listed = Checkpoint.objects.filter(name=model).first()
    return listed.price if listed else None
