"""The columns that compare scores with people response by response, for readers who are experts."""

from dataclasses import dataclass
from typing import Annotated

from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import estimate, estimates_of
from evaluation.reports.report import ReportRow, number
from evaluation.statistics.human_auto import Outcomes, calibration
from evaluation.statistics.intervals import Indexes
from evaluation.statistics.pairwise_accuracy import pairwise_accuracy
from evaluation.statistics.rank_measures import Dialogs
from evaluation.statistics.segment_correlations import kendall, pearson


@dataclass(frozen=True, kw_only=True)
class SegmentColumns(ReportRow):
    """Correlations and pairwise accuracy with rater scores, and the calibration error."""

    pearson: Annotated[Estimate, Column("Pearson, rater score", Format.COEFFICIENT)] = UNKNOWN
    kendall: Annotated[Estimate, Column("Kendall, rater score", Format.COEFFICIENT)] = UNKNOWN
    pairwise_accuracy: Annotated[Estimate, Column("Pairwise accuracy", Format.PERCENT)] = UNKNOWN
    # Scores of two responses to one example that differ by no more than this are a tie.
    tie_threshold: Annotated[float | None, Column("Tie threshold", Format.THRESHOLD)] = None
    n_pairs: int = 0  # pairs of responses to the same example
    n_pair_examples: int = 0  # examples that have such a pair
    calibration_error: Annotated[Estimate, Column("Calibration error", Format.COEFFICIENT)] = (
        UNKNOWN
    )


def segment_columns(outcomes: Outcomes, examples: Indexes, *, is_share: bool) -> SegmentColumns:
    """Return the columns of one run on one question.

    Args:
        outcomes: the scores of the run beside the answers of raters.
        examples: the example of each item.
        is_share: whether the scores may be read as shares of yes, as the calibration error needs.
    """
    dialogs = Dialogs(outcomes.dialogs, outcomes.n_dialogs)
    score, rater_score = outcomes.score, outcomes.rater_score
    pairs = pairwise_accuracy(rater_score, score, examples, outcomes.dialogs)
    [accuracy] = estimates_of([pairs.figure], outcomes.n_dialogs)
    return SegmentColumns(
        pearson=estimate(*pearson(score, rater_score, dialogs)),
        kendall=estimate(*kendall(score, rater_score, dialogs)),
        pairwise_accuracy=accuracy,
        tie_threshold=number(pairs.tie_threshold),
        n_pairs=pairs.n_pairs,
        n_pair_examples=pairs.n_examples,
        calibration_error=estimate(*calibration(outcomes)) if is_share else UNKNOWN,
    )
