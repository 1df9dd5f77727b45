"""Every report on a study at once, from one reading of its votes: what its page shows."""

import time
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from annotation.models import Rater, Study, Vote
from evaluation.reports.base import Choices, study_counts, votes_left_out
from evaluation.runs.item_scores import scores_once
from evaluation.studies.reports.agreement import AGREEMENT, agreement_with_details
from evaluation.studies.reports.raters import RATERS, raters_report
from evaluation.studies.reports.scenarios import SCENARIOS, scenarios_report, setups_in_order
from evaluation.studies.reports.sensibleness import (
    METRICS_LIKE_QUESTIONS,
    SENSIBLENESS,
    sensibleness_report,
)
from evaluation.studies.reports.timing import POSITION, TIME, position_report, time_report
from evaluation.studies.reports.uncertainty import UNCERTAINTY, uncertainty_report
from generation.models import Response

# In the order of the page of a study.
ON_PAGE = (RATERS, SCENARIOS, UNCERTAINTY, AGREEMENT, SENSIBLENESS, TIME, POSITION)

Figures = dict[str, Any]


def study_figures(study: Study, choices: Choices) -> Figures:
    """Return all figures of a study as JSON knows them.

    A report is its fields as a mapping: `raters`, `by_setup` (the same with a row per setup),
    `scenarios`, `uncertainty`, `time`, `position`, `agreement`, `sensibleness`. Beside them
    `overview`, `curves` and `disagreements` (as in `agreement.Details`), `computed_at`, and the
    `seconds` that it took.
    """
    began = time.perf_counter()
    choices = choices._replace(by_setup=False)
    counts = study_counts(study, choices)
    left_out = votes_left_out(study, counts, choices)
    given = (study, choices, counts, left_out)
    scores_of = scores_once(METRICS_LIKE_QUESTIONS)
    agreement, details = agreement_with_details(*given, scores_of=scores_of)
    by_setup = raters_report(study, choices._replace(by_setup=True), counts, left_out)
    return {
        "overview": _overview(study),
        "raters": raters_report(*given)._asdict(),
        "by_setup": by_setup._asdict(),
        "scenarios": scenarios_report(*given)._asdict(),
        "uncertainty": uncertainty_report(*given)._asdict(),
        "time": time_report(*given)._asdict(),
        "position": position_report(*given)._asdict(),
        "agreement": agreement._asdict(),
        "sensibleness": sensibleness_report(*given, scores_of)._asdict(),
        **details._asdict(),
        "computed_at": timezone.now().isoformat(),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _overview(study: Study) -> Figures:
    """Return how large a study is, whatever a reader chooses to count."""
    votes = Vote.objects.filter(arm__in=list(study.arms.values_list("pk", flat=True)))
    responses = Response.objects.of_benchmark().filter(setup__in=study.setups.all())
    return (
        votes.aggregate(
            n_votes=Count("pk"),
            n_implied=Count("pk", filter=Q(is_implied=True)),
            n_simulated_votes=Count("pk", filter=Q(rater__is_simulated=True)),
        )
        | Rater.objects.filter(study=study).aggregate(
            n_raters=Count("pk"),
            n_excluded=Count("pk", filter=Q(is_excluded=True)),
            n_simulated=Count("pk", filter=Q(is_simulated=True)),
        )
        | responses.aggregate(
            n_responses=Count("pk"),
            n_examples=Count("example", distinct=True),
            n_dialogs=Count("example__dialog", distinct=True),
            n_unstated=Count("pk", filter=Q(is_evidence_stated=False)),
        )
        | {
            "arms": [arm.kind for arm in study.arms.all()],
            "setups": [setup.name for setup in setups_in_order(study)],
            "seed": study.seed,
        }
    )
