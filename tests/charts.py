"""A check that charts are valid Vega-Lite, because pages draw them without a check."""

from typing import Any

import altair


def valid(spec: dict[str, Any] | None) -> dict[str, Any]:
    """Return a specification; it must exist, and Vega-Lite's schema must allow it.

    Raises:
        jsonschema.ValidationError: the schema does not allow it.
    """
    assert spec is not None
    altair.Chart.from_dict(spec).to_dict(validate=True)
    return spec
