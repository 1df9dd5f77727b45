"""The report on takeaways: effects of history, evidence, size, … on both axes and on F1.

Each row is a mean over pairs of setups that agree in everything else ([A] 7.1 to 7.5).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Annotated, NamedTuple

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
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics.intervals import Floats, Measure, Statistic
from evaluation.tradeoffs.curve_recalls import measured_recalls
from evaluation.tradeoffs.dots import any_in_part
from evaluation.tradeoffs.effects import BY_SIZES, Effect, Sizes, effects_of
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_on_axes
from evaluation.tradeoffs.recall_lines import (
    Mixed,
    RestrictedPair,
    curves_of,
    mixed_at,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import USUAL_K, Recalls
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import AxesChoices, material_on, portable_axes
from generation.models import Dataset
from generation.retrieval.dataset_index import can_wait_for_index

TOP_K = "top k"
_MIXED_WIDTH = 4 * WIDTH  # columns in the statistics of one share of restricted context


@dataclass(frozen=True, kw_only=True)
class EffectRow(ReportRow):
    """The effect of a change of setup: means over pairs of setups, first minus second."""

    named_by = ("effect", "of")

    takeaway: Annotated[int, Column("No.", Format.COUNT)]
    effect: Annotated[str, Column("Effect")]
    compared: str
    of: Annotated[str, Column("Part")]  # part of the pairs; "": all pairs
    is_flattered: bool  # an axis shows what the first setups were chosen by
    recalls: str = ""  # the recalls by which top k is mixed
    n_pairs: Annotated[int, Column("Pairs", Format.COUNT)] = 0
    why: Annotated[str, Column("Why undefined")]
    f1_difference: Annotated[Estimate, Column("F1", Format.SIGNED)] = UNKNOWN
    attribution_difference: Annotated[Estimate, Column("Attribution", Format.POINTS)] = UNKNOWN
    sensibleness_difference: Annotated[Estimate, Column("Sensibleness", Format.POINTS)] = UNKNOWN
    share_favourable: Annotated[float | None, Column("Pairs that improve", Format.PERCENT)] = None
    n_without_f1: int = 0  # pairs without an F1
    n_rated_in_part: int = 0  # pairs with a setup of which raters answered a part of the examples
    n: Annotated[int, Column("Examples", Format.COUNT)] = 0  # examples in a pair
    n_dialogs: int = 0


class _Mean(NamedTuple):
    """The data from which the figures of a row are made."""

    statistics: Floats  # (n_examples, S)
    measures: Mapping[str, Measure]  # field of the row → measure of the sums
    f1_of_each: Callable[[Floats], Floats]  # sums → difference of F1 of each pair


class _Mixes(NamedTuple):
    """The mixes of a pair of curves at the shares that are compared; `why` if there are none."""

    of: str
    mixed: Sequence[Mixed] = ()
    recalls: Recalls | None = None
    why: str = ""


def takeaways_report(
    material: TradeoffMaterial, sizes: Sizes = BY_SIZES, recalls: Recalls | None = None
) -> Report[EffectRow]:
    """Return the effects that the takeaways of [A] are about, in their order.

    An effect has a row for all its pairs (`of` is empty), then a row for each part of them. The
    figures are means over pairs of first minus second. Each pair is over the examples that both
    axes know of both setups. `f1_difference`, `attribution_difference` and
    `sensibleness_difference` have intervals. `share_favourable` is the share of pairs with a higher
    F1; it leaves out pairs without F1, which `n_without_f1` counts. `n_pairs` counts the pairs, and
    `n` the examples, in `n_dialogs` dialogs, that are in a pair. `is_flattered` means that an axis
    shows what the first setups were chosen by. `n_rated_in_part` counts the pairs with a setup of
    which raters, who make an axis, have answered only a part of the examples: these are a
    selection. `why` says why a row has no figures.

    Args:
        sizes: a large and a small model, instead of the sizes that names state.
        recalls: the recalls of top k; None: those of BM25 over the dataset's passages.
    """
    mixes = _all_mixes(material, recalls)
    planned = chain(
        _of_pairs(material, effects_of(material, sizes)),
        _of_top_k(material, mixes, recalls.k if recalls else USUAL_K),
    )
    # Takeaway 5 comes before those of re-ranking.
    rows = sorted(with_estimates(planned, material.n_dialogs), key=lambda row: row.takeaway)
    left_out: LeftOut = {
        **material.left_out,
        "setups_without_model": sum(not dot.setup.model for dot in material.dots),
        "setups_of_earlier_rule": sum(dot.is_of_earlier_rule for dot in material.dots),
        "pairs_without_f1": sum(row.n_without_f1 for row in rows if not row.of),
    }
    said = [f"{sizes.large} larger than {sizes.small}"] if all(sizes) else []
    said += [each.signature_part for each in _recalls_of(mixes)]
    signature = material.signature("takeaways", "means over pairs", *said)
    return Report(material.dataset.name, "takeaways", rows, left_out, signature)


def cached_takeaways(material: TradeoffMaterial, sizes: Sizes = BY_SIZES) -> Report[EffectRow]:
    """Return the report with measured recalls, cached until its data change.

    The recalls follow the passages, so a change of these is noticed as well.
    """
    dataset = material.dataset
    passages = [dataset.passages.count(), can_wait_for_index(dataset.pk)]
    what = f"takeaways {json.dumps([sizes, passages])}"

    def report() -> Report[EffectRow]:
        return takeaways_report(material, sizes)

    return cached_on_axes(dataset, what, report, axes=material.axes)


def _of_pairs(
    material: TradeoffMaterial, effects: Sequence[Effect]
) -> Iterator[Planned[EffectRow]]:
    of_setups = [material.statistics(place) for place in range(len(material.dots))]
    measures = {
        "f1_difference": f1_difference,
        "attribution_difference": attribution_difference,
        "sensibleness_difference": sensibleness_difference,
    }
    for effect in effects:
        pairs = [
            pair_statistics(of_setups[first], of_setups[second]) for first, second in effect.pairs
        ]
        mean = _Mean(beside(pairs), measures, f1_differences) if pairs else None
        n_rated_in_part = sum(any_in_part(material.dots, pair) for pair in effect.pairs)
        yield _planned(material, effect, mean, n_rated_in_part=n_rated_in_part)


def _all_mixes(material: TradeoffMaterial, recalls: Recalls | None) -> list[_Mixes]:
    """Return the mixes of each pair of curves; if there is no pair, one entry that says why."""
    pairs = [pair for pair in restricted_pairs(material) if not pair.is_of_earlier_rule]
    why = "no restricted context, or not with both golden and non-evidence"
    return [_mixes(material, pair, recalls) for pair in pairs] or [_Mixes("", why=why)]


def _mixes(material: TradeoffMaterial, pair: RestrictedPair, recalls: Recalls | None) -> _Mixes:
    curves = curves_of(material, *pair)
    if curves is None:
        return _Mixes(pair.label, why="no example has values for both setups of a pair")
    recalls = recalls or measured_recalls(material, curves)
    if recalls is None or not recalls.are_known:
        return _Mixes(
            pair.label, why="not measured: recall is not known, see the page of retrieval"
        )
    mixed = mixed_at(material, curves, recalls)
    shown = [each for each in mixed if each.golden_between is not None and each.share < 1]
    why = "" if shown else "no dialog share has both points: the shares below are not measured"
    return _Mixes(pair.label, shown, recalls, why)


def _recalls_of(mixes: Sequence[_Mixes]) -> list[Recalls]:
    """Return the recalls by which something is mixed, each once."""
    return list(dict.fromkeys(each.recalls for each in mixes if each.recalls and each.mixed))


def _of_top_k(
    material: TradeoffMaterial, mixes: Sequence[_Mixes], k: int
) -> Iterator[Planned[EffectRow]]:
    """Yield top k minus top 1: over all pairs of curves, then over each if there are several.

    The numbers are means over dialog shares. The whole dialog is left out, because no evidence is
    shown beside it.
    """
    effect = Effect(5, TOP_K, f"Restricted context: top {k} − top 1", "", ())
    yield _of_mixes(material, effect, mixes)
    if len(mixes) > 1:
        yield from (_of_mixes(material, effect._replace(of=each.of), [each]) for each in mixes)


def _of_mixes(
    material: TradeoffMaterial, effect: Effect, mixes: Sequence[_Mixes]
) -> Planned[EffectRow]:
    """Return the row over all mixes of some pairs of curves."""
    mixed = [each for part in mixes for each in part.mixed]
    if not mixed:
        return _planned(material, effect._replace(why=mixes[0].why))
    of_shares = [figures_of(each.mixing) for each in mixed]
    by_name = {
        name: [figures[f"delta_{name}"] for figures in of_shares]
        for name in ("f1", "attribution", "sensibleness")
    }
    mean = _Mean(
        beside([each.statistics for each in mixed]),
        {f"{name}_difference": mean_of(each, _MIXED_WIDTH) for name, each in by_name.items()},
        partial(each_of, by_name["f1"], _MIXED_WIDTH),
    )
    return _planned(
        material,
        effect,
        mean,
        recalls="; ".join(each.caption for each in _recalls_of(mixes)),
        n_rated_in_part=sum(any_in_part(material.dots, each.places) for each in mixed),
    )


def _planned(
    material: TradeoffMaterial,
    effect: Effect,
    mean: _Mean | None = None,
    recalls: str = "",
    n_rated_in_part: int = 0,
) -> Planned[EffectRow]:
    """Return the row of an effect; it has no figures if nothing is compared."""
    make = partial(
        EffectRow,
        takeaway=effect.takeaway,
        effect=effect.effect,
        compared=effect.compared,
        of=effect.of,
        is_flattered=effect.is_flattered,
        recalls=recalls,
    )
    if mean is None:
        return Planned(partial(make, why=effect.why), {})
    is_there = mean.statistics.any(axis=1)
    f1_of_each = mean.f1_of_each(mean.statistics.sum(axis=0))
    has_f1 = ~np.isnan(f1_of_each)
    why = ""
    if not has_f1.any():
        why = "no pair has an F1: attribution and sensibleness are both 0"
    if not is_there.any():
        why = "no example has values for both setups of a pair"
    return Planned(
        partial(
            make,
            n_pairs=len(f1_of_each),
            why=why,
            share_favourable=number(share_favourable(f1_of_each)),
            n_without_f1=int((~has_f1).sum()),
            n_rated_in_part=n_rated_in_part,
            n=int(is_there.sum()),
            n_dialogs=len(np.unique(material.dialogs[is_there])),
        ),
        {
            name: Statistic(mean.statistics, material.dialogs, measure)
            for name, measure in mean.measures.items()
        },
    )


TAKEAWAYS = ReportKind(
    key="takeaways",
    title="Takeaways",
    lede="Estimates how changes of a setup change F1, attribution and sensibleness.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.TAKEAWAYS,
    portable=portable_axes,
    choices=AxesChoices,
    make=lambda dataset, chosen: cached_takeaways(material_on(dataset, chosen)),
    rows=(EffectRow,),
)
