"""Results of promptfoo, as `promptfoo eval -o results.json` writes them (version 3).

A row is one output. Its variables are columns. The provider and, if there are several, the prompt
are its setup. promptfoo's own score is one metric, and its named scores are others. If a provider
failed, there is no output: the row has an empty response, and the reason is the problem of a score.
The `error` of an output that only failed a check is no error and is left out.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem, Where

_FIELDS = (re.compile(rb'"testIdx"\s*:'), re.compile(rb'"promptIdx"\s*:'))
OWN_METRIC = "promptfoo"
FAILED = 2  # the `failureReason` of a provider's error


def recognises(source: Source, name: str) -> bool:
    """Return whether this is JSON of promptfoo."""
    is_object = source.head(name, 64).lstrip().startswith(b"{")
    return is_object and source.mentions(name, _FIELDS, source.limits.max_whole_json_bytes)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each output. Its line is its number in the file."""
    found = source.whole_json(name)
    results = found.get("results") if isinstance(found, dict) else None
    if isinstance(results, dict):
        results = results.get("results")
    if not isinstance(results, list):
        raise DatasetError(f"{name}, results.results", excerpt(results), "a list of results")
    n_prompts = len({str(_at(each, "prompt", "label")) for each in results})
    source.begin_rows(name)
    for number, result in enumerate(results, 1):
        source.count_row(name)
        where = Where(name, number)
        if isinstance(result, dict):
            yield Row(where, _columns(result, names_prompt=n_prompts > 1))
        else:
            yield Problem(where, "results", excerpt(result), "an object")


def _columns(result: dict[str, Any], *, names_prompt: bool) -> dict[str, Any]:
    variables = result.get("vars")
    provider = _at(result, "provider", "label") or _at(result, "provider", "id")
    prompt = _at(result, "prompt", "label") if names_prompt else ""
    output = _at(result, "response", "output")
    if output is not None and not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    return {
        **(variables if isinstance(variables, dict) else {}),
        "prompt text": _at(result, "prompt", "raw"),
        "test": str(result.get("testIdx")),
        "setup": " · ".join(str(each) for each in (provider, prompt) if each) or None,
        "output": output,
        "scores": _scores(result),
        "id": result.get("id"),
        "latencyMs": result.get("latencyMs"),
        "cost": result.get("cost"),
    }


def _scores(result: dict[str, Any]) -> list[dict[str, Any]]:
    if result.get("failureReason") == FAILED:
        return [{"name": OWN_METRIC, "error": str(result.get("error"))}]
    named = result.get("namedScores")
    scores = {**(named if isinstance(named, dict) else {}), OWN_METRIC: result.get("score")}
    return [{"name": name, "score": score} for name, score in scores.items()]


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
