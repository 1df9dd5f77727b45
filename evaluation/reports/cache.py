"""The cache of finished reports and figures, used until their data change. It only reads data.

The key of an entry names the dataset or study and the content. The entry also holds the version of
the data from which it was made.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import Count, Max, QuerySet

from accounts.models import AuditEntry
from annotation.models import Flag, GoldAnswer, Study, Vote, VoteChange
from evaluation.models import MetricRun
from evaluation.reports.code_version import CODE_VERSION
from generation.models import Dataset

CACHED_SECONDS = 24 * 3600
# The actions that an import and a deletion of chosen material record in the audit trail. Their
# subject is the dataset's name.
IMPORTED, DELETED = "dataset.imported", "material.deleted"
OF_STUDY = (
    "name",
    "created_at",
    "scheme",
    "is_imported",
    "raters_per_unit",
    "evidence_choice",
    "seed",
    "response_order",
    "stops_when_decided",
    "full_share",
    "n_sampled",
    "settings",
)
OF_RUN = (
    "pk",
    "metric",
    "signature",
    "revision",
    "model_name",
    "threshold",
    "is_yes_at_threshold",
    "parameters",
    "state",
    "resumed_at",
    "finished_at",
)

T = TypeVar("T")


def cached(
    about: Dataset | Study,
    what: str,
    make: Callable[[], T],
    *,
    version: str,
    is_small: Callable[[T], bool] = lambda made: True,
) -> T:
    """Return the result of `make`, from the cache as long as its version is the same.

    Args:
        about: the dataset or study that it is about.
        what: the name of the content, with every choice.
        make: the function that makes it.
        version: a text that changes whenever the content may change.
        is_small: whether the content is small enough for the cache; if not, it is made each time.
    """
    digest = hashlib.sha256(what.encode()).hexdigest()[:32]
    key = f"{CODE_VERSION}:{about._meta.model_name}:{about.pk}:{digest}"
    found: tuple[str, T] | None = cache.get(key)
    if found and found[0] == version:
        return found[1]
    made = make()
    if is_small(made):
        cache.set(key, (version, made), CACHED_SECONDS)
    return made


def runs_version(
    runs: QuerySet[MetricRun], columns: Sequence[str] = OF_RUN
) -> list[tuple[Any, ...]]:
    """Return these columns of runs, of which `pk` is the first, and the numbers of their controls.

    It changes whenever names, choices or controls of the runs change.
    """
    counted = runs.annotate(n_controls=Count("controls"), last_control=Max("controls"))
    return list(counted.order_by("pk").values_list(*columns, "n_controls", "last_control"))


def votes_version(study: Study) -> list[Any]:
    """Return values that change whenever a study's votes, or which of them count, may change."""
    arms = sorted((arm.pk, arm.kind, arm.n_units) for arm in study.arms.all())
    ids = [arm[0] for arm in arms]
    return [
        [getattr(study, name) for name in OF_STUDY],
        arms,
        _comings_and_goings(study),
        [] if study.is_imported else _submits(study, ids),
        count_and_last(VoteChange.objects.filter(vote__arm__in=ids)),
        count_and_last(Flag.objects.filter(arm__in=ids)),
        count_and_last(GoldAnswer.objects.filter(study=study)),
        list(study.raters.order_by("pk").values_list("pk", "is_excluded", "is_simulated")),
    ]


def _comings_and_goings(study: Study) -> Any:
    entries = AuditEntry.objects.filter(action__in=(IMPORTED, DELETED), subject=study.dataset.name)
    return count_and_last(entries)


def _submits(study: Study, arms: Sequence[int]) -> Any:
    submitted = study.assignments.filter(submitted_at__isnull=False)
    last_vote = Vote.objects.filter(arm__in=arms).aggregate(last=Max("pk"))
    return submitted.aggregate(n=Count("pk"), last=Max("submitted_at")), last_vote["last"]


def count_and_last(rows: QuerySet[Any]) -> tuple[int, int | None]:
    """Return how many rows there are, and the highest id."""
    found = rows.order_by().aggregate(n=Count("pk"), last=Max("pk"))
    return found["n"], found["last"]
