"""A test run of deepeval: `.deepeval/.latest_test_run.json`, or a file of its results folder.

Test cases and conversations become rows. A conversation's last message is its response. The model
that a run names (`identifier`, else `hyperparameters.model`) is the setup of all its rows. Earlier
versions have the scores under `metricsMetadata`, and what `evaluate` returns has other names.
"""

import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.versions import in_camel_case, with_usual_names
from generation.importers.sources import Source
from generation.records import Problem, Where

_FIELDS = (
    re.compile(rb'"(conversational_?)?test_?(cases|results)"\s*:\s*\[', re.IGNORECASE),
    re.compile(rb'"(actual_?output|metrics_?(data|metadata)|turns)"\s*:', re.IGNORECASE),
)
_CASES = ("testCases", "conversationalTestCases", "testResults")
_OF_A_CASE = (
    *("input", "actualOutput", "turns", "retrievalContext", "context"),
    *("expectedOutput", "expectedOutcome", "metricsData"),
)
_RENAMED = {"metricsMetadata": "metricsData"}


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a run of deepeval, of any version."""
    if not source.mentions(name, _FIELDS, source.limits.max_whole_json_bytes):
        return False
    try:
        run = _run_in(source.whole_json(name))
    except DatasetError:  # the reader reports it
        return True
    cases = [case for kind in _CASES for case in _listed(run, kind) if isinstance(case, dict)]
    said = {in_camel_case(field) for case in cases for field in case}
    return bool(said & {"actualOutput", "turns", "metricsData", *_RENAMED})


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each test case, then one for each conversation. Lines are their numbers."""
    run = _run_in(source.whole_json(name))
    source.begin_rows(name)
    number = 0
    for kind in _CASES:
        for case in _listed(run, kind):
            number += 1
            source.count_row(name)
            where = Where(name, number)
            if isinstance(case, dict):
                fields = with_usual_names(case, _OF_A_CASE, _RENAMED)
                yield Row(where, {**fields, "setup": _setup(run)})
            else:
                yield Problem(where, kind, excerpt(case), "an object")


def _run_in(value: Any) -> dict[str, Any]:
    """Return the fields of a run by their names in camel case."""
    for _ in range(2):  # the run may be inside `testRunData`
        fields = value.items() if isinstance(value, dict) else ()
        run = {in_camel_case(field): inside for field, inside in fields}
        value = run.get("testRunData", value)
    return run


def _listed(run: dict[str, Any], kind: str) -> list[Any]:
    cases = run.get(kind)
    return cases if isinstance(cases, list) else []


def _setup(run: dict[str, Any]) -> str | None:
    parameters = run.get("hyperparameters")
    model = parameters.get("model") if isinstance(parameters, dict) else None
    said = (run.get("identifier"), model)
    return next((each for each in said if isinstance(each, str) and each.strip()), None)
