"""A project of Label Studio, as its JSON export and its snapshots have it.

A row is one annotation, or a task without any. The task's data are columns; each thing that was
asked is a column `asked.<from_name>`, and what a model said about it `<model version>.<from_name>`.
A choice is its label, a rating its number; several labels are one text, in the order chosen.
Annotations that were cancelled are left out and counted, as are texts, which are no votes.
Raters are persons: only what becomes a code of them is kept.
"""

import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.json_items import json_items
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem

CANCELLED = "annotations that were cancelled"
NO_VOTES = "results that are neither a choice nor a number"
_FIELDS = (re.compile(rb'"annotations"\s*:'), re.compile(rb'"completed_by"\s*:'))
_HEAD_BYTES = 1 << 22  # a task is looked for in it
SEVERAL = " + "  # between labels


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a list of tasks with annotations."""
    is_list = source.head(name, 64).lstrip().startswith(b"[")
    return is_list and source.mentions(name, _FIELDS, _HEAD_BYTES)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each annotation; its line is the number of its task."""
    n_cancelled = n_no_votes = 0
    for task in json_items(source, name):
        if isinstance(task, Problem):
            yield task
            continue
        data = task.values.get("data")
        annotations = task.optional_list("annotations", "annotations") or []
        about = {
            **(data if isinstance(data, dict) else {}),
            **_said_by_models(task),
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
                n_cancelled += 1
            else:
                answers, n_other = _answers(annotation.get("result"), "asked")
                n_no_votes += n_other
                n_rows += 1
                rater = _rater(annotation.get("completed_by"))
                yield Row(task.where, {**about, **answers, "completed_by": rater})
        if not n_rows:
            yield Row(task.where, about)
    left_out |= {CANCELLED: n_cancelled} if n_cancelled else {}
    left_out |= {NO_VOTES: n_no_votes} if n_no_votes else {}


def _said_by_models(task: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    predictions = task.values.get("predictions")
    for prediction in predictions if isinstance(predictions, list) else ():
        if isinstance(prediction, dict):  # an export without them has their ids
            version = str(prediction.get("model_version") or "model")
            found |= _answers(prediction.get("result"), version)[0]
    return found


def _answers(results: Any, prefix: str) -> tuple[dict[str, Any], int]:
    """Return `prefix.from_name` → answer of what is a choice or a number, and how many are not."""
    found: dict[str, Any] = {}
    n_other = 0
    for result in results if isinstance(results, list) else ():
        value = result.get("value") if isinstance(result, dict) else None
        value = value if isinstance(value, dict) else {}
        labels = value.get("choices")
        numbers = [value[kind] for kind in ("rating", "number") if kind in value]
        if isinstance(labels, list) and labels and all(isinstance(each, str) for each in labels):
            found[f"{prefix}.{result.get('from_name')}"] = SEVERAL.join(labels)
        elif numbers and isinstance(numbers[0], int | float):
            found[f"{prefix}.{result.get('from_name')}"] = numbers[0]
        else:
            n_other += 1
    return found, n_other


def _rater(person: Any) -> str | None:
    """Return who somebody is: an address where one is given, else a number."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return None if person is None else str(person)
