"""Menus of axes: those of a side come first, and each is called by what differs in its group.

This module makes no queries.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from evaluation.runs.main_metrics import Side
from evaluation.runs.names import distinct_names
from evaluation.tradeoffs.axes import Axis

AxisMenu = dict[str, dict[str, str]]  # title of a group → key of an axis → its name


def axis_menu(axes: Sequence[Axis], side: Side, unfit: Collection[int] = ()) -> AxisMenu:
    """Return the groups of a menu of axes for one side, without empty groups.

    Args:
        axes: the axes.
        side: the side.
        unfit: ids of runs that are unfit for these data, which their names say.
    """
    of_side = f"Metrics of {side.name}", f"Raters on {side.name}"
    others = "Other metrics", "Other questions to raters"
    found: dict[str, list[Axis]] = {title: [] for title in (*of_side, *others)}
    for axis in axes:
        metrics, raters = of_side if axis.shows(side) else others
        found[raters if axis.is_human else metrics].append(axis)
    return {
        title: {
            axis.key: f"{name} (unfit)" if axis.run and axis.run.pk in unfit else name
            for axis, name in zip(some, names_among(some), strict=True)
        }
        for title, some in found.items()
        if some
    }


def names_among(axes: Sequence[Axis]) -> list[str]:
    """Return a distinct name for each axis, of the parts in which axes that show the same differ.

    Of two runs of Auto-AIS that differ only in their evidence, one is 'Auto-AIS, golden evidence'.
    A question begins with its key, so that you find it in a menu by typing. Studies are called by
    the words that differ, and come last, as they are long.
    """
    studies = short_names(axis.arm.study.name for axis in axes if axis.arm)
    named = []
    for axis in axes:
        parts, signature = axis.parts, axis.run.full_signature if axis.run else ""
        if axis.arm and axis.question:
            parts = axis.question.key, f"{axis.arm} arm", studies[axis.arm.study.name]
        named.append((", ".join(parts), signature))
    return distinct_names(named)


def short_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return each name without the words that all of them begin or end with.

    All names stay whole if one of them would become empty.
    """
    words = {name: name.split() for name in names}
    n_first = _n_equal(words.values())
    n_last = _n_equal(each[::-1] for each in words.values())
    short = {name: " ".join(each[n_first : len(each) - n_last]) for name, each in words.items()}
    return short if all(short.values()) else {name: name for name in words}


def _n_equal(several: Iterable[Sequence[str]]) -> int:
    """Return how many words at the start are the same in all sequences."""
    return sum(1 for _ in takewhile(lambda words: len({*words}) == 1, zip(*several, strict=False)))
