"""The pace of raters beside the time that reading takes, and the rule for those who do not read.

The rule compares no rater with another, so it also finds a study in which everybody clicks
through. A rater is *faster than reading* if both are true over 20 responses or more:

- more than a tenth of the units took less than a quarter of the time that reading what is new in
  them takes. A quarter is 952 words a minute. People read at 238 (Brysbaert, 2019), and look for a
  single word at 600 (Carver, 1992), so these units were not read. A tenth is the share of rapid
  answers above which a person is, by convention, taken to answer without effort (Wise and Kong,
  2005).
- half of the responses took less than a quarter of the median reading time. So a rater is not
  marked who is quick where the evidence is long and the answer plain, but reads the rest.

The rule never excludes a rater. It is a reason to look.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study, Vote
from evaluation.reports.columns import Column, Format
from evaluation.reports.report import ReportRow
from evaluation.statistics.rater_votes import LEAST, Bools
from evaluation.studies.rater_quality.judgements import RaterJudgements, judgements_of
from evaluation.studies.rater_quality.reading_time import FAST, UnitTimes, unit_times

MOST_FAST = 0.1  # the largest share of units faster than `FAST` that a rater who reads may have
MANY_VOTES = 1 / 3  # the share of a study's votes from which its results are in doubt


@dataclass(frozen=True, kw_only=True)
class PaceOfRater(ReportRow):
    """A rater's time per response, beside the time that it takes to read what is new in it."""

    median_seconds: Annotated[float | None, Column("Median time", Format.SECONDS)] = None
    reading_seconds: Annotated[float | None, Column("Reading time", Format.SECONDS)] = None
    fast_share: Annotated[float | None, Column("Read too fast", Format.PERCENT)] = (
        None  # share of units
    )

    @property
    def is_faster_than_reading(self) -> bool:
        """Whether the rule marks the rater; False if too few times are known."""
        if self.median_seconds is None or self.reading_seconds is None or self.fast_share is None:
            return False
        is_median_fast = self.median_seconds < FAST * self.reading_seconds
        return is_median_fast and self.fast_share > MOST_FAST


class FastVotes(NamedTuple):
    """The votes of raters who are faster than reading, among the votes that count."""

    n_raters: int  # raters who are faster than reading
    n_voters: int  # raters with votes that count; 0 if no vote has a time
    share: float | None  # share of the votes, in [0, 1]; None if no vote has a time
    pace: PaceOfRater  # pace of these raters together

    @property
    def are_many(self) -> bool:
        """Whether so many votes are concerned that times and answers are in doubt."""
        return self.share is not None and self.share >= MANY_VOTES


def pace_of(times: UnitTimes, is_in: Bools) -> PaceOfRater:
    """Return the pace in some units, or an empty one below 20 responses.

    Args:
        times: the times of a study.
        is_in: (n_units,) the units of a rater, or of several.
    """
    n_responses = times.n_responses[is_in]
    if n_responses.sum() < LEAST:
        return PaceOfRater()
    seconds, reading = times.seconds[is_in] / n_responses, times.reading[is_in] / n_responses
    return PaceOfRater(
        median_seconds=float(np.median(np.repeat(seconds, n_responses))),
        reading_seconds=float(np.median(np.repeat(reading, n_responses))),
        fast_share=float(times.is_fast[is_in].mean()),
    )


def paces_of(judged: RaterJudgements, times: UnitTimes) -> list[PaceOfRater]:
    """Return the pace of each rater, in the order of the raters."""
    return [pace_of(times, times.raters == place) for place in range(len(judged.raters))]


def are_faster_than_reading(paces: list[PaceOfRater]) -> Bools:
    """Return whether the rule marks each rater, (n_raters,)."""
    return np.array([pace.is_faster_than_reading for pace in paces], np.bool_)


def fast_votes(study: Study) -> FastVotes:
    """Return how many of a study's votes were given faster than reading.

    Votes of excluded raters do not count.
    """
    if not Vote.objects.filter(arm__in=study.arms.all(), seconds__isnull=False).exists():
        return FastVotes(0, 0, None, PaceOfRater())
    judged = judgements_of(study)
    times = unit_times(study, judged)
    is_fast = are_faster_than_reading(paces_of(judged, times)) & judged.counted
    raters = judged.of_rater[judged.counted[judged.of_rater]]
    return FastVotes(
        n_raters=int(is_fast.sum()),
        n_voters=len(np.unique(raters)),
        share=float(is_fast[raters].mean()) if raters.size else None,
        pace=pace_of(times, is_fast[times.raters]),
    )
