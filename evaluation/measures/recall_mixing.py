"""Restricted context: the figures that a retriever with a known recall would reach.

See [A] 7.4, figures 4 and 5. Setups that keep the share s of the dialog's tokens and 1 - s of the
evidence's tokens are measured twice: with golden evidence, and with evidence that is not golden. A
retriever's recall@1, X, is the mean share of an example's golden passages that it finds first. The
retriever is assumed to show golden evidence for the share X of the examples. Its point is then
between the two:

    X · golden(s) + (1 - X) · non-evidence(s)

This holds for both shares, attribution and sensibleness. A retriever that shows k passages finds
the share recall@k of the golden passages and needs k times as many tokens for evidence. With s'
given by 1 - s' = min(1, k (1 - s)), its point is

    recall@k · golden(s') + (1 - recall@k) · non-evidence(s)

(our reading of the red lines). F1 is computed from the mixed shares. If s' is between two measured
shares, golden(s') is on the straight line between their points. Outside the measured shares it is
undefined.

The statistics of one example are side by side, each in the form of `evaluation.measures.tradeoff`:
golden(s), non-evidence(s), golden at the measured share below s', golden at the measured share
above s'. An example that is not known in all four has zeros (`in_all`). All figures are computed
from the sums of these rows, so that one resample of dialogs serves all figures.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from evaluation.measures.tradeoff import WIDTH, attribution_from, f1, sensibleness_from
from evaluation.statistics.intervals import Floats, Measure

SAME = 1e-9  # shares that differ by less are taken as equal
# The columns of each setup in the statistics of an example.
GOLDEN, NON_EVIDENCE, BELOW, ABOVE = (slice(WIDTH * n, WIDTH * (n + 1)) for n in range(4))


class Between(NamedTuple):
    """A share between two measured shares: (1 - weight) · below + weight · above."""

    below: float
    above: float
    weight: float  # in [0, 1]


class PointMixing(NamedTuple):
    """The recalls and the weight by which points are mixed at one dialog share."""

    at_1: float  # recall@1, in [0, 1]
    at_k: float  # recall@k, in [0, 1]
    weight: float  # the weight of golden `ABOVE`; NaN: golden(s') is not known


PointFrom = Callable[[Floats, PointMixing], Floats]  # takes sums (..., 12), returns (..., 2)


def share_of_top_k(share: float, k: int) -> float:
    """Return s', the dialog share that k passages leave: 1 - s' = min(1, k (1 - s)).

    Args:
        share: s, in [0, 1].
        k: number of passages, 1 or more.

    Raises:
        ValueError: `share` or `k` is out of its range.
    """
    if not 0 <= share <= 1 or k < 1:
        raise ValueError(f"share {share} and k {k}, expected a share in [0, 1] and k of 1 or more")
    return round(1 - min(1.0, k * (1 - share)), 9)  # gives 0.4, not 0.39999999999999997


def between(share: float, measured: Collection[float]) -> Between | None:
    """Return the measured shares around a share; None if it is outside of them."""
    for each in measured:
        if abs(each - share) < SAME:
            return Between(each, each, 0.0)
    below = max((each for each in measured if each < share), default=None)
    above = min((each for each in measured if each > share), default=None)
    if below is None or above is None:
        return None
    return Between(below, above, (share - below) / (above - below))


def in_all(setups: Sequence[Floats]) -> Floats:
    """Return the statistics of setups side by side, over the examples known in all of them.

    Args:
        setups: the statistics of each setup, (n_examples, 3).

    Returns:
        The statistics, (n_examples, 3 · setups), with zeros for the other examples.
    """
    is_known = np.all([statistics[:, -1] > 0 for statistics in setups], axis=0)
    return np.where(is_known[:, np.newaxis], np.hstack(list(setups)), 0.0)


def point_from(sums: Floats) -> Floats:
    """Return attribution and sensibleness of one setup from its sums: (..., 3) to (..., 2)."""
    return np.stack([attribution_from(sums), sensibleness_from(sums)], axis=-1)


def mixed(golden: Floats, other: Floats, recall: float) -> Floats:
    """Return recall · golden + (1 - recall) · other, for points (..., 2)."""
    return recall * golden + (1 - recall) * other


def top_1_from(sums: Floats, mixing: PointMixing) -> Floats:
    """Return the point of a retriever that shows one passage, from sums (..., 12) to (..., 2)."""
    return mixed(point_from(sums[..., GOLDEN]), point_from(sums[..., NON_EVIDENCE]), mixing.at_1)


def golden_of_top_k_from(sums: Floats, mixing: PointMixing) -> Floats:
    """Return the point golden(s'), at which the line of top k ends: (..., 12) to (..., 2)."""
    if math.isnan(mixing.weight):
        return np.full((*sums.shape[:-1], 2), math.nan)
    return mixed(point_from(sums[..., ABOVE]), point_from(sums[..., BELOW]), mixing.weight)


def top_k_from(sums: Floats, mixing: PointMixing) -> Floats:
    """Return the point of a retriever that shows k passages, from sums (..., 12) to (..., 2)."""
    golden = golden_of_top_k_from(sums, mixing)
    return mixed(golden, point_from(sums[..., NON_EVIDENCE]), mixing.at_k)


def figures_of(mixing: PointMixing) -> Mapping[str, Measure]:
    """Return the figures of top 1, of top k, and of top k minus top 1, by name.

    Each takes sums (..., 12) and returns (...). F1 is computed from mixed shares; it is not mixed
    itself.
    """

    figures: dict[str, Measure] = {}
    for name, share in _SHARES.items():
        figures[f"top_1_{name}"] = partial(_figure, mixing=mixing, point=top_1_from, share=share)
        figures[f"top_k_{name}"] = partial(_figure, mixing=mixing, point=top_k_from, share=share)
        figures[f"delta_{name}"] = partial(_delta, mixing=mixing, share=share)
    return figures


def weights_of(mixing: PointMixing) -> Mapping[str, tuple[float, ...]]:
    """Return the weights by which the shares of the four setups are added up.

    The keys are the beginnings of figures' names. The weights are in the order of the statistics:
    golden(s), non-evidence(s), golden below s', golden above s'. A weight is NaN where a recall or
    golden(s') is not known.
    """
    at_1, at_k, above = mixing
    top_1 = (at_1, 1 - at_1, 0.0, 0.0)
    top_k = (0.0, 1 - at_k, at_k * (1 - above), at_k * above)
    difference = tuple(k - one for k, one in zip(top_k, top_1, strict=True))
    return {"top_1": top_1, "top_k": top_k, "delta": difference}


def _figure(sums: Floats, mixing: PointMixing, point: PointFrom, share: Measure) -> Floats:
    return share(point(sums, mixing))


def _delta(sums: Floats, mixing: PointMixing, share: Measure) -> Floats:
    return share(top_k_from(sums, mixing)) - share(top_1_from(sums, mixing))


def _attribution_of(point: Floats) -> Floats:
    return point[..., 0]


def _sensibleness_of(point: Floats) -> Floats:
    return point[..., 1]


def _f1_of(point: Floats) -> Floats:
    return f1(point[..., 0], point[..., 1])


_SHARES: Mapping[str, Measure] = {
    "attribution": _attribution_of,
    "sensibleness": _sensibleness_of,
    "f1": _f1_of,
}


class Course(NamedTuple):
    """The course of a curve of setups against the curves of equal F1 (takeaway 4 of [A])."""

    n_points: int  # number of points that have an F1
    lowest_f1: float
    highest_f1: float
    attribution_range: float  # highest minus lowest
    sensibleness_range: float
    n_steps: int  # number of steps between neighbours that are both known
    n_opposed: int  # number of steps in which one share rises and the other falls

    @property
    def f1_range(self) -> float:
        """The highest minus the lowest F1: 0 on a curve of equal F1, NaN without points."""
        return self.highest_f1 - self.lowest_f1


def course_of(points: Floats) -> Course:
    """Return the course of a curve.

    Small changes of F1 together with large changes of the shares are a trade-off.

    Args:
        points: attribution and sensibleness in the order of the curve, (n, 2); NaN unknown.
    """
    known = points[~np.isnan(points).any(axis=1)]
    f1s = f1(known[:, 0], known[:, 1])
    with_f1 = f1s[~np.isnan(f1s)]
    steps = np.diff(points, axis=0)
    steps = steps[~np.isnan(steps).any(axis=1)]
    attribution_range, sensibleness_range = np.ptp(known, axis=0) if len(known) else [math.nan] * 2
    return Course(
        n_points=len(with_f1),
        lowest_f1=float(with_f1.min()) if len(with_f1) else math.nan,
        highest_f1=float(with_f1.max()) if len(with_f1) else math.nan,
        attribution_range=float(attribution_range),
        sensibleness_range=float(sensibleness_range),
        n_steps=len(steps),
        n_opposed=int((steps[:, 0] * steps[:, 1] < 0).sum()),
    )
