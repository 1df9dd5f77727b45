"""What a run of Auto-AIS asks its backend about each response, and the rows that answers make.

Reads only: who calls it stores the rows.
"""

import hashlib
import json
import logging
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError

from annotation.models import Target
from evaluation.backends.base import BackendError, Entailment, EntailmentBackend
from evaluation.metrics.entailment import (
    EntailmentError,
    Pair,
    Passage,
    Question,
    ask,
    verdict,
)
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.progress import choices_of
from generation.evidence import EvidenceChoice, evidence_of
from generation.models import Passage as PassageRow
from generation.models import Response, Turn

logger = logging.getLogger(__name__)

NO_DIALOG = "the dialog is not known"
NO_GOLDEN = "no golden evidence"
NOTHING_FOUND = "no passage was found for its dialog"
ONLY_A_GRAPH = "its evidence is a graph, whose text this version does not read"

MOST_TRIES = 3  # of one response whose scoring raises something unexpected
MOST_PAIRS = 2048
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


class Unscored(NamedTuple):
    """A target to be scored, with its response and the evidence it is judged against."""

    target: int
    text: str
    user_question: str | None  # None: the dialog is not known
    passages: list[Passage]
    is_evidence_stated: bool  # what the model was shown is known
    has_graph: bool


def unscored(run: MetricRun, targets: Collection[int]) -> list[Unscored]:
    """Return those targets of a run that have no row yet, in the order given."""
    rows = Target.objects.filter(pk__in=targets).exclude(scores__run=run)
    response_of = dict(rows.values_list("pk", "response"))
    responses = Response.objects.filter(pk__in=response_of.values())
    evidence = evidence_of(responses, run.parameters["evidence"])
    wanted = {passage for shown in evidence.values() for passage in shown}
    texts = dict(PassageRow.objects.filter(pk__in=wanted).values_list("pk", "text"))
    by_id = {response.pk: response for response in responses}
    questions = user_questions({response.example_id for response in by_id.values()})
    return [
        Unscored(
            target=target,
            text=response.text,
            user_question=questions.get(response.example_id),
            passages=[Passage(pk, texts[pk]) for pk in evidence[response.pk]],
            is_evidence_stated=response.is_evidence_stated,
            has_graph=bool(response.graph_shown),
        )
        for target in targets
        if target in response_of
        for response in [by_id[response_of[target]]]
    ]


def user_questions(examples: Collection[int]) -> dict[int, str]:
    """Return the last turn of the user in each dialog that is known; else its last turn."""
    turns: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=examples).order_by("example", "index")
    for example, speaker, text in rows.values_list("example", "speaker", "text"):
        turns[example].append((speaker.lower() == "user", text))
    return {
        example: next((text for is_user, text in reversed(dialog) if is_user), dialog[-1][1])
        for example, dialog in turns.items()
    }


class Scorer:
    """Makes the rows of one run with its backend.

    Args:
        keep: called between two calls of the backend, which take about as long as
            `SECONDS_TOGETHER` each, or a part of the lease; whatever it raises ends the scoring.
    """

    def __init__(
        self, run: MetricRun, backend: EntailmentBackend, keep: Callable[[], None]
    ) -> None:
        self._run = run
        self._choices = choices_of(run)
        self._backend = backend
        self._keep = keep
        self._n_pairs = 1  # before the speed is known

    def rows(self, some: Sequence[Unscored]) -> list[AutoScore]:
        """Return a row for each of some responses: its score, or why there is none."""
        try:
            return self._rows(some)
        except (BackendError, DatabaseError, Stopped):
            raise
        except Exception:
            logger.exception("scoring %s responses of run %s", len(some), self._run.pk)
        return [self._row_alone(each) for each in some]

    def failed(self, each: Unscored, problem: str) -> AutoScore:
        """Return the row of a response that has no score."""
        return AutoScore(run=self._run, target_id=each.target, problem=storable(problem))

    def _row_alone(self, each: Unscored) -> AutoScore:
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

    def _rows(self, some: Sequence[Unscored]) -> list[AutoScore]:
        prepared = [self._prepared(each) for each in some]
        asked = [question for question in prepared if isinstance(question, Question)]
        answers = iter(self._entailments([pair for each in asked for pair in each.pairs]))
        return [
            self._row(each, ready, list(islice(answers, len(ready.pairs))))
            if isinstance(ready, Question)
            else ready
            for each, ready in zip(some, prepared, strict=True)
        ]

    def _prepared(self, each: Unscored) -> AutoScore | Question:
        """Return what to ask about a response, or its row where nothing is asked."""
        if not each.passages:
            return self._row_without_evidence(each)
        if each.user_question is None:
            return self.failed(each, NO_DIALOG)
        try:
            return ask(self._choices, each.passages, each.user_question, each.text)
        except EntailmentError as error:
            return self.failed(each, str(error))

    def _row_without_evidence(self, each: Unscored) -> AutoScore:
        choice = self._run.parameters["evidence"]
        if choice == EvidenceChoice.RETRIEVED:
            return self.failed(each, NOTHING_FOUND)
        if choice == EvidenceChoice.SHOWN and each.has_graph:
            return self.failed(each, ONLY_A_GRAPH)
        if choice == EvidenceChoice.SHOWN and each.is_evidence_stated:
            return AutoScore(run=self._run, target_id=each.target, score=0.0, is_assumed=True)
        return self.failed(each, NO_GOLDEN)

    def _entailments(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Ask the backend, with as many pairs at once as it answers in a short time.

        The longest come first: models are quicker with pairs of like length together.
        """
        waiting = sorted(dict.fromkeys(pairs), key=lambda pair: -sum(map(len, pair)))
        found: dict[Pair, Entailment] = {}
        seconds_together = min(SECONDS_TOGETHER, settings.CHUNK_LEASE_SECONDS / 4)
        while len(found) < len(waiting):
            some = waiting[len(found) : len(found) + self._n_pairs]
            began = time.monotonic()
            found |= zip(some, self._backend.entailment(some), strict=True)
            speed = len(some) / max(time.monotonic() - began, 1e-6)
            at_most = min(4 * len(some), MOST_PAIRS)
            self._n_pairs = max(1, min(int(speed * seconds_together), at_most))
            self._keep()
        return [found[pair] for pair in pairs]

    def _row(self, each: Unscored, question: Question, answers: Sequence[Entailment]) -> AutoScore:
        row = AutoScore(
            run=self._run,
            target_id=each.target,
            n_pairs=len(answers),
            n_truncated=sum(answer.is_truncated for answer in answers),
            digest=_digest(question.pairs),
        )
        if problem := next(filter(None, map(_problem, answers)), ""):
            row.problem = storable(problem)
            return row
        probabilities = [answer.probability for answer in answers]
        result = verdict(self._choices, question, probabilities)
        row.score = result.score
        row.windows = self._windows(question, probabilities, result.best)
        return row

    def _windows(
        self, question: Question, probabilities: Sequence[float], best: Sequence[int]
    ) -> list[dict[str, object]]:
        """Return the stretch of evidence that decided, for each hypothesis."""
        is_split = self._choices.hypothesis != "whole"
        n_windows = len(question.windows)
        return [
            {
                "sentence": number if is_split else None,
                "passage": window.passage,
                "first": window.first,
                "last": window.last,
                "start": window.start,
                "end": window.end,
                "probability": float(probabilities[number * n_windows + chosen]),
            }
            for number, chosen in enumerate(best)
            for window in [question.windows[chosen]]
            if window.passage is not None
        ]


def _problem(answer: Entailment) -> str:
    """Return why a pair has no probability; nothing when it has one."""
    if answer.problem or not math.isnan(answer.probability):
        return answer.problem
    return "the backend gave no probability"


def _digest(pairs: Sequence[Pair]) -> str:
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()[:16]
