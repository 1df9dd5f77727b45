"""The targets that a run scores. Missing targets of the wanted responses are made."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import Target
from annotation.ordering import random_key
from evaluation.runs.plan import RunPlan
from evaluation.runs.seeded_setups import grouped
from generation.models import Citation, Dataset, Response
from generation.services.citations import store_cited_facts

SAVED_TOGETHER = 2000


class Wanted(NamedTuple):
    """The targets that a run is asked for."""

    targets: list[
        int
    ]  # ids; those of one example are side by side, because they share evidence and often text
    n_responses: int
    n_without_citation: int = 0  # responses without a complete citation, and so without a target


def targets_for(dataset: Dataset, plan: RunPlan, responses: QuerySet[Response]) -> Wanted:
    """Return the targets of a plan. Make those that do not exist yet."""
    responses = scorable(responses.filter(dataset=dataset).order_by(), plan)
    sampled = sample_of(dataset, responses, plan)
    if plan.metric.judges == "citations":
        return _citations(responses, sampled)
    _make(responses.exclude(pk__in=Target.objects.filter(citation=None).values("response")))
    targets = Target.objects.filter(citation=None, response__in=responses.values("pk"))
    targets = targets.order_by("response__example", "response")
    rows = targets.values_list("pk", "response")
    wanted = [pk for pk, response in rows if sampled is None or response in sampled]
    return Wanted(wanted, len(wanted))


def scorable(responses: QuerySet[Response], plan: RunPlan) -> QuerySet[Response]:
    """Return the responses that the metric of a plan can score.

    A metric about removed knowledge needs responses from whose graph something was removed.
    """
    if not plan.metric.needs_removed:
        return responses
    return responses.filter(removed__isnull=False).exclude(removed=[])


def _make(responses: QuerySet[Response]) -> None:
    """Make the targets of responses that have none."""
    Target.objects.bulk_create(
        (Target(response_id=pk) for pk in responses.values_list("pk", flat=True)),
        batch_size=SAVED_TOGETHER,
        ignore_conflicts=True,  # a study that is opened at the same moment makes the same targets
    )


def _citations(responses: QuerySet[Response], sampled: set[int] | None) -> Wanted:
    """Read the citations of the responses, and return the targets of the complete ones."""
    wanted = sampled if sampled is not None else set(responses.values_list("pk", flat=True))
    store_cited_facts(wanted)
    complete = Citation.objects.filter(response__in=responses.values("pk")).exclude(relation="")
    missing = complete.exclude(pk__in=Target.objects.exclude(citation=None).values("citation"))
    Target.objects.bulk_create(
        (
            Target(response_id=response, citation_id=pk)
            for pk, response in missing.values_list("pk", "response")
            if response in wanted
        ),
        batch_size=SAVED_TOGETHER,
        ignore_conflicts=True,
    )
    targets = Target.objects.filter(citation__in=complete.order_by().values("pk"))
    in_order = targets.order_by("response__example", "response", "citation__number")
    rows = [row for row in in_order.values_list("pk", "response") if row[1] in wanted]
    n_citing = len({response for _, response in rows})
    return Wanted([pk for pk, _ in rows], len(wanted), len(wanted) - n_citing)


# --- samples --------------------------------------------------------------------------------


def sample_of(dataset: Dataset, responses: QuerySet[Response], plan: RunPlan) -> set[int] | None:
    """Return the ids of the responses that a plan draws; None: all of them.

    `n_sampled` responses of each pool, a model or a row, are drawn. The draw from one pool does not
    depend on the other pools.
    """
    if plan.n_sampled is None:
        return None
    row_of = _rows(dataset) if plan.sampled_by == "row" else {}
    keys: dict[str, dict[int, str]] = defaultdict(dict)
    rows: Iterable[tuple[int, str, int, str, str]] = responses.values_list(
        "pk", "key", "setup", "setup__model", "setup__name"
    )
    for pk, key, setup, model, name in rows:
        keys[row_of.get(setup) or model or name][pk] = key
    return {
        pk for pool in keys.values() for pk in sample_responses(pool, plan.n_sampled, plan.seed)
    }


def _rows(dataset: Dataset) -> dict[int, str]:
    """Return the row, in a table over seeded runs, of each setup by id. This takes one query."""
    groups = grouped(dataset, lambda _: True)
    return {setup.pk: group.key for group in groups for setup in group.setups}


def sample_responses(keys: Mapping[int, str], n: int, seed: int) -> list[int]:
    """Return the ids of `n` responses, drawn by their keys, so that every database gives the same.

    A larger sample with the same seed contains the smaller one.
    """
    return nsmallest(n, keys, key=lambda pk: (random_key(seed, "score", keys[pk]), keys[pk]))
