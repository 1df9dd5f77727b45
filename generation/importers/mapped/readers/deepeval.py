"""A test run of deepeval: `.deepeval/.latest_test_run.json`, or a file of its results folder.

Test cases and conversations become rows. A conversation's last message is its response. The model
that a run names (`identifier`, else `hyperparameters.model`) is the setup of all its rows.
"""

import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem, Where

_FIELDS = (re.compile(rb'"testCases"\s*:\s*\['), re.compile(rb'"metricsScores"\s*:\s*\['))
_CASES = ("testCases", "conversationalTestCases")


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a run of deepeval."""
    return source.mentions(name, _FIELDS, source.limits.max_whole_json_bytes)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each test case, then one for each conversation. Lines are their numbers."""
    found = source.whole_json(name)
    run = found.get("testRunData", found) if isinstance(found, dict) else {}
    source.begin_rows(name)
    number = 0
    for kind in _CASES:
        cases = run.get(kind) if isinstance(run, dict) else None
        for case in cases if isinstance(cases, list) else ():
            number += 1
            source.count_row(name)
            where = Where(name, number)
            if isinstance(case, dict):
                yield Row(where, {**case, "setup": _setup(run)})
            else:
                yield Problem(where, kind, excerpt(case), "an object")


def _setup(run: dict[str, Any]) -> str | None:
    parameters = run.get("hyperparameters")
    model = parameters.get("model") if isinstance(parameters, dict) else None
    said = (run.get("identifier"), model)
    return next((each for each in said if isinstance(each, str) and each.strip()), None)
