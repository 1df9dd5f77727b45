"""What a chart has to be: valid Vega-Lite. Pages draw it without asking."""

from typing import Any

import altair


def valid(spec: dict[str, Any] | None) -> dict[str, Any]:
    """Return a specification that is there and that Vega-Lite's schema allows.

    Raises:
        jsonschema.ValidationError: the schema does not allow it.
    """
    assert spec is not None
    altair.Chart.from_dict(spec).to_dict(validate=True)
    return spec
