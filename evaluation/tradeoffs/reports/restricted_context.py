"""The report on restricted context: dialog given up for evidence, or for more passages."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.measures.recall_mixing import (
    Course,
    course_of,
    figures_of,
    point_from,
    weights_of,
)
from evaluation.measures.tradeoff import WIDTH, are_shares, figures_of_setup
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow, number
from evaluation.statistics.intervals import MIX_METHOD, MixOfShares, Statistic
from evaluation.statistics.jackknife import InRange
from evaluation.tradeoffs.curve_recalls import typed_or_measured
from evaluation.tradeoffs.dots import Dot, any_in_part
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial, material_of
from evaluation.tradeoffs.recall_lines import Curves, Mixed, curves_of, mixed_at, restricted_pairs
from evaluation.tradeoffs.recalls import USUAL_K, Recalls
from evaluation.tradeoffs.reports import methods
from evaluation.tradeoffs.reports.axes_choices import (
    AxesChoices,
    ByScore,
    chosen_axes,
    portable_axes,
)
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset
from generation.text.prompt_types import MOST_FACTS

CURVES = ("golden", "non_evidence")  # names of both curves in rows
GOLDEN, OTHER, GAIN = "Golden evidence", "Non-evidence", "Top k − top 1"  # groups of columns


@dataclass(frozen=True, kw_only=True)
class RestrictedRow(ReportRow):
    """Both curves at one dialog share, and the mixes of them; see `restricted_report`."""

    named_by = ("share",)

    share: Annotated[float, Column("Dialog share", Format.PERCENT)]
    golden_dialog_share: float | None
    golden_evidence_share: float | None
    golden_off_budget: float | None
    non_evidence_dialog_share: float | None
    non_evidence_evidence_share: float | None
    non_evidence_off_budget: float | None
    n: Annotated[int, Column("n", Format.COUNT)]
    n_golden: int
    n_non_evidence: int
    n_mixed: int | None
    is_rated_in_part: bool  # raters have answered a part of the examples of a setup of the row
    k: int
    recall_at_1: float | None
    recall_at_k: float | None
    share_of_top_k: Annotated[float | None, Column("Share of top k", Format.PERCENT)]
    golden_between: str | None
    why: str
    golden_setup: str | None
    non_evidence_setup: str | None
    golden_attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT, GOLDEN)] = UNKNOWN
    golden_sensibleness: Annotated[Estimate, Column("Sensibleness", Format.PERCENT, GOLDEN)] = (
        UNKNOWN
    )
    golden_f1: Annotated[Estimate, Column("F1", Format.PERCENT, GOLDEN)] = UNKNOWN
    non_evidence_attribution: Annotated[Estimate, Column("Attribution", Format.PERCENT, OTHER)] = (
        UNKNOWN
    )
    non_evidence_sensibleness: Annotated[
        Estimate, Column("Sensibleness", Format.PERCENT, OTHER)
    ] = UNKNOWN
    non_evidence_f1: Annotated[Estimate, Column("F1", Format.PERCENT, OTHER)] = UNKNOWN
    top_1_attribution: Estimate = UNKNOWN
    top_k_attribution: Estimate = UNKNOWN
    delta_attribution: Annotated[Estimate, Column("Attribution", Format.POINTS, GAIN)] = UNKNOWN
    top_1_sensibleness: Estimate = UNKNOWN
    top_k_sensibleness: Estimate = UNKNOWN
    delta_sensibleness: Annotated[Estimate, Column("Sensibleness", Format.POINTS, GAIN)] = UNKNOWN
    top_1_f1: Estimate = UNKNOWN
    top_k_f1: Estimate = UNKNOWN
    delta_f1: Annotated[Estimate, Column("F1", Format.POINTS, GAIN)] = UNKNOWN


def restricted_report(
    material: TradeoffMaterial, curves: Curves, recalls: Recalls, *, by_score: bool = False
) -> Report[RestrictedRow]:
    """Return both curves and their mixes: a row for each dialog share that was asked for.

    Rows go from the whole dialog to none of it. The dialog shares d and the evidence shares e of
    both curves are means of what the prompts really kept. `…_off_budget` is the mean of |d + e −
    1|. `top_1_…` is at recall@1 between the curves. `top_k_…` is at recall@k between non-evidence
    and golden evidence at `share_of_top_k`. `delta_…` is the second minus the first.

    Each curve is over the examples that both axes know of its setup (`n_golden`, `n_non_evidence`;
    those in both: `n`). Mixes are over the examples known of all setups that take part (`n_mixed`).
    `is_rated_in_part` says that raters, who make an axis, have answered only a part of the examples
    of one of them. `why` says why a mix is undefined. The recalls are taken as given: no interval
    includes their own uncertainty.

    Args:
        by_score: whether mean scores count instead of shares labelled yes.
    """
    mixed = {each.share: each for each in mixed_at(material, curves, recalls, by_score=by_score)}
    shares = sorted(curves.golden.keys() | curves.non_evidence.keys(), reverse=True)
    planned = [
        _planned(material, curves, recalls, share, mixed.get(share), by_score=by_score)
        for share in shares
    ]
    pair = curves.pair
    said = [
        f"model {pair.model}",
        f"temperature {pair.temperature}",
        f"{pair.non_evidence} non-evidence",
        f"settings {pair.settings or 'usual'}",
        f"k {recalls.k}",
        recalls.signature_part,
        "mean scores" if by_score else "shares labelled yes",
        f"what is mixed: {MIX_METHOD}",
    ]
    if curves.is_one_at_whole:
        said.append("golden at dialog share 1 on both curves")
    return Report(
        material.dataset.name,
        "restricted",
        list(with_estimates(planned, material.n_dialogs)),
        _left_out(material, curves, by_score=by_score),
        material.signature("restricted", *said),
    )


def courses(
    material: TradeoffMaterial, curves: Curves, *, by_score: bool = False
) -> dict[str, Course]:
    """Return how each curve runs against the curves of equal F1, by `CURVES` (takeaway 4)."""
    found = {}
    for side in CURVES:
        places = getattr(curves, side).values()
        sums = [material.statistics(each, by_score=by_score).sum(axis=0) for each in places]
        found[side] = course_of(point_from(np.array(sums).reshape(-1, WIDTH)))
    return found


class Directions(NamedTuple):
    """The numbers of shares at which top k differs from top 1, by intervals (takeaway 5 of [A]).

    The intervals are those of single shares. They are not corrected for the number of shares.
    """

    n: int  # shares below 1 where both are known; at 1 no evidence is shown
    more_attributed: int  # the whole interval of the difference is above 0
    less_attributed: int  # the whole interval is below 0
    more_sensible: int
    less_sensible: int


def directions_of(report: Report[RestrictedRow]) -> Directions:
    """Return the directions in which more passages lead, by the intervals of a report's rows."""
    rows = [row for row in report.rows if row.share < 1 and row.delta_attribution.value is not None]
    attribution = [row.delta_attribution for row in rows]
    sensibleness = [row.delta_sensibleness for row in rows]
    return Directions(
        len(rows),
        sum((each.low or 0) > 0 for each in attribution),
        sum((each.high or 0) < 0 for each in attribution),
        sum((each.low or 0) > 0 for each in sensibleness),
        sum((each.high or 0) < 0 for each in sensibleness),
    )


def _planned(
    material: TradeoffMaterial,
    curves: Curves,
    recalls: Recalls,
    share: float,
    mixed: Mixed | None,
    *,
    by_score: bool,
) -> Planned[RestrictedRow]:
    places = {side: getattr(curves, side).get(share) for side in CURVES}
    figures: dict[str, Statistic] = {}
    known = {}
    for side, place in places.items():
        statistics = (
            np.zeros((material.n_examples, WIDTH))
            if place is None
            else material.statistics(place, by_score=by_score)
        )
        known[side] = statistics[:, -1] > 0
        if place is not None:
            of_setup = figures_of_setup(statistics, material.dialogs)
            figures |= {f"{side}_{name}": figure for name, figure in of_setup.items()}
    of_mix = () if mixed is None else mixed.places
    taking_part = {*of_mix, *(place for place in places.values() if place is not None)}
    dots = {side: None if place is None else material.dots[place] for side, place in places.items()}
    golden, other = dots["golden"], dots["non_evidence"]
    make = partial(
        RestrictedRow,
        share=share,
        golden_dialog_share=_real(golden, "dialog_share"),
        golden_evidence_share=_real(golden, "evidence_share"),
        golden_off_budget=_real(golden, "off_budget"),
        non_evidence_dialog_share=_real(other, "dialog_share"),
        non_evidence_evidence_share=_real(other, "evidence_share"),
        non_evidence_off_budget=_real(other, "off_budget"),
        n=int((known["golden"] & known["non_evidence"]).sum()),
        n_golden=int(known["golden"].sum()),
        n_non_evidence=int(known["non_evidence"].sum()),
        n_mixed=None if mixed is None else mixed.n,
        is_rated_in_part=any_in_part(material.dots, taking_part),
        k=recalls.k,
        recall_at_1=number(recalls.at_1),
        recall_at_k=number(recalls.at_k),
        share_of_top_k=None if mixed is None else mixed.share_of_top_k,
        golden_between=_between_in_words(mixed),
        why=_why(mixed, recalls),
        golden_setup=golden.setup.name if golden else None,
        non_evidence_setup=other.setup.name if other else None,
    )
    return Planned(make, figures | _mixed_figures(mixed, material))


def _mixed_figures(mixed: Mixed | None, material: TradeoffMaterial) -> dict[str, Statistic]:
    """Return the figures of a mix that are measured; those of each axis are sums of shares."""
    if mixed is None:
        return {}
    figures = {
        name: Statistic(mixed.statistics, material.dialogs, measure)
        for name, measure in figures_of(mixed.mixing).items()
        if mixed.golden_between is not None or name.startswith("top_1")
    }
    if not are_shares(mixed.statistics):
        return figures
    for name in figures.keys() & {"top_1_f1", "top_k_f1"}:
        figures[name] = figures[name]._replace(measure=InRange(figures[name].measure))
    for mix, weights in weights_of(mixed.mixing).items():
        counted = [(place, weight) for place, weight in enumerate(weights) if weight]
        measure = MixOfShares(tuple(weight for _, weight in counted))
        for column, share in enumerate(("attribution", "sensibleness")):
            name = f"{mix}_{share}"
            if name in figures and not math.isnan(sum(weights)):
                own = [WIDTH * place + each for place, _ in counted for each in (column, WIDTH - 1)]
                figures[name] = Statistic(mixed.statistics[:, own], material.dialogs, measure)
    return figures


def _real(dot: Dot | None, name: str) -> float | None:
    return None if dot is None else number(getattr(dot, name))


def _between_in_words(mixed: Mixed | None) -> str | None:
    """Return the measured shares that golden(s') is made of: '0.4', '0.4 and 0.6', None."""
    if mixed is None or mixed.golden_between is None:
        return None
    below, above, _ = mixed.golden_between
    return f"{below:g}" if below == above else f"{below:g} and {above:g}"


def _why(mixed: Mixed | None, recalls: Recalls) -> str:
    """Return why a mix is undefined; "" if nothing is undefined."""
    if mixed is None:
        return "one curve alone"
    if not mixed.n:
        return "no example has values for all setups"
    if not recalls.are_known:
        return "recall is not known"
    if mixed.golden_between is None:
        return f"golden evidence is not measured at {mixed.share_of_top_k:.0%}"
    return ""


def _left_out(material: TradeoffMaterial, curves: Curves, *, by_score: bool) -> LeftOut:
    """Return what the report leaves out.

    What no axis can use is counted over all setups in the material.
    """
    unlabelled = one_side = 0
    has_response = material.responses != NO_RESPONSE
    for place in curves.places:
        is_known = material.statistics(place, by_score=by_score)[:, -1] > 0
        unlabelled += int((has_response[place] & ~is_known).sum())
    for share in curves.shares:
        golden, other = curves.golden[share], curves.non_evidence[share]
        one_side += int((has_response[golden] ^ has_response[other]).sum())
    return {
        **material.left_out,
        "responses_without_both_values": unlabelled,
        "examples_answered_on_one_curve_alone": one_side,
        "shares_of_one_curve_alone": len(curves.golden.keys() ^ curves.non_evidence.keys()),
        "setups_without_values": curves.n_unlabelled_setups,
        "setups_with_other_settings": curves.n_other_setups,
    }


PREFIX = "restricted-"  # prefix of the keys of its prompts


class RestrictedChoices(NamedTuple):
    """The curves to show, and the recalls of the lines; a recall that is not typed is measured."""

    axes: AxesChoices = AxesChoices()
    pair: Annotated[
        str, Choice("Setups", help="Key of the two curves, as the page's address has it.")
    ] = ""
    by_score: ByScore = False
    k: Annotated[
        int, Choice("k", help="The number of passages of top k.", low=2, high=MOST_FACTS)
    ] = USUAL_K
    recall_1: Annotated[
        float | None,
        Choice("Recall@1", help="A recall@1 of your own.", low=0, high=1, usual="measured"),
    ] = None
    recall_k: Annotated[
        float | None,
        Choice("Recall@k", help="A recall@k of your own.", low=0, high=1, usual="measured"),
    ] = None


def restricted_setups(dataset: Dataset) -> set[int]:
    """Return the ids of the setups with restricted context that have responses."""
    there = dataset.setups.filter(prompt__startswith=PREFIX, responses__isnull=False)
    return set(there.values_list("pk", flat=True))


def _chosen_report(dataset: Dataset, choices: RestrictedChoices) -> Report[RestrictedRow]:
    axes, key, by_score, k, at_1, at_k = choices
    setups = restricted_setups(dataset)
    if not setups:
        raise CannotReport(f"{dataset.name} has no responses with restricted context.")
    material = material_of(dataset, chosen_axes(dataset, axes), setups)
    by_key = {pair.key: pair for pair in restricted_pairs(material)}
    if key:
        check_known("pair", key, by_key)
    pair = by_key[key] if key else next(iter(by_key.values()), None)
    curves = pair and curves_of(material, *pair, by_score=by_score)
    if not curves:
        raise CannotReport(f"{dataset.name} has no scores of restricted context yet.")
    recalls = typed_or_measured(material, curves, k, at_1, at_k)
    return restricted_report(material, curves, recalls, by_score=by_score)


RESTRICTED = ReportKind(
    key="restricted",
    title="Restricted context",
    lede="Shows what happens if evidence replaces dialog, and what retrieval would change.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.RESTRICTED,
    portable=portable_axes,
    choices=RestrictedChoices,
    make=_chosen_report,
    rows=(RestrictedRow,),
)
