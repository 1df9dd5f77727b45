"""What the page of a trade-off shows: figure, legend, table, and what to be careful about."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from evaluation.charts.glyphs import (
    Entry,
    Glyph,
    Palette,
    glyph_of,
    legend_of,
    palette_of,
    with_rings,
)
from evaluation.charts.tradeoff_figure import Figure, chosen_of, figure_of
from evaluation.forms.tradeoff import TradeoffForm
from evaluation.reports.base import Report, Row
from evaluation.reports.tradeoff import bands, setup_row, tradeoff_report
from evaluation.tradeoffs.axes import Axes, Axis
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.flattered import FLATTERED, SAME_METRIC, chooser_of, sides_marked
from evaluation.tradeoffs.kept import kept_recalls
from evaluation.tradeoffs.material import Material
from evaluation.tradeoffs.readiness import SIDES
from evaluation.tradeoffs.recall_lines import (
    Line,
    RestrictedPair,
    curves_of,
    lines_of,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import Recalls, unknown_recalls
from evaluation.tradeoffs.view import (
    NOT_SAID,
    View,
    is_shown,
    model_key,
    models_of,
    prompt_key,
    prompt_title,
)
from generation.text.temperatures import temperature_text

INTERVALS = ("attribution", "sensibleness", "f1")  # figures of a row that have one
MOST_OFFERED = 3  # other axes, of a warning
BANDS = 2  # the figure that shows bands of F1


# How types of prompts are called where there is little room.
SHORT = {
    ", instructions": " + instr.",
    "non-evidence": "non-evid.",
    "No history, no evidence": "No history, none",
    " · sensibleness": " S",
    " · attribution": " A",
}


class Box(NamedTuple):
    """A box of the legend: legend and filter in one."""

    key: str
    title: str
    glyph: Glyph
    n: int  # setups it lets through
    is_on: bool


class Group(NamedTuple):
    """A group of boxes."""

    name: str  # in addresses
    title: str
    boxes: Sequence[Box]


class TableRow(NamedTuple):
    """A line of the table: a row of the report with its mark."""

    row: Row
    glyph: Glyph
    prompt: str  # its title, cut short
    model: str  # without what all names begin with
    ranges: dict[str, str]  # 95 % intervals of attribution, sensibleness, f1; "" where undefined
    chosen: str = ""  # of an aggregate: what it takes, and what chose


class Flattered(NamedTuple):
    """Aggregates in view that an axis shows too good: what it shows chose them.

    Or the metric that it shows chose them, asked of another model.
    """

    side: str  # 'attribution', 'sensibleness'
    axis: Axis
    rows: Sequence[Row]
    others: Sequence[Axis]  # that may be shown instead

    @property
    def names(self) -> list[str]:
        """What these aggregates are called; those of several models by one function together."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            asked = row["temperature"]
            temperature = "" if asked is None else f" T {temperature_text(asked)}"
            found.setdefault(row["prompt_title"], []).append(row["model"] + temperature)
        return [f"{title} ({', '.join(models)})" for title, models in found.items()]


class Lines(NamedTuple):
    """Lines of restricted context, and the recalls they are drawn for."""

    lines: Sequence[Line] = ()
    recalls: Recalls | None = None  # None: nothing measures them
    pair: RestrictedPair | None = None  # what they are drawn for


class FigurePage(NamedTuple):
    """Everything about one figure with its table."""

    report: Report
    figure: Figure
    groups: Sequence[Group]
    rows: Sequence[TableRow]
    lines: Lines
    flattered: Sequence[Flattered]
    by_same_metric: Sequence[Flattered]  # by another model
    is_about_nothing: bool  # the dataset has nothing of what the figure is about
    bands: Sequence[Row] = ()  # of F1 by model and temperature, where the figure is about them

    @property
    def n_responses_left_out(self) -> int:
        """Responses of the setups in view for which an axis says nothing."""
        return sum(row.row["n_left_out"] for row in self.rows)

    @property
    def n_examples(self) -> int:
        """The most examples that a setup in view is shown for."""
        return max((row.row["n"] for row in self.rows), default=0)

    @property
    def n_differs(self) -> bool:
        """Whether setups in view are shown for unlike numbers of examples."""
        return len({row.row["n"] for row in self.rows}) > 1


def figure_page(
    material: Material, form: TradeoffForm, axes: Sequence[Axis], address: Callable[[Row], str]
) -> FigurePage:
    """Return what the page shows with the choices of its form.

    Args:
        axes: all there are.
        address: where the responses of a row are listed.
    """
    view = form.chosen
    report = tradeoff_report(material, view)
    palette = with_rings(palette_of([setup_row(dot) for dot in material.dots]), report.rows)
    lines = lines_in_view(material, view)
    figure = figure_of(report.rows, view, lines.lines, palette=palette, address=address)
    short = short_names(models_of(material))
    return FigurePage(
        report,
        figure,
        legend_groups(material, form, palette),
        [
            TableRow(
                row,
                glyph_of(row, palette),
                short_title(row["prompt_title"]),
                short[row["model"]],
                _ranges(row),
                chosen_of(row) if row["is_aggregate"] else "",
            )
            for row in report.rows
        ],
        lines,
        flattered(report.rows, material.axes, axes, FLATTERED),
        flattered(report.rows, material.axes, axes, SAME_METRIC),
        is_about_nothing(material, form),
        bands(report.rows) if form.number == BANDS else (),
    )


def is_about_nothing(material: Material, form: TradeoffForm) -> bool:
    """Whether the dataset has nothing of what the figure of a form is about."""
    model = {"large": form.models[0], "small": form.models[1]}.get(form.started_from.size or "")
    return not any(
        form.started_from.is_about(dot) and model in (None, model_key(dot)) for dot in material.dots
    )


def lines_in_view(material: Material, view: View) -> Lines:
    """Return the lines of the restricted context that a view shows: of one model at most."""
    if not view.lines:
        return Lines()
    marks = [dot for dot in material.dots if dot.is_restricted and is_shown(dot, view)]
    there = {
        (dot.setup.model, dot.setup.temperature, dot.kind and dot.kind.evidence) for dot in marks
    }
    for pair in restricted_pairs(material):
        if (pair.model, pair.temperature, pair.non_evidence) not in there:
            continue
        curves = curves_of(material, *pair, by_score=view.by_score)
        if curves is None:
            continue
        recalls = kept_recalls(material, curves, view.k)
        drawn = lines_of(
            material,
            curves,
            recalls or unknown_recalls(view.k),
            view.k > 1 and recalls is not None,
            by_score=view.by_score,
        )
        return Lines(drawn, recalls, curves.pair)
    return Lines()


def _ranges(row: Row) -> dict[str, str]:
    ends = {name: (row[f"{name}_low"], row[f"{name}_high"]) for name in INTERVALS}
    return {
        name: "" if low is None or high is None else f"{_short(low)}–{_short(high)}"
        for name, (low, high) in ends.items()
    }


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0") if share < 0.995 else "1.0"


# --- legend ---------------------------------------------------------------------------------


def legend_groups(material: Material, form: TradeoffForm, palette: Palette) -> list[Group]:
    """Return the groups of boxes that have any: everything there is, also what is not shown."""
    legend = legend_of([setup_row(dot) for dot in material.dots], palette)
    of_kind = [
        Group("model", "Model", _boxes(form, "model", legend.models)),
        Group("temperature", "Temperature", _boxes(form, "temperature", legend.temperatures)),
        Group("prompt", "Prompt type", _boxes(form, "prompt", legend.prompts)),
        Group("aggregate", "Re-ranked", _boxes(form, "aggregate", legend.functions)),
    ]
    return [group for group in of_kind if group.boxes]


def _boxes(form: TradeoffForm, name: str, entries: Sequence[Entry]) -> list[Box]:
    """Return the boxes of a group in the order of the legend."""
    places = {key: place for place, entry in enumerate(entries) for key in entry.keys}
    made = []
    for box in form.boxes(name):
        place = places.get(_key(name, box.dots[0], box.key), len(entries))
        entry = entries[place] if place < len(entries) else None
        is_family = name == "prompt" and prompt_key(box.dots[0]) != box.dots[0].setup.prompt
        if is_family or (name == "prompt" and entry is None):
            title = prompt_title(box.dots[0])
        else:
            title = _alone(name, box.key) if entry is None else entry.title
        glyph = entry.glyph if entry else Glyph("")
        made.append(
            (place, title, Box(box.key, short_title(title), glyph, len(box.dots), box.is_on))
        )
    return [box for _, _, box in sorted(made, key=lambda each: each[:2])]


def _alone(name: str, key: str) -> str:
    """Return the title of a model or temperature that aggregates alone have."""
    is_temperature = name == "temperature" and key != NOT_SAID
    return f"T {temperature_text(float(key))}" if is_temperature else key


def _key(name: str, dot: Dot, key: str) -> str:
    return (dot.setup.prompt or NOT_SAID) if name == "prompt" else key


def short_title(title: str) -> str:
    """Return what a type of prompt is called where there is little room."""
    if ", dialog " in title:  # its mark says that it is restricted
        title = title.removeprefix("Restricted, ").replace(", dialog ", ", ").capitalize()
        title = title.replace(" %", "\u00a0%")
    for long, short in SHORT.items():
        title = title.replace(long, short)
    return title


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return names of models without the words that all of them begin with."""
    words = {name: name.split(" ") for name in names}
    n = 0
    while len(words) > 1 and all(len(each) > n + 1 for each in words.values()):
        if len({each[n] for each in words.values()}) > 1:
            break
        n += 1
    return {name: " ".join(each[n:]) for name, each in words.items()}


# --- what to be careful about ---------------------------------------------------------------


def flattered(
    rows: Sequence[Row], axes: Axes, all_axes: Sequence[Axis], mark: str
) -> list[Flattered]:
    """Return which rows were chosen by what an axis shows, and what else could be shown.

    Args:
        mark: of the rows, `FLATTERED` or `SAME_METRIC`.
    """
    found = []
    for side, axis in zip(SIDES, axes, strict=True):
        chosen = [row for row in rows if side.name in sides_marked(row, mark)]
        if chosen:
            said = [each for row in chosen for each in row["chosen_by"].split("; ")]
            choosers = [chooser_of(each) for each in (axis.said, *said)]
            others = [
                each
                for each in all_axes
                if side.is_of(each) and not any(map(chooser_of(each.said).is_same, choosers))
            ]
            in_order = sorted(others, key=lambda each: not each.is_human)
            found.append(Flattered(side.name, axis, chosen, in_order[:MOST_OFFERED]))
    return found
