"""The contents of the page of a trade-off: figure, legend, table and warnings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from evaluation.measures.fitness import Fitness
from evaluation.reports.columns import Estimate
from evaluation.reports.report import Report
from evaluation.runs.main_metrics import SIDES
from evaluation.tradeoffs.axes import Axes, Axis
from evaluation.tradeoffs.chart_view import View, models_of, visible_marks
from evaluation.tradeoffs.dots import short_title, step_title
from evaluation.tradeoffs.figure_choice import SWITCHES, FigureChoice
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure, figure_of
from evaluation.tradeoffs.figures.tradeoff.frame import PHONE
from evaluation.tradeoffs.figures.tradeoff.glyphs import (
    Glyph,
    LegendEntry,
    glyph_of,
    palette_of,
    with_rings,
)
from evaluation.tradeoffs.figures.tradeoff.marks import chosen_of
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.pages.legend import (
    TITLES,
    LegendGroup,
    counted,
    legend_groups,
    short_names,
)
from evaluation.tradeoffs.reports.tradeoff import (
    Band,
    TradeoffRow,
    bands,
    dot_columns,
    tradeoff_report,
)
from evaluation.tradeoffs.restricted_lines import RestrictedLines, lines_in_view
from evaluation.tradeoffs.selection_bias import FLATTERED, SAME_METRIC, chooser_of, sides_marked
from generation.text.temperatures import temperature_text

NOT_ABOVE = "This is not above what the metric says of wrong sources."
MOST_OFFERED = 3  # other axes that a warning names
BANDS = 2  # the figure that shows bands of F1


class TradeoffTableRow(NamedTuple):
    """A line of the table: a row of the report with its mark."""

    row: TradeoffRow
    glyph: Glyph
    prompt: str  # its title, cut short
    model: str  # its name without the words that all names begin with
    ranges: dict[str, str]  # 95 % intervals of attribution, sensibleness, f1; "" where undefined
    below: dict[str, str]  # side → what is said where it is not above the floor, else ""
    chosen: str = ""  # how an aggregate was made: its pool, what chose, its calls


class Flattered(NamedTuple):
    """Aggregates in view that look too good on an axis, because what it shows chose them.

    The same holds if the metric that it shows chose them with another model.
    """

    side: str  # 'attribution', 'sensibleness'
    axis: Axis
    rows: Sequence[TradeoffRow]
    others: Sequence[Axis]  # axes that may be shown instead

    @property
    def names(self) -> list[str]:
        """The names of these aggregates; those of several models by one function share a name."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            asked = row.of.temperature
            temperature = "" if asked is None else f" T {temperature_text(asked)}"
            found.setdefault(row.of.prompt_title, []).append(row.of.model + temperature)
        return [f"{title} ({', '.join(models)})" for title, models in found.items()]


class UnfitAxis(NamedTuple):
    """An axis whose metric does not tell right from wrong on these data."""

    side: str  # 'attribution', 'sensibleness'
    axis: Axis
    fitness: Fitness


class FigurePage(NamedTuple):
    """Everything about one figure with its table."""

    report: Report[TradeoffRow]
    view: View
    figure: TradeoffFigure
    phone: TradeoffFigure  # the same where there is little room
    groups: Sequence[LegendGroup]
    switches: Sequence[tuple[str, str, bool]]  # name, title, whether it is on
    rows: Sequence[TradeoffTableRow]
    lines: RestrictedLines
    flattered: Sequence[Flattered]
    by_same_metric: Sequence[Flattered]  # the metric chose with another model
    is_about_nothing: bool  # the dataset has nothing of what the figure is about
    repeats_large: bool  # it is of a small model that is the large one too
    unfit: Sequence[UnfitAxis] = ()  # axes whose metric is unfit for these data
    n_not_above: int = 0  # setups with a figure that is not above the floor of its axis
    bands: Sequence[Band] = ()  # F1 by model and temperature, if the figure shows it

    @property
    def counted(self) -> list[str]:
        """The words for what the filters let through."""
        return counted(self.groups)

    @property
    def key(self) -> list[tuple[str, tuple[LegendEntry, ...]]]:
        """The meaning of the marks in view: the title of each group, and its lines."""
        legend = self.figure.legend
        of = (legend.models, legend.temperatures, legend.prompts, legend.functions)
        return [pair for pair in zip(TITLES.values(), of, strict=True) if pair[1]]

    @property
    def is_drawn(self) -> bool:
        """Whether there is something to draw."""
        return not self.is_about_nothing and not self.repeats_large

    @property
    def is_zoomed(self) -> bool:
        """Whether the figure shows a part that a reader or the view chose."""
        view = self.view
        return any(end is not None for end in (view.x_from, view.x_to, view.y_from, view.y_to))

    @property
    def n_responses_left_out(self) -> int:
        """The number of responses of the setups in view for which an axis says nothing."""
        return sum(row.row.n_left_out for row in self.rows)

    @property
    def n_examples(self) -> int:
        """The most examples that a setup in view is shown for."""
        return max((row.row.n for row in self.rows), default=0)

    @property
    def n_differs(self) -> bool:
        """Whether setups in view are shown for different numbers of examples, or parts of them."""
        is_in_part = any(row.row.of.is_rated_in_part for row in self.rows)
        return is_in_part or len({row.row.n for row in self.rows}) > 1


def figure_page(
    material: TradeoffMaterial,
    choice: FigureChoice,
    axes: Sequence[Axis],
    address: Callable[[TradeoffRow], str],
) -> FigurePage:
    """Return what the page shows of a figure, with a reader's changes.

    Args:
        axes: all axes of the dataset.
        address: a function that returns where the responses of a row are listed.
    """
    view = choice.view
    report = tradeoff_report(material, view)
    palette = palette_of([dot_columns(dot) for dot in material.dots])
    palette = with_rings(palette, [row.of for row in report.rows])
    lines = lines_in_view(material, view)
    draw = partial(
        figure_of,
        report.rows,
        view,
        lines.lines,
        floors=material.floors,
        palette=palette,
        address=address,
    )
    short = short_names(models_of(material))
    return FigurePage(
        report,
        view,
        draw(),
        draw(frame=PHONE),
        legend_groups(material, view, palette),
        switches_of(material, view),
        [
            TradeoffTableRow(
                row,
                glyph_of(row.of, palette),
                short_title(step_title(row.of.prompt_title)),
                short[row.of.model],
                _ranges(row),
                {} if view.by_score else _below(row),
                chosen_of(row) if row.of.is_aggregate else "",
            )
            for row in report.rows
        ],
        lines,
        flattered(report.rows, material.axes, axes, FLATTERED),
        flattered(report.rows, material.axes, axes, SAME_METRIC),
        choice.is_about_nothing(material),
        choice.repeats_large(material),
        unfit_axes(material),
        0 if view.by_score else sum(map(is_not_above, report.rows)),
        bands(report.rows) if choice.figure.number == BANDS else (),
    )


def switches_of(material: TradeoffMaterial, view: View) -> list[tuple[str, str, bool]]:
    """Return the switches that make a difference here: name, title, whether it is on."""
    has_lines = any(material.dots[place].is_restricted for place in visible_marks(material, view))
    return [
        (name, title, getattr(view, name))
        for name, title in SWITCHES.items()
        if name != "lines" or has_lines
    ]


def _ranges(row: TradeoffRow) -> dict[str, str]:
    estimates = {"attribution": row.attribution, "sensibleness": row.sensibleness, "f1": row.f1}
    return {name: _range(estimate) for name, estimate in estimates.items()}


def _below(row: TradeoffRow) -> dict[str, str]:
    over = {
        "attribution": row.attribution_over_floor,
        "sensibleness": row.sensibleness_over_floor,
    }
    return {side: NOT_ABOVE if _is_not_above(each) else "" for side, each in over.items()}


def _is_not_above(over_floor: Estimate) -> bool:
    """Return whether the interval of a difference to the floor does not lie above 0."""
    return over_floor.low is not None and over_floor.low <= 0


def _range(estimate: Estimate) -> str:
    _, low, high = estimate
    return "" if low is None or high is None else f"{_short(low)}–{_short(high)}"


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0") if share < 0.995 else "1.0"


# --- what to be careful about ---------------------------------------------------------------


def unfit_axes(material: TradeoffMaterial) -> list[UnfitAxis]:
    """Return the axes whose metric is unfit for these data."""
    sides = zip(SIDES, material.axes, material.floors, strict=True)
    return [
        UnfitAxis(side.name, axis, floor.fitness)
        for side, axis, floor in sides
        if floor and floor.fitness.is_unfit
    ]


def is_not_above(row: TradeoffRow) -> bool:
    """Return whether a setup has a figure that is not above the floor of its axis."""
    return any(map(_is_not_above, (row.attribution_over_floor, row.sensibleness_over_floor)))


def flattered(
    rows: Sequence[TradeoffRow], axes: Axes, all_axes: Sequence[Axis], mark: str
) -> list[Flattered]:
    """Return the rows that were chosen by what an axis shows, and the axes that could be shown.

    Args:
        mark: the mark that the rows have, `FLATTERED` or `SAME_METRIC`.
    """
    found = []
    for side, axis in zip(SIDES, axes, strict=True):
        chosen = [row for row in rows if side.name in sides_marked(row.chosen.marks, mark)]
        if chosen:
            said = [each for row in chosen for each in row.chosen.chosen_by.split("; ")]
            choosers = [chooser_of(each) for each in (axis.said, *said)]
            others = [
                each
                for each in all_axes
                if each.shows(side) and not any(map(chooser_of(each.said).is_same, choosers))
            ]
            in_order = sorted(others, key=lambda each: not each.is_human)
            found.append(Flattered(side.name, axis, chosen, in_order[:MOST_OFFERED]))
    return found
