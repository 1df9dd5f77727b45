"""The colours and fonts of charts: the design's tokens, for light and dark pages and for files."""

from collections.abc import Mapping
from typing import Any

Spec = dict[str, Any]
Tokens = Mapping[str, str]

# The design's tokens that charts use, as in static/app.css.
LIGHT: Tokens = {
    "surface": "#ffffff",
    "hairline": "#dde2e3",
    "edge": "#7c888c",
    "ink": "#14191b",
    "ink-2": "#465054",
    "ink-3": "#5d696d",
    "accent": "#0a5f69",
    "series-1": "#1f5fae",
    "series-2": "#8f5f0a",
    "series-3": "#b0213a",
    "series-4": "#5b3f9e",
    "series-5": "#1c7348",
    "series-1-2": "#c3d9f3",
    "series-2-2": "#f0dcb4",
    "series-3-2": "#f5c9d0",
    "series-4-2": "#d9d0ee",
    "series-5-2": "#c5e5d3",
    "iso": "#6f8f7b",
    "iso-ink": "#446050",
}
DARK: Tokens = {
    "surface": "#171b1d",
    "hairline": "#2b3336",
    "edge": "#76848a",
    "ink": "#e9eeee",
    "ink-2": "#b1bcbf",
    "ink-3": "#95a2a6",
    "accent": "#63c5cf",
    "series-1": "#7fb4f2",
    "series-2": "#dfb050",
    "series-3": "#f58493",
    "series-4": "#b8a1f0",
    "series-5": "#6ccb97",
    "series-1-2": "#23405f",
    "series-2-2": "#4f3d15",
    "series-3-2": "#5c2530",
    "series-4-2": "#3a2d5c",
    "series-5-2": "#1d4a33",
    "iso": "#587a66",
    "iso-ink": "#8fb59e",
}
PAGE_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif"
FILE_FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"


def theme(tokens: Tokens, font: str = PAGE_FONT, background: str | None = None) -> Spec:
    """Return the Vega-Lite configuration that gives every style its colour."""
    line = {"color": tokens["ink"], "strokeWidth": 1.5, "opacity": 1}
    dot = {"color": tokens["ink"], "size": 62, "opacity": 1}
    text = {"color": tokens["ink-2"], "fontSize": 12}
    accent, ceiling = {"color": tokens["accent"]}, {"color": tokens["series-5"]}
    return {
        "background": background,
        "font": font,
        "view": {"stroke": None},
        "axis": {
            "labelColor": tokens["ink-2"],
            "labelFontSize": 12,
            "titleColor": tokens["ink"],
            "titleFontSize": 12,
            "titleFontWeight": 500,
            "domainColor": tokens["ink-2"],
            "gridColor": tokens["hairline"],
            "ticks": False,
            "labelPadding": 8,
            "labelFlush": False,
        },
        "axisYBand": {"domain": False, "grid": False, "labelLimit": 260},
        "legend": {
            "labelColor": tokens["ink-2"],
            "labelFontSize": 12,
            "titleColor": tokens["ink"],
            "titleFontSize": 12,
            "titleFontWeight": 500,
            "layout": {"top": {"direction": "vertical", "anchor": "start"}},
            "symbolBaseFillColor": tokens["ink-2"],
            "symbolBaseStrokeColor": tokens["ink-2"],
        },
        "header": {"labelColor": tokens["ink"], "labelFontSize": 12, "labelFontWeight": 500},
        "title": {"color": tokens["ink"], "fontSize": 12, "fontWeight": 500},
        "range": {
            "category": [tokens[f"series-{n}"] for n in (1, 2, 3, 4, 5)],
            "diverging": [tokens["series-3-2"], tokens["surface"], tokens["series-1-2"]],
        },
        "style": {
            "whisker": line,
            "dot": dot,
            "line": {"strokeWidth": 1.5, "opacity": 0.55},
            "whisker-on": line | accent,
            "dot-on": dot | accent,
            "whisker-ceiling": line | ceiling,
            "dot-ceiling": dot | ceiling,
            "band": ceiling | {"opacity": 0.1},
            "ceiling": ceiling | {"strokeWidth": 1.25},
            "ceiling-other": ceiling | {"strokeWidth": 1, "strokeDash": [1, 3]},
            "baseline": {"color": tokens["ink-3"], "strokeWidth": 1.25, "strokeDash": [4, 3]},
            "zero": {"color": tokens["edge"], "strokeWidth": 1},
            "bar": {"color": tokens["series-1"]},
            "curve": accent | {"strokeWidth": 1.75},
            "reference-label": text,
            "clear": text | {"color": tokens["ink"], "fontWeight": 650},
            "unclear": text,
            "ceiling-label": text | ceiling,
        },
    }


def page_themes() -> dict[str, Spec]:
    """Return the themes of a page, by the name of its colour scheme."""
    return {"light": theme(LIGHT), "dark": theme(DARK)}


def file_theme() -> Spec:
    """Return the theme of a file: light, on white, in fonts that the server has."""
    return theme(LIGHT, FILE_FONT, "white")
