"""The figures of a pilot study that a plan is made from: what its votes and scores say.

The figures are about what the planned study compares. For a difference of two setups, for example,
the likeness within dialogs is that of differences.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from annotation.models import Arm, Study
from annotation.schemes import load_scheme
from evaluation.models import MetricRun
from evaluation.reports.base import Choices, study_counts
from evaluation.runs.item_scores import labels_of, runs_with_scores, scores_of_runs
from evaluation.runs.names import run_key
from evaluation.runs.progress import title_of
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.labels import label_rule
from evaluation.statistics.pilot_correlations import pooled_correlation, pooled_icc
from evaluation.statistics.rater_answers import Unlabelled
from evaluation.studies.reports.plan_choices import Goal, PlanChoices
from evaluation.votes.arm_pairs import pairs_of
from evaluation.votes.counts import ArmCounts
from evaluation.votes.people import People, people_of
from generation.models import Response


class PilotVotes(NamedTuple):
    """The votes of one arm of a pilot, from which other numbers of raters are simulated."""

    counts: Floats  # (n_items, 2): votes for no and for yes
    clusters: Indexes  # (n_items,): the dialog of each item, apart for each setup


class PilotFigures(NamedTuple):
    """The figures of a pilot about what the plan compares; NaN is undefined."""

    n_items: int  # responses, or pairs of them, that the figures are made from
    n_waiting: int  # those with a label that waits for votes
    n_tied: int  # those with a label that is tied, and none that waits
    n_without_score: int  # those whose labels are compared with a metric, but have no score
    n_dialogs: int
    share: float  # the share of yes; or of right labels of a metric
    correlation: float  # the correlation of the two labels of a pair
    icc: float
    metric_correlation: float
    metric: str  # the title of the run; "" without one
    votes: Mapping[str, PilotVotes]  # arm → votes; empty if there is nothing to simulate from
    data: str  # a hash of the votes


class _Compared(NamedTuple):
    """The values whose mean a planned study takes, for each item of the pilot."""

    values: Floats
    strata: Indexes
    dialogs: Indexes
    missing: Unlabelled
    scores: Floats | None  # what the metric says in place of the values; None: it cannot
    share: float
    correlation: float = math.nan
    n_without_score: int = 0


def pilot_figures(study: Study, choices: PlanChoices) -> PilotFigures:
    """Return the figures of a pilot for the goal, the arm, the question and the run chosen.

    A pilot without the arm has its only arm.
    """
    counts = study_counts(study, Choices(truth=choices.arm))
    question = choices.question or load_scheme(study.scheme).main_questions[0].key
    of_arm, asked = people_of(study, choices.arm, counts, question)
    if of_arm is None or not asked:
        return _nothing()
    [people] = asked
    run, scores = _best_run(study, choices.metric, people.labels, of_arm)
    compared = _compared(study, choices.goal, of_arm, people, counts, run, scores)
    known = ~np.isnan(compared.values)
    return PilotFigures(
        n_items=int(known.sum()),
        n_waiting=int(compared.missing.is_waiting.sum()),
        n_tied=int(compared.missing.is_tied.sum()),
        n_without_score=compared.n_without_score,
        n_dialogs=len(np.unique(compared.dialogs[known])),
        share=compared.share if known.any() else math.nan,
        correlation=compared.correlation,
        icc=pooled_icc(compared.values, compared.strata, compared.dialogs),
        metric_correlation=math.nan
        if compared.scores is None
        else pooled_correlation(compared.values, compared.scores, compared.strata),
        metric=title_of(run) if run else "",
        votes=dict(_votes(study, people, counts)),
        data="+".join(each.data_hash for each in counts),
    )


def _nothing() -> PilotFigures:
    nan = math.nan
    return PilotFigures(0, 0, 0, 0, 0, nan, nan, nan, nan, "", {}, "no votes")


def _best_run(
    study: Study, chosen: str, labels: Floats, of_arm: ArmCounts
) -> tuple[MetricRun | None, Floats | None]:
    """Return the run whose scores agree best with the labels, and its scores.

    Args:
        chosen: the key of the only run that counts; "" for all of the study.
    """
    runs = [run for run in runs_with_scores(study) if chosen in ("", run_key(run))]
    found = scores_of_runs(runs, of_arm)

    def agreement(run: MetricRun) -> float:
        value = pooled_correlation(labels, found[run.pk].given, of_arm.items.setups)
        return -math.inf if math.isnan(value) else value

    best = max(runs, key=agreement, default=None)
    return best, found[best.pk].given if best else None


# --- what is compared, by goal --------------------------------------------------------------


def _compared(
    study: Study,
    goal: str,
    of_arm: ArmCounts,
    people: People,
    counts: Sequence[ArmCounts],
    run: MetricRun | None,
    scores: Floats | None,
) -> _Compared:
    items, labels = of_arm.items, people.labels
    missing = Unlabelled(people.is_waiting, people.is_tied)
    if goal == Goal.DIFFERENCE:
        return _of_setups(of_arm, people, scores)
    if goal == Goal.ARMS:
        return _of_arms(study, people, counts)
    if goal == Goal.ACCURACY:
        right = np.full(len(labels), math.nan)
        if run and scores is not None:
            said = labels_of(run, scores)
            known = ~np.isnan(labels) & ~np.isnan(said)
            right[known] = said[known] == labels[known]
        n_without = int((np.isnan(right) & ~np.isnan(labels)).sum())
        nothing = np.zeros_like(items.setups)
        return _Compared(
            right,
            nothing,
            items.dialogs,
            missing,
            None,
            _mean(right),
            n_without_score=n_without,
        )
    return _Compared(labels, items.setups, items.dialogs, missing, scores, _mean(labels))


def _of_setups(of_arm: ArmCounts, people: People, scores: Floats | None) -> _Compared:
    """Return the differences of each two setups about the same examples."""
    items, labels = of_arm.items, people.labels
    place = {response: item for item, response in enumerate(items.responses.tolist())}
    rows = Response.objects.filter(setup__in=np.unique(items.setups).tolist())
    by_example: dict[int, list[int]] = {}
    for response, example in rows.order_by("setup", "pk").values_list("pk", "example"):
        if response in place:
            by_example.setdefault(example, []).append(place[response])
    pairs = [
        (one, other)
        for of_example in by_example.values()
        for one, other in combinations(of_example, 2)
        if items.setups[one] != items.setups[other]
    ]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    both = np.column_stack([items.setups[first], items.setups[second]])
    strata = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    is_waiting = people.is_waiting[first] | people.is_waiting[second]
    is_tied = people.is_tied[first] | people.is_tied[second]
    return _Compared(
        labels[first] - labels[second],
        strata,
        items.dialogs[first],
        Unlabelled(is_waiting, is_tied & ~is_waiting),
        None if scores is None else scores[first] - scores[second],
        _mean(labels),
        pooled_correlation(labels[first], labels[second], strata),
    )


def _of_arms(study: Study, people: People, counts: Sequence[ArmCounts]) -> _Compared:
    """Return the differences of both arms about the same responses. No metric tells them apart."""
    arms = {each.arm.kind: each for each in counts}
    none = np.zeros(0, np.int64)
    if not {Arm.Kind.SEPARATE, Arm.Kind.MERGED} <= arms.keys():
        nothing = Unlabelled(none.astype(bool), none.astype(bool))
        return _Compared(np.zeros(0), none, none, nothing, None, _mean(people.labels))
    pairs = pairs_of(study, people.question, arms)
    everything = np.zeros_like(pairs.setups)
    return _Compared(
        pairs.second - pairs.first,
        everything,
        pairs.dialogs,
        Unlabelled(pairs.is_waiting, pairs.is_tied),
        None,
        _mean(pairs.first),
        pooled_correlation(pairs.first, pairs.second, everything),
    )


# --- raters ---------------------------------------------------------------------------------


def _votes(
    study: Study, people: People, counts: Sequence[ArmCounts]
) -> Iterator[tuple[str, PilotVotes]]:
    """Yield each arm with its votes for no and for yes, of items that got all their votes.

    An ordinal question has no majority to simulate.
    """
    rule = label_rule(people.question, study.settings)
    if rule.why or rule.kind == "ordinal":
        return
    for of_arm in counts:
        yes, no = rule.sides(of_arm.votes[people.question.key])
        here = of_arm.items.is_always_full & (yes + no > 0)
        if here.any():
            setups, dialogs = of_arm.items.setups[here], of_arm.items.dialogs[here]
            by_setup = np.unique(np.column_stack([setups, dialogs]), axis=0, return_inverse=True)
            both: Any = np.column_stack([no, yes])[here]
            yield of_arm.arm.kind, PilotVotes(both.astype(float), by_setup[1].reshape(-1))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
