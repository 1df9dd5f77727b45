"""Which axes an aggregate was chosen by: what chose it makes it look better than it is."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.measures.reranking import MAX_ATTRIBUTION
from evaluation.reports.report import ReportRow
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.dots import Dot

# What `Axis.said` is where people answer: their study, arm and question, and how votes make a yes.
_RATERS = re.compile(r"^raters of (.*), [^,]+ arm, ([^,:]+): .*$", re.DOTALL)
# What parts of the signature of a run begin with: the revision of its model, its threshold.
_REVISION, _THRESHOLD = "revision:", ("t:", "t>=:")

# What columns of reports begin with; 'x' and 'y' follow.
FLATTERED, SAME_METRIC = "is_flattered", "is_same_metric"


@dataclass(frozen=True, kw_only=True)
class Marks(ReportRow):
    """Which axes, attribution (x) and sensibleness (y), show what chose the responses of a row.

    Or show the same metric, asked of another model.
    """

    is_flattered_x: bool
    is_flattered_y: bool
    is_same_metric_x: bool
    is_same_metric_y: bool


NO_MARKS = Marks(
    is_flattered_x=False, is_flattered_y=False, is_same_metric_x=False, is_same_metric_y=False
)


class Chooser(NamedTuple):
    """Who gives the scores of an axis, whatever its options, evidence, precision and threshold."""

    what: str  # a metric, or the study and the question that raters answer
    # What the metric's model is called by: its name, its revision. None of raters, nor of a run
    # that does not say it.
    models: frozenset[str] = frozenset()

    def is_same(self, other: "Chooser") -> bool:
        """Whether both are the same metric and model, or raters of one study on one question.

        A checkpoint is the same by its name or by its revision. Where a run does not say who
        computed it, nothing says that it was another model: it counts as the same.
        """
        is_one_model = not self.models or not other.models or bool(self.models & other.models)
        return self.what == other.what and is_one_model


def chooser_of(said: str) -> Chooser:
    """Return who gives the scores of an axis.

    Args:
        said: of the axis (`Axis.said`), or what an aggregate has kept of it. The model stands
            first in the signature of a run, behind the key of the metric if that is there.
    """
    if raters := _RATERS.match(said):
        study, question = raters.groups()
        return Chooser(f"raters of {study}: {question}")
    metric, _, signature = said.partition(": ")
    parts = [part for part in signature.split("|") if part and not part.startswith(_THRESHOLD)]
    if parts[:1] == [metric]:
        del parts[0]
    revisions = [part for part in parts[1:] if part.startswith(_REVISION)]
    return Chooser(metric, frozenset([*parts[:1], *revisions]))


def chosen_by(dot: Dot) -> dict[str, str]:
    """Return what chose the responses of an aggregate, by axis; nothing of other setups.

    A metric that has no part in the function's first score (no weight, or sensibleness for the
    highest attribution) is among them where it decided between equals in one example and more.
    """
    if not dot.is_aggregate:
        return {}
    return {
        name: str(dot.settings[name])
        for name, weight in _weights(dot).items()
        if (weight or dot.n_ties) and name in dot.settings
    }


def _weights(dot: Dot) -> Mapping[str, float]:
    """Return how much each axis counts, by its name; 0 where it decides between equals alone."""
    sensibleness, attribution = dot.settings.get("weights") or (1.0, 1.0)
    if dot.settings.get("function") == MAX_ATTRIBUTION:
        sensibleness = 0.0
    return {"attribution": attribution, "sensibleness": sensibleness}


def flattered(dot: Dot, axes: Axes) -> tuple[bool, bool]:
    """Return of each axis, attribution and sensibleness, whether it shows what chose."""
    return flatters(chosen_by(dot).values(), axes)


def flatters(choosing: Iterable[str], judging: Axes) -> tuple[bool, bool]:
    """Return of each axis that judges, whether its metric and model, or its raters, also chose.

    Scores by other options, against other evidence, in another precision or at another threshold
    err alike, so they are the same, whichever of the two sides they chose for.

    Args:
        choosing: what chose, as `Axis.said`.
    """
    choosers = [chooser_of(said) for said in choosing]
    attribution, sensibleness = (chooser_of(axis.said) for axis in judging)
    return any(map(attribution.is_same, choosers)), any(map(sensibleness.is_same, choosers))


def by_same_metric(choosing: Iterable[str], judging: Axes) -> tuple[bool, bool]:
    """Return of each axis that judges, whether its metric chose, asked of another model alone.

    Such an axis is no second metric: errors that both models make still flatter.

    Args:
        choosing: what chose, as `Axis.said`.
    """
    said = list(choosing)
    metrics = {chooser_of(each).what for each in said}
    x, y = (chooser_of(axis.said).what in metrics for axis in judging)
    is_flattered_x, is_flattered_y = flatters(said, judging)
    return x and not is_flattered_x, y and not is_flattered_y


def marks_of(choosing: Iterable[str], judging: Axes) -> Marks:
    """Return `flatters` and `by_same_metric` as columns of reports have them."""
    said = list(choosing)
    is_flattered, is_same_metric = flatters(said, judging), by_same_metric(said, judging)
    return Marks(
        is_flattered_x=is_flattered[0],
        is_flattered_y=is_flattered[1],
        is_same_metric_x=is_same_metric[0],
        is_same_metric_y=is_same_metric[1],
    )


def sides_marked(marks: Marks, mark: str) -> list[str]:
    """Return the sides that a row of a report is marked for: attribution, sensibleness.

    Args:
        mark: `FLATTERED` or `SAME_METRIC`.
    """
    return [
        name
        for name, axis in zip(Axes._fields, "xy", strict=True)
        if getattr(marks, f"{mark}_{axis}")
    ]


def marked_in_any(marks: Iterable[Marks], mark: str) -> list[str]:
    """Return the sides that one row or more of a report is marked for, see `sides_marked`."""
    found = {name for each in marks for name in sides_marked(each, mark)}
    return [name for name in Axes._fields if name in found]


def short_of(said: str) -> str:
    """Return the metric of a run, or the question and study of raters, of an `Axis.said`."""
    raters = _RATERS.match(said)
    return said[: raters.end(2)] if raters else said.partition(":")[0]
