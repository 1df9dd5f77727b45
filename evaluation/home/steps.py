"""The first steps of a person without data, each with its state."""

from collections.abc import Container, Iterator
from typing import NamedTuple

DONE, NEXT, LATER = "done", "next", "later"


class FirstStep(NamedTuple):
    """One of the first steps. `key` names what must be there so that the step is done."""

    key: str
    title: str
    sentence: str
    view: str
    action: str


FIRST_STEPS = (
    FirstStep(
        "material",
        "Import",
        "Bring in dialogs with evidence and responses: a file of a known format, or a table.",
        "evaluation:import",
        "Import data",
    ),
    FirstStep(
        "study",
        "Plan a study",
        "Choose what raters judge, by which questions, and who rates.",
        "annotation:new-study",
        "New study",
    ),
    FirstStep(
        "scored",
        "Run a metric",
        "Let an auto-metric score the same responses. The baselines need no download.",
        "evaluation:start-run",
        "New run",
    ),
    FirstStep(
        "rated",
        "Read",
        "See how far raters agree, and how well the metric agrees with them.",
        "annotation:studies",
        "Studies",
    ),
)


class StepState(NamedTuple):
    """One step and its state: done, next or later."""

    step: FirstStep
    state: str


def first_steps(there: Container[str]) -> list[StepState]:
    """Return the steps with their states; only the first that is not done is the next.

    Args:
        there: the keys of what there is.
    """
    return list(_states(there))


def _states(there: Container[str]) -> Iterator[StepState]:
    undone = NEXT
    for step in FIRST_STEPS:
        if step.key in there:
            yield StepState(step, DONE)
        else:
            yield StepState(step, undone)
            undone = LATER
