"""The weights of dialogs that a study did not draw with the same probability. It only reads."""

from collections.abc import Sequence

import numpy as np

from annotation.models import Study
from evaluation.statistics.intervals import Floats
from evaluation.votes.dialog_probabilities import probabilities_of

UNEQUAL = (
    "The dialogs of this study were drawn with different probabilities, by a metric’s scores, so a "
    "number without weights would tell more about the draw than about the dataset."
)
WITH_WEIGHTS = "The reports Scenarios and Estimate from few labels have weights."


def weights_of(study: Study, dialogs: Sequence[str]) -> Floats:
    """Return the weight of each dialog, given by its name.

    It is 1 / probability, and 1 if all dialogs had the same one. A dialog that was not drawn has 0.
    """
    probabilities = probabilities_of(study)
    if probabilities is None:
        return np.ones(len(dialogs))
    return np.array([1 / probabilities[name] if name in probabilities else 0.0 for name in dialogs])
