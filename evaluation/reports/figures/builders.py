"""What charts are built with: records → Altair specifications, for pages and papers alike.

A specification holds marks and data and names its colours by style; the theme that makes them
colours comes beside it, so that one specification is drawn in a light page, in a dark page (by
vega-embed) and in a file (by vl-convert).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.reports.columns import Estimate
from evaluation.reports.figures.themes import Spec, file_theme
from generation.amounts import UNDEFINED

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE = "6.4"  # what vl-convert is told to use: the page's version
CONTENT_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def as_vega_lite(chart: Any) -> Spec:
    """Return a chart as Vega-Lite, in Vega-Lite's own colours.

    Its tests check it against Vega-Lite's schema, which takes longer than to make it.
    """
    spec: Spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def as_percent(share: float | None, factor: float = 100) -> float | None:
    return None if share is None else round(factor * share, 2)


def whisker(estimate: Estimate, factor: float = 100) -> dict[str, float | None]:
    """Return an estimate for an axis: 'value', 'low' and 'high', multiplied."""
    return {name: as_percent(end, factor) for name, end in estimate._asdict().items()}


def said(estimate: Estimate, factor: float = 100) -> str:
    """Return an estimate in words: '81.0 [75.2, 86.1]'."""
    value, low, high = whisker(estimate, factor).values()
    if value is None:
        return UNDEFINED
    return f"{value:.1f}" + ("" if low is None or high is None else f" [{low:.1f}, {high:.1f}]")


def inline(values: Sequence[Mapping[str, Any]]) -> "alt.InlineData":
    import altair as alt

    return alt.InlineData(values=list(values))


def drawn(spec: Spec, format_key: str) -> bytes:
    """Return a chart as a file: 'svg', 'pdf' or 'png'."""
    import vl_convert

    options: dict[str, Any] = {"vl_version": VEGA_LITE, "config": file_theme()}
    if format_key == "svg":
        return str(vl_convert.vegalite_to_svg(spec, **options)).encode()
    if format_key == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, **options))
    return bytes(vl_convert.vegalite_to_png(spec, scale=3, **options))
