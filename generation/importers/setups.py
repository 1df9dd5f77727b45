"""Setups as they are in files: a name, or an object that gets a readable name."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from typing import Any, Protocol

from generation.importers.fields import Row
from generation.limits import LONGEST_NAME
from generation.records import SetupRecord
from generation.text.temperatures import temperature_text

LONGEST_SETUP_NAME = 300
LONGEST_MODEL = 200
LARGEST_FLOAT = sys.float_info.max
LARGEST_EXACT = 2**53  # a float does not hold every whole number from this one on
KNOWN_KEYS = ("name", "model", "temperature", "prompt", "run", "made_with")
_NEEDS_QUOTES = re.compile(r'[·="\x00-\x1f\x7f]|^(T|run) |^\s|\s$|^$')


class AnySetup(Protocol):
    """A setup, as it is in a file or in the database."""

    @property
    def model(self) -> str: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def prompt(self) -> str: ...
    @property
    def run(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def made_with(self) -> Mapping[str, Any]: ...


def named_setup(name: str) -> SetupRecord:
    """Return a setup of which only the name is known."""
    return SetupRecord(name, "", None, "", "", {})


def read_setup(row: Row) -> SetupRecord:
    """Return the setup of a response row: a name, or an object with at least a model.

    The name of an object is made from it ("gpt-4o · T 0.7 · golden · run 2 · top_p=0.9"). Equal
    objects get equal names, different ones get different names. An object with a `name` keeps it.
    """
    value = row.values.get("setup")
    if isinstance(value, str) and not (row.is_csv and value.lstrip().startswith("{")):
        return named_setup(row.key("setup", longest=LONGEST_SETUP_NAME))
    value = row.nested("setup")
    if not isinstance(value, dict):
        if not any(problem.field == "setup" for problem in row.problems):
            row.refuse("setup", "nothing" if value is None else json.dumps(value)[:80], _EXPECTED)
        return named_setup("")
    inner = Row(row.where, value, prefix="setup.", problems=row.problems)
    setup = SetupRecord(
        name=inner.key("name", "", LONGEST_SETUP_NAME),
        model=inner.key("model", longest=LONGEST_MODEL),
        temperature=inner.optional_number("temperature"),
        prompt=inner.text("prompt", "", LONGEST_MODEL).strip(),
        run=inner.key("run", "", LONGEST_NAME),
        settings=inner.unknown(KNOWN_KEYS),
        made_with=_made_with(inner),
    )
    return setup if setup.name else setup._replace(name=setup_name(setup))


def setup_name(setup: AnySetup) -> str:
    """Return the canonical name of a setup: the known facts about it, in a fixed order."""
    parts = [_plain(setup.model)]
    if setup.temperature is not None:
        parts.append(f"T {temperature_text(setup.temperature)}")
    if setup.prompt:
        parts.append(_plain(setup.prompt))
    if setup.run:
        parts.append(f"run {_plain(setup.run)}")
    parts += [f"{_plain(key)}={_setting(setup.settings[key])}" for key in sorted(setup.settings)]
    name = " · ".join(parts)
    if len(name) <= LONGEST_SETUP_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8")).hexdigest()[:16]
    return f"{name[: LONGEST_SETUP_NAME - 20]}… #{digest}"


def setup_content(setup: AnySetup) -> dict[str, Any]:
    """Return the content that a setup's name stands for. It must be equal in setups of one name."""
    return {
        "model": setup.model,
        "temperature": setup.temperature,
        "prompt": setup.prompt,
        "run": setup.run,
        "settings": _with_plain_numbers(setup.settings),
    }


def origin_of(setup: AnySetup) -> dict[str, Any]:
    """Return what responses were made with. Setups that differ in it are not mixed.

    The device that computes may change, and the size of the model may become known later.
    """
    may_change = ("device", "n_parameters")
    known = {name: part for name, part in setup.made_with.items() if name not in may_change}
    plain: dict[str, Any] = _with_plain_numbers(known)
    return plain


def _with_plain_numbers(value: Any) -> Any:
    """Return JSON with one form for each number: PostgreSQL returns 1e16 as an integer."""
    if isinstance(value, Mapping):
        return {key: _with_plain_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(part) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if abs(value) < LARGEST_EXACT and value == int(value):
        return int(value)
    return f"{value:.17g}" if abs(value) <= LARGEST_FLOAT else str(value)


def _made_with(setup: Row) -> dict[str, Any]:
    """Return what an export says about the model that made the responses of a setup."""
    value = setup.nested("made_with")
    if value is None or isinstance(value, dict):
        return value or {}
    setup.refuse("made_with", json.dumps(value)[:80], "an object")
    return {}


_EXPECTED = "a name, or an object with a model"


def _plain(text: str) -> str:
    """Return the text, in quotes if it could be taken for another part of a name."""
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text


def _setting(value: Any) -> str:
    if isinstance(value, str) and not _is_json(value):
        return _plain(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: thousands of brackets
        return False
    return True
