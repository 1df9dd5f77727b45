"""Results of promptfoo, as `promptfoo eval -o results.json` (or `.jsonl`) writes them.

A row is one output. Its variables are columns. Where a version numbers no tests, outputs with the
same variables are of one test. The provider and, if there are several, the prompt are its setup.
promptfoo's own score is one metric, and its named scores are others. If a provider failed, there is
no output: the row has an empty response, and the reason is the problem of a score. The `error` of
an output that only failed a check is no error and is left out.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.versions import with_usual_names
from generation.importers.sources import Source
from generation.importers.tables import json_rows
from generation.records import Problem, Where

_FIELDS = (re.compile(rb'"vars"\s*:'), re.compile(rb'"(prompt|provider|response)"\s*:'))
_OF_THIS_VERSION = (re.compile(rb'"testIdx"\s*:'), re.compile(rb'"promptIdx"\s*:'))
_OF_A_RESULT = (
    *("testIdx", "namedScores", "failureReason", "latencyMs", "vars", "provider"),
    *("prompt", "response", "score", "error", "cost", "id"),
)
OWN_METRIC = "promptfoo"
FAILED = 2  # the `failureReason` of a provider's error


def recognises(source: Source, name: str) -> bool:
    """Return whether this is JSON of promptfoo, of any version."""
    most = source.limits.max_whole_json_bytes
    is_object = source.head(name, 64).lstrip().startswith(b"{")
    if not is_object or not source.mentions(name, _FIELDS, most):
        return False
    try:
        first = next((each for each in _results(source, name) if isinstance(each, dict)), {})
    except DatasetError:  # the reader reports it
        return source.mentions(name, _OF_THIS_VERSION, most)
    return "vars" in first and len({"prompt", "provider", "response"} & first.keys()) > 1


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each output. Its line is its number in the file."""
    found = []
    for result in _results(source, name):
        found.append(result)
        source.refuse_more_in_memory(name, len(found))
    labels = {str(_label(_at(each, "prompt"))) for each in found}
    tests: dict[str, str] = {}  # variables as JSON → number of their test
    for number, result in enumerate(found, 1):
        where = Where(name, number)
        if isinstance(result, Problem):
            yield result
        elif isinstance(result, dict):
            fields = with_usual_names(result, _OF_A_RESULT, {})
            if fields.get("testIdx") is None:
                variables = json.dumps(fields.get("vars"), sort_keys=True)
                fields["testIdx"] = tests.setdefault(variables, str(len(tests)))
            yield Row(where, _columns(fields, names_prompt=len(labels) > 1))
        else:
            yield Problem(where, "results", excerpt(result), "an object")


def _results(source: Source, name: str) -> Iterator[Any]:
    """Yield the results in a file, which is one JSON object or has a result on each line."""
    head = source.head(name, 1 << 20).decode("utf-8", "replace").strip()
    first, _, rest = head.partition("\n")
    if rest.strip() and first.rstrip().endswith("}"):
        for row in json_rows(source, name):
            yield row.values if isinstance(row, Row) else row
        return
    found = source.whole_json(name)
    results = found.get("results") if isinstance(found, dict) else None
    if isinstance(results, dict):
        results = results.get("results")
    if not isinstance(results, list):
        raise DatasetError(f"{name}, results.results", excerpt(results), "a list of results")
    source.begin_rows(name)
    for result in results:
        source.count_row(name)
        yield result


def _columns(result: dict[str, Any], *, names_prompt: bool) -> dict[str, Any]:
    variables = result.get("vars")
    prompt = _label(_at(result, "prompt")) if names_prompt else ""
    output = _at(result, "response", "output")
    if output is not None and not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    setup = (_label(result.get("provider")), prompt)
    return {
        **(variables if isinstance(variables, dict) else {}),
        "prompt text": _at(result, "prompt", "raw"),
        "test": str(result.get("testIdx")),
        "setup": " · ".join(str(each) for each in setup if each) or None,
        "output": output,
        "scores": _scores(result),
        "id": result.get("id"),
        "latencyMs": result.get("latencyMs"),
        "cost": result.get("cost"),
    }


def _label(of: Any) -> Any:
    """Return the name of a provider or a prompt, where each version has it."""
    if isinstance(of, str):
        return of
    return _at(of, "label") or _at(of, "display") or _at(of, "id")


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
