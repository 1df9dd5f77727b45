"""The rows of the report on threshold choice: the choice, and the candidates for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.local_ids import RunId
from evaluation.reports.report import ReportRow
from evaluation.runs.reports import FitnessColumns
from evaluation.studies.reports.ceilings import CeilingColumns
from evaluation.studies.reports.run_columns import WithoutScore

CANDIDATE, CHOSEN = "candidate", "chosen"


@dataclass(frozen=True, kw_only=True)
class FamilyColumns(ReportRow):
    """A family of candidates on a question, which rows are about."""

    question: Annotated[str, Column("Question")]
    label: str | None  # the rule for a human yes; None: there is no rule
    truth: str  # the arm whose labels are the truth
    family: Annotated[str, Column("Family")]  # the family's key
    metric: str
    model: str | None
    evidence: str | None


@dataclass(frozen=True, kw_only=True)
class CandidateRow(ReportRow):
    """One way to score, its figures at its usual threshold, and its result in the choice."""

    about: FamilyColumns
    kind: Annotated[str, Column("Kind")] = CANDIDATE
    title: Annotated[str, Column("Title")]
    run: RunId
    flavor: str | None
    window: int | None
    hypothesis: str | None
    run_signature: str
    # The usual threshold; None: imported scores for which no threshold was given.
    threshold: Annotated[float | None, Column("Threshold", Format.THRESHOLD)]
    of_controls: FitnessColumns  # at the run's threshold
    without_score: WithoutScore
    truncated: int
    n: Annotated[int | None, Column("n", Format.COUNT)] = None
    n_left_out_waiting: int | None = None
    n_left_out_tied: int | None = None
    auc: float | None = None
    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)] = UNKNOWN
    accuracy_ties_half: float | None = None
    balanced_accuracy: Estimate = UNKNOWN
    n_lacking: Annotated[int | None, Column("Lacking", Format.COUNT)] = None
    best_threshold: Annotated[float | None, Column("Best threshold", Format.THRESHOLD)] = None
    best_accuracy: Annotated[float | None, Column("Best accuracy", Format.PERCENT)] = None
    n_chosen: Annotated[int | None, Column("Folds", Format.COUNT)] = None  # folds that chose it
    is_recommended: bool = False
    why: Annotated[str | None, Column("Why")] = None  # the reason why it takes no part


@dataclass(frozen=True, kw_only=True)
class ChosenCandidate(ReportRow):
    """A candidate with a threshold; None: nothing could be chosen."""

    title: str | None
    run: RunId | None
    threshold: float | None


@dataclass(frozen=True, kw_only=True)
class ChosenRow(ReportRow):
    """The choice among candidates, with its figures on other dialogs.

    `flattering_…` are figures of a choice that is reported on the same dialogs, `untuned_…` figures
    without a choice. The intervals show the uncertainty that comes from the dialogs. For them the
    choices are kept as they were made.
    """

    about: FamilyColumns
    kind: Annotated[str, Column("Kind")] = CHOSEN
    n: Annotated[int, Column("n", Format.COUNT)]
    n_human_yes: int
    n_adjudicated: int = 0  # compared labels that are adjudicated decisions
    # Items with a score of every candidate but no label.
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)] = 0
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)] = 0
    n_dialogs: int
    n_candidates: Annotated[int, Column("Candidates", Format.COUNT)]
    n_folds: int | None
    title: Annotated[str | None, Column("Title")]
    run: RunId | None
    threshold: Annotated[float | None, Column("Threshold", Format.THRESHOLD)]
    others: Mapping[str, ChosenCandidate]  # "flattering", "untuned" → the candidate
    lowest_threshold: float | None
    highest_threshold: float | None
    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)] = UNKNOWN
    accuracy_ties_half: Annotated[float | None, Column("Accuracy, ties half", Format.PERCENT)] = (
        None
    )
    balanced_accuracy: Estimate = UNKNOWN
    flattering_accuracy: Annotated[Estimate, Column("Optimistic accuracy", Format.PERCENT)] = (
        UNKNOWN
    )
    flattering_accuracy_ties_half: float | None = None
    flattering_balanced_accuracy: Estimate = UNKNOWN
    untuned_accuracy: Annotated[Estimate, Column("Untuned accuracy", Format.PERCENT)] = UNKNOWN
    untuned_accuracy_ties_half: float | None = None
    untuned_balanced_accuracy: Estimate = UNKNOWN
    optimism: Annotated[Estimate, Column("Optimism", Format.POINTS)] = UNKNOWN
    gain: Estimate = UNKNOWN
    baseline: Annotated[Estimate, Column("Majority label", Format.PERCENT)] = UNKNOWN
    ceilings: CeilingColumns
    why: Annotated[str | None, Column("Why")]  # the reason why nothing could be chosen
    n_not_scored_by_all: int


ACCURACIES = ("accuracy", "flattering_accuracy", "untuned_accuracy")
FIGURES = (
    *(
        f"{prefix}{name}"
        for prefix in ("", "flattering_", "untuned_")
        for name in ("accuracy", "balanced_accuracy")
    ),
    "optimism",
    "gain",
    "baseline",
)
ThresholdChoiceRow = CandidateRow | ChosenRow
