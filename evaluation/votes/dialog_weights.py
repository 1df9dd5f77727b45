"""The weights of dialogs that a study did not draw with the same probability. It only reads."""

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.models import Study
from annotation.study_file import PROBABILITIES
from evaluation.statistics.intervals import Floats

UNEQUAL = (
    "The dialogs of this study were drawn with different probabilities, by a metric’s scores, so a "
    "figure without weights would tell more about the draw than about the dataset."
)
WITH_WEIGHTS = "The reports Scenarios and Few labels have weights."


def probabilities_of(study: Study) -> Mapping[str, float] | None:
    """Return the probability of each drawn dialog by its name; None: it was the same for all.

    An imported study has them from its file. There is at most one query.
    """
    if study.has_uniform_draw:
        return None
    if study.is_imported:
        from_file: Mapping[str, float] = study.settings[PROBABILITIES]
        return from_file
    drawn = study.drawn_dialogs.filter(is_drawn=True)
    return dict(drawn.order_by("dialog").values_list("dialog", "probability"))


def weights_of(study: Study, dialogs: Sequence[str]) -> Floats:
    """Return the weight of each dialog, given by its name.

    It is 1 / probability, and 1 if all dialogs had the same one. A dialog that was not drawn has 0.
    """
    probabilities = probabilities_of(study)
    if probabilities is None:
        return np.ones(len(dialogs))
    return np.array([1 / probabilities[name] if name in probabilities else 0.0 for name in dialogs])
