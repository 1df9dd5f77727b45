"""The axes that flatter an aggregate: a metric that chose responses makes them look too good."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.measures.reranking import MAX_ATTRIBUTION
from evaluation.measures.ssa import QUESTIONS, SSA
from evaluation.reports.report import ReportRow
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.dots import Dot

# The form of `Axis.said` for raters: study, arm, question, and how votes make a yes.
_RATERS = re.compile(r"^raters of (.*), [^,]+ arm, ([^,:]+): .*$", re.DOTALL)
# How parts of a run's signature begin: the revision of its model, its threshold.
_REVISION, _THRESHOLD = "revision:", ("t:", "t>=:")

# How columns of reports begin; '_x' and '_y' follow.
FLATTERED, SAME_METRIC = "is_flattered", "is_same_metric"


@dataclass(frozen=True, kw_only=True)
class Marks(ReportRow):
    """The axes, attribution (x) and sensibleness (y), that show what chose the responses of a row.

    `is_same_metric_…` says that an axis shows the same metric with another model.
    """

    is_flattered_x: bool
    is_flattered_y: bool
    is_same_metric_x: bool
    is_same_metric_y: bool


NO_MARKS = Marks(
    is_flattered_x=False, is_flattered_y=False, is_same_metric_x=False, is_same_metric_y=False
)


class Chooser(NamedTuple):
    """The source of an axis's scores, whatever its options, evidence, precision and threshold."""

    what: str  # a metric, or the study and the question that raters answer
    # The names of the metric's model: its name, its revision. Empty for raters, and for a run that
    # does not name its model.
    models: frozenset[str] = frozenset()
    mean_of: frozenset[str] = frozenset()  # for SSA by raters: `what` of its questions

    def is_same(self, other: "Chooser") -> bool:
        """Whether both are the same metric and model, or raters of one study on one question.

        SSA is the same as each of its questions, because its votes are theirs.
        A checkpoint is the same if its name or its revision is the same. If a run does not say
        which model it used, nothing shows that it was another one, so it counts as the same.
        """
        is_one_model = not self.models or not other.models or bool(self.models & other.models)
        is_part = self.what in other.mean_of or other.what in self.mean_of
        return is_part or (self.what == other.what and is_one_model)


def chooser_of(said: str) -> Chooser:
    """Return the source of an axis's scores.

    Args:
        said: the text of the axis (`Axis.said`), or what an aggregate has kept of it. In the
            signature of a run the model comes first, or after the key of the metric if that is
            there.
    """
    if raters := _RATERS.match(said):
        study, question = raters.groups()
        asked = QUESTIONS if question == SSA else ()
        mean_of = frozenset(f"raters of {study}: {each}" for each in asked)
        return Chooser(f"raters of {study}: {question}", mean_of=mean_of)
    metric, _, signature = said.partition(": ")
    parts = [part for part in signature.split("|") if part and not part.startswith(_THRESHOLD)]
    if parts[:1] == [metric]:
        del parts[0]
    revisions = [part for part in parts[1:] if part.startswith(_REVISION)]
    return Chooser(metric, frozenset([*parts[:1], *revisions]))


def chosen_by(dot: Dot) -> dict[str, str]:
    """Return what chose the responses of an aggregate, by axis; empty for other setups.

    A metric may have no part in the function's first score (its weight is 0, or it is sensibleness
    for the highest attribution). It is included if it decided between equals in one example or
    more.
    """
    if not dot.is_aggregate:
        return {}
    return {
        name: str(dot.settings[name])
        for name, weight in _weights(dot).items()
        if (weight or dot.n_ties) and name in dot.settings
    }


def _weights(dot: Dot) -> Mapping[str, float]:
    """Return how much each axis counts, by its name; 0 where it only decides between equals."""
    sensibleness, attribution = dot.settings.get("weights") or (1.0, 1.0)
    if dot.settings.get("function") == MAX_ATTRIBUTION:
        sensibleness = 0.0
    return {"attribution": attribution, "sensibleness": sensibleness}


def flattered(dot: Dot, axes: Axes) -> tuple[bool, bool]:
    """Return for each axis, attribution and sensibleness, whether it shows what chose."""
    return flatters(chosen_by(dot).values(), axes)


def flatters(choosing: Iterable[str], judging: Axes) -> tuple[bool, bool]:
    """Return for each judging axis whether its metric and model, or its raters, also chose.

    Scores with other options, against other evidence, in another precision or at another threshold
    err alike. They count as the same, whichever of the two sides they chose for.

    Args:
        choosing: texts that say what chose, as in `Axis.said`.
    """
    choosers = [chooser_of(said) for said in choosing]
    attribution, sensibleness = (chooser_of(axis.said) for axis in judging)
    return any(map(attribution.is_same, choosers)), any(map(sensibleness.is_same, choosers))


def by_same_metric(choosing: Iterable[str], judging: Axes) -> tuple[bool, bool]:
    """Return for each judging axis whether its metric also chose, but with another model only.

    Such an axis is not an independent judge: errors that both models make still flatter.

    Args:
        choosing: texts that say what chose, as in `Axis.said`.
    """
    said = list(choosing)
    metrics = {chooser_of(each).what for each in said}
    x, y = (chooser_of(axis.said).what in metrics for axis in judging)
    is_flattered_x, is_flattered_y = flatters(said, judging)
    return x and not is_flattered_x, y and not is_flattered_y


def marks_of(choosing: Iterable[str], judging: Axes) -> Marks:
    """Return the results of `flatters` and `by_same_metric` as columns of reports."""
    said = list(choosing)
    is_flattered, is_same_metric = flatters(said, judging), by_same_metric(said, judging)
    return Marks(
        is_flattered_x=is_flattered[0],
        is_flattered_y=is_flattered[1],
        is_same_metric_x=is_same_metric[0],
        is_same_metric_y=is_same_metric[1],
    )


def sides_marked(marks: Marks, mark: str) -> list[str]:
    """Return the sides for which a row of a report is marked: attribution, sensibleness.

    Args:
        mark: `FLATTERED` or `SAME_METRIC`.
    """
    return [
        name
        for name, axis in zip(Axes._fields, "xy", strict=True)
        if getattr(marks, f"{mark}_{axis}")
    ]


def marked_in_any(marks: Iterable[Marks], mark: str) -> list[str]:
    """Return the sides for which at least one row of a report is marked, see `sides_marked`."""
    found = {name for each in marks for name in sides_marked(each, mark)}
    return [name for name in Axes._fields if name in found]


def short_of(said: str) -> str:
    """Return the short form of an `Axis.said`: a run's metric, or raters' study and question."""
    raters = _RATERS.match(said)
    return said[: raters.end(2)] if raters else said.partition(":")[0]
