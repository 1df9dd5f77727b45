"""The report on re-ranking: aggregates beside the setups they were chosen from ([A] 7.5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from evaluation.measures.reranking import FUNCTIONS
from evaluation.measures.tradeoff import figures_of_setup
from evaluation.measures.tradeoff_effects import (
    attribution_difference,
    f1_difference,
    pair_statistics,
    sensibleness_difference,
)
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.local_ids import SetupId
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow
from evaluation.statistics.intervals import Floats, Measure, Statistic
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.choices import chosen_responses
from evaluation.tradeoffs.dots import Dot, are_in_part
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial, material_of
from evaluation.tradeoffs.pools import Pool, all_pools, best_single, pool_names
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import (
    AxesChoices,
    JudgeChoices,
    chosen_axes,
    judging_axes,
    portable_axes,
    responses_address,
)
from evaluation.tradeoffs.selection_bias import Marks, chosen_by, marks_of, short_of
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset
from generation.services.aggregates import CHOICE, n_changed, sources_of

SINGLE, MEAN, AGGREGATE = "single", "mean", "aggregate"  # kinds of rows
# The judge of a row: the axes that choose, or other axes.
CHOOSING, SECOND = "choosing", "second"
GAINS: Mapping[str, Measure] = {
    "attribution": attribution_difference,
    "sensibleness": sensibleness_difference,
    "f1": f1_difference,
}


@dataclass(frozen=True, kw_only=True)
class PoolColumns(ReportRow):
    """The pool of setups among which responses are chosen."""

    pool: Annotated[str, Column("Pool")]
    pool_key: str
    model: str
    temperature: float | None


@dataclass(frozen=True, kw_only=True)
class RerankedSetup(ReportRow):
    """The setup whose responses are judged."""

    setup: str
    setup_id: SetupId
    label: Annotated[str, Column("Setup")]
    function: str  # the function that chose; "" for a single setup
    n_responses: int


@dataclass(frozen=True, kw_only=True)
class AtRandom(ReportRow):
    """The responses of a choice at random."""

    label: str = "a choice at random"
    n_responses: int


@dataclass(frozen=True, kw_only=True)
class Stand(ReportRow):
    """The difference of an aggregate from what the scores would choose today; None: not known."""

    n_changed: int | None = None
    n_missing: int | None = None
    is_current: bool | None = None


@dataclass(frozen=True, kw_only=True)
class OfChoice(ReportRow):
    """The choice of an aggregate, and the marks of the axes that show what it was chosen by."""

    weights: Annotated[str | None, Column("Weights")]
    recipe: bool
    choice: Any  # value of `choice` in the setup's settings
    n_ties: int
    chosen_by: str
    chosen_by_title: str
    chosen_by_attribution: str | None
    chosen_by_sensibleness: str | None
    marks: Marks
    is_flattered: bool


@dataclass(frozen=True, kw_only=True)
class PooledRow(ReportRow):
    """One setup of a pool, or a choice at random."""

    judge: Annotated[str, Column("Judge")]
    of: PoolColumns
    kind: str
    is_best: bool
    about: RerankedSetup | AtRandom
    calls_per_example: Annotated[float, Column("Calls per example", Format.DECIMAL)] = 1.0
    judged_by_attribution: str
    judged_by_sensibleness: str
    n: Annotated[int, Column("n", Format.COUNT)]
    attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT)]
    sensibleness: Annotated[Estimate, Column("Sensibleness", Format.PERCENT)]
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]
    is_rated_in_part: bool  # raters, who make an axis, have not answered all responses
    n_unknown: int  # responses without a value


@dataclass(frozen=True, kw_only=True)
class AggregateRow(ReportRow):
    """An aggregate that was chosen from a pool."""

    judge: Annotated[str, Column("Judge")]
    of: PoolColumns
    kind: str = AGGREGATE
    is_best: bool = False
    about: RerankedSetup
    n_not_chosen: Annotated[int, Column("Not chosen", Format.COUNT)]
    calls_per_example: Annotated[float | None, Column("Calls per example", Format.DECIMAL)]
    stand: Stand
    choice: OfChoice
    judged_by_attribution: str
    judged_by_sensibleness: str
    n: Annotated[int, Column("n", Format.COUNT)]
    attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT)]
    sensibleness: Annotated[Estimate, Column("Sensibleness", Format.PERCENT)]
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]
    gain_attribution_mean: Estimate
    gain_sensibleness_mean: Estimate
    gain_f1_mean: Annotated[Estimate, Column("F1 against a random pick", Format.POINTS)]
    gain_attribution_best: Estimate = UNKNOWN
    gain_sensibleness_best: Estimate = UNKNOWN
    gain_f1_best: Annotated[Estimate, Column("F1 against the best prompt", Format.POINTS)] = UNKNOWN
    is_rated_in_part: bool
    n_unknown: int
    n_pairs_mean: int
    n_pairs_best: int | None = None  # None: no single setup has an F1


RerankingRow = PooledRow | AggregateRow


class _RerankingEntry(NamedTuple):
    """A row whose figures are not computed yet."""

    make: Callable[..., RerankingRow]
    n_responses: int
    is_rated_in_part: bool
    statistics: Floats  # (n_examples, 3), see `evaluation.measures.tradeoff`
    against: Mapping[str, Floats]  # 'best', 'mean' → their statistics


def reranking_report(
    dataset: Dataset, choosing: Axes, pools: Sequence[Pool], judging: Axes | None = None
) -> Report[RerankingRow]:
    """Return rows for each pool: its setups, a choice at random, and the aggregates from it.

    A choice at random is the mean over the responses of the pool that have both labels, example by
    example. An aggregate has gains over the best single setup, which has the highest F1 by the axes
    that choose, and over the choice at random. Each gain is over the examples that both sides know,
    in pairs. `is_rated_in_part` says that raters, who make an axis, have not answered all responses
    of a row, so that its figures are over a selection.

    Args:
        choosing: the axes that choose; every row is judged by them.
        judging: other axes, by which all rows are judged once more; only these are fair to an
            aggregate that the first ones chose.
    """
    names = {name for pool in pools for name in pool.setups}
    members = {frozenset(pool.setups) for pool in pools}
    setups = [
        setup.pk
        for setup in dataset.setups.all()
        if setup.name in names or pool_names(setup) in members
    ]
    chosen = material_of(dataset, choosing, setups)
    stand = _stand(chosen)
    judged = [(CHOOSING, chosen)]
    if judging is not None and judging != choosing:
        judged.append((SECOND, material_of(dataset, judging, setups)))

    rows: list[RerankingRow] = []
    left_out = dict(chosen.left_out)
    for judge, material in judged:
        entries = [
            entry
            for pool in pools
            for entry in _entries(pool, material, _best(pool, chosen), stand)
        ]
        planned = [_planned(judge, entry, material) for entry in entries]
        rows += with_estimates(planned, material.n_dialogs)
        if judge == SECOND:
            left_out |= {f"judged_{name}": n for name, n in material.left_out.items()}
    rows.sort(key=lambda row: [pool.key for pool in pools].index(row.of.pool_key))
    said = [f"pool {pool.key} of {len(pool.setups)} setups of {pool.title}" for pool in pools]
    last = judged[-1][1]
    if last is not chosen:
        said.append(f"chosen by {choosing.attribution.said}; {choosing.sensibleness.said}")
        said.append(f"data of the choice {chosen.data_hash}")
    return Report(dataset.name, "reranking", rows, left_out, last.signature("reranking", *said))


def _places(pool: Pool, material: TradeoffMaterial) -> list[int]:
    """Return the places of a pool's setups that have a response."""
    there = {dot.setup.name: place for place, dot in enumerate(material.dots)}
    return [there[name] for name in pool.setups if name in there]


def _best(pool: Pool, material: TradeoffMaterial) -> str:
    """Return the name of the best single setup of a pool; "" if there is none."""
    place = best_single(material, _places(pool, material))
    return "" if place is None else material.dots[place].setup.name


def _stand(chosen: TradeoffMaterial) -> dict[str, Stand]:
    """Return how the aggregates that these axes chose differ from today's choice, by name."""
    said = {name: axis.said for name, axis in chosen.axes._asdict().items()}
    there = [
        dot
        for dot in chosen.dots
        if dot.is_aggregate and all(dot.settings.get(name) == each for name, each in said.items())
    ]
    sources = sources_of(dot.setup for dot in there)
    found: dict[str, Stand] = {}
    for dot in there:
        function, weights = str(dot.settings.get("function")), dot.settings.get("weights")
        try:
            now = chosen_responses(chosen, dot.pool, function, weights).responses
        except ValueError:  # imported, and chosen by a function of another tool
            continue
        own = sources[dot.setup.pk]
        changed, missing = n_changed(own, now), len(now.keys() - own.keys())
        found[dot.setup.name] = Stand(
            n_changed=changed, n_missing=missing, is_current=not changed and not missing
        )
    return found


def _entries(
    pool: Pool, material: TradeoffMaterial, best: str, stand: Mapping[str, Stand]
) -> Iterator[_RerankingEntry]:
    """Yield the rows of one pool.

    Args:
        best: the name of its best single setup; "" if there is none.
        stand: by name, how the aggregates that the choosing axes chose differ from today's choice.
    """
    places = _places(pool, material)
    if not places:
        return
    of_pool = PoolColumns(
        pool=pool.title, pool_key=pool.key, model=pool.model, temperature=pool.temperature
    )
    n_asked = (material.responses[places] != NO_RESPONSE).sum(axis=0)  # responses by example
    pooled = partial(PooledRow, of=of_pool)
    for place in places:
        dot = material.dots[place]
        about, is_best = _of_setup(dot, place, material), dot.setup.name == best
        make = partial(pooled, kind=SINGLE, is_best=is_best, about=about)
        own = material.statistics(place)
        yield _RerankingEntry(make, about.n_responses, dot.is_rated_in_part, own, {})

    at_random = _mean_statistics([material.statistics(place) for place in places])
    n_there = int((n_asked > 0).sum())
    about_random = AtRandom(n_responses=n_there)
    make = partial(pooled, kind=MEAN, is_best=False, about=about_random)
    yield _RerankingEntry(make, n_there, are_in_part(material.dots, places), at_random, {})

    against = {"mean": at_random}
    if best:
        against["best"] = material.statistics(material.place(best))
    for place, dot in enumerate(material.dots):
        if pool_names(dot.setup) != frozenset(pool.setups):
            continue
        is_chosen = material.responses[place] != NO_RESPONSE
        about = _of_setup(dot, place, material)
        aggregate = partial(
            AggregateRow,
            of=of_pool,
            about=about,
            n_not_chosen=int(((n_asked > 0) & ~is_chosen).sum()),
            calls_per_example=float(n_asked[is_chosen].mean()) if is_chosen.any() else None,
            stand=stand.get(dot.setup.name, Stand()),
            choice=_of_choice(dot, material.axes),
        )
        own = material.statistics(place)
        yield _RerankingEntry(aggregate, about.n_responses, dot.is_rated_in_part, own, against)


def _of_setup(dot: Dot, place: int, material: TradeoffMaterial) -> RerankedSetup:
    function = str(dot.settings.get("function", "")) if dot.is_aggregate else ""
    label = dot.kind.title if dot.kind else dot.setup.prompt or dot.setup.name
    return RerankedSetup(
        setup=dot.setup.name,
        setup_id=dot.setup.pk,
        label=FUNCTIONS.get(function, function) or label,
        function=function,
        n_responses=int((material.responses[place] != NO_RESPONSE).sum()),
    )


def _of_choice(dot: Dot, axes: Axes) -> OfChoice:
    """Return how an aggregate was chosen, and which axis shows what it was chosen by."""
    said = chosen_by(dot)
    marks = marks_of(said.values(), axes)
    weights = dot.settings.get("weights")
    return OfChoice(
        weights=", ".join(f"{weight:g}" for weight in weights) if weights else None,
        recipe=bool(dot.settings.get("recipe")),
        choice=dot.settings.get(CHOICE),
        n_ties=dot.n_ties,
        chosen_by="; ".join(said.values()),
        chosen_by_title=", ".join(dict.fromkeys(map(short_of, said.values()))),
        chosen_by_attribution=said.get("attribution"),
        chosen_by_sensibleness=said.get("sensibleness"),
        marks=marks,
        is_flattered=marks.is_flattered_x or marks.is_flattered_y,
    )


def _mean_statistics(of_setups: Sequence[Floats]) -> Floats:
    """Return the statistics of a choice at random: for each example, the mean of those known."""
    total = np.sum(of_setups, axis=0)
    n_known = total[:, -1:]
    mean: Floats = np.divide(total, n_known, out=np.zeros_like(total), where=n_known > 0)
    return mean


def _planned(
    judge: str, entry: _RerankingEntry, material: TradeoffMaterial
) -> Planned[RerankingRow]:
    """Return a row with the statistics of its figures."""
    own, axes = entry.statistics, material.axes
    figures, n_pairs = figures_of_setup(own, material.dialogs), {}
    for name, other in entry.against.items():
        pairs = pair_statistics(own, other)
        n_pairs[f"n_pairs_{name}"] = int((pairs[:, -1] > 0).sum())
        figures |= {
            f"gain_{of}_{name}": Statistic(pairs, material.dialogs, measure)
            for of, measure in GAINS.items()
        }
    n = int(own[:, -1].sum())
    make = partial(
        entry.make,
        judge=judge,
        judged_by_attribution=axes.attribution.title,
        judged_by_sensibleness=axes.sensibleness.title,
        n=n,
        is_rated_in_part=entry.is_rated_in_part,
        n_unknown=entry.n_responses - n,
        **n_pairs,
    )
    return Planned(make, figures)


class RerankingChoices(NamedTuple):
    """The axes that choose, the axes that judge, and the pool of setups to choose among."""

    axes: AxesChoices = AxesChoices()
    judges: JudgeChoices = JudgeChoices()
    pool: Annotated[str, Choice("Pool", help="Key of a pool; empty: the first.")] = ""


def _chosen_report(dataset: Dataset, choices: RerankingChoices) -> Report[RerankingRow]:
    choosing = chosen_axes(dataset, choices.axes)
    judging = judging_axes(dataset, choosing, choices.judges)
    by_key = {pool.key: pool for pool in all_pools(dataset.setups.answered())}
    if not by_key:
        raise CannotReport(f"{dataset.name} has no pool of setups to choose among.")
    if choices.pool:
        check_known("pool", choices.pool, by_key)
    pool = by_key[choices.pool] if choices.pool else next(iter(by_key.values()))
    return reranking_report(dataset, choosing, [pool], judging)


def _to_responses(
    dataset: Dataset, choices: RerankingChoices, row: PooledRow | AggregateRow
) -> str:
    setup = row.value("setup_id")
    return responses_address(dataset, setup, choices.axes._asdict()) if setup else ""


RERANKING = ReportKind(
    key="reranking",
    title="Re-ranking",
    lede="Gives the gain of re-ranking over the best and the mean single setup of its pool.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.RERANKING,
    portable=portable_axes,
    choices=RerankingChoices,
    make=_chosen_report,
    rows=(PooledRow, AggregateRow),
    leads={"label": _to_responses},
)
