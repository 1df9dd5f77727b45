"""The report on a trade-off: the position of each setup, its F1, and what may flatter it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.measures.tradeoff import attribution_from, figures_of_setup, sensibleness_from
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.local_ids import SetupId
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.retrieval.ranked_examples import MOST_K
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.axis_floors import over_floor
from evaluation.tradeoffs.chart_view import (
    FIGURES,
    View,
    function_key,
    largest,
    model_key,
    models_of,
    prompt_key,
    smallest,
    view_of,
    visible_marks,
)
from evaluation.tradeoffs.dots import CLUSTER_TITLES, TOP_RIGHT, Dot
from evaluation.tradeoffs.figure_choice import FigureChoice
from evaluation.tradeoffs.material import NO_RESPONSE, NOT_RATED, TradeoffMaterial
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import (
    AxesChoices,
    ByScore,
    material_on,
    portable_axes,
    responses_address,
)
from evaluation.tradeoffs.selection_bias import Marks, chosen_by, marks_of, short_of
from evaluation.tradeoffs.titles import setup_title
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset
from work.amounts import UNDEFINED

POOL = " of "  # the words before the pool in the title of an aggregate


@dataclass(frozen=True, kw_only=True)
class DotColumns(ReportRow):
    """The facts about a setup, apart from its figures."""

    setup: str  # name of the setup
    setup_id: SetupId
    model: Annotated[str, Column("Model")]
    n_parameters: float | None  # the size of the model; None: not known
    temperature: Annotated[float | None, Column("Temperature", Format.TEMPERATURE)]
    prompt: str
    prompt_title: Annotated[str, Column("Prompt type")]
    prompt_family: str  # key in the filters of views; "" for an aggregate
    cluster: str  # "": [A] does not name one
    cluster_title: str
    label: str
    is_aggregate: bool
    is_restricted: bool
    dialog_share: float | None  # mean share that was really kept; so is the next
    evidence_share: float | None
    context_tokens: float | None  # mean of whole prompts
    n_calls: Annotated[int, Column("Calls per example", Format.COUNT)]
    function: str  # key of an aggregate's function, else ""
    function_title: str
    n_looked_at: int  # replies that were looked at for debris
    n_debris: int  # those of them that are debris
    is_rated_in_part: bool  # raters are an axis, and have answered a part of its examples


@dataclass(frozen=True, kw_only=True)
class ChosenColumns(ReportRow):
    """The choice of an aggregate, and the marks of the axes that show what it was chosen by."""

    pool_size: int | None  # None: it is no aggregate, or its pool is not known
    chosen_by: str
    chosen_by_title: str
    marks: Marks


@dataclass(frozen=True, kw_only=True)
class TradeoffRow(ReportRow):
    """The position of a setup: shares labelled yes, or mean scores, and their F1."""

    of: DotColumns
    n: Annotated[int, Column("Examples", Format.COUNT)]  # known on both axes
    n_examples: Annotated[int, Column("Of examples", Format.COUNT)]  # all that axes are about
    n_not_rated: int  # those of them without an answer on an axis of raters
    n_left_out: int  # other responses
    attribution_assumed: int  # examples of the n with a no that is assumed
    sensibleness_assumed: int
    attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT)]
    sensibleness: Annotated[Estimate, Column("Sensibleness", Format.PERCENT)]
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]
    attribution_score: float | None  # mean scores, also if the axes show shares
    sensibleness_score: float | None
    attribution_over_floor: Estimate  # the share of yes minus the floor of the axis
    sensibleness_over_floor: Estimate
    above_floor: Annotated[str, Column("Above the floor")]  # the sides; "": no floor is known
    chosen: ChosenColumns

    @property
    def point(self) -> tuple[float, float] | None:
        """Attribution and sensibleness, in [0, 1]; None where one of them is undefined."""
        x, y = self.attribution.value, self.sensibleness.value
        return None if x is None or y is None else (x, y)


class Band(NamedTuple):
    """The F1 of a model at a temperature, over setups with history and golden evidence."""

    model: str
    temperature: float | None
    n: int  # setups with an F1
    f1_mean: float
    f1_least: float
    f1_most: float
    n_in_part: int = 0  # those setups of which raters have answered a part of the examples


def tradeoff_report(material: TradeoffMaterial, view: View) -> Report[TradeoffRow]:
    """Return a row for each setup that a view shows, best F1 first.

    Shares labelled yes, or mean scores if the view shows these, are over the examples for which
    both axes say something (`n`). The other responses of the setup are `n_left_out`. F1 is that of
    the two. Shares have Wilson intervals; F1 and mean scores have bootstrap intervals over dialogs.
    `attribution_score` and `sensibleness_score` are mean scores in either case.
    `attribution_assumed` and `sensibleness_assumed` count those of the n examples with a no that is
    assumed and was not asked for.

    If raters are an axis, `n_examples` are those of the setup's examples that their study is about,
    and `n_not_rated` those of them without an answer. If both axes are metrics, they are all of
    them, and 0. `is_rated_in_part` says that raters have answered some of them only, so that the
    figures are over a selection. A setup of which raters have answered none has no figures.

    Each share of yes minus the floor of its axis has an interval; `above_floor` names the sides on
    which it lies above 0. On the other sides with a floor, the figure is not above what the metric
    says of wrong sources.

    `is_flattered_x` and `is_flattered_y` say that an aggregate was chosen by what that axis shows;
    `is_same_metric_x` and `is_same_metric_y` say that it was chosen by the same metric with another
    model. The title of an aggregate names its pool if the view shows another one by the same
    function.
    """
    places = visible_marks(material, view)
    chosen = material.of_dots(places)
    planned = _planned_rows(chosen, by_score=view.by_score)
    rows = sorted(with_estimates(planned, material.n_dialogs), key=_best_first)
    n_not_rated = sum(dot.is_not_rated for dot in chosen.dots)
    left_out: LeftOut = {
        **material.left_out,
        "setups_not_shown": len(material.dots) - len(places),
        "setups_without_figures": sum(row.n == 0 for row in rows) - n_not_rated,
    }
    if NOT_RATED in left_out:
        left_out[NOT_RATED] = n_not_rated
    said = "mean scores" if view.by_score else "shares labelled yes"
    signature = material.signature("tradeoff", said)
    return Report(material.dataset.name, "tradeoff", rows, left_out, signature)


def bands(rows: Sequence[TradeoffRow]) -> list[Band]:
    """Return the F1 of each model and temperature, lowest mean first.

    Args:
        rows: rows of the report; those without F1 are left out.
    """
    found: dict[tuple[str, float | None], list[float]] = defaultdict(list)
    in_part: Counter[tuple[str, float | None]] = Counter()
    for row in rows:
        if row.of.cluster == TOP_RIGHT and row.f1.value is not None:
            of_band = row.of.model, row.of.temperature
            found[of_band].append(row.f1.value)
            in_part[of_band] += row.of.is_rated_in_part
    made = [
        Band(
            *of_band,
            n=len(values),
            f1_mean=sum(values) / len(values),
            f1_least=min(values),
            f1_most=max(values),
            n_in_part=in_part[of_band],
        )
        for of_band, values in found.items()
    ]
    return sorted(made, key=lambda band: (band.f1_mean, band.model, band.temperature or 0.0))


def _planned_rows(material: TradeoffMaterial, *, by_score: bool) -> Iterator[Planned[TradeoffRow]]:
    pools = Counter(_function_of(dot) for dot in material.dots if dot.is_aggregate)
    over = [_over_floor(material, side) for side in range(len(material.axes))]
    for place, dot in enumerate(material.dots):
        is_one_of_several = dot.is_aggregate and pools[_function_of(dot)] > 1
        columns = dot_columns(dot, with_pool=is_one_of_several)
        floors = {
            f"{side}_over_floor": of_side[place]
            for side, of_side in zip(material.axes._fields, over, strict=True)
        }
        planned = _planned(material, place, columns, by_score=by_score)
        make = partial(planned.make, **floors, above_floor=_sides_above(floors))
        yield planned._replace(make=make)


def _over_floor(material: TradeoffMaterial, side: int) -> list[Estimate]:
    """Return how far each setup is above the floor of an axis, over examples that both label."""
    is_counted = ~np.isnan(material.labels).any(axis=0)
    labels = np.where(is_counted, material.labels[side], math.nan)
    return over_floor(material.floors[side], list(labels), material.dialogs)


def _sides_above(floors: Mapping[str, Estimate]) -> str:
    """Return the sides whose share is above the floor; "neither", or "" if no floor is known."""
    known = {name: each.low for name, each in floors.items() if each.low is not None}
    above = [name.removesuffix("_over_floor") for name, low in known.items() if low > 0]
    return " and ".join(above) if above else "neither" if known else ""


def _planned(
    material: TradeoffMaterial, place: int, of: DotColumns, *, by_score: bool
) -> Planned[TradeoffRow]:
    """Return the row of one setup; shares are marked as shares, for their intervals."""
    scores = material.statistics(place, by_score=True)
    statistics = scores if by_score else material.statistics(place)
    is_counted = statistics[:, 2] > 0
    n = int(is_counted.sum())
    n_responses = int((material.responses[place] != NO_RESPONSE).sum())
    rated = material.dots[place].rated
    attribution_assumed, sensibleness_assumed = (
        int((is_assumed[place] & is_counted).sum()) for is_assumed in material.is_assumed
    )

    return Planned(
        partial(
            TradeoffRow,
            of=of,
            n=n,
            n_examples=n_responses if rated is None else rated.n_examples,
            n_not_rated=0 if rated is None else rated.n_not_rated,
            n_left_out=n_responses - n,
            attribution_assumed=attribution_assumed,
            sensibleness_assumed=sensibleness_assumed,
            attribution_score=number(attribution_from(scores.sum(axis=0))),
            sensibleness_score=number(sensibleness_from(scores.sum(axis=0))),
            chosen=_chosen_columns(material.dots[place], material.axes),
        ),
        figures_of_setup(statistics, material.dialogs),
    )


def dot_columns(dot: Dot, *, with_pool: bool = False) -> DotColumns:
    """Return the facts about a setup, apart from its figures.

    Args:
        with_pool: whether the title of an aggregate names its pool.
    """
    cluster = dot.cluster
    function_title = aggregate_title(dot) if dot.is_aggregate else ""
    if dot.is_aggregate:
        title = setup_title(dot) if with_pool else function_title
    else:
        title = setup_title(dot) if dot.kind else dot.setup.prompt or UNDEFINED
    return DotColumns(
        setup=dot.setup.name,
        setup_id=dot.setup.pk,
        model=model_key(dot),
        n_parameters=number(dot.setup.n_parameters),
        temperature=dot.setup.temperature,
        prompt=dot.setup.prompt,
        prompt_title=title,
        prompt_family="" if dot.is_aggregate else prompt_key(dot),
        cluster=cluster or "",
        cluster_title=CLUSTER_TITLES[cluster] if cluster else "",
        label=dot.label,
        is_aggregate=dot.is_aggregate,
        is_restricted=dot.is_restricted,
        dialog_share=number(dot.dialog_share),
        evidence_share=number(dot.evidence_share),
        context_tokens=number(dot.context_tokens),
        n_calls=dot.n_calls,
        function=function_key(dot) if dot.is_aggregate else "",
        function_title=function_title,
        n_looked_at=dot.n_looked_at,
        n_debris=dot.n_debris,
        is_rated_in_part=dot.is_rated_in_part,
    )


def aggregate_title(dot: Dot) -> str:
    """Return the title of an aggregate: its function with weights, without its pool."""
    return setup_title(dot).rpartition(POOL)[0]


def _function_of(dot: Dot) -> tuple[str, float | None, str]:
    """Return what aggregates of several pools have in common."""
    return model_key(dot), dot.setup.temperature, function_key(dot)


def _chosen_columns(dot: Dot, axes: Axes) -> ChosenColumns:
    said = list(dict.fromkeys(chosen_by(dot).values()))
    return ChosenColumns(
        pool_size=len(dot.pool) or None,
        chosen_by="; ".join(said),
        chosen_by_title=", ".join(dict.fromkeys(map(short_of, said))),
        marks=marks_of(said, axes),
    )


def _best_first(row: TradeoffRow) -> tuple[float, str]:
    return (1.0 if row.f1.value is None else -row.f1.value), row.of.setup


class TradeoffChoices(NamedTuple):
    """The choices of a reader about the table and the figure of the trade-off."""

    axes: AxesChoices = AxesChoices()
    by_score: ByScore = False
    figure: Annotated[
        int,
        Choice(
            "Figure",
            low=0,
            high=max(FIGURES),
            help="Figure of the paper, with the setups that it shows; 0: all setups.",
        ),
    ] = 0
    large: Annotated[
        str, Choice("Large model", help="Large model of the figure; empty: the largest.")
    ] = ""
    small: Annotated[
        str, Choice("Small model", help="Small model of the figure; empty: the smallest.")
    ] = ""
    k: Annotated[
        int | None,
        Choice(
            "Passages the lines retrieve",
            low=1,
            high=MOST_K,
            help="How many passages the lines of figure 5 retrieve.",
            usual="that of the figure",
        ),
    ] = None


def material_in_view(dataset: Dataset, choices: TradeoffChoices) -> tuple[TradeoffMaterial, View]:
    """Return the material of the chosen axes, and the view of the chosen figure.

    Raises:
        ChoiceError: an axis or a model does not exist.
        CannotReport: the dataset has nothing of what the figure is about.
    """
    material = material_on(dataset, choices.axes)
    if not choices.figure:
        return material, View(by_score=choices.by_score)
    figure = FIGURES[choices.figure]
    there = models_of(material)
    for side in ("large", "small"):
        if said := getattr(choices, side):
            check_known(side, said, there)
    models = choices.large or largest(material, figure), choices.small or smallest(material, figure)
    view = view_of(material, figure, models, by_score=choices.by_score)
    view = view._replace(k=choices.k or view.k)
    said = (("small", choices.small),) if choices.small else ()
    if why := FigureChoice(figure, models, said, view, view).why_not_drawn(material):
        raise CannotReport(why)
    return material, view


def _to_responses(dataset: Dataset, choices: TradeoffChoices, row: TradeoffRow) -> str:
    return responses_address(dataset, row.of.setup_id, choices.axes._asdict())


TRADEOFF = ReportKind(
    key="tradeoff",
    title="Trade-off",
    lede="Gives attribution, sensibleness and F1 of each setup.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.TRADEOFF,
    portable=portable_axes,
    choices=TradeoffChoices,
    make=lambda dataset, chosen: tradeoff_report(*material_in_view(dataset, chosen)),
    rows=(TradeoffRow,),
    leads={"prompt_title": _to_responses},
)
