"""Setups as files give them: a name, or an object that gets a readable name."""

import hashlib
import json
import re
from typing import Any

from generation.importers.fields import LONGEST_NAME, Row
from generation.importers.records import SetupRecord

LONGEST_SETUP_NAME = 300
LONGEST_MODEL = 200
KNOWN_KEYS = ("name", "model", "temperature", "prompt", "run")
_NEEDS_QUOTES = re.compile(r'[·="\x00-\x1f\x7f]|^(T|run) |^\s|\s$|^$')


def named_setup(name: str) -> SetupRecord:
    """Return a setup of which only the name is known."""
    return SetupRecord(name, "", None, "", "", {})


def read_setup(row: Row) -> SetupRecord:
    """Return the setup of a response row: a name, or an object with at least a model.

    An object's name is made from it ("gpt-4o · T 0.7 · golden · run 2 · top_p=0.9"): equal
    objects get equal names, different ones different names. An object with a `name` keeps it.
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
    )
    return setup if setup.name else setup._replace(name=setup_name(setup))


def setup_name(setup: SetupRecord) -> str:
    """Return the canonical name of a setup: what is known of it, in a fixed order."""
    parts = [_plain(setup.model)]
    if setup.temperature is not None:
        parts.append(f"T {setup.temperature + 0.0!r}")  # + 0.0: no negative zero
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


_EXPECTED = "a name, or an object with a model"


def _plain(text: str) -> str:
    """Return the text, in quotes where it could be taken for another part of a name."""
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text


def _setting(value: Any) -> str:
    if isinstance(value, str) and not _is_json(value):
        return _plain(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
