"""Which axes an aggregate was chosen by: what chose it makes it look better than it is."""

from collections.abc import Iterable, Mapping

from evaluation.metrics.reranking import MAX_ATTRIBUTION
from evaluation.tradeoffs.axes import Axes, source_of
from evaluation.tradeoffs.dots import Dot

RATERS = "raters of "  # what `Axis.said` begins with where people answer


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
    """Return of each axis that judges, whether its scores are among those that chose.

    The same scores at another threshold are the same scores, whichever of the two sides they
    chose for.

    Args:
        choosing: what chose, as `Axis.said`.
    """
    sources = set(map(source_of, choosing))
    attribution, sensibleness = judging
    return attribution.source in sources, sensibleness.source in sources


def short_of(said: str) -> str:
    """Return the metric of a run, or the question and study of raters, of an `Axis.said`."""
    return source_of(said) if said.startswith(RATERS) else said.partition(":")[0]
