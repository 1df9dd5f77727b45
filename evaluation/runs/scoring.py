"""The questions of a run to its backend about each response, and the rows made of the answers.

This module only reads. Its caller stores the rows.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Manager, Min, QuerySet

from evaluation.backends.base import Backend
from evaluation.backends.registry import BACKENDS
from evaluation.metrics.base import (
    Ask,
    Assumed,
    AutoMetric,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
    content_key,
    digest_of,
    failed,
)
from evaluation.metrics.registry import metric_of
from evaluation.models import AutoScore, ControlScore, MetricRun
from evaluation.runs.budget import BudgetSpent
from generation.backends.problems import storable
from generation.model_specs import BackendError
from work.claims import WorkStopped

logger = logging.getLogger(__name__)

T = TypeVar("T")
F = TypeVar("F")
S = TypeVar("S", AutoScore, ControlScore)


MOST_TRIES = 3  # tries to score a response when scoring raises an unexpected exception
MOST_ASKS = 2048  # asks in one call of the backend
SECONDS_TOGETHER = 2.0  # duration that one call should have
MOST_IN_A_BATCH = 8192  # asks planned together; more would need much memory for texts and answers
SECONDS_BETWEEN_COMMITS = 10.0  # duration that a batch should have
SHORT_DIGEST = 16


class _Ready(NamedTuple):
    """A response with the asks about it."""

    material: ScoringMaterial
    asked: ScoreRequest
    digest: str
    key: str


class _Pace:
    """The speed of a backend in this process, and the number of asks that it is given at once.

    Args:
        n_least: the smallest number of asks, even for a slow backend. So many take hardly longer
            than one.
    """

    def __init__(self, n_least: int = 1) -> None:
        self._n_least = n_least
        self.n_per_call = n_least  # used until the speed is known
        self.n_per_batch = n_least

    def note_call(self, n_asks: int, seconds: float) -> None:
        seconds_together = min(SECONDS_TOGETHER, settings.CHUNK_LEASE_SECONDS / 4)
        at_most = min(4 * n_asks, MOST_ASKS)  # the first calls are too few to rely on their speed
        in_time = int(n_asks / max(seconds, 1e-6) * seconds_together)
        self.n_per_call = max(self._n_least, min(in_time, at_most))

    def note_batch(self, n_asks: int, seconds: float) -> None:
        in_time = int(n_asks / max(seconds, 1e-6) * SECONDS_BETWEEN_COMMITS)
        self.n_per_batch = max(self._n_least, min(in_time, MOST_IN_A_BATCH))


@lru_cache(maxsize=16)
def pace_of(signature: str, n_least: int = 1) -> _Pace:
    """Return the pace of a backend, which this process keeps between its calls."""
    return _Pace(n_least)


def known_scores(keys: Collection[str]) -> dict[str, ResponseScore]:
    """Return the scores that any run has found before for the same content, by content key."""
    return {
        row.content_key: ResponseScore(row.score, "", row.n_truncated, row.windows, row.details)
        for row in _first_of_each(AutoScore.objects, keys)
    }


def known_scores_of_controls(keys: Collection[str]) -> dict[str, ResponseScore]:
    """Return the scores that any run has found for the same content, of responses or controls."""
    of_controls = _first_of_each(ControlScore.objects, keys)
    return {row.content_key: ResponseScore(row.score) for row in of_controls} | known_scores(keys)


def _first_of_each(rows: Manager[S], keys: Collection[str]) -> QuerySet[S]:
    """Return the first row with a score of each content key."""
    there = rows.filter(content_key__in=keys, score__isnull=False)
    there = there.exclude(content_key="")  # the database needs this to use the index
    firsts = there.order_by().values("content_key").annotate(first=Min("pk")).values("first")
    return rows.filter(pk__in=firsts)


class RunScorer:
    """A scorer that makes the rows of one run with its backend.

    Args:
        keep: a function that is called after each answer. A call of the backend takes about
            `SECONDS_TOGETHER`, or a part of the lease if that is shorter. If the function raises
            an exception, scoring ends.
        known: the function that finds scores of the same content, by content key.
    """

    def __init__(
        self,
        run: MetricRun,
        backend: Backend,
        keep: Callable[[], None],
        known: Callable[[Collection[str]], dict[str, ResponseScore]] = known_scores,
    ) -> None:
        self._run = run
        self._metric: AutoMetric = metric_of(run.metric, run.parameters)
        self._backend = backend
        self._signature = score_signature(run, self._metric, backend)
        self._pace = pace_of(self._signature, _least_at_once(run, backend))
        self._keep = keep
        self._known = known
        self._is_spent: BudgetSpent | None = None

    def batches(
        self, materials: Iterable[ScoringMaterial], *, is_alone: bool = False
    ) -> Iterator[list[AutoScore]]:
        """Yield the rows of some responses in batches. The caller stores batch by batch.

        First come the rows for which the backend is not asked. Each further batch has as many
        responses as the backend answers in `SECONDS_BETWEEN_COMMITS`. Among responses that are
        planned together, equal asks are asked only once, and asks are sorted by length.

        Args:
            materials: the responses.
            is_alone: whether to score one response at a time, in order.
        """
        most_asks = 0 if is_alone else MOST_IN_A_BATCH
        for prepared in self._prepared(materials, most_asks):
            ready = [each for each in prepared if isinstance(each, _Ready)]
            known = self._known({each.key for each in ready})
            rows = [each for each in prepared if isinstance(each, AutoScore)]
            rows += [
                self._row(each, known[each.key], is_reused=True)
                for each in ready
                if each.key in known
            ]
            if rows:
                yield rows
            new: dict[str, list[_Ready]] = defaultdict(list)
            for each in ready:
                if each.key not in known:
                    new[each.key].append(each)
            for batch in self._in_batches(new):
                yield self._rows(batch)
                if self._is_spent:
                    raise self._is_spent

    def failed(self, each: ScoringMaterial, problem: str) -> AutoScore:
        """Return the row of a response that has no score."""
        return AutoScore(run=self._run, target_id=each.target, problem=storable(problem))

    # --- asks -------------------------------------------------------------------------------

    def _prepared(
        self, materials: Iterable[ScoringMaterial], most_asks: int
    ) -> Iterator[list[_Ready | AutoScore]]:
        """Yield lists of responses with their asks, or with their rows if there is nothing to ask.

        A list ends as soon as it has `most_asks` asks, and it has one response at least. Longer
        lists might need too much memory, because evidence may be long.
        """
        some: list[_Ready | AutoScore] = []
        n_asks = 0
        for each in materials:
            ready = self._ready(each)
            some.append(ready)
            n_asks += len(ready.asked.asks) if isinstance(ready, _Ready) else 0
            if n_asks >= most_asks:
                yield some
                some, n_asks = [], 0
        if some:
            yield some

    def _ready(self, each: ScoringMaterial) -> _Ready | AutoScore:
        asked = self._tried(lambda: self._metric.asked(each), Refused)
        if isinstance(asked, Refused):
            return self.failed(each, asked.problem)
        if isinstance(asked, Assumed):
            return AutoScore(
                run=self._run,
                target_id=each.target,
                score=0.0,
                is_assumed=True,
                details=dict(asked.details),
            )
        digest = digest_of(asked.asks)
        return _Ready(each, asked, digest, content_key(self._signature, digest))

    def _in_batches(self, new: Mapping[str, list[_Ready]]) -> Iterator[dict[str, list[_Ready]]]:
        batch: dict[str, list[_Ready]] = {}
        n_asks = 0
        for key, same in new.items():
            batch[key] = same
            n_asks += len(same[0].asked.asks)
            if n_asks >= self._pace.n_per_batch:
                yield batch
                batch, n_asks = {}, 0
        if batch:
            yield batch

    # --- answers ----------------------------------------------------------------------------

    def _rows(self, batch: Mapping[str, list[_Ready]]) -> list[AutoScore]:
        """Return the rows of a batch. Responses with the same content are asked about only once."""
        asked = {key: same[0].asked for key, same in batch.items()}
        try:
            results = self._results(asked)
        except (BackendError, DatabaseError, WorkStopped):
            raise
        except Exception:
            logger.exception("scoring %s responses of run %s", len(asked), self._run.pk)
            results = {key: self._result_alone(key, each) for key, each in asked.items()}
        return [
            self._row(each, results[key], is_reused=number > 0 and results[key].score is not None)
            for key, same in batch.items()
            if key in results
            for number, each in enumerate(same)
        ]

    def _results(self, asked: Mapping[str, ScoreRequest]) -> dict[str, ResponseScore]:
        found = self._answers([ask for each in asked.values() for ask in each.asks])
        return {
            key: self._metric.scored(each, [found[ask] for ask in each.asks])
            for key, each in asked.items()
            if all(ask in found for ask in each.asks)  # not all are if the budget is spent
        }

    def _result_alone(self, key: str, each: ScoreRequest) -> ResponseScore:
        """Return the score of one response, or its failure if unexpected exceptions go on."""
        return self._tried(lambda: self._results({key: each})[key], failed)

    def _tried(self, make: Callable[[], T], otherwise: Callable[[str], F]) -> T | F:
        """Return the result of `make`. If it raises an unexpected exception, try again.

        After `MOST_TRIES` tries, return the result of `otherwise` for the last exception.
        """
        problem = ""
        for _ in range(MOST_TRIES):
            try:
                return make()
            except (BackendError, DatabaseError, WorkStopped):
                raise
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        return otherwise(f"scoring failed {MOST_TRIES} times: {problem}")

    def _answers(self, asks: Sequence[Ask]) -> Mapping[Ask, Any]:
        """Return the backend's answers, until the budget of the run is spent.

        Each call has as many asks as the backend answers in a short time. Equal asks are asked only
        once. They are sorted by length, longest first, because models are quicker when texts of
        similar length come together.
        """
        waiting = sorted(dict.fromkeys(asks), key=_length, reverse=True)
        found: dict[Ask, Any] = {}
        all_began = time.monotonic()
        while len(found) < len(waiting):
            some = waiting[len(found) : len(found) + self._pace.n_per_call]
            began = time.monotonic()
            try:
                for ask, answer in zip(
                    some, self._metric.answers(self._backend, some), strict=True
                ):
                    found[ask] = answer
                    self._keep()
            except BudgetSpent as error:
                self._is_spent = error
                return found
            self._pace.note_call(len(some), time.monotonic() - began)
        self._pace.note_batch(len(waiting), time.monotonic() - all_began)
        return found

    def _row(self, each: _Ready, result: ResponseScore, *, is_reused: bool = False) -> AutoScore:
        """Return a response's row.

        Windows of a reused score are changed to windows of this response's own passages.
        """
        windows = result.windows
        return AutoScore(
            run=self._run,
            target_id=each.material.target,
            score=result.score,
            problem=storable(result.problem),
            n_truncated=result.n_truncated,
            windows=list(self._metric.windows_again(each.asked, windows) if is_reused else windows),
            details=dict(result.details),
            n_pairs=len(each.asked.asks),
            digest=each.digest[:SHORT_DIGEST],
            content_key=each.key,
            is_reused=is_reused,
        )


def _length(ask: Any) -> int:
    """Return the number of characters of an ask."""
    if isinstance(ask, str):
        return len(ask)
    return sum(map(_length, ask)) if isinstance(ask, tuple) else 0


def _least_at_once(run: MetricRun, backend: Backend) -> int:
    """Return how many asks a backend answers in about the time of one. On a CPU it is only one."""
    kind = BACKENDS.get(run.backend)
    return 1 if kind is None or backend.device == "cpu" else kind.least_at_once


def score_signature(run: MetricRun, metric: AutoMetric, backend: Backend) -> str:
    """Return a text of everything that fixes a score, apart from the asks.

    The threshold is not part of it, because it only makes labels. Nor are the texts of the
    evidence, which are part of the asks. A model of files is identified by its signature and
    revision, not by its name. A model behind a server, or one without a revision, can only be
    identified by its names and its location.
    """
    chosen = run.parameters
    model = [backend.signature, backend.revision, str(chosen.get("entailment_index"))]
    model.append(chosen.get("precision", "fp32"))
    kind = BACKENDS.get(run.backend)
    if not backend.revision or (kind and kind.is_server):
        model += [run.model_name, run.model_location, chosen.get("served_name", "")]
    return "|".join([metric.key, metric.signature_part, f"v:{metric.version}", *model])
