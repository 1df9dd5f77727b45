"""The draw of a planned study's dialogs by the scores of a metric run."""

from typing import NamedTuple

import numpy as np
from django.db.models import Q

from accounts.models import User
from annotation.models import Study
from annotation.ordering import N_KEYS, random_key
from annotation.planning import dialogs_of, responses_of
from annotation.services.studies import StudyError, draw_uniformly, store_draw
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.item_scores import scale_of
from evaluation.runs.names import run_said
from evaluation.runs.study_targets import is_of_citations
from evaluation.statistics.inclusion_probabilities import (
    N_STRATA,
    by_strata,
    by_uncertainty,
    systematic,
    uncertainty,
)
from evaluation.statistics.intervals import Floats, Indexes, ratio, sum_by_dialog


class DialogDraw(NamedTuple):
    """The numbers of dialogs of a draw that was made."""

    n_drawn: int
    n_dialogs: int
    n_without_score: int  # dialogs without a score, which could be drawn as well


def draw_dialogs(study: Study, draw: str, run: MetricRun | None, by: User | None) -> DialogDraw:
    """Draw the dialogs that a planned study rates, and store the probability of each.

    Args:
        study: a planned study with a sample.
        draw: a `Study.Draw`.
        run: the run whose scores make the draw; None for a uniform one.
        by: who asks for it.

    Raises:
        StudyError: the study has no sample of dialogs, or the run no scores of them, or its scores
            are no shares of a scale.
    """
    if is_of_citations(study):
        raise StudyError("Raters of this study judge citations, so no dialogs are drawn.")
    names = sorted(dialogs_of(study))
    n = study.n_sampled
    if n is None:
        raise StudyError("The study rates all dialogs. Set its sample first, then draw it.")
    if n > len(names):
        raise StudyError(f"The sample is {n}, but only {len(names)} dialogs have responses.")
    if draw == Study.Draw.UNIFORM or run is None:
        draw_uniformly(study, by)
        return DialogDraw(n, len(names), 0)
    scores, doubts = _of_dialogs(study, run, names)
    if np.isnan(scores).all():
        raise StudyError("The run has no score of what the study rates, so it says nothing.")
    keys = np.array([random_key(study.seed, "draw by scores", name) for name in names])
    strata: Indexes = np.zeros(len(names), np.int64)
    if draw == Study.Draw.ACTIVE:
        probabilities = by_uncertainty(doubts, n)
    else:
        if n <= N_STRATA:
            raise StudyError(
                f"The sample is {n} dialogs; expected more than {N_STRATA}, one of each stratum."
            )
        probabilities, strata = by_strata(scores, n)
    start = random_key(study.seed, "start of the draw by scores") / N_KEYS
    is_drawn = systematic(probabilities, np.lexsort((keys, strata)), start)
    store_draw(
        study,
        draw,
        run_said(run),
        dict(zip(names, probabilities.tolist(), strict=True)),
        {name for name, here in zip(names, is_drawn, strict=True) if here},
        by,
    )
    return DialogDraw(n, len(names), int(np.isnan(scores).sum()))


def _of_dialogs(study: Study, run: MetricRun, names: list[str]) -> tuple[Floats, Floats]:
    """Return the mean score and the mean uncertainty of each dialog; NaN without a score."""
    found = AutoScore.objects.filter(
        Q(score__isnull=False),
        run=run,
        target__citation=None,
        is_assumed=False,
        target__response__in=responses_of(study),
    )
    rows = list(found.order_by().values_list("target__response__example__dialog", "score"))
    low, high = scale_of(run)
    shares = (np.array([row[1] for row in rows], np.float64) - low) / (high - low)
    if ((shares < 0) | (shares > 1)).any():
        raise StudyError(
            f"The scores of {run} are from {low + shares.min() * (high - low):g} to "
            f"{low + shares.max() * (high - low):g}; expected scores from {low:g} to {high:g}."
        )
    places = np.searchsorted(names, [row[0] for row in rows]).astype(np.int64)
    columns = np.column_stack([shares, uncertainty(shares), np.ones(len(shares))])
    scores, doubts, n_scores = sum_by_dialog(columns, places, len(names)).T
    return ratio(scores, n_scores), ratio(doubts, n_scores)
