"""What a run asks its backend about each response, and the rows that answers make.

Reads only: who calls it stores the rows.
"""

import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from annotation.models import Target
from evaluation.auto_metrics.base import (
    Ask,
    Asked,
    Assumed,
    AutoMetric,
    Material,
    Refused,
    Scored,
    content_key,
    digest_of,
    user_question,
)
from evaluation.auto_metrics.registry import metric_of
from evaluation.backends.base import Backend
from evaluation.metrics.entailment import Passage
from evaluation.models import AutoScore, MetricRun
from generation.backends.base import BackendError
from generation.evidence import evidence_of
from generation.models import Passage as PassageRow
from generation.models import Response, Turn

logger = logging.getLogger(__name__)

MOST_TRIES = 3  # of one response whose scoring raises something unexpected
MOST_ASKS = 2048
SECONDS_TOGETHER = 2.0  # that one call of the backend should take
_PATH = re.compile(r"(?<![\w/:.])(?:~?/[^\s/'\":,;()<>]+){2,}/?")


def storable(problem: str) -> str:
    """Return why something failed as it may be stored and shown.

    Without NUL, which PostgreSQL does not store, and without paths of the server: of each only
    its last part is left.
    """
    return _PATH.sub(lambda path: "…/" + path[0].rstrip("/").rpartition("/")[2], problem).replace(
        "\0", ""
    )


class Stopped(Exception):
    """Scoring shall not go on: the run was cancelled, or another worker has the chunk."""


def unscored(run: MetricRun, targets: Collection[int]) -> list[Material]:
    """Return those targets of a run that have no row yet, in the order given."""
    rows = Target.objects.filter(pk__in=targets).exclude(scores__run=run)
    return material_of(dict(rows.values_list("pk", "response")), targets, run)


def material_of(
    response_of: dict[int, int], targets: Collection[int], run: MetricRun
) -> list[Material]:
    """Return what a run looks at, for those of the targets whose response is named, in order."""
    responses = Response.objects.filter(pk__in=response_of.values())
    choice = run.parameters.get("evidence", "")
    evidence = evidence_of(responses, choice) if choice else {}
    wanted = {passage for shown in evidence.values() for passage in shown}
    texts = dict(PassageRow.objects.filter(pk__in=wanted).values_list("pk", "text"))
    by_id = {response.pk: response for response in responses.select_related("setup")}
    dialogs = _dialogs({response.example_id for response in by_id.values()})
    return [
        Material(
            target=target,
            text=response.text,
            turns=dialogs.get(response.example_id),
            passages=[Passage(pk, texts[pk]) for pk in evidence.get(response.pk, ())],
            evidence=choice,
            is_evidence_stated=response.is_evidence_stated,
            graph=tuple((triple[0], triple[1], triple[2]) for triple in response.graph_shown or ()),
            model=response.setup.model,
        )
        for target in targets
        if target in response_of
        for response in [by_id[response_of[target]]]
    ]


def user_questions(examples: Collection[int]) -> dict[int, str]:
    """Return the last turn of the user in each dialog that is known; else its last turn."""
    return {example: user_question(turns) for example, turns in _dialogs(examples).items()}


def _dialogs(examples: Collection[int]) -> dict[int, tuple[tuple[str, str], ...]]:
    """Return the turns of each dialog that is known, as speaker and text."""
    turns: dict[int, list[tuple[str, str]]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=examples).order_by("example", "index")
    for example, speaker, text in rows.values_list("example", "speaker", "text"):
        turns[example].append((speaker, text))
    return {example: tuple(dialog) for example, dialog in turns.items()}


class Scorer:
    """Makes the rows of one run with its backend.

    Args:
        keep: called between two calls of the backend, which take about as long as
            `SECONDS_TOGETHER` each, or a part of the lease; whatever it raises ends the scoring.
    """

    def __init__(self, run: MetricRun, backend: Backend, keep: Callable[[], None]) -> None:
        self._run = run
        self._metric: AutoMetric = metric_of(run.metric, run.parameters)
        self._backend = backend
        self._signature = _score_signature(run, self._metric, backend)
        self._keep = keep
        self._n_asks = 1  # before the speed is known

    def rows(self, some: Sequence[Material]) -> list[AutoScore]:
        """Return a row for each of some responses: its score, or why there is none."""
        try:
            return self._rows(some)
        except (BackendError, DatabaseError, Stopped):
            raise
        except Exception:
            logger.exception("scoring %s responses of run %s", len(some), self._run.pk)
        return [self._row_alone(each) for each in some]

    def failed(self, each: Material, problem: str) -> AutoScore:
        """Return the row of a response that has no score."""
        return AutoScore(run=self._run, target_id=each.target, problem=storable(problem))

    def _row_alone(self, each: Material) -> AutoScore:
        """Return a response's row where scoring raises something unexpected: tried again first."""
        problem = ""
        for _ in range(MOST_TRIES):
            try:
                return self._rows([each])[0]
            except (BackendError, DatabaseError, Stopped):
                raise
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        return self.failed(each, f"scoring failed {MOST_TRIES} times: {problem}")

    def _rows(self, some: Sequence[Material]) -> list[AutoScore]:
        prepared = [self._metric.asked(each) for each in some]
        keys = [
            content_key(self._signature, each.asks) if isinstance(each, Asked) else ""
            for each in prepared
        ]
        known = self._known(keys)
        asked = {
            key: each
            for key, each in zip(keys, prepared, strict=True)
            if isinstance(each, Asked) and key not in known
        }
        answers = iter(self._answers([ask for each in asked.values() for ask in each.asks]))
        new = {
            key: self._metric.scored(each, list(islice(answers, len(each.asks))))
            for key, each in asked.items()
        }
        rows = []
        for each, ready, key in zip(some, prepared, keys, strict=True):
            if isinstance(ready, Refused):
                rows.append(self.failed(each, ready.problem))
            elif isinstance(ready, Assumed):
                rows.append(
                    AutoScore(run=self._run, target_id=each.target, score=0.0, is_assumed=True)
                )
            elif key in known:
                rows.append(self._row_again(each, ready, key, known[key]))
            else:
                rows.append(self._row(each, ready, key, new[key]))
        return rows

    def _known(self, keys: Sequence[str]) -> dict[str, AutoScore]:
        """Return a stored score of any run for each of the keys that has one."""
        rows = AutoScore.objects.filter(content_key__in=set(keys) - {""}, score__isnull=False)
        return {row.content_key: row for row in rows}

    def _answers(self, asks: Sequence[Ask]) -> list[Any]:
        """Ask the backend, with as much at once as it answers in a short time.

        Nothing is asked twice. The longest come first: models are quicker with texts of like
        length together.
        """
        waiting = sorted(dict.fromkeys(asks), key=_length, reverse=True)
        found: dict[Ask, Any] = {}
        seconds_together = min(SECONDS_TOGETHER, settings.CHUNK_LEASE_SECONDS / 4)
        while len(found) < len(waiting):
            some = waiting[len(found) : len(found) + self._n_asks]
            began = time.monotonic()
            found |= zip(some, self._metric.answers(self._backend, some), strict=True)
            speed = len(some) / max(time.monotonic() - began, 1e-6)
            at_most = min(4 * len(some), MOST_ASKS)
            self._n_asks = max(1, min(int(speed * seconds_together), at_most))
            self._keep()
        return [found[ask] for ask in asks]

    def _row(self, each: Material, asked: Asked, key: str, result: Scored) -> AutoScore:
        return AutoScore(
            run=self._run,
            target_id=each.target,
            score=result.score,
            problem=storable(result.problem),
            n_truncated=result.n_truncated,
            windows=list(result.windows),
            details=dict(result.details),
            n_pairs=len(asked.asks),
            digest=digest_of(asked.asks),
            content_key=key,
        )

    def _row_again(self, each: Material, asked: Asked, key: str, known: AutoScore) -> AutoScore:
        """Return a row with a score that was given before to the same, whoever it was about."""
        return AutoScore(
            run=self._run,
            target_id=each.target,
            score=known.score,
            n_truncated=known.n_truncated,
            windows=list(self._metric.windows_again(asked, known.windows)),
            details=known.details,
            n_pairs=len(asked.asks),
            digest=known.digest,
            content_key=key,
            is_reused=True,
        )


def _length(ask: Any) -> int:
    """Return how many characters an ask has."""
    return sum(len(part) for part in ask if isinstance(part, str))


def _score_signature(run: MetricRun, metric: AutoMetric, backend: Backend) -> str:
    """Return all that fixes a score, given what is asked.

    The threshold only makes labels, and the texts of the evidence are part of what is asked.
    """
    index = run.parameters.get("entailment_index")
    model = [run.model_name or run.backend, backend.signature, backend.revision, str(index)]
    return "|".join([metric.key, metric.said, f"v:{metric.version}", *model])
