"""The charts of a study: scenarios, shifts, accuracies, ROC curve, calibration curve."""

from collections.abc import Sequence
from typing import Any, Literal

from annotation.models import arm_name
from evaluation.reports.columns import Estimate
from evaluation.reports.figures.builders import (
    SHARES,
    FigureAxis,
    as_percent,
    as_vega_lite,
    domain_over,
    few,
    inline,
    measured,
    points,
    sized,
    zero_line,
)
from evaluation.reports.figures.themes import Spec
from evaluation.reports.setups import short_names
from evaluation.runs.names import distinct_names
from evaluation.studies.reports.agreement import AgreementRow, Confusion, Point
from evaluation.studies.reports.ceilings import CEILINGS
from evaluation.studies.reports.run_columns import RunColumns
from evaluation.studies.reports.scenarios import RowOfScenarios, of_questions
from evaluation.studies.reports.uncertainty import ShiftOfSetup, UncertaintyRow

ROW_HEIGHT, HEAD_HEIGHT = 36, 46  # px; the table beside the chart of accuracies has the same
WIDTH, SQUARE = 284, 190  # size of the plots themselves, in px
LABEL_HEIGHT, PADDING_RIGHT = 16, 16  # px, for the labels above baseline and ceiling
MAJORITY = "majority"  # the label rule of a question whose human label is the majority vote
MOST_COLOURS = 5  # colours of a theme; with more setups, each setup has a panel of its own
PANELS_BESIDE = 3  # panels in one line
NARROW = 360  # px; below this width a legend has one column
MOST_LINES = 120  # rows in the chart of scenarios, at most; with more, only the table is readable


def accuracy_chart(
    rows: Sequence[AgreementRow], chosen: AgreementRow, *, beside_table: bool = False
) -> Spec:
    """Draw the accuracy of each metric against people as dot and whisker, with references.

    The references are the baseline and the ceilings.

    Args:
        rows: the rows of the report on agreement for one question, in the order of the table.
        chosen: one of the rows. It is drawn in the accent colour, and its baseline and ceilings
            are drawn.
        beside_table: whether the chart is beside the table. If so, it has no names, and its rows
            are as high as the table's.
    """
    import altair as alt

    names_of_runs = run_names([row.of_run for row in rows])
    metrics = [
        measured(row.accuracy, n=row.n, name=name, style="-on" if row is chosen else "")
        for name, row in zip(names_of_runs, rows, strict=True)
    ]
    humans = [
        measured(chosen.ceilings.of(key), name=CEILINGS[key].name, style="-ceiling")
        for key in chosen.ceilings.defined
    ]
    values = [*metrics, *humans]
    baseline = as_percent(chosen.baseline.value)
    people = people_said(chosen.label, chosen.n_adjudicated)
    title = None if beside_table else f"Accuracy against {people}, %"
    drawn = [*values, {"value": baseline}]
    accuracy = FigureAxis("x", title, (50, 100)).over(drawn, SHARES)
    names = [row["name"] for row in values]
    y = alt.Y("name:N", sort=names, title=None, axis=None if beside_table else alt.Axis())
    layers: list[Any] = []
    main = next(iter(humans), None)
    if main and main["low"] is not None:
        layers.append(alt.Chart(inline([main])).mark_rect(style="band").encode(**accuracy.ends()))
    for row in reversed(humans):
        style = "ceiling" if row is main else "ceiling-other"
        layers.append(alt.Chart(inline([row])).mark_rule(style=style).encode(**accuracy.at()))
    if baseline is not None:
        based = alt.Chart(inline([{"value": baseline}]))
        layers.append(based.mark_rule(style="baseline").encode(**accuracy.at()))
    for style in ("", "-on", "-ceiling"):
        of_style = [row for row in values if row["style"] == style]
        if of_style:
            layers += points(alt.Chart(inline(of_style)).encode(y=y), accuracy, style, caps=True)
    references = [
        ("human ceiling", main["value"] if main else None, "ceiling-label"),
        ("majority label", baseline, "reference-label"),
    ]
    layers += _reference_labels(references, accuracy)
    chart = alt.layer(*layers).properties(
        width=WIDTH,
        height=ROW_HEIGHT * len(values),
        description="Accuracy of each run, with 95 % intervals",
    )
    if beside_table:
        padding = {"left": 12, "right": PADDING_RIGHT, "top": HEAD_HEIGHT, "bottom": 34}
        chart = chart.properties(autosize="none", padding=padding)
    return as_vega_lite(chart)


def people_said(label: str | None, n_adjudicated: int = 0) -> str:
    """Return in words what metrics are compared with: by default the human majority.

    Args:
        label: the rule for a human yes, as a row of the report names it.
        n_adjudicated: the number of labels that are adjudicated decisions.
    """
    is_plain = not label or label == MAJORITY
    said = "the human majority" if is_plain else f"the human label ({label})"
    return f"adjudicated decisions or else {said}" if n_adjudicated else said


def decisions_said(n_adjudicated: int) -> str:
    """Return in words how many labels are decisions; "" if there are none."""
    if n_adjudicated == 1:
        return "1 label is a decision by adjudication"
    return f"{n_adjudicated:,} labels are decisions by adjudication" if n_adjudicated else ""


def roc_chart(points: Sequence[Point], chosen: AgreementRow) -> Spec:
    """Draw the ROC curve of a run, and the point of its threshold.

    Args:
        points: the points of the curve.
        chosen: the run's row of the report on agreement.
    """
    import altair as alt

    ends = [{"false_alarm": 0.0, "hit": 0.0}, {"false_alarm": 1.0, "hit": 1.0}]
    curve = [point | {"order": order} for order, point in enumerate(points)]
    unit = alt.Scale(domain=[0, 1], nice=False)

    def x(title: str | None = "False alarms: share of human noes") -> "alt.X":
        return alt.X("false_alarm:Q", scale=unit, title=title, axis=alt.Axis(tickCount=5))

    y = alt.Y("hit:Q", scale=unit, title="Hits: share of human yeses", axis=alt.Axis(tickCount=5))
    layers: list[Any] = [
        alt.Chart(inline(ends)).mark_line(style="baseline").encode(x=x(), y=y),
        alt.Chart(inline(curve))
        .mark_line(style="curve", interpolate="linear")
        .encode(x=x(), y=y, order="order:Q"),
    ]
    at_threshold = threshold_point(chosen.confusion, chosen.threshold)
    if at_threshold:
        layers.append(
            alt.Chart(inline([at_threshold]))
            .mark_point(style="dot-on", filled=True)
            .encode(x=x(), y=y, tooltip="said:N")
        )
    return as_vega_lite(
        alt.layer(*layers).properties(width=SQUARE, height=SQUARE, description="ROC curve")
    )


def threshold_point(of: Confusion, threshold: float | None) -> Point | None:
    """Return the point of a run's threshold on its ROC curve.

    Return None without a threshold, and when there is no human yes or no human no.
    """
    if threshold is None or of.tp is None or of.fn is None or of.fp is None or of.tn is None:
        return None
    n_yes, n_no = of.tp + of.fn, of.fp + of.tn
    if not n_yes or not n_no:
        return None
    hit, false_alarm = of.tp / n_yes, of.fp / n_no
    words = f"threshold {threshold:g}: hits {hit:.0%}, false alarms {false_alarm:.0%}"
    return {"hit": hit, "false_alarm": false_alarm, "said": words}


def calibration_chart(bins: Sequence[Point]) -> Spec:
    """Draw the calibration curve: the share of responses with a human yes, by a run's score."""
    import altair as alt

    values = [
        {
            "score": row["score"],
            "value": row["share_yes"],
            "low": row["low"],
            "high": row["high"],
            "said": f"score {row['score']:.2f}: yes {row['share_yes']:.0%} of {row['n']}",
        }
        | few(Estimate(row["share_yes"], row["low"], row["high"]), row["n"])
        for row in bins
    ]
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("score:Q", scale=unit, title="Mean score of the bin", axis=alt.Axis(tickCount=5))
    share = FigureAxis("y", "Human yes, share", (0, 1), n_ticks=5).over(values, (0, 1))
    even = alt.Chart(inline([{"score": end, "value": end} for end in (0.0, 1.0)])).encode(x=x)
    layers = [
        even.mark_line(style="baseline").encode(**share.at()),
        *points(alt.Chart(inline(values)).encode(x=x), share),
    ]
    return as_vega_lite(
        alt.layer(*layers).properties(width=SQUARE, height=SQUARE, description="Calibration")
    )


def scenarios_chart(rows: Sequence[RowOfScenarios], *, on_page: bool = False) -> Spec | None:
    """Draw the mean of each question, and SSA, in each scenario: colour by setup, shape by arm.

    SSA is that by majority votes. Only rows with a mean are drawn, and of these only the rows of
    the most frequent scale. When there are more setups than colours, each setup has a panel of its
    own. Return None when no mean is defined, or when there are so many that only the table is
    readable.

    Args:
        rows: the rows of the report.
        on_page: whether the chart fills the width it has on a page, unless it has panels.
    """
    import altair as alt

    setups = short_names(of_questions(rows))
    defined = [row for row in rows if row.setup in setups and row.mean.value is not None]
    scales = [row.scale for row in defined]
    rows = [row for row in defined if row.scale == max(scales, key=scales.count)]
    if not rows or len(rows) > MOST_LINES:
        return None
    is_share = all(row.scale == "yes_no" for row in rows)
    values = [
        measured(
            row.mean,
            100 if is_share else 1,
            n=row.n_drawn_from,
            question=_words(row.question),
            arm=arm_name(row.arm),
            setup=setups[str(row.setup)],
        )
        for row in rows
    ]
    arms = list(dict.fromkeys(row["arm"] for row in values))
    names = list(dict.fromkeys(row["setup"] for row in values))
    questions = list(dict.fromkeys(row["question"] for row in values))
    has_panels = len(names) > MOST_COLOURS
    n_lines = len(arms) * (1 if has_panels else len(names))
    title = "Mean of majority votes, %" if is_share else "Mean of medians"
    lines = arms if has_panels else [f"{setup}, {arm}" for setup in names for arm in arms]
    for row in values:
        row["line"] = row["arm"] if has_panels else f"{row['setup']}, {row['arm']}"
    shapes = ["circle", "diamond"] if len(arms) < 3 else ["circle", "triangle-up", "diamond"]
    legend = _legend_of_page() if on_page else alt.Legend()
    y = alt.Y("question:N", sort=questions, title=None)
    offset = alt.YOffset("line:N", sort=lines, scale=alt.Scale(paddingOuter=0.6))
    shape = alt.Shape(
        "arm:N",
        sort=arms,
        title="Arm",
        scale=alt.Scale(range=shapes),
        legend=legend if len(arms) > 1 else None,
    )
    base = alt.Chart(inline(values)).encode(y=y, yOffset=offset)
    if not has_panels:
        base = base.encode(color=alt.Color("setup:N", sort=names, title="Setup", legend=legend))
    axis = FigureAxis("x", title)
    axis = axis._replace(domain=SHARES).over(values, SHARES) if is_share else axis.over(values)
    layers = points(base, axis, shape=shape)
    height = len(questions) * max(30, 11 * n_lines + 10)
    chart = alt.layer(*layers).properties(height=height)
    if has_panels:
        drawn = _panels(chart.properties(width=200), names)
    else:
        drawn = sized(chart, 420, on_page=on_page)
    return as_vega_lite(drawn.properties(description="Question means"))


def _legend_of_page() -> Any:
    """Return a legend above the plot, which fits the width that the plot has on a page."""
    import altair as alt

    room = "containerSize()[0]"  # px
    columns = alt.ExprRef(f"{room} < {NARROW} ? 1 : 2")
    return alt.Legend(orient="top", direction="horizontal", columns=columns)


def _panels(chart: Any, setups: Sequence[str]) -> Any:
    """Return a chart with a panel for each setup, a few in one line."""
    import altair as alt

    facet = alt.Facet("setup:N", sort=list(setups), title=None)
    return chart.facet(facet=facet, columns=PANELS_BESIDE, spacing=36)


def shifts_chart(rows: Sequence[UncertaintyRow]) -> Spec | None:
    """Draw the shift of each question from separate to merged, with a panel for each setup.

    Return None when no shift is defined.
    """
    import altair as alt

    of_setups = [row for row in rows if isinstance(row, ShiftOfSetup)]
    shifts = [row for row in of_setups if row.shift.value is not None]
    if not shifts:
        return None
    setups = short_names(shifts)
    values = [
        measured(
            row.shift,
            n=row.n,
            question=_words(row.question),
            setup=setups[row.setup],
            is_clear=row.is_clear,
        )
        for row in shifts
    ]
    questions = list(dict.fromkeys(row["question"] for row in values))
    names = list(dict.fromkeys(row["setup"] for row in values))
    ends = [abs(v) for row in values for v in (row["low"], row["value"], row["high"]) if v]
    _, most = domain_over(ends, (-10, 10))
    shift = FigureAxis("x", "Merged − separate, points", (-most, most)).over(values, (-most, most))
    base = alt.Chart(inline(values))
    named = base.encode(y=alt.Y("question:N", sort=questions, title=None))
    layers: list[Any] = [zero_line(base, shift)]
    for is_clear, style in ((False, ""), (True, "-on")):
        some = named.transform_filter(f"datum.is_clear === {str(is_clear).lower()}")
        layers += points(some, shift, style, caps=True)
    panel = alt.layer(*layers).properties(width=260, height=26 * len(questions))
    description = "Shift of each question from separate to merged"
    return as_vega_lite(_panels(panel, names).properties(description=description))


def run_names(runs: Sequence[RunColumns]) -> list[str]:
    """Return the name of each run: its title and model, with a distinction if names are equal."""
    return distinct_names(
        [(", ".join(filter(None, (run.title, run.model))), run.run_signature) for run in runs]
    )


def _words(key: str) -> str:
    return key[:1].upper() + key[1:].replace("_", " ")


def _reference_labels(
    references: Sequence[tuple[str, float | None, str]], accuracy: FigureAxis
) -> list[Any]:
    """Return the labels above the lines of references, each in a row of its own.

    A label is centred on its line, or beside it when the line is near an edge of the plot.
    """
    import altair as alt

    layers = []
    start, end = accuracy.domain
    for place, (words, figure, style) in enumerate(references):
        if figure is not None:
            share = (figure - start) / (end - start)
            align: Literal["left", "center", "right"] = "center"
            if not 0.35 <= share <= 0.7:
                align = "left" if share < 0.5 else "right"
            layers.append(
                alt.Chart(inline([{"value": figure, "words": f"{words} {figure:.1f}"}]))
                .mark_text(style=style, align=align, baseline="bottom")
                .encode(
                    **accuracy.at(), y=alt.value(LABEL_HEIGHT * (place - 2) + 2), text="words:N"
                )
            )
    return layers
