"""The refusal of reports on studies whose dialogs were drawn with different probabilities."""

from collections.abc import Callable
from typing import Any

from annotation.models import Study
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from evaluation.votes.dialog_weights import UNEQUAL, WITH_WEIGHTS

# The reports on studies whose figures have weights, or are about raters and not about dialogs.
WITH_ANY_DRAW = {"scenarios", "prediction_powered", "rater_quality"}


def made_of_uniform_draw(
    make: Callable[[Study, Any], Report[Any]], study: Study, choices: Any
) -> Report[Any]:
    """Return a report whose figures have no weights.

    Raises:
        CannotReport: the dialogs of the study were drawn with different probabilities.
    """
    if not study.has_uniform_draw:
        raise CannotReport(f"{UNEQUAL} {WITH_WEIGHTS}")
    return make(study, choices)
