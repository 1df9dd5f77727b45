"""The report on re-ranking: aggregates beside the setups they were chosen from ([A] 7.5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.measures.reranking import FUNCTIONS
from evaluation.measures.tradeoff import f1_from
from evaluation.measures.tradeoff_effects import (
    attribution_difference,
    f1_difference,
    pair_statistics,
    sensibleness_difference,
)
from evaluation.reports.base import Report, Row, number
from evaluation.reports.registry import CannotReport, ReportKind, columns
from evaluation.statistics.intervals import Figure, Floats, Measure, share_from
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.choices import chosen_responses
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.flattered import chosen_by, marks_of, short_of
from evaluation.tradeoffs.material import NO_RESPONSE, Material, material_of
from evaluation.tradeoffs.pools import Pool, all_pools, best_single, pool_names
from evaluation.tradeoffs.reports.axes_choices import (
    AxesChoices,
    JudgeChoices,
    chosen_axes,
    judging_axes,
)
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset
from generation.services.aggregates import CHOICE, n_changed, sources_of

SINGLE, MEAN, AGGREGATE = "single", "mean", "aggregate"  # kinds of rows
# What a row is judged by: the axes that are chosen by, or other ones.
CHOOSING, SECOND = "choosing", "second"
GAINS: Mapping[str, Measure] = {
    "attribution": attribution_difference,
    "sensibleness": sensibleness_difference,
    "f1": f1_difference,
}


class _Entry(NamedTuple):
    """A row without its figures yet."""

    row: Row
    statistics: Floats  # (n_examples, 3), see `evaluation.measures.tradeoff`
    against: Mapping[str, Floats]  # 'best', 'mean' → their statistics


def reranking_report(
    dataset: Dataset, choosing: Axes, pools: Sequence[Pool], judging: Axes | None = None
) -> Report:
    """Return rows for each pool: its setups, a choice at random, and the aggregates from it.

    A choice at random is the mean over the responses of the pool that have both labels, example
    by example. The gain of an aggregate is over the best single setup, which is the one with the
    highest F1 by the axes that choose, and over the choice at random; each is over the examples
    that both sides know, in pairs.

    Args:
        choosing: the axes that choose; every row is judged by them.
        judging: other axes, which all rows are judged by once more; only these are fair to an
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

    rows: list[Row] = []
    left_out = dict(chosen.left_out)
    for judge, material in judged:
        entries = [
            entry
            for pool in pools
            for entry in _entries(pool, material, _best(pool, chosen), stand)
        ]
        rows += [{"judge": judge} | row for row in _with_figures(entries, material)]
        if judge == SECOND:
            left_out |= {f"judged_{name}": n for name, n in material.left_out.items()}
    rows.sort(key=lambda row: [pool.key for pool in pools].index(row["pool_key"]))
    said = [f"pool {pool.key} of {len(pool.setups)} setups of {pool.title}" for pool in pools]
    last = judged[-1][1]
    if last is not chosen:
        said.append(f"chosen by {choosing.attribution.said}; {choosing.sensibleness.said}")
        said.append(f"data of the choice {chosen.data_hash}")
    return Report(dataset.name, "reranking", rows, left_out, last.signature("reranking", *said))


def _places(pool: Pool, material: Material) -> list[int]:
    """Return the places of a pool's setups that have a response."""
    there = {dot.setup.name: place for place, dot in enumerate(material.dots)}
    return [there[name] for name in pool.setups if name in there]


def _best(pool: Pool, material: Material) -> str:
    """Return the name of the best single setup of a pool; "" where there is none."""
    place = best_single(material, _places(pool, material))
    return "" if place is None else material.dots[place].setup.name


def _stand(chosen: Material) -> dict[str, Row]:
    """Return how the aggregates that these axes chose stand to their scores of today, by name."""
    said = {name: axis.said for name, axis in chosen.axes._asdict().items()}
    there = [
        dot
        for dot in chosen.dots
        if dot.is_aggregate and all(dot.settings.get(name) == each for name, each in said.items())
    ]
    sources = sources_of(dot.setup for dot in there)
    found: dict[str, Row] = {}
    for dot in there:
        function, weights = str(dot.settings.get("function")), dot.settings.get("weights")
        try:
            now = chosen_responses(chosen, dot.pool, function, weights).responses
        except ValueError:  # imported, and chosen by a function of another tool
            continue
        own = sources[dot.setup.pk]
        counts = {"n_changed": n_changed(own, now), "n_missing": len(now.keys() - own.keys())}
        found[dot.setup.name] = counts | {"is_current": not any(counts.values())}
    return found


def _entries(
    pool: Pool, material: Material, best: str, stand: Mapping[str, Row]
) -> Iterator[_Entry]:
    """Yield the rows of one pool.

    Args:
        best: the name of its best single setup; "": none.
        stand: what is said of the aggregates that the choosing axes chose, by name.
    """
    places = _places(pool, material)
    if not places:
        return
    of_pool: Row = {
        "pool": pool.title,
        "pool_key": pool.key,
        "model": pool.model,
        "temperature": pool.temperature,
    }
    n_asked = (material.responses[places] != NO_RESPONSE).sum(axis=0)  # by example
    judged_by: Row = {
        "judged_by_attribution": material.axes.attribution.title,
        "judged_by_sensibleness": material.axes.sensibleness.title,
    }
    for place in places:
        dot = material.dots[place]
        is_best = dot.setup.name == best
        row = of_pool | {"kind": SINGLE, "is_best": is_best} | _of_setup(dot, place, material)
        yield _Entry(row | {"calls_per_example": 1.0} | judged_by, material.statistics(place), {})

    at_random = _mean_statistics([material.statistics(place) for place in places])
    n_there = int((n_asked > 0).sum())
    row = {"kind": MEAN, "is_best": False, "label": "a choice at random", "n_responses": n_there}
    yield _Entry(of_pool | row | {"calls_per_example": 1.0} | judged_by, at_random, {})

    against = {"mean": at_random}
    if best:
        against["best"] = material.statistics(material.place(best))
    for place, dot in enumerate(material.dots):
        if pool_names(dot.setup) != frozenset(pool.setups):
            continue
        is_chosen = material.responses[place] != NO_RESPONSE
        row = of_pool | {"kind": AGGREGATE, "is_best": False} | _of_setup(dot, place, material)
        row["n_not_chosen"] = int(((n_asked > 0) & ~is_chosen).sum())
        row["calls_per_example"] = number(
            n_asked[is_chosen].mean() if is_chosen.any() else float("nan")
        )
        row |= dict.fromkeys(("n_changed", "n_missing", "is_current"))
        row |= stand.get(dot.setup.name, {}) | _of_choice(dot, material.axes) | judged_by
        yield _Entry(row, material.statistics(place), against)


def _of_setup(dot: Dot, place: int, material: Material) -> Row:
    function = str(dot.settings.get("function", "")) if dot.is_aggregate else ""
    label = dot.kind.title if dot.kind else dot.setup.prompt or dot.setup.name
    return {
        "setup": dot.setup.name,
        "setup_id": dot.setup.pk,
        "label": FUNCTIONS.get(function, function) or label,
        "function": function,
        "n_responses": int((material.responses[place] != NO_RESPONSE).sum()),
    }


def _of_choice(dot: Dot, axes: Axes) -> Row:
    """Return how an aggregate was chosen, and which axis shows what it was chosen by."""
    said = chosen_by(dot)
    marks = marks_of(said.values(), axes)
    weights = dot.settings.get("weights")
    return {
        "weights": ", ".join(f"{weight:g}" for weight in weights) if weights else None,
        "recipe": bool(dot.settings.get("recipe")),
        "choice": dot.settings.get(CHOICE),
        "n_ties": dot.n_ties,
        "chosen_by": "; ".join(said.values()),
        "chosen_by_title": ", ".join(dict.fromkeys(map(short_of, said.values()))),
        **{f"chosen_by_{name}": said.get(name) for name in axes._fields},
        **marks,
        "is_flattered": marks["is_flattered_x"] or marks["is_flattered_y"],
    }


def _mean_statistics(of_setups: Sequence[Floats]) -> Floats:
    """Return the statistics of a choice at random: example by example the mean of those known."""
    total = np.sum(of_setups, axis=0)
    n_known = total[:, -1:]
    mean: Floats = np.divide(total, n_known, out=np.zeros_like(total), where=n_known > 0)
    return mean


def _with_figures(entries: Sequence[_Entry], material: Material) -> Iterator[Row]:
    """Yield the rows with their figures and intervals; all resample the same dialogs."""
    figures: list[Figure] = []
    names: list[tuple[int, str]] = []
    for place, entry in enumerate(entries):
        for name, (statistics, measure) in _measured(entry).items():
            names.append((place, name))
            figures.append(Figure(statistics, material.dialogs, measure))
    rows = [entry.row | {"n": int(entry.statistics[:, -1].sum())} for entry in entries]
    for (place, name), figure, interval in zip(
        names, figures, material.intervals(figures), strict=True
    ):
        row = rows[place]
        row[name] = number(figure.measure(figure.statistics.sum(axis=0)))
        row[f"{name}_low"], row[f"{name}_high"] = number(interval.low), number(interval.high)
    for row, entry in zip(rows, entries, strict=True):
        row["n_unknown"] = row["n_responses"] - row["n"]
        for name, other in entry.against.items():
            pairs = pair_statistics(entry.statistics, other)
            row[f"n_pairs_{name}"] = int((pairs[:, -1] > 0).sum())
    yield from rows


def _measured(entry: _Entry) -> dict[str, tuple[Floats, Measure]]:
    """Return the statistics and the measure of each figure of a row, by name."""
    statistics = entry.statistics
    found: dict[str, tuple[Floats, Measure]] = {
        "attribution": (statistics[:, [0, 2]], share_from),
        "sensibleness": (statistics[:, [1, 2]], share_from),
        "f1": (statistics, f1_from),
    }
    for name, other in entry.against.items():
        pairs = pair_statistics(statistics, other)
        found |= {f"gain_{of}_{name}": (pairs, measure) for of, measure in GAINS.items()}
    return found


class RerankingChoices(NamedTuple):
    """What chooses, what judges, and among which setups."""

    axes: AxesChoices = AxesChoices()
    judges: JudgeChoices = JudgeChoices()
    pool: Annotated[str, Choice("Pool", help="Key of a pool; empty: the first.")] = ""


def _chosen_report(dataset: Dataset, choices: RerankingChoices) -> Report:
    choosing = chosen_axes(dataset, choices.axes)
    judging = judging_axes(dataset, choosing, choices.judges)
    by_key = {pool.key: pool for pool in all_pools(dataset.setups.answered())}
    if not by_key:
        raise CannotReport(f"{dataset.name} has no pool of setups to choose among.")
    if choices.pool:
        check_known("pool", choices.pool, by_key)
    pool = by_key[choices.pool] if choices.pool else next(iter(by_key.values()))
    return reranking_report(dataset, choosing, [pool], judging)


RERANKING = ReportKind(
    key="reranking",
    title="Re-ranking",
    lede="What re-ranking gains over the best and the mean single setup of its pool.",
    about=Dataset,
    choices=RerankingChoices,
    make=_chosen_report,
    columns=columns(
        "pool",
        "judge",
        "label",
        "weights",
        "n",
        "n_not_chosen",
        "calls_per_example",
        "attribution",
        "sensibleness",
        "f1",
        "gain_f1_best",
        "gain_f1_mean",
        "chosen_by_title",
        "is_flattered",
    ),
)
