"""A project of Label Studio, from its JSON export or a snapshot.

A row is one annotation, or a task without any. The task's data are columns. Each question that was
asked is a column `asked.<from_name>`: a choice is its label, a rating is its number, and several
labels are one text, in the order chosen. Annotations that were cancelled are left out and counted,
and so are texts, which are no votes. Raters are persons: only a code of their names is kept.

Numbers that models gave are the scores `<model version>.<from_name>`, and how sure they were is
`<model version> score`. Choices that they predicted are columns of that name, which stay in `meta`.
So do the answers of an annotation that is marked as ground truth, `ground_truth.<from_name>`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.json_items import json_items
from generation.importers.mapped.cells import SEVERAL
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem

CANCELLED = "annotations that were cancelled"
NO_VOTES = "results that are neither a choice nor a number"
PREDICTED = "choices that models predicted, which are no scores: they stay in meta"
REPLACED = "predictions that a later one of the same model replaces"
KNOWN = "marks of annotations as ground truth: their answers count as votes, and are in meta too"
_FIELDS = (re.compile(rb'"annotations"\s*:'), re.compile(rb'"completed_by"\s*:'))
_HEAD_BYTES = 1 << 22  # bytes in which a task is looked for


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a list of tasks with annotations."""
    is_list = source.head(name, 64).lstrip().startswith(b"[")
    return is_list and source.mentions(name, _FIELDS, _HEAD_BYTES)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each annotation. Its line is the number of its task."""
    counted: Counter[str] = Counter()
    for task in json_items(source, name):
        if isinstance(task, Problem):
            yield task
            continue
        data = task.values.get("data")
        annotations = task.optional_list("annotations", "annotations") or []
        about = {
            **(data if isinstance(data, dict) else {}),
            **_said_by_models(task, counted),
            **_known_answers(annotations),
            "task": task.values.get("id"),
        }
        if task.problems:
            yield from task.problems
            continue
        n_rows = 0
        for annotation in annotations:
            if not isinstance(annotation, dict):
                yield Problem(task.where, "annotations", excerpt(annotation), "an object")
            elif annotation.get("was_cancelled"):
                counted[CANCELLED] += 1
            else:
                n_rows += 1
                counted[KNOWN] += _is_known(annotation)
                yield Row(task.where, {**about, **_said_by_a_rater(annotation, counted)})
        if not n_rows:
            yield Row(task.where, about)
    left_out |= +counted


def _said_by_a_rater(annotation: dict[str, Any], counted: Counter[str]) -> dict[str, Any]:
    said = _answers(annotation, counted)
    return {
        **{f"asked.{asked}": answer for asked, answer in said.items()},
        "completed_by": _rater(annotation.get("completed_by")),
        "annotation.id": annotation.get("id"),
        "annotation.lead_time": annotation.get("lead_time"),
        "annotation.created_at": annotation.get("created_at"),
    }


def _said_by_models(task: Row, counted: Counter[str]) -> dict[str, Any]:
    """Return the numbers that models gave, as one object, and the choices that they predicted."""
    predictions = task.values.get("predictions")
    latest: dict[str, dict[str, Any]] = {}
    for prediction in predictions if isinstance(predictions, list) else ():
        if isinstance(prediction, dict):  # an export without predictions has only their ids
            version = str(prediction.get("model_version") or "model")
            counted[REPLACED] += version in latest
            latest[version] = prediction
    numbers: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for version, prediction in latest.items():
        for asked, answer in _answers(prediction, counted).items():
            (choices if isinstance(answer, str) else numbers)[f"{version}.{asked}"] = answer
        if _is_number(prediction.get("score")):
            numbers[f"{version} score"] = prediction["score"]
    counted[PREDICTED] += len(choices)
    return {**choices, "predictions.numbers": numbers} if numbers else choices


def _known_answers(annotations: list[Any]) -> dict[str, Any]:
    return {
        f"ground_truth.{asked}": answer
        for annotation in annotations
        if isinstance(annotation, dict) and _is_known(annotation)
        for asked, answer in _answers(annotation, Counter()).items()
    }


def _is_known(annotation: dict[str, Any]) -> bool:
    return bool(annotation.get("ground_truth") and not annotation.get("was_cancelled"))


def _answers(said: dict[str, Any], counted: Counter[str]) -> dict[str, Any]:
    """Return `from_name` → answer for choices and numbers. Other results are counted."""
    found: dict[str, Any] = {}
    results = said.get("result")
    for result in results if isinstance(results, list) else ():
        value = result.get("value") if isinstance(result, dict) else None
        value = value if isinstance(value, dict) else {}
        labels = value.get("choices")
        number = value.get("rating", value.get("number"))
        if isinstance(labels, list) and labels and all(isinstance(each, str) for each in labels):
            found[str(result.get("from_name"))] = SEVERAL.join(labels)
        elif _is_number(number):
            found[str(result.get("from_name"))] = number
        else:
            counted[NO_VOTES] += 1
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rater(person: Any) -> str | None:
    """Return a rater's address if it is given, or else the rater's number."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return None if person is None else str(person)
