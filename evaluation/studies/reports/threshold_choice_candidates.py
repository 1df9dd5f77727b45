"""The candidates for a threshold choice: their scores, and which of them take part."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.fitness import Fitness
from evaluation.models import MetricRun
from evaluation.runs.control_figures import fitness_of_runs
from evaluation.runs.families import Family, RunWithMetric
from evaluation.runs.item_scores import ItemScores, scores_of_runs
from evaluation.votes.counts import ArmCounts

# A candidate takes part only if it has more than this share of the scores of the candidate with
# the most. Only items that all candidates scored are compared, so that a candidate with few scores
# would remove items of the others.
LEAST_SHARE = 0.5


class CandidateEntry(NamedTuple):
    """A candidate with its scores, and the reason why it takes no part; empty: it takes part."""

    candidate: RunWithMetric
    scores: ItemScores
    fitness: Fitness
    why: str


def entries_of(family: Family, of_arm: ArmCounts) -> list[CandidateEntry]:
    """Return the candidates that have a score of any item. Those with too few take no part."""
    runs = [each.run for each in family.candidates]
    found, fitness = scores_of_runs(runs, of_arm), fitness_of_runs(runs)
    scored = [(each, found[each.run.pk]) for each in family.candidates]
    counts = [int((~np.isnan(scores.given)).sum()) for _, scores in scored]
    most = max(counts, default=0)
    return [
        CandidateEntry(each, scores, fitness[each.run.pk], _why_left_out(each.run, n, most))
        for (each, scores), n in zip(scored, counts, strict=True)
        if scores.has_row.any()
    ]


def _why_left_out(run: MetricRun, n: int, most: int) -> str:
    if run.state == MetricRun.State.RUNNING:
        return "still being scored"
    if n <= LEAST_SHARE * most and n < most:
        return f"has {n:,} score{'s'[: n != 1]}, another candidate {most:,}"
    return ""


def untuned_threshold(candidate: RunWithMetric) -> float | None:
    """Return the metric's own threshold, even if the run has another. Imported runs keep theirs.

    Return None if no threshold was given for imported scores.
    """
    return candidate.metric.threshold if candidate.metric else candidate.run.threshold


def is_yes_at_threshold(candidate: RunWithMetric) -> bool:
    """Return whether a score equal to the threshold is a yes. Imported runs have their own rule."""
    rule = candidate.metric or candidate.run
    return rule.is_yes_at_threshold


def count_missing(missing: Counter[str], entries: Sequence[CandidateEntry]) -> None:
    for each in entries:
        missing.update(
            unscored=int((~each.scores.has_row).sum()),
            failed=int(each.scores.is_failed.sum()),
            assumed_scores=int(each.scores.is_assumed.sum()),
        )
    missing["candidates_without_part"] += sum(bool(each.why) for each in entries)


def add_to_digest(digest: "hashlib._Hash", entries: Sequence[CandidateEntry]) -> None:
    for each in entries:
        said = f"{each.candidate.run.full_signature} {each.why} {each.fitness}"
        digest.update(said.encode())
        for column in each.scores:
            digest.update(column.tobytes())
