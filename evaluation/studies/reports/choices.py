"""What a reader may choose about the reports of a study that depends on the study."""

from annotation.models import Arm, Study
from evaluation.reports.base import Choices
from generation.choices.declaration import check_known


def usual_choices(study: Study) -> Choices:
    """Return what is usual about a study: the truth is that of its first arm."""
    arms = [arm.kind for arm in study.arms.all()]
    return Choices(truth=next(iter(arms), Arm.Kind.SEPARATE))


def check_choices(study: Study, choices: Choices) -> None:
    """Make sure that a study has the setup and the arm that were chosen.

    Raises:
        ChoiceError: it does not.
    """
    setups = sorted(study.setups.values_list("name", flat=True))
    arms = [arm.kind for arm in study.arms.all()]
    for name, chosen, known in (("setup", choices.setup, setups), ("truth", choices.truth, arms)):
        if chosen and known:
            check_known(name, chosen, known)
