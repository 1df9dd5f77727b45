"""The builders of charts: from records to Altair specifications, for pages and papers.

A specification holds marks and data, and names its colours by style. The theme that gives styles
their colours is separate, so that the same specification can be drawn on a light page, on a dark
page (by vega-embed) and in a file (by vl-convert).

    across = FigureAxis("x", "Accuracy, %", domain=(0, 100))
    chart = alt.Chart(inline([measured(row.accuracy, name=row.name) for row in rows]))
    alt.layer(*points(chart.encode(y="name:N"), across))
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evaluation.reports.columns import Estimate
from evaluation.reports.figures.themes import Spec, file_theme
from evaluation.statistics.jackknife import FEWEST_DIALOGS
from work.amounts import UNDEFINED

if TYPE_CHECKING:
    import altair as alt

VEGA_LITE = "6.4"  # the version for vl-convert, which must be the version on pages
FEW_DASHES = [2, 3]  # the dashes of an interval from few, in px
NO_ENDS = (math.inf, -math.inf)  # an axis that is as short as the figures allow
ANY_NUMBER, SHARES = (-math.inf, math.inf), (0.0, 100.0)  # limits of figures; shares in per cent
MARGIN = 0.2  # steps of an axis that are free beyond its lowest and its highest figure, at least
CONTENT_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def as_vega_lite(chart: Any) -> Spec:
    """Return a chart as Vega-Lite, without a theme.

    It is not validated here, because that takes longer than making it. Tests check charts against
    Vega-Lite's schema.
    """
    spec: Spec = chart.to_dict(validate=False)
    spec.pop("config", None)
    return spec


def as_percent(share: float | None, factor: float = 100) -> float | None:
    return None if share is None else round(factor * share, 2)


def whisker(estimate: Estimate, factor: float = 100) -> dict[str, float | None]:
    """Return an estimate for an axis: 'value', 'low' and 'high', each multiplied by `factor`."""
    return {name: as_percent(end, factor) for name, end in estimate._asdict().items()}


def estimate_text(estimate: Estimate, factor: float = 100, n_digits: int = 1) -> str:
    """Return an estimate in words: '81.0 [75.2, 86.1]'."""
    value, *ends = (
        None if end is None else f"{end:.{n_digits}f}" for end in whisker(estimate, factor).values()
    )
    if value is None:
        return UNDEFINED
    return value if None in ends else f"{value} [{', '.join(map(str, ends))}]"


def measured(
    estimate: Estimate,
    factor: float = 100,
    *,
    n: int | None = None,
    n_digits: int = 1,
    **about: Any,
) -> dict[str, Any]:
    """Return an estimate for an axis, with its text (`said`) and the fields of `about`.

    Args:
        estimate: the estimate.
        factor: the factor from the estimate to the axis.
        n: how many dialogs, or items if these are not known, the interval is drawn from.
        n_digits: the number of digits of the text.
        about: more fields.
    """
    said = estimate_text(estimate, factor, n_digits)
    return {**whisker(estimate, factor), "said": said, **about, **few(estimate, n)}


def few(estimate: Estimate, n: int | None) -> dict[str, Any]:
    """Return the field that marks an interval from fewer than five; {} if there is none to mark."""
    is_few = n is not None and n < FEWEST_DIALOGS and estimate.low is not None
    return {"few": n} if is_few else {}


def inline(values: Sequence[Mapping[str, Any]]) -> "alt.InlineData":
    import altair as alt

    return alt.InlineData(values=list(values))


# --- points with whiskers, lines, bands ---------------------------------------------------------


class FigureAxis(NamedTuple):
    """The axis for the figures of a chart. The rows of the chart are made by `measured`."""

    side: Literal["x", "y"]
    title: str | None
    domain: tuple[float, float] = NO_ENDS  # the least; `over` makes room for all figures
    n_ticks: int = 6
    number_format: str = ""

    def over(
        self, values: Iterable[Mapping[str, Any]], limits: tuple[float, float] = ANY_NUMBER
    ) -> "FigureAxis":
        """Return the axis with room for all figures; it says what the dashes of intervals mean.

        Args:
            values: the rows of the chart.
            limits: the lowest and the highest figure that is possible.
        """
        drawn = list(values)
        ends = [value.get(end) for value in drawn for end in ("low", "value", "high")]
        said = self.title
        if any("few" in value for value in drawn) and said is not None:
            said += f" (dashed: from fewer than {FEWEST_DIALOGS})"
        return self._replace(title=said, domain=domain_over(ends, self.domain, limits))

    def at(self, field: str = "value") -> dict[str, Any]:
        """Return the encoding of one field: 'value', 'low' or 'high'."""
        import altair as alt

        scale = alt.Scale(domain=list(self.domain), nice=False, zero=False)
        format_: dict[str, Any] = {"format": self.number_format} if self.number_format else {}
        axis = alt.Axis(tickCount=self.n_ticks, **format_)
        channel = alt.X if self.side == "x" else alt.Y
        return {self.side: channel(f"{field}:Q", title=self.title, scale=scale, axis=axis)}

    def ends(self) -> dict[str, Any]:
        """Return the encoding of an interval."""
        return {**self.at("low"), f"{self.side}2": "high"}


def domain_over(
    figures: Iterable[float | None],
    least: tuple[float, float] = NO_ENDS,
    limits: tuple[float, float] = ANY_NUMBER,
) -> tuple[float, float]:
    """Return the ends of an axis that hides no figure and does not begin at the lowest one.

    Args:
        figures: everything that is drawn, with the ends of intervals.
        least: the shortest axis; by default it is as short as the figures allow.
        limits: the lowest and the highest figure that is possible, where an axis may end.

    Returns:
        Multiples of a round step, a fifth of a step or more beyond all figures, or a limit.
    """
    known = [figure for figure in figures if figure is not None]
    if not known:
        return least if math.isfinite(least[1] - least[0]) else (0.0, 1.0)
    lowest, highest = min(known), max(known)
    length = max(highest, least[1]) - min(lowest, least[0])
    step = _round_step(length / 5 or abs(highest) / 5 or 1.0)
    start = min(least[0], step * math.floor(lowest / step - MARGIN))
    end = max(least[1], step * math.ceil(highest / step + MARGIN))
    start, end = max(start, min(limits[0], lowest)), min(end, max(limits[1], highest))
    return round(start, 10), round(end, 10)


def _round_step(width: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not larger than a width."""
    power = 10.0 ** math.floor(math.log10(width))
    return max(power * part for part in (1, 2, 5) if part == 1 or power * part <= width)


def points(
    chart: Any, axis: FigureAxis, style: str = "", *, caps: bool = False, **encoded: Any
) -> list[Any]:
    """Return the layers of points with their whiskers.

    Args:
        chart: a chart of rows that `measured` made, with the other axis encoded.
        axis: the axis of the figures.
        style: the ending of the theme's styles 'dot' and 'whisker': '', '-on' or '-ceiling'.
        caps: whether whiskers end in a short stroke.
        encoded: encodings of the points only, such as their shape.
    """
    import altair as alt

    known = chart.transform_filter("datum.low !== null")
    line = f"whisker{style}"
    whiskers = known.mark_rule(style=line).encode(**axis.ends())
    if any("few" in row for row in chart.data.values):
        dashes = alt.condition("isValid(datum.few)", alt.value(FEW_DASHES), alt.value([1, 0]))
        whiskers = whiskers.encode(strokeDash=dashes)
    layers = [whiskers]
    if caps:
        cap = known.mark_point(style=line, shape="stroke", angle=90, size=64, filled=False)
        layers += [cap.encode(**axis.at("low")), cap.encode(**axis.at("high"))]
    dot = chart.transform_filter("datum.value !== null").mark_point(
        style=f"dot{style}", filled=True
    )
    return [*layers, dot.encode(**axis.at(), tooltip="said:N", **encoded)]


def lines(chart: Any, axis: FigureAxis, *, shape: Any, **encoded: Any) -> list[Any]:
    """Return the layers of lines from point to point, with whiskers and gaps at missing points.

    Args:
        chart: a chart of rows that `measured` made, with the other axis and the colours encoded.
        axis: the axis of the figures.
        shape: the encoding of the points' shapes.
        encoded: encodings of the lines only, such as their dashes.
    """
    line = chart.mark_line(style="line").encode(**axis.at(), **encoded)
    return [line, *points(chart, axis, shape=shape)]


def line_in_band(chart: Any, axis: FigureAxis) -> list[Any]:
    """Return the layers of the only curve of a chart, with its interval as a band around it."""
    return [
        chart.mark_area(style="band", line=False).encode(**axis.ends()),
        chart.mark_line(style="curve", interpolate="linear").encode(**axis.at()),
        chart.mark_point(style="dot-on", filled=True).encode(**axis.at(), tooltip="said:N"),
    ]


def series(
    field: str, names: Sequence[str], title: str | None = None, **legend_room: Any
) -> dict[str, Any]:
    """Return different colours and shapes for series, with one legend for both above the plot.

    Args:
        field: the field with the name of the series.
        names: the names of all series, in their order.
        title: the title of the legend.
        legend_room: options of the legend: `columns`, `labelLimit`.
    """
    import altair as alt

    legend = alt.Legend(orient="top", direction="horizontal", **legend_room)
    told: dict[str, Any] = {"scale": alt.Scale(domain=list(names)), "title": title}
    return {
        "color": alt.Color(f"{field}:N", legend=legend, **told),
        "shape": alt.Shape(f"{field}:N", legend=legend, **told),
    }


def zero_line(chart: Any, axis: FigureAxis) -> Any:
    """Return the layer of a line at 0, where figures change their sign."""
    import altair as alt

    return chart.mark_rule(style="zero").encode(**{axis.side: alt.datum(0, type="quantitative")})


def sized(chart: Any, width: int, *, on_page: bool) -> Any:
    """Return a chart that fills the width it has on a page, or has `width` px in a file."""
    import altair as alt

    if not on_page:
        return chart.properties(width=width)
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(width="container", autosize=fit)


# --- files --------------------------------------------------------------------------------------


def chart_file(spec: Spec, format_key: str) -> bytes:
    """Return a chart as a file: 'svg', 'pdf' or 'png'."""
    import vl_convert

    options: dict[str, Any] = {"vl_version": VEGA_LITE, "config": file_theme()}
    if format_key == "svg":
        return str(vl_convert.vegalite_to_svg(spec, **options)).encode()
    if format_key == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, **options))
    return bytes(vl_convert.vegalite_to_png(spec, scale=3, **options))


def drawing_file(svg: str, format_key: str) -> bytes:
    """Return a drawing as a file: 'svg', 'pdf' or 'png'."""
    import vl_convert

    if format_key == "svg":
        return svg.encode()
    if format_key == "pdf":
        return bytes(vl_convert.svg_to_pdf(svg))
    return bytes(vl_convert.svg_to_png(svg, scale=3))
