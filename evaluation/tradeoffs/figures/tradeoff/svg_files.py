"""The trade-off figure as a file: light colours, the server's fonts, and a legend of its own."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation.reports.figures.free_places import Text
from evaluation.reports.figures.themes import FILE_FONT, LIGHT
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure
from evaluation.tradeoffs.figures.tradeoff.glyphs import HOLLOW, SHAPES, Glyph, LegendEntry
from evaluation.tradeoffs.figures.tradeoff.lines import RING_TITLES

LEGEND_GAP = 26  # between the figure and its legend
LINE, GROUP = 19, 12  # height of a line of the legend; space before a group
SYMBOL = 22  # width that a mark takes before its text
LONGEST_TITLE = 95  # characters of an axis title; what is longer is cut
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class LegendLine(NamedTuple):
    """One line of the legend in a file: a heading, a mark with its meaning, or a line."""

    x: float
    y: float
    text: str
    glyph: Glyph | None = None
    line: str = ""  # style of a line

    @property
    def text_x(self) -> float:
        """The place where its text begins; without a mark, the text begins where marks do."""
        return self.x + SYMBOL * bool(self.line or (self.glyph and self.glyph.path))


def legend_lines(figure: TradeoffFigure) -> list[LegendLine]:
    """Return the legend of a figure, placed at its right."""
    x, y = figure.width + LEGEND_GAP - 14.0, figure.plot.top + 4.0
    lines = []
    for heading, entries in _groups(figure):
        lines.append(LegendLine(x, y, heading))
        for text, glyph, style in entries:
            y += LINE
            lines.append(LegendLine(x, y, text, glyph, style))
        y += LINE + GROUP
    return lines


_Entry = tuple[str, Glyph | None, str]


def _groups(figure: TradeoffFigure) -> Iterator[tuple[str, list[_Entry]]]:
    legend = figure.legend

    def of(entries: tuple[LegendEntry, ...]) -> list[_Entry]:
        return [(entry.title, entry.glyph, "") for entry in entries]

    of_lines: list[_Entry] = [(title, None, style) for style, title in figure.line_legend]
    there = {line.style for line in figure.lines}
    of_lines += [
        (title, Glyph(SHAPES["small"], f"line line--{style}"), "")
        for style, title in RING_TITLES.items()
        if style in there
    ]
    n = figure.n_hollow
    hollow = Glyph(SHAPES["circle"], f"m0 {HOLLOW}")
    of_hollow: list[_Entry] = (
        [(f"Rated in part: {n:,} setup{'s' * (n != 1)}", hollow, "")] if n else []
    )
    groups: list[tuple[str, list[_Entry]]] = [
        ("Model", of(legend.models)),
        ("Temperature", of(legend.temperatures)),
        ("Prompt type", of(legend.prompts)),
        ("Re-ranked", of(legend.functions)),
        ("Lines", of_lines),
        ("Shaded", [(edge.said, None, "") for edge in figure.floors]),
        ("Hollow marks", of_hollow),
    ]
    yield from ((heading, entries) for heading, entries in groups if entries)


def file_size(figure: TradeoffFigure, lines: list[LegendLine]) -> tuple[int, int]:
    """Return the width and the height of a file that holds a figure and its legend."""
    ends = [Text(line.text_x, line.y, line.text).box.right for line in lines]
    bottom = max((line.y for line in lines), default=0.0)
    return round(max([figure.width, *ends]) + 12), round(max(figure.height, bottom + 20))


def titled(figure: TradeoffFigure, attribution: str, sensibleness: str) -> TradeoffFigure:
    """Return a figure whose axis titles say what the axes were measured by."""
    titles = [
        f"{plain}: {said}"
        for plain, said in zip(figure.titles, (attribution, sensibleness), strict=True)
    ]
    short = [
        title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
        for title in titles
    ]
    return figure._replace(titles=(short[0], short[1]))


def well_formed(svg: str) -> str:
    """Return a drawing with U+FFFD for each character that XML 1.0 forbids, even as an escape."""
    return _NOT_XML.sub("\ufffd", svg)


def file_style() -> str:
    """Return the style sheet of a file: the rules of the page's figure in light colours."""
    rules: dict[str, dict[str, Any]] = {
        "text": {
            "font-family": FILE_FONT,
            "font-size": "12px",
            "fill": LIGHT["ink-2"],
        },
        ".axis": {"stroke": LIGHT["ink-2"], "stroke-width": 1, "fill": "none"},
        ".gridline": {"stroke": LIGHT["hairline"], "stroke-width": 1, "fill": "none"},
        ".axis-title, .heading": {"font-weight": "bold", "fill": LIGHT["ink"]},
        ".axis-title": {"font-size": "13px"},
        ".floor": {"fill": LIGHT["ink-3"], "fill-opacity": 0.14},
        ".iso": {"stroke": LIGHT["iso"], "stroke-width": 1, "fill": "none"},
        ".iso-label": {"fill": LIGHT["iso-ink"], "font-size": "11px"} | _halo(4),
        ".cluster": {"fill": "none", "stroke": LIGHT["edge"], "stroke-dasharray": "3 4"},
        ".cluster-label": {"font-style": "italic"} | _halo(5),
        ".mark-label": {"font-size": "11.5px", "fill": LIGHT["ink"]} | _halo(3),
        ".leader": {"fill": "none", "stroke": LIGHT["ink-3"], "stroke-width": 0.8},
        ".stem": {"fill": "none", "stroke": LIGHT["ink-2"], "stroke-width": 1},
        ".spot": {"fill": LIGHT["surface"], "stroke": LIGHT["ink-3"], "stroke-width": 0.8},
        ".spot text": {"font-size": "10px", "fill": LIGHT["ink"], "stroke": "none"},
        ".dot": {"stroke-width": 1.4, "fill": LIGHT["ink"], "stroke": LIGHT["ink"]},
        **_series(),
        f".dot.{HOLLOW}": {
            "fill": LIGHT["surface"],
            "stroke-width": 1.7,
            "stroke-dasharray": "3 1.3",
        },
        ".dot .around": {"fill": "none", "stroke-width": 1.6},
        ".dot .in": {"fill": LIGHT["surface"], "stroke": "none"},
        f".dot.t7 .in, .dot.{HOLLOW} .in": {"fill": LIGHT["ink"], "stroke": "none"},
        ".span": {"fill": "none", "stroke-width": 1.2, "opacity": 0.5},
        ".line": {"fill": "none", "stroke-width": 1.4},
        ".line--golden, .line--non-evidence": {"stroke-width": 1.8},
        ".line--non-evidence": {"stroke-dasharray": "6 4"},
        ".line--top-1": {"stroke": LIGHT["ink-2"], "stroke-dasharray": "2 3"},
        ".line--top-k": {"stroke": LIGHT["ink"]},
        ".line--top-1-mark": {"stroke": LIGHT["ink-2"], "fill": LIGHT["surface"]},
        ".line--top-k-mark": {"stroke": LIGHT["ink"], "fill": LIGHT["ink"]},
        ".line.is-faint": {"opacity": 0.2},
    }
    return "\n".join(
        f"{selector} {{ {'; '.join(f'{name}: {value}' for name, value in rule.items())} }}"
        for selector, rule in rules.items()
    )


def _series() -> dict[str, dict[str, Any]]:
    """Return the colours of models and aggregates, as app.css has them."""
    names = {f"m{n}": f"series-{n}" for n in (1, 2, 3, 4, 5)}
    names |= {"a1": "series-4", "a2": "series-5"}
    rules: dict[str, dict[str, Any]] = {}
    for name, token in [*names.items(), ("m0", "ink-3"), ("a3", "ink")]:
        rules[f".{name}"] = {"fill": LIGHT[token], "stroke": LIGHT[token]}
        light = LIGHT.get(f"{token}-2", LIGHT["hairline"])
        rules[f".{name}.t7"] = {"fill": light, "stroke": LIGHT[token]}
    return rules


def _halo(width: int) -> dict[str, Any]:
    """Return the style of a white edge around letters, so that lines do not cross them."""
    return {
        "paint-order": "stroke",
        "stroke": LIGHT["surface"],
        "stroke-width": width,
        "stroke-linejoin": "round",
    }
