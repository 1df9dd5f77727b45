"""Figures of a study, cached until something changes them.

The cache stores them by study and by the reader's choices, together with the version of the data
that they were computed from. The figures of a small study are computed when a reader asks for
them. Those of a large study are computed by a worker; until it has finished, the last figures are
shown with their time.
"""

import hashlib
import json
import logging
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from django.core.cache import cache
from django.db.models import Count

from annotation.models import Study, Vote
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.cache import cached, count_and_last, runs_version, votes_version
from evaluation.reports.code_version import CODE_VERSION
from evaluation.reports.registry import ReportKind
from evaluation.reports.report import Report
from evaluation.studies.reports.study import Figures, study_figures
from generation.choices.declaration import C
from generation.models import Response

logger = logging.getLogger(__name__)

KEPT_SECONDS = 30 * 24 * 3600  # how long the cache keeps figures after they were computed
MOST_VOTES_AT_ONCE = 150_000  # votes that are computed during a request, at most
LOCK_SECONDS = 300  # longer than any study takes; a lock whose process died ends after this time

T = TypeVar("T")


class LastFigures(NamedTuple):
    """The last figures of a study, and whether they are current."""

    figures: Figures | None  # None: the cache has none yet
    is_current: bool  # nothing has changed since they were computed
    is_large: bool  # the study is large, so a worker computes its figures


def stored_figures(study: Study, choices: Choices) -> LastFigures:
    """Return the last figures. Those of a small study are computed now if they are not current.

    If another process is already computing them, return the last figures, if there are any.
    """
    key, current = _key(study, choices), _version(study)
    version, figures = _read(key)
    n_votes = figures.overview.n_votes if figures else _n_votes(study)
    is_large = n_votes > MOST_VOTES_AT_ONCE
    if version == current or is_large:
        return LastFigures(figures, version == current, is_large)
    is_mine = _lock(key)
    if not is_mine and figures:
        return LastFigures(figures, is_current=False, is_large=False)
    try:
        return LastFigures(_compute(study, choices, current), is_current=True, is_large=False)
    finally:
        if is_mine:
            _unlock(key)


def as_on_page(kind: ReportKind[Study, Choices], study: Study, choices: Choices) -> Report[Any]:
    """Return a report from the figures of the page, or compute it if they are not current."""
    stored = stored_figures(study, choices)
    if stored.figures is None or not stored.is_current:
        return kind.make(study, choices)
    return report_in(stored.figures, kind.key, choices)


def report_in(figures: Figures, key: str, choices: Choices) -> Report[Any]:
    """Return one of the reports among the figures of a study."""
    return figures.by_setup if key == "raters" and choices.by_setup else figures.reports[key]


def compute_and_store(study_id: int, choices: Choices) -> None:
    """Compute and store the figures of a study.

    Do nothing if they are current, or if another process is computing them.
    """
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        logger.info("study %s is gone", study_id)
        return
    key = _key(study, choices)
    if not _lock(key):
        logger.info("the figures of study %s are being made", study_id)
        return
    try:
        version = _version(study)
        if _read(key)[0] != version:
            _compute(study, choices, version)
    finally:
        _unlock(key)


def is_large(study: Study) -> bool:
    """Return whether a study has more votes than are computed during a request."""
    return _n_votes(study) > MOST_VOTES_AT_ONCE


def cached_of_study(study: Study, what: str, make: Callable[[], T]) -> T:
    """Return a result made from a study's votes and scores, cached until any of them changes.

    Args:
        what: the cache key of the result. It must contain every choice that changes the result.
        make: the function that makes the result.
    """
    return cached(study, what, make, version=_version(study))


def cached_report(kind: ReportKind[Study, C], study: Study, choices: C) -> Report[Any]:
    """Return a report that is no part of a study's page, cached until votes or scores change."""
    return cached_of_study(study, repr((kind.key, choices)), lambda: kind.make(study, choices))


def _compute(study: Study, choices: Choices, version: str) -> Figures:
    """Compute figures and store them under the version that was read before.

    If data changes during the computation, the version does too, and the figures are not current.
    """
    figures = study_figures(study, choices)
    cache.set(_key(study, choices), (version, figures), KEPT_SECONDS)
    logger.info("figures of study %s made in %s s", study.pk, figures.seconds)
    return figures


def _read(key: str) -> tuple[str, Figures | None]:
    found: tuple[str, Figures | None] = cache.get(key, ("", None))
    return found


def _key(study: Study, choices: Choices) -> str:
    said = json.dumps(choices._replace(by_setup=False)._asdict())
    return f"figures:{CODE_VERSION}:{study.pk}:{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def _lock(key: str) -> bool:
    return bool(cache.add(f"{key}:lock", True, timeout=LOCK_SECONDS))


def _unlock(key: str) -> None:
    cache.delete(f"{key}:lock")


# --- what can change figures ----------------------------------------------------------------


def _version(study: Study) -> str:
    """Return a digest that changes whenever the figures can change, in a dozen small statements.

    No statement reads all votes. Votes of imported studies come only from imports, and each import
    is in the audit trail. Votes given in Attest come with a submitted assignment, or else they are
    the newest votes of their study: late votes, and answers about responses that had been flagged.
    A changed vote leaves a row that records the change.
    """
    setups = list(study.setups.order_by("pk").values_list("pk", "name", "temperature"))
    runs = MetricRun.objects.filter(dataset=study.dataset_id)
    scores = AutoScore.objects.filter(run__in=runs).order_by("run").values_list("run")
    parts: list[Any] = [
        setups,
        [study.n_sampled, study.n_drawn_from],
        votes_version(study),
        Response.objects.filter(setup__in=[setup[0] for setup in setups]).count(),
        runs_version(runs),
        list(scores.annotate(n=Count("target"))),
        count_and_last(study.adjudications.all()),
    ]
    content = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _n_votes(study: Study) -> int:
    """Return the number of votes. Counting stops as soon as there are too many for a request."""
    votes = Vote.objects.filter(arm__in=list(study.arms.values_list("pk", flat=True)))
    return votes.order_by()[: MOST_VOTES_AT_ONCE + 1].count()
