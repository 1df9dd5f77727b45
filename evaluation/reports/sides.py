"""The two sides that are held against each other: what people say, and what a run has scored."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.auto_metrics.registry import METRICS
from evaluation.metrics.ceiling import halves_statistics, rest_statistics
from evaluation.metrics.intervals import Floats
from evaluation.metrics.labels import LabelRule, label_rule
from evaluation.metrics.uncertainty import accuracy_statistics
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.uncertainty import pairs_of
from evaluation.runs.judged import is_about, is_of_citations
from evaluation.vote_counts import ArmCounts, Ints, n_raters


class People(NamedTuple):
    """What people say on one question, and how far they agree with themselves."""

    question: Question
    rule: LabelRule
    is_rated: NDArray[np.bool_]  # (n_items,)
    labels: Floats  # 1, 0, NaN undecided
    rater_scores: Floats
    ceilings: Mapping[str, Floats]  # statistics, (n_items, 2): agreeing and compared


class Scores(NamedTuple):
    """One run's scores on the items of an arm; NaN where there is none."""

    score: Floats
    has_row: NDArray[np.bool_]
    is_assumed: NDArray[np.bool_]
    n_truncated: Ints  # pairs whose premise was cut

    @property
    def is_failed(self) -> NDArray[np.bool_]:
        failed: NDArray[np.bool_] = self.has_row & np.isnan(self.score)
        return failed

    @property
    def given(self) -> Floats:
        """The scores that a metric gave: assumed ones take no part in any agreement."""
        return np.where(self.is_assumed, math.nan, self.score)


# --- people ---------------------------------------------------------------------------------


def truth_of(choices: Choices, counts: Sequence[ArmCounts]) -> ArmCounts | None:
    """Return the arm that is the truth; of a study without that arm its only one."""
    chosen = (of_arm for of_arm in counts if of_arm.arm.kind == choices.truth)
    return next(chosen, next(iter(counts), None))


def rater_scores_of(study: Study, question: Question, of_arm: ArmCounts) -> Floats:
    """Return each item's rater score; NaN where asking may have stopped early, or nobody voted.

    A share of votes is unbiased only where a study did not stop asking when decided.
    """
    scores = label_rule(question, study.settings).rater_scores(of_arm.votes[question.key])
    return np.where(of_arm.items.is_always_full, scores, math.nan)


def people_of(
    study: Study, choices: Choices, counts: Sequence[ArmCounts], question: str = ""
) -> tuple[ArmCounts | None, list[People]]:
    """Return the arm that is the truth, and what it says on each question, or on the one asked for.

    A study without that arm has its only one.
    """
    arms = {of_arm.arm.kind: of_arm for of_arm in counts}
    of_arm = truth_of(choices, counts)
    if of_arm is None:
        return None, []
    asked = [q for q in load_scheme(study.scheme).questions if not question or q.key == question]
    return of_arm, [_of_question(study, each, of_arm, arms) for each in asked]


def _of_question(
    study: Study, question: Question, of_arm: ArmCounts, arms: Mapping[str, ArmCounts]
) -> People:
    rule = label_rule(question, study.settings)
    votes = of_arm.votes[question.key]
    is_rated = votes.sum(axis=1) > 0
    is_full = of_arm.items.is_always_full
    ceilings: dict[str, Floats] = {}
    if not rule.why:
        full = votes * is_full[:, np.newaxis]  # nothing is compared where there are no votes
        if len(arms) == 2:
            ceilings["merged"] = _merged_ceiling(study, question, of_arm, arms)
        ceilings["halves"] = halves_statistics(full, rule.label_of)
        ceilings["rest"] = rest_statistics(full, rule.label_of)
    labels = np.full(len(votes), math.nan)
    labels[is_rated] = rule.labels(votes[is_rated], n_raters(study, votes[is_rated]))
    rater_scores = rater_scores_of(study, question, of_arm)
    return People(question, rule, is_rated, labels, rater_scores, ceilings)


def _merged_ceiling(
    study: Study, question: Question, of_arm: ArmCounts, arms: Mapping[str, ArmCounts]
) -> Floats:
    """Return where the two arms agree, for the items of the arm of the truth: (n_items, 2)."""
    pairs = pairs_of(study, question, arms, numbered_by=Arm.Kind(of_arm.arm.kind))
    statistics = np.zeros((len(of_arm.items.targets), 2))
    statistics[pairs.items] = accuracy_statistics(pairs.separate, pairs.merged)
    return statistics


# --- scores ---------------------------------------------------------------------------------


def runs_with_scores(study: Study) -> list[MetricRun]:
    """Return the runs that have given a score to what a study's raters judge, imported or not."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk")))
    found = MetricRun.objects.filter(has_scores, dataset=study.dataset_id)
    citations = is_of_citations(study)
    runs = [run for run in found if is_about(run, citations=citations)]
    return sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))


ScoresOf = Callable[[MetricRun, ArmCounts], Scores]


def scores_of(run: MetricRun, of_arm: ArmCounts) -> Scores:
    """Return a run's scores in the order of an arm's items."""
    return scores_of_runs([run], of_arm)[run.pk]


def scores_of_runs(runs: Sequence[MetricRun], of_arm: ArmCounts) -> dict[int, Scores]:
    """Return each run's scores in the order of an arm's items, by run; one statement for all."""
    place = {target: item for item, target in enumerate(of_arm.items.targets.tolist())}
    n_items = len(place)
    found = {
        run.pk: Scores(
            np.full(n_items, math.nan),
            np.zeros(n_items, bool),
            np.zeros(n_items, bool),
            np.zeros(n_items, np.int64),
        )
        for run in runs
    }
    rows = AutoScore.objects.filter(run__in=list(found)).values_list(
        "run", "target", "score", "is_assumed", "n_truncated"
    )
    for run_id, target, score, is_assumed, n_truncated in rows.iterator(chunk_size=20_000):
        item = place.get(target)
        if item is not None:
            scores = found[run_id]
            scores.has_row[item] = True
            scores.is_assumed[item] = is_assumed
            scores.n_truncated[item] = n_truncated
            if score is not None:
                scores.score[item] = score
    return found


def scores_once(metrics: Collection[str]) -> ScoresOf:
    """Return `scores_of` that reads runs of some metrics once, for reports on one and the same arm.

    Those of other runs are not kept: there may be many.
    """
    read: dict[int, Scores] = {}

    def kept_scores_of(run: MetricRun, of_arm: ArmCounts) -> Scores:
        if run.metric not in metrics:
            return scores_of(run, of_arm)
        if run.pk not in read:
            read[run.pk] = scores_of(run, of_arm)
        return read[run.pk]

    return kept_scores_of


def scale_of(run: MetricRun) -> tuple[float, float]:
    """Return the lowest and the highest score that a run can give; of imported ones 0 to 1."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    return kind.scale if kind else (0.0, 1.0)
