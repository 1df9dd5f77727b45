"""The report on takeaways: what history, evidence, size, … do to attribution, sensibleness and F1.

Each row is a mean over pairs of setups that agree in everything else ([A] 7.1 to 7.5).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.recall_mixing import figures_of
from evaluation.measures.tradeoff import WIDTH
from evaluation.measures.tradeoff_effects import (
    attribution_difference,
    beside,
    each_of,
    f1_difference,
    f1_differences,
    mean_of,
    pair_statistics,
    sensibleness_difference,
    share_favourable,
)
from evaluation.reports.base import LeftOut, Report, Row, number
from evaluation.reports.registry import ReportKind, columns
from evaluation.statistics.intervals import Figure, Floats, Measure
from evaluation.tradeoffs.cached import cached_on_axes
from evaluation.tradeoffs.curve_recalls import measured_recalls
from evaluation.tradeoffs.effects import BY_NAMES, Effect, Sizes, effects_of
from evaluation.tradeoffs.material import Material
from evaluation.tradeoffs.recall_lines import (
    Mixed,
    RestrictedPair,
    curves_of,
    mixed_at,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import USUAL_K, Recalls
from evaluation.tradeoffs.reports.axes_choices import AxesChoices, cached_material_on, material_on
from generation.models import Dataset
from generation.retrieval.dataset_index import can_wait_for_index

FIGURES = ("f1_difference", "attribution_difference", "sensibleness_difference")
TOP_K = "top k"
_MIXED_WIDTH = 4 * WIDTH  # of the statistics of one share of restricted context
_BATCH_NUMBERS = 4_000_000  # resampled sums that are held at once

_MEASURES: dict[str, Measure] = {
    "f1_difference": f1_difference,
    "attribution_difference": attribution_difference,
    "sensibleness_difference": sensibleness_difference,
}


class _Planned(NamedTuple):
    """A row without its figures yet."""

    before: Row
    statistics: Floats  # (n_examples, S)
    measures: dict[str, Measure]  # of their sums, by `FIGURES`
    by_pair: Callable[[Floats], Floats]  # their sums to the difference of F1 of each pair
    said: Sequence[str] = ()  # for the signature


def takeaways_report(
    material: Material, sizes: Sizes = BY_NAMES, recalls: Recalls | None = None
) -> Report:
    """Return the effects that the takeaways of [A] are about, in their order.

    A row for all pairs of an effect (`of` is empty), then for each part of them. Its figures are
    means over pairs of first minus second, each pair over the examples that both axes know of both
    setups: `f1_difference`, `attribution_difference`, `sensibleness_difference` with their
    intervals, `share_favourable` of the pairs with a higher F1 (pairs without F1 have no part,
    `n_without_f1`), `n_pairs`, and `n` examples in `n_dialogs` that are in a pair. `is_flattered`:
    an axis shows what the first setups were chosen by. `why` says why a row has no figures.

    Args:
        sizes: a large and a small model, instead of the sizes that names say.
        recalls: of top k; None: those that BM25 has over the dataset's passages.
    """
    of_setups = [material.statistics(place) for place in range(len(material.dots))]
    planned = [_of_pairs(effect, of_setups) for effect in effects_of(material, sizes)]
    of_top_k = _of_top_k(material, recalls)
    # Takeaway 5 stands before those of re-ranking.
    place = sum(each.before["takeaway"] < of_top_k[0].before["takeaway"] for each in planned)
    rows = list(_with_figures(material, [*planned[:place], *of_top_k, *planned[place:]]))
    left_out: LeftOut = {
        **material.left_out,
        "setups_without_model": sum(not dot.setup.model for dot in material.dots),
        "setups_of_earlier_rule": sum(dot.is_of_earlier_rule for dot in material.dots),
        "pairs_without_f1": sum(row["n_without_f1"] for row in rows if not row["of"]),
    }
    said = [f"{sizes.large} larger than {sizes.small}"] if all(sizes) else []
    said += of_top_k[0].said
    signature = material.signature("takeaways", "means over pairs", *said)
    return Report(material.dataset.name, "takeaways", rows, left_out, signature)


def cached_takeaways(material: Material, sizes: Sizes = BY_NAMES) -> Report:
    """Return the report with measured recalls, kept until its data change; they follow passages."""
    dataset = material.dataset
    passages = [dataset.passages.count(), can_wait_for_index(dataset.pk)]
    what = f"takeaways {json.dumps([sizes, passages])}"

    def report() -> Report:
        return takeaways_report(material, sizes)

    return cached_on_axes(dataset, what, report, axes=material.axes)


def _of_pairs(effect: Effect, of_setups: Sequence[Floats]) -> _Planned:
    pairs = [pair_statistics(of_setups[first], of_setups[second]) for first, second in effect.pairs]
    before = {
        "takeaway": effect.takeaway,
        "effect": effect.effect,
        "compared": effect.compared,
        "of": effect.of,
        "is_flattered": effect.is_flattered,
        "recalls": "",
        "n_pairs": len(pairs),
        "why": effect.why,
    }
    statistics = beside(pairs) if pairs else np.zeros((0, 0))
    return _Planned(before, statistics, _MEASURES, f1_differences)


class _Mixes(NamedTuple):
    """What is mixed of a pair of curves at the shares that are compared; `why` if nothing is."""

    of: str
    mixed: list[Mixed]
    recalls: Recalls | None = None
    why: str = ""


def _of_top_k(material: Material, recalls: Recalls | None) -> list[_Planned]:
    """Return top k minus top 1 under restriction: of all pairs of curves, then of each of several.

    Means over dialog shares, without the whole dialog: no evidence is shown beside it.
    """
    before: Row = {
        "takeaway": 5,
        "effect": TOP_K,
        "compared": f"Restricted context: top {recalls.k if recalls else USUAL_K} − top 1",
        "of": "",
        "is_flattered": False,
        "recalls": "",
        "n_pairs": 0,
        "why": "",
    }
    pairs = [pair for pair in restricted_pairs(material) if not pair.is_of_earlier_rule]
    parts = [_mixes(material, pair, recalls) for pair in pairs]
    if not parts:
        why = "no restricted context, or not with both golden and non-evidence"
        return [_of_mixes(before, [_Mixes("", [], why=why)])]
    rows = [_of_mixes(before, parts)]
    if len(parts) > 1:
        rows += [_of_mixes(before | {"of": part.of}, [part]) for part in parts]
    return rows


def _mixes(material: Material, pair: RestrictedPair, recalls: Recalls | None) -> _Mixes:
    curves = curves_of(material, *pair)
    if curves is None:
        return _Mixes(pair.said, [], why="no example is known of both setups of a pair")
    recalls = recalls or measured_recalls(material, curves)
    if recalls is None or not recalls.are_known:
        why = "not measured: recall is not known, see the page of retrieval"
        return _Mixes(pair.said, [], why=why)
    mixed = mixed_at(material, curves, recalls)
    shown = [each for each in mixed if each.golden_between is not None and each.share < 1]
    why = "" if shown else "no dialog share has both points: those below are not measured"
    return _Mixes(pair.said, shown, recalls, why)


def _of_mixes(before: Row, parts: Sequence[_Mixes]) -> _Planned:
    """Return the row over all that is mixed of some pairs of curves."""
    mixed = [each for part in parts for each in part.mixed]
    recalls = list(dict.fromkeys(part.recalls for part in parts if part.recalls and part.mixed))
    before = before | {"recalls": "; ".join(each.shown for each in recalls)}
    if not mixed:
        why = parts[0].why
        return _Planned(before | {"why": why}, np.zeros((0, 0)), _MEASURES, f1_differences)
    by_share = [figures_of(each.mixing) for each in mixed]
    of_figure = {
        name: [figures[f"delta_{name.removesuffix('_difference')}"] for figures in by_share]
        for name in FIGURES
    }
    measures = {name: mean_of(measures, _MIXED_WIDTH) for name, measures in of_figure.items()}
    return _Planned(
        before | {"n_pairs": len(mixed)},
        beside([each.statistics for each in mixed]),
        measures,
        lambda sums: each_of(of_figure["f1_difference"], _MIXED_WIDTH, sums),
        [each.said for each in recalls],
    )


def _with_figures(material: Material, planned: Sequence[_Planned]) -> Iterator[Row]:
    """Yield the rows with figures and intervals; all resample the same dialogs, a few at a time."""
    batch: list[_Planned] = []
    n_columns = 0
    for each in planned:
        batch.append(each)
        n_columns += len(FIGURES) * each.statistics.shape[1]
        if 1000 * n_columns > _BATCH_NUMBERS:
            yield from _batch(material, batch)
            batch, n_columns = [], 0
    yield from _batch(material, batch)


def _batch(material: Material, planned: Sequence[_Planned]) -> Iterator[Row]:
    figures = [
        Figure(each.statistics, material.dialogs, each.measures[name])
        for each in planned
        if each.statistics.size
        for name in FIGURES
    ]
    intervals = iter(material.intervals(figures) if figures else ())
    for each in planned:
        row = each.before | dict.fromkeys(
            f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")
        )
        row |= {"share_favourable": None, "n_without_f1": 0, "n": 0, "n_dialogs": 0}
        if each.statistics.size:
            row |= _figures(material, each)
            for name in FIGURES:
                interval = next(intervals)
                row[f"{name}_low"] = number(interval.low)
                row[f"{name}_high"] = number(interval.high)
        yield row | {"why": row["why"] or _why_undefined(row)}


def _figures(material: Material, planned: _Planned) -> Row:
    sums = planned.statistics.sum(axis=0)
    is_there = planned.statistics.any(axis=1)
    by_pair = planned.by_pair(sums)
    figures: Row = {name: number(planned.measures[name](sums)) for name in FIGURES}
    return figures | {
        "share_favourable": number(share_favourable(by_pair)),
        "n_without_f1": int(np.isnan(by_pair).sum()),
        "n": int(is_there.sum()),
        "n_dialogs": len(np.unique(material.dialogs[is_there])),
    }


def _why_undefined(row: Row) -> str:
    if not row["n"]:
        return "no example is known of both setups of a pair"
    if row["f1_difference"] is None:
        return "no pair has an F1: attribution and sensibleness are both 0"
    return ""


TAKEAWAYS = ReportKind(
    key="takeaways",
    title="Takeaways",
    lede="What changes of a setup do to F1, attribution and sensibleness.",
    about=Dataset,
    choices=AxesChoices,
    make=lambda dataset, chosen: takeaways_report(material_on(dataset, chosen)),
    cached=lambda dataset, chosen: cached_takeaways(cached_material_on(dataset, chosen)),
    columns=columns(
        "takeaway",
        "effect",
        "of",
        "n_pairs",
        "n",
        "f1_difference",
        "attribution_difference",
        "sensibleness_difference",
        "share_favourable",
        "why",
    ),
)
