"""The choices for a plan: what it is for, how small it should be, and what it assumes."""

from enum import StrEnum
from typing import Annotated, NamedTuple

from annotation.models import Arm
from annotation.schemes import USUAL_SCHEME, built_in_schemes, load_scheme
from generation.choices.declaration import Choice

PILOTS = "the pilot’s"


class Goal(StrEnum):
    """The purpose of a planned study."""

    MEAN = "mean"
    DIFFERENCE = "difference"
    ARMS = "arms"
    ACCURACY = "accuracy"


GOALS = {
    Goal.MEAN.value: "the interval of a mean",
    Goal.DIFFERENCE.value: "a difference of two setups",
    Goal.ARMS.value: "merged against separate",
    Goal.ACCURACY.value: "the accuracy of a metric",
}


class PlanChoices(NamedTuple):
    """The reader's choices for a plan. An assumption that is None comes from the pilot."""

    goal: Annotated[str, Choice("Goal", GOALS)] = Goal.MEAN.value
    wish: Annotated[
        float,
        Choice(
            "Points",
            help="Half the width of the interval of a mean, or else the smallest difference to "
            "detect, in percentage points.",
            low=0.1,
            high=50,
        ),
    ] = 5.0
    pilot: Annotated[
        str,
        Choice("Pilot", help="Study of the dataset whose votes replace assumptions."),
    ] = ""
    scheme: Annotated[
        str,
        Choice(
            "Questions",
            {
                scheme.key: scheme.title
                for scheme in map(load_scheme, built_in_schemes().values())
                if scheme.target == "response"
            },
            help="The scheme that raters answer. A pilot has its own.",
        ),
    ] = USUAL_SCHEME
    raters: Annotated[int, Choice("Raters per response", low=1, high=99)] = 5
    arm: Annotated[
        str,
        Choice(
            "Arm",
            {kind.value: kind.label for kind in (Arm.Kind.SEPARATE, Arm.Kind.MERGED)},
            help="Arm of the study, and of the pilot’s votes. Merged against separate has both.",
        ),
    ] = Arm.Kind.SEPARATE.value
    question: Annotated[
        str, Choice("Question", help="The pilot’s question.", usual="the first main one")
    ] = ""
    metric: Annotated[
        str,
        Choice(
            "Metric",
            help="A metric run, such as auto_ais-1f0c93ab.",
            usual="the one that agrees best",
        ),
    ] = ""
    share: Annotated[
        float | None,
        Choice(
            "Expected share",
            help="The share of yes, or the accuracy of the metric.",
            low=0.01,
            high=0.99,
            usual=f"{PILOTS}, else 0.5, which needs most",
        ),
    ] = None
    correlation: Annotated[
        float | None,
        Choice(
            "Correlation of the two labels",
            help="That of two setups on one example, or of both arms on one response.",
            low=-0.99,
            high=0.99,
            usual=f"{PILOTS}, else 0.5",
        ),
    ] = None
    icc: Annotated[
        float | None,
        Choice(
            "Likeness within a dialog (ICC)",
            help="Correlation of two items of one dialog.",
            low=0,
            high=1,
            usual=f"{PILOTS}, else 0.25",
        ),
    ] = None
    metric_correlation: Annotated[
        float | None,
        Choice(
            "Correlation of metric and label",
            help="It must be known for a number with the metric.",
            low=0,
            high=0.99,
            usual=f"{PILOTS}, else none",
        ),
    ] = None
    examples: Annotated[
        float | None,
        Choice("Examples per dialog", low=1, high=10_000, usual="the dataset’s"),
    ] = None
    scored: Annotated[
        int | None,
        Choice(
            "Dialogs with scores",
            help="Dialogs that the metric scores, rated or not.",
            low=1,
            high=100_000_000,
            usual="all of the dataset",
        ),
    ] = None
    seconds: Annotated[
        float | None,
        Choice(
            "Seconds per response",
            help="Time that one rater needs for one response.",
            low=1,
            high=86_400,
            usual="measured with these questions, else estimated",
        ),
    ] = None
    level: Annotated[
        float, Choice("Level", help="Of intervals and tests.", low=0.5, high=0.999)
    ] = 0.95
    power: Annotated[
        float,
        Choice("Power", help="Probability to detect the difference.", low=0.5, high=0.999),
    ] = 0.8

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that the planned study has."""
        if self.goal == Goal.ARMS:
            return (Arm.Kind.SEPARATE.value, Arm.Kind.MERGED.value)
        return (self.arm,)

    @property
    def detects(self) -> bool:
        """Whether the wish is a difference to detect, and not the width of an interval."""
        return self.goal != Goal.MEAN


# The assumptions that a reader may type.
ASSUMED = (
    "share",
    "correlation",
    "icc",
    "metric_correlation",
    "examples",
    "scored",
    "seconds",
)
