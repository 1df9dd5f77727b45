"""Re-ranking: an aggregate chosen by two axes among the setups of a pool, and stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from evaluation.measures.reranking import check_function
from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.choices import chosen_responses
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pools import in_type_order
from evaluation.tradeoffs.readiness import running_runs
from generation.models import RERANKED, Dataset, Setup
from generation.records import SetupRecord
from generation.services.aggregates import (
    AggregateError,
    checked_pool,
    lock,
    store_aggregate,
)


class RerankingError(Exception):
    """The refusal of a re-ranking; the message says why."""


@transaction.atomic
def rerank(
    dataset: Dataset,
    axes: Axes,
    pool: Sequence[str],
    function: str,
    weights: Sequence[float] | None = None,
    user: User | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> Setup:
    """Choose a response of the pool for each example by scores, and store them as an aggregate.

    The same choice again gives the same aggregate, with responses to new examples added; see
    `generation.services.aggregates.store_aggregate`. Simultaneous calls run one after the other,
    each with the scores that exist when its turn comes.

    Args:
        axes: the axes that score the responses; they are part of the aggregate's identity.
        pool: names of setups of one model, temperature and decoding.
        function: one of `evaluation.measures.reranking.FUNCTIONS`.
        weights: weights for the function `weighted`: sensibleness, attribution.
        recipe: facts that a recipe stores with its aggregate.

    Raises:
        RerankingError: the pool mixes different things or names setups that do not exist, the
            function or the weights are not valid, a run among the axes is still scoring, or no
            example has the scores that are needed.
    """
    lock(dataset)
    if running := running_runs(dataset, axes):
        raise RerankingError(
            f"{' and '.join(_titles(axes, running))} is still scoring responses of this "
            "dataset, so the choice would use only part of the scores. Wait until it is done, or "
            "cancel the run."
        )
    try:
        check_function(function, weights)
        members = in_type_order(checked_pool(dataset, pool))
        material = material_of(dataset, axes, [member.pk for member in members])
        names = [member.name for member in members]
        record = _record(axes, members, function, weights, recipe)
        chosen = chosen_responses(material, names, function, weights)
        aggregate, n_new = store_aggregate(dataset, record, chosen.responses, chosen.ties)
    except (ValueError, AggregateError) as error:
        raise RerankingError(str(error)) from error
    if n_new:
        subject = f"{dataset.name}: {aggregate.name}"[:200]
        details = {"setup": aggregate.pk, "n_pool": len(members), "n_new_responses": n_new}
        record_in_audit_trail(user, "setup.reranked", subject, function=function, **details)
    return aggregate


def _titles(axes: Axes, runs: Sequence[MetricRun]) -> list[str]:
    """Return the titles of the axes that are made by some runs, each once."""
    known = {run.pk for run in runs}
    return list(dict.fromkeys(axis.title for axis in axes if axis.run and axis.run.pk in known))


def _record(
    axes: Axes,
    pool: Sequence[Setup],
    function: str,
    weights: Sequence[float] | None,
    recipe: Mapping[str, Any] | None,
) -> SetupRecord:
    """Return the record of the aggregate: its pool, and what chose from it."""
    settings: dict[str, Any] = {
        "pool": [setup.name for setup in pool],
        "function": function,
        "attribution": axes.attribution.said,
        "sensibleness": axes.sensibleness.said,
    }
    if weights is not None:
        settings["weights"] = [float(weight) for weight in weights]
    if recipe is not None:
        settings["recipe"] = dict(recipe)
    first = pool[0]
    return SetupRecord("", first.model, first.temperature, RERANKED, "", settings)
