"""MTRAG human evaluation: one JSON object of tasks, documents and rated answers.

From https://github.com/IBM/mt-rag-benchmark (mtrag-human/evaluations). Our readings:

- The file is the 'Reference' setting: every answer was made from the passages in `contexts`, so
  they are both golden and shown.
- `timestamp` is the time of submitting in Unix seconds, and `duration` is the seconds of work: no
  rater's next submission comes earlier than its duration after the last one. A rater judged all
  answers to a task on one page, so both belong to the task and repeat on each of its votes.
- The ratings are votes of the `separate` arm, which is the default of the interchange format.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import LONGEST_KEY, Row, outcome, read_rows
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.limits import LONGEST_NAME
from generation.records import (
    ExampleRecord,
    PassageRecord,
    Problem,
    Record,
    ResponseRecord,
    ScoreRecord,
    SetupRecord,
    TurnRecord,
    VoteRecord,
    Where,
)

QUESTIONS = ("naturalness", "appropriateness", "completeness", "faithfulness")
LOWEST, HIGHEST = 1, 4
DEFAULT_ENDS = ["No", "Yes"]
META = ("Answerability", "Question Type", "Multi-Turn", "Turn", "Collection")
PSEUDO_RATERS = ("system", "composite")
LEFT_OUT = "win-rate"  # a comparison of answers, not a judgement of one
SPEAKERS = {"user": "user", "agent": "assistant"}
LISTS = ("tasks", "documents", "evaluations")
_NAMES = tuple(re.compile(rb'"%s"\s*:\s*\[' % name) for name in (b"tasks", b"evaluations"))


class MtragMaterial(FileMaterial):
    """The whole file in memory: the format has no order in which it could be streamed."""

    format = "mtrag"
    one_file = "one MTRAG JSON file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        data = source.whole_json(self._file)
        if not isinstance(data, dict):
            raise DatasetError(self._file, excerpt(data), "one JSON object")
        self._items = {what: _list(data, what, self._file) for what in LISTS}
        source.refuse_more_in_memory(self._file, max(map(len, self._items.values())))
        self._documents = {
            str(row.values.get("document_id")): row.where.line for row in self._rows("documents")
        }
        self._contexts = {
            str(row.values.get("task_id")): _contexts(row) for row in self._rows("tasks")
        }
        self._response_keys = _unique_keys(self._rows("evaluations"))
        self.scheme = _scheme(data.get("metrics"))
        self.kinds = ("examples", "responses", "votes", "scores")
        self.n_left_out = _count_left_out(self._rows("evaluations"))

    @property
    def bytes_read(self) -> int:
        return self.bytes_total  # the whole file is read before the first record

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind == "examples":
            yield from read_rows(self._rows("tasks"), self._example)
        elif kind == "responses":
            yield from read_rows(self._rows("evaluations"), self._response)
        elif kind in ("votes", "scores"):
            evaluations = self._rows("evaluations")
            for evaluation, key in zip(evaluations, self._response_keys, strict=True):
                yield from _ratings(evaluation, key, kind)

    def _rows(self, what: str) -> Iterator[Row]:
        """Yield the items of one list, each as a row without problems."""
        for number in range(1, len(self._items[what]) + 1):
            yield self._row(what, number)

    def _row(self, what: str, number: int) -> Row:
        item = self._items[what][number - 1]
        return Row(Where(self._file, number), _object(item), prefix=f"{what}.")

    def _example(self, task: Row) -> ExampleRecord:
        key = task.key("task_id")
        return ExampleRecord(
            where=task.where,
            key=key,
            dialog=key.split("<::>")[0] or key,
            turns=_turns(task),
            golden_answer=_golden_answer(task),
            evidence=tuple(self._passage(task, item) for item in self._contexts.get(key, ())),
            meta={name: task.values[name] for name in META if name in task.values},
        )

    def _passage(self, task: Row, key: str) -> PassageRecord:
        number = self._documents.get(key)
        if number is None:
            task.refuse("contexts", excerpt(key), "the document_id of one of the documents")
            return PassageRecord(key, "", "", "", True)
        row = self._row("documents", number)
        passage = PassageRecord(
            row.key("document_id"),
            row.filled_text("text"),
            row.text("title", ""),
            row.text("url", ""),
            True,
        )
        task.adopt(row.problems)
        return passage

    def _response(self, evaluation: Row) -> ResponseRecord:
        key = self._response_keys[evaluation.where.line - 1]
        if len(key) > LONGEST_KEY:
            evaluation.refuse("model_id", excerpt(key), f"at most {LONGEST_KEY} with the task_id")
        task, model = evaluation.key("task_id"), evaluation.key("model_id")
        if task not in self._contexts:
            evaluation.refuse("task_id", excerpt(task), "the task_id of one of the tasks")
        return ResponseRecord(
            where=evaluation.where,
            key=key,
            example=task,
            setup=SetupRecord(model, model, None, "", "", {}),
            text=evaluation.text("model_response"),
            evidence_shown=self._contexts.get(task, ()),
            graph_shown=None,
            removed=None,
            meta={},
        )


def recognises(source: Source) -> bool:
    """Return whether this is one JSON object with tasks and evaluations."""
    name = source.only_data_file()
    if name is None or not source.head(name, 64).lstrip().startswith(b"{"):
        return False
    # Inside a text, the quotes around a name would be escaped.
    return source.mentions(name, _NAMES, source.limits.max_whole_json_bytes)


def _object(item: object) -> Mapping[str, Any]:
    return item if isinstance(item, dict) else {}


def _list(data: dict[str, Any], what: str, name: str) -> list[Any]:
    found = data.get(what)
    if not isinstance(found, list):
        raise DatasetError(f"{name}, {what}", excerpt(found), "a list")
    return found


def _contexts(task: Row) -> tuple[str, ...]:
    found = task.values.get("contexts")
    keys = [_object(item).get("document_id") for item in found] if isinstance(found, list) else []
    return tuple(dict.fromkeys(str(key) for key in keys))


def _turns(task: Row) -> tuple[TurnRecord, ...]:
    found = task.required_list("input", "turns")
    turns = []
    for index, turn in enumerate(task.objects("input", found)):
        speaker = turn.key("speaker", longest=LONGEST_NAME)
        turns.append(TurnRecord(SPEAKERS.get(speaker, speaker), turn.text("text"), index - 1))
    if not turns or turns[-1].speaker != "user":
        task.refuse("input", excerpt(found[-1:]), "turns that end with the user's question")
    return tuple(turns)


def _golden_answer(task: Row) -> str | None:
    targets = list(task.objects("targets", task.optional_list("targets", "answers") or []))
    return targets[0].text("text") if targets else None


def _unique_keys(evaluations: Iterable[Row]) -> list[str]:
    """Return 'task|model' for each evaluation. A repeated one gets '|2', '|3'."""
    seen: Counter[str] = Counter()
    keys = []
    for row in evaluations:
        key = f"{row.values.get('task_id')}|{row.values.get('model_id')}"
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}|{seen[key]}")
    return keys


def _annotations(evaluation: Row) -> Iterator[tuple[str, str, Row]]:
    """Yield (metric, rater, rating) of one rated answer."""
    for metric, by_rater in _object(evaluation.values.get("annotations")).items():
        for rater, rating in _object(by_rater).items():
            label = f"evaluations.annotations.{metric:.{LONGEST_NAME}}.{rater:.{LONGEST_NAME}}."
            yield metric, rater, Row(evaluation.where, _object(rating), prefix=label)


def _count_left_out(evaluations: Iterable[Row]) -> dict[str, int]:
    return dict(
        Counter(
            metric
            for evaluation in evaluations
            for metric, rater, _ in _annotations(evaluation)
            if rater not in PSEUDO_RATERS and metric not in QUESTIONS
        )
    )


def _ratings(evaluation: Row, key: str, kind: str) -> Iterator[Record | Problem]:
    for metric, rater, rating in _annotations(evaluation):
        if rater in PSEUDO_RATERS:
            if kind == "scores":
                score = rating.score("value")
                _check_name(rating, metric)
                yield from outcome(
                    rating, ScoreRecord(rating.where, key, metric, score, None, rater)
                )
        elif kind == "votes" and metric in QUESTIONS:
            yield from outcome(rating, _vote(rating, key, metric, rater))


def _check_name(rating: Row, name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME:
        rating.refuse("", excerpt(name), f"a name of 1 to {LONGEST_NAME} characters")


def _vote(rating: Row, response: str, question: str, rater: str) -> VoteRecord:
    if not (rater.isascii() and rater.isdigit()):
        pseudo = " or ".join(PSEUDO_RATERS)
        rating.refuse("", excerpt(rater), f"a rater named by digits, or {pseudo}")
    _check_name(rating, rater)
    answer = rating.word("value")
    if answer and answer not in map(str, range(LOWEST, HIGHEST + 1)):
        rating.refuse("value", excerpt(answer), f"a whole number from {LOWEST} to {HIGHEST}")
    return VoteRecord(
        where=rating.where,
        response=response,
        rater=rater,
        question=question,
        answer=answer,
        arm="separate",
        citation=None,
        position=None,
        seconds=rating.duration("duration"),
        at=rating.moment("timestamp"),
        is_implied=False,
    )


def _scheme(metrics: object) -> dict[str, Any]:
    """Return the ordinal scheme with the wording and labels of the file."""
    described = {
        metric.get("name"): metric
        for metric in (metrics if isinstance(metrics, list) else [])
        if isinstance(metric, dict) and isinstance(metric.get("name"), str)
    }
    return {
        "key": "mtrag",
        "title": "MTRAG human evaluation",
        "questions": [
            {
                "key": key,
                "wording": str(described.get(key, {}).get("description") or key.capitalize()),
                "scale": {"ordinal": [LOWEST, HIGHEST]},
                "ends": _ends(described.get(key, {})),
                "better": "yes",
            }
            for key in QUESTIONS
        ],
    }


def _ends(metric: Mapping[str, Any]) -> list[str]:
    values = metric.get("values")
    words = {
        str(_object(value).get("value")): str(_object(value).get("display_value") or "")
        for value in (values if isinstance(values, list) else [])
    }
    ends = [words.get(str(end), "") for end in (LOWEST, HIGHEST)]
    return ends if all(ends) else DEFAULT_ENDS
