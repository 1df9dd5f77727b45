"""Outcomes of a metric beside people's answers: by hand, and random ones."""

import numpy as np

from evaluation.statistics.human_auto import Outcomes

NAN = float("nan")


def outcomes(human, score, rater_score=None, dialogs=None, threshold=0.5):
    human = np.array(human, dtype=float)
    dialogs = np.arange(len(human)) if dialogs is None else np.array(dialogs)
    return Outcomes(
        human,
        np.array(score, dtype=float),
        human if rater_score is None else np.array(rater_score, dtype=float),
        dialogs,
        int(dialogs.max(initial=-1)) + 1,
        threshold,
    )


def random_outcomes(seed, n=200, n_dialogs=40):
    """Return outcomes with ties, some scores at the threshold, some undecided, some without."""
    random = np.random.default_rng(seed)
    n_yes = random.binomial(5, random.random(n))
    human = (n_yes > 2).astype(float)
    score = np.clip(n_yes / 5 + random.normal(0, 0.3, n), 0, 1)
    if seed % 2:
        score = score.round(1)  # many ties
    human[random.random(n) < 0.1] = NAN
    score[random.random(n) < 0.1] = NAN
    dialogs = random.integers(n_dialogs, size=n)
    return Outcomes(human, score, n_yes / 5, dialogs, n_dialogs, 0.5)


def complete(given):
    kept = ~np.isnan(given.human) & ~np.isnan(given.score)
    return given.human[kept], given.score[kept], given.rater_score[kept], given.dialogs[kept]


def with_rater_score(given):
    kept = ~np.isnan(given.rater_score) & ~np.isnan(given.score)
    return given.score[kept], given.rater_score[kept], given.dialogs[kept]
