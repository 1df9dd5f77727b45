"""Restricted context as curves, and the lines of simulated retrieval between them ([A] 7.4)."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.measures.recall_mixing import (
    GOLDEN,
    NON_EVIDENCE,
    Between,
    PointMixing,
    between,
    golden_of_top_k_from,
    in_all,
    mixed,
    point_from,
    share_of_top_k,
    top_1_from,
)
from evaluation.statistics.intervals import Floats
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.titles import EARLIER_RULE
from generation.grids.prompt_choices import EVIDENCE_SHARE
from generation.model_sizes import by_size
from generation.text.temperatures import temperature_text

NEXT_BEST = "next-best"
NON_EVIDENCE_KINDS = (NEXT_BEST, "random")  # evidence that is not golden, the usual first
# The settings that say which passages are shown; golden passages are always the same.
_ABOUT_PASSAGES = frozenset({"ranking", "query", "idf", "k1", "b", "seed"})


class RecallLine(NamedTuple):
    """A line of the figure, through points in its units."""

    points: tuple[tuple[float, float], ...]  # attribution, sensibleness; both in [0, 1]
    style: str  # golden, non-evidence, top-1, top-1-mark, top-k, top-k-mark
    label: str
    model: str = ""  # the model of the setups on a curve
    ends: tuple[str, str] = ("", "")  # what stands at the beginning and at the end of a curve
    share: float | None = None  # the dialog share asked for that retrieval is simulated at


class RestrictedPair(NamedTuple):
    """The setups of restricted context that are compared: with golden evidence and non-evidence."""

    model: str
    temperature: float | None
    non_evidence: str  # one of `NON_EVIDENCE_KINDS`
    settings: str | None = ""  # the settings in words; "": all usual; None: those with most shares

    @property
    def key(self) -> str:
        """The key of the pair in addresses and commands."""
        temperature = "" if self.temperature is None else f"{self.temperature:g}"
        settings = f" ({self.settings})" if self.settings else ""
        return f"{self.non_evidence}/{temperature}/{self.model}{settings}"

    @property
    def is_of_earlier_rule(self) -> bool:
        return EARLIER_RULE in (self.settings or "")

    @property
    def label(self) -> str:
        """The pair in one line, for labels and choices."""
        asked = self.temperature
        temperature = "" if asked is None else f", T {temperature_text(asked)}"
        settings = f" ({self.settings})" if self.settings else ""
        return f"{self.model}{temperature}, {self.non_evidence} non-evidence{settings}"


class Curves(NamedTuple):
    """The two curves of a pair: dialog share asked for → place of the setup in a material.

    A share is on only one of the curves while the setup of the other has no labels.
    """

    pair: RestrictedPair
    golden: Mapping[float, int]
    non_evidence: Mapping[float, int]
    n_other_setups: int = 0  # same model and evidence with other settings, left out
    n_unlabelled_setups: int = 0  # setups of this pair without a known example

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares that both curves have, from the whole dialog to none of it."""
        return tuple(sorted(self.golden.keys() & self.non_evidence.keys(), reverse=True))

    @property
    def places(self) -> tuple[int, ...]:
        """The marks of both curves, each once."""
        return tuple(dict.fromkeys((*self.golden.values(), *self.non_evidence.values())))

    @property
    def is_one_at_whole(self) -> bool:
        """Whether one setup with the whole dialog, and no evidence, is on both curves."""
        return 1.0 in self.golden and self.golden[1.0] == self.non_evidence.get(1.0)


class _Group(NamedTuple):
    """Setups of one pair that agree in every setting that can differ in their prompts."""

    settings: str
    places: frozenset[int]
    is_of_earlier_rule: bool

    def by_share(
        self, material: TradeoffMaterial, evidence: str, among: Collection[int]
    ) -> dict[float, int]:
        """Return the places of the setups with one kind of evidence, by dialog share from 1 to 0.

        Of several setups with the same share, the first by name is taken.
        """
        found: dict[float, int] = {}
        for place in sorted(self.places & set(among)):
            kind = material.dots[place].kind
            if kind is not None and kind.dialog_share is not None and kind.evidence == evidence:
                found.setdefault(kind.dialog_share, place)
        return dict(sorted(found.items(), reverse=True))


def restricted_pairs(material: TradeoffMaterial) -> list[RestrictedPair]:
    """Return the pairs that can be drawn, in the order in which they are offered.

    A pair has golden evidence and non-evidence at one share at least, from setups that agree in all
    other settings. Scored pairs come first, then the largest model, the lowest temperature, and
    next-best non-evidence. Of several settings, those with most such shares come first. Prompts of
    an earlier rule come after all others.
    """
    models = {
        (dot.setup.model, dot.setup.temperature) for dot in material.dots if dot.is_restricted
    }
    sizes = by_size(
        (dot.setup.model, dot.setup.n_parameters) for dot in material.dots if dot.is_restricted
    )
    known = [
        place
        for place, dot in enumerate(material.dots)
        if dot.is_restricted
        if any(material.statistics(place, by_score=each).any() for each in (False, True))
    ]
    found: list[tuple[tuple[Any, ...], RestrictedPair]] = []
    for model, temperature in models:
        for number, kind in enumerate(NON_EVIDENCE_KINDS):
            for group in _groups(material, RestrictedPair(model, temperature, kind)):
                n_shares, n_setups = _size(material, group, kind, range(len(material.dots)))
                if not n_shares:
                    continue
                n_known, _ = _size(material, group, kind, known)
                order = (
                    group.is_of_earlier_rule,
                    not n_known,
                    -sizes.index(model),
                    math.inf if temperature is None else temperature,
                    number,
                    -n_shares,
                    -n_setups,
                    group.settings,
                )
                found.append((order, RestrictedPair(model, temperature, kind, group.settings)))
    return [pair for _, pair in sorted(found)]


def curves_of(
    material: TradeoffMaterial,
    model: str,
    temperature: float | None = 0.0,
    non_evidence: str = NEXT_BEST,
    settings: str | None = None,
    *,
    by_score: bool = False,
) -> Curves | None:
    """Return the curves of a model's restricted context; None where nothing of it is known.

    All setups of both curves agree in their settings (position, tokens, ...). The setups of
    non-evidence also agree in how their passages are chosen. With the whole dialog no evidence is
    shown. If non-evidence has no setup there, the setup of golden evidence is on both curves.

    Args:
        settings: the settings of a pair in words; None: those of today's rule before an earlier
            rule, then those with the most shares on both curves, then the most setups, then the
            first by name.
        by_score: whether mean scores count instead of shares labelled yes.
    """
    pair = RestrictedPair(model, temperature, non_evidence, settings)
    groups = [each for each in _groups(material, pair) if settings in (None, each.settings)]
    known = [
        place
        for place, dot in enumerate(material.dots)
        if _is_of(dot, pair) and material.statistics(place, by_score=by_score).any()
    ]
    groups = [each for each in groups if each.places & set(known)]
    if not groups:
        return None
    chosen = max(
        groups,
        key=lambda each: (
            not each.is_of_earlier_rule,
            *_size(material, each, non_evidence, known),
        ),
    )
    golden, other = (chosen.by_share(material, kind, known) for kind in ("golden", non_evidence))
    n_all = sum(_is_of(dot, pair) for dot in material.dots)
    n_unlabelled = len(chosen.places - set(known))
    n_others = n_all - len(golden) - len(other) - n_unlabelled
    if other and 1.0 in golden and 1.0 not in other:
        other = {1.0: golden[1.0]} | other
    return Curves(pair._replace(settings=chosen.settings), golden, other, n_others, n_unlabelled)


def _groups(material: TradeoffMaterial, pair: RestrictedPair) -> list[_Group]:
    """Return the setups of a pair in groups by their settings; no group is a part of another.

    A setting that changes nothing in a prompt (the position of passages where there are none, the
    query where they are golden) does not count for its setup. Such a setup is in every group that
    agrees with it otherwise.
    """
    places = [place for place, dot in enumerate(material.dots) if _is_of(dot, pair)]
    found: dict[frozenset[int], _Group] = {}
    for settings in [material.dots[place].settings for place in places]:
        of_settings = frozenset(
            place for place in places if _has_settings(material.dots[place], settings)
        )
        is_earlier = any(material.dots[place].is_of_earlier_rule for place in of_settings)
        words = _in_words(settings, is_earlier=is_earlier)
        found.setdefault(of_settings, _Group(words, of_settings, is_earlier))
    return [each for each in found.values() if not any(each.places < other for other in found)]


def _size(
    material: TradeoffMaterial, group: _Group, non_evidence: str, among: Collection[int]
) -> tuple[int, int]:
    """Return how many shares both sides of a group have in common, and how many in sum."""
    golden = group.by_share(material, "golden", among)
    other = group.by_share(material, non_evidence, among)
    return len(golden.keys() & other.keys()), len(golden) + len(other)


def _is_of(dot: Dot, pair: RestrictedPair) -> bool:
    return (
        dot.kind is not None
        and dot.kind.dialog_share is not None
        and (dot.setup.model, dot.setup.temperature) == (pair.model, pair.temperature)
        and dot.kind.evidence in ("golden", pair.non_evidence)
    )


def _has_settings(dot: Dot, settings: Mapping[str, Any]) -> bool:
    """Whether a mark has these settings, as far as they can change anything in its prompts."""
    kind = dot.kind
    assert kind is not None
    without: set[str] = set()
    if kind.evidence == "golden" or not kind.shows_passages:
        without |= _ABOUT_PASSAGES
    if kind.dialog_share == 0 or not kind.shows_passages:
        without.add("position")
    if not kind.cuts_evidence:
        without.add(EVIDENCE_SHARE)

    def mattering(of: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in of.items() if name not in without}

    return mattering(dot.settings) == mattering(settings)


def _in_words(settings: Mapping[str, Any], *, is_earlier: bool) -> str:
    said = [f"{name} {value}" for name, value in sorted(settings.items()) if name != EVIDENCE_SHARE]
    return ", ".join([*said, *([EARLIER_RULE] if is_earlier else [])])


# --- mixing ---------------------------------------------------------------------------------


class Mixed(NamedTuple):
    """The mix at one dialog share, with the statistics of its setups side by side."""

    share: float  # s, the share asked for
    share_of_top_k: float  # s'
    golden_between: Between | None  # the measured shares around s'; None: there are none
    mixing: PointMixing
    # (n_examples, 12), see `evaluation.measures.recall_mixing`; zeros where one setup is not known
    statistics: Floats
    places: tuple[int, ...]  # setups that are mixed

    @property
    def n(self) -> int:
        """The number of examples that are known of all setups that are mixed."""
        return int((self.statistics[:, -1] > 0).sum())


def mixed_at(
    material: TradeoffMaterial, curves: Curves, recalls: Recalls, *, by_score: bool = False
) -> list[Mixed]:
    """Return the mix at each share that both curves have; all its setups have the same examples."""
    return [
        _mixed_at(material, curves, recalls, share, by_score=by_score) for share in curves.shares
    ]


def _mixed_at(
    material: TradeoffMaterial, curves: Curves, recalls: Recalls, share: float, *, by_score: bool
) -> Mixed:
    of_top_k = share_of_top_k(share, recalls.k)
    found = between(of_top_k, curves.golden)
    golden = curves.golden[share]
    below, above = (
        (golden, golden)
        if found is None
        else (curves.golden[found.below], curves.golden[found.above])
    )
    places = (golden, curves.non_evidence[share], below, above)
    return Mixed(
        share,
        of_top_k,
        found,
        PointMixing(recalls.at_1, recalls.at_k, math.nan if found is None else found.weight),
        in_all([material.statistics(place, by_score=by_score) for place in places]),
        places,
    )


# --- lines ----------------------------------------------------------------------------------


def lines_of(
    material: TradeoffMaterial,
    curves: Curves,
    recalls: Recalls,
    with_top_k: bool,
    *,
    by_score: bool = False,
) -> list[RecallLine]:
    """Return the lines of figures 4 and 5; lines that are not defined are left out.

    Two curves go along the setups (styles `golden` and `non-evidence`). At each share a line goes
    from non-evidence to golden (`top-1`), with its point at recall@1 (`top-1-mark`, a line of one
    point). With top k another line goes from non-evidence to golden at s' (`top-k`), with its point
    at recall@k (`top-k-mark`). A curve is over each setup's own examples. The other lines are over
    the examples known of all setups that are mixed, so they end beside the marks where some
    examples lack a label.

    Curves say at their ends what is kept of dialog and evidence; if both begin at one setup, only
    golden says so.

    Args:
        by_score: whether mean scores count instead of shares labelled yes.
    """
    model = curves.pair.model

    def points(places: Iterable[int]) -> list[Floats]:
        sums = [material.statistics(each, by_score=by_score).sum(axis=0) for each in places]
        return [point_from(each) for each in sums]

    non_evidence = f"{curves.pair.non_evidence.capitalize()} non-evidence"
    if curves.pair.settings:
        non_evidence += f" ({curves.pair.settings})"
    found = [
        _line(points(curves.golden.values()), "golden", "Golden evidence")._replace(
            model=model, ends=_ends(curves.golden, "all evidence")
        ),
        _line(points(curves.non_evidence.values()), "non-evidence", non_evidence)._replace(
            model=model,
            ends=_ends(curves.non_evidence, "non-evidence", is_begun=curves.is_one_at_whole),
        ),
    ]
    for each in mixed_at(material, curves, recalls, by_score=by_score):
        sums = each.statistics.sum(axis=0)
        golden, other = point_from(sums[GOLDEN]), point_from(sums[NON_EVIDENCE])
        at_share = dialog_kept(each.share)
        here = [
            _line([other, golden], "top-1", f"Top 1, {at_share}"),
            _line(
                [top_1_from(sums, each.mixing)],
                "top-1-mark",
                f"Top 1, {at_share}, recall@1 {recalls.at_1:.0%}",
            ),
        ]
        if with_top_k:
            end = golden_of_top_k_from(sums, each.mixing)
            left = f"{100 * each.share_of_top_k:.0f}\u00a0%"
            label = f"Top {recalls.k}, {at_share}, {left} with {recalls.k} passages"
            here += [
                _line([other, end], "top-k", label),
                _line(
                    [mixed(end, other, recalls.at_k)],
                    "top-k-mark",
                    f"{label}, recall@{recalls.k} {recalls.at_k:.0%}",
                ),
            ]
        found += [line._replace(share=each.share) for line in here]
    return [line for line in found if line.points]


def dialog_kept(share: float) -> str:
    """Return in words how much of the dialog a prompt keeps."""
    return f"{100 * share:.0f}\u00a0% of the dialog kept"


def _ends(curve: Mapping[float, int], evidence: str, *, is_begun: bool = False) -> tuple[str, str]:
    """Return what is said at both ends of a curve, from the most of the dialog to the least.

    Args:
        evidence: what a prompt without any dialog shows.
        is_begun: whether another curve says what its beginning is.
    """
    most, least = max(curve, default=1.0), min(curve, default=1.0)
    start = "all dialog, no evidence" if most == 1 else dialog_kept(most)
    end = f"no dialog, {evidence}" if least == 0 else dialog_kept(least)
    return "" if is_begun else start, end if least < most else ""


def _line(points: Sequence[Floats], style: str, label: str) -> RecallLine:
    """Return a line through the points that are defined; a straight line needs all of them."""
    known = [(float(x), float(y)) for x, y in points if not (np.isnan(x) or np.isnan(y))]
    is_curve = style in ("golden", "non-evidence")
    return RecallLine(tuple(known) if is_curve or len(known) == len(points) else (), style, label)
