"""Names of fields as versions of a tool spell them: `actual_output` is `actualOutput`."""

import re
from collections.abc import Collection, Mapping
from typing import Any


def in_camel_case(name: str) -> str:
    """Return a name without `_`, and a capital in place of each."""
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def with_usual_names(
    fields: Mapping[str, Any], usual: Collection[str], renamed: Mapping[str, str]
) -> dict[str, Any]:
    """Return an object's fields by their usual names. Fields that are not known keep theirs.

    Args:
        usual: the usual names, in camel case.
        renamed: earlier or later name → usual name.
    """
    found: dict[str, Any] = {}
    for name, value in fields.items():
        camel = in_camel_case(name)
        camel = renamed.get(camel, camel)
        key = camel if camel in usual and camel not in fields else name
        found.setdefault(key, value)
    return found
