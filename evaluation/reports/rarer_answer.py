"""Words beside intervals that say little, because few dialogs hold a rarer answer."""

from collections.abc import Iterable
from itertools import starmap

from evaluation.reports.numbers import coefficient
from evaluation.statistics.jackknife import FEWEST_DIALOGS

# Below so many dialogs, intervals of agreement between raters are too narrow where a dialog has one
# response. `benchmarks/coverage.py --only rare-answers` measures by how much.
NARROW_BELOW = 15
# Below so many dialogs with another value than the most frequent one, intervals of means of a scale
# are too narrow (`--only means-and-effects`).
MEANS_NARROW_BELOW = 20
# An ordinal alpha below the first has too narrow an interval with fewer dialogs than the second.
ORDINAL_LOW, ORDINAL_NARROW_BELOW = 0.2, 100


def no_interval_note(n_dialogs: int, figures: str) -> str:
    """Return why figures have no interval; "" if they may have one.

    Args:
        n_dialogs: how many dialogs hold the rarer answer.
        figures: the figures in words.
    """
    if n_dialogs >= FEWEST_DIALOGS:
        return ""
    return f"no interval of {figures}: {_dialogs(n_dialogs)}, and {FEWEST_DIALOGS} are needed"


def rater_agreement_note(n_dialogs: Iterable[int]) -> str:
    """Return what intervals of kappa and alpha cannot know; "" if they hold what they say.

    Args:
        n_dialogs: how many dialogs hold the rarer answer, in each row of a table.
    """
    if min(n_dialogs, default=NARROW_BELOW) >= NARROW_BELOW:
        return ""
    return (
        f"Where fewer than {NARROW_BELOW} dialogs hold the rarer answer, only about 90 % of the "
        "intervals of kappa and alpha hold the true value if dialogs have one response each. "
        f"With fewer than {FEWEST_DIALOGS} there is no interval."
    )


def prevalence_note(low: Iterable[tuple[str, float]]) -> str:
    """Return where alpha is low only because most answers are the same; "" for nowhere.

    Args:
        low: the name and the AC1 of each such question, once for each arm.
    """
    found = list(low)
    if not found:
        return ""
    figures = sorted(ac1 for _, ac1 in found)
    written = " to ".join(dict.fromkeys(coefficient(figures[end]) for end in (0, -1)))
    return (
        f"For {', '.join(dict.fromkeys(name for name, _ in found))}, alpha is low although raters "
        f"mostly agree (Gwet’s AC1 {written}): four of five answers or more are the same, and "
        "alpha tells how far raters agree on the others."
    )


def is_ordinal_alpha_narrow(alpha: float, n_dialogs: int) -> bool:
    """Return whether an interval of ordinal alpha is too narrow: low, and from few dialogs."""
    return alpha < ORDINAL_LOW and n_dialogs < ORDINAL_NARROW_BELOW


def ordinal_alpha_note(alphas: Iterable[tuple[float, int]]) -> str:
    """Return what intervals of ordinal alpha cannot know; "" if they hold what they say.

    Args:
        alphas: each ordinal alpha with an interval, and its number of dialogs.
    """
    if not any(starmap(is_ordinal_alpha_narrow, alphas)):
        return ""
    return (
        f"Where an ordinal alpha is below {ORDINAL_LOW} and there are fewer than "
        f"{ORDINAL_NARROW_BELOW} dialogs, only about 91 % of its intervals hold the true value."
    )


def means_note(n_dialogs: Iterable[int | None]) -> str:
    """Return what intervals of means of a scale cannot know; "" if they hold what they say.

    Args:
        n_dialogs: how many dialogs have another value than the most frequent one, for each mean
            with an interval; None: the mean is a share.
    """
    fewest = min((n for n in n_dialogs if n is not None), default=MEANS_NARROW_BELOW)
    if fewest >= MEANS_NARROW_BELOW:
        return ""
    return (
        f"Where fewer than {MEANS_NARROW_BELOW} dialogs have another value than the most frequent "
        f"one (here as few as {fewest:,}), only about 90 % of the intervals of means of a scale "
        "hold the true mean."
    )


def _dialogs(n: int) -> str:
    return f"{n:,} dialog{' holds' if n == 1 else 's hold'} the rarer answer"
