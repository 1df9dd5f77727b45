"""The usual choices about the reports of a study, and a check of choices against the study."""

from annotation.models import Arm, Study
from evaluation.reports.base import Choices, CountedLabels
from generation.choices.declaration import check_known


def usual_choices(study: Study) -> Choices:
    """Return the usual choices about a study. The truth is its first arm."""
    arms = [arm.kind for arm in study.arms.all()]
    return Choices(truth=next(iter(arms), Arm.Kind.SEPARATE))


def usual_labels(study: Study) -> CountedLabels:
    """Return the usual choices for reports that need the labels of one arm."""
    return CountedLabels(truth=usual_choices(study).truth)


def check_choices(study: Study, choices: Choices) -> None:
    """Check that a study has the setup and the arm that were chosen.

    Raises:
        ChoiceError: the study does not have them.
    """
    setups = sorted(study.setups.values_list("name", flat=True))
    arms = [arm.kind for arm in study.arms.all()]
    for name, chosen, known in (("setup", choices.setup, setups), ("truth", choices.truth, arms)):
        if chosen and known:
            check_known(name, chosen, known)
