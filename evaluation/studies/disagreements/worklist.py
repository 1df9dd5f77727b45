"""The worklist: targets on which raters and a metric disagree, or on which raters are tied.

Only the votes on one question in one arm are read, and only as counts, so that the list is quick
even when a study has many votes. `evaluation.studies.disagreements.cases` has the details that a
page shows.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Count

from annotation.models import Arm, Study, Target
from annotation.schemes import Question
from evaluation.models import Adjudication, AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.runs.item_scores import WITHOUT_THRESHOLD
from evaluation.statistics.labels import LabelRule, label_rule
from evaluation.votes.counts import Ints, counted_votes, flagged_responses, n_raters

MISSED, FALSE_ALARM, TIED = "missed", "false alarm", "tied"
WAITING = "waiting"  # a reason why a target is not compared; such targets are only counted


class Disagreement(NamedTuple):
    """A target on which the raters' majority and a score's label differ, or that is tied."""

    target: int
    kind: str  # missed: human yes, auto no; false alarm: the reverse; tied: no majority
    n_yes: int
    n_no: int
    score: float | None  # None: the target has no score, or one that does not count
    margin: float | None  # score − threshold; None without one of them
    n_between: int = 0  # votes on the cut of an ordinal scale: they are neither yes nor no


class Worklist(NamedTuple):
    """The disagreements, closest votes first, and the numbers of targets compared and left out."""

    items: list[Disagreement]
    tied: list[Disagreement]  # targets without a majority, scored or not, closest votes first
    n_waiting: int  # targets without a majority whose votes are still to come; they are not listed
    n_rated: int
    n_compared: int  # targets with a majority and a score
    left_out: Mapping[str, int]  # number of rated targets that were not compared, by reason
    why: str = ""  # the reason why nothing can be compared; empty: it can

    @property
    def everything(self) -> list[Disagreement]:
        return [*self.items, *self.tied]

    def of_kind(self, kind: str) -> list[Disagreement]:
        """Return the targets of one kind; "": all on which raters and metric disagree."""
        if kind == TIED:
            return self.tied
        return [item for item in self.items if kind in ("", item.kind)]


class _Scored(NamedTuple):
    """A run's score of a target, with the keys of the target."""

    score: float  # NaN when scoring failed
    problem: str  # why the score does not count: failed, assumed; empty: it counts
    key: str  # the response's key
    citation: int  # the citation's number; 0: the target is a response


def disagreements(
    study: Study, run: MetricRun, question: Question, choices: Choices
) -> list[Disagreement]:
    """Return the targets on which majority and score disagree.

    Those with the closest votes come first, and among these those with the widest margin.
    """
    return worklist(study, run, question, choices).items


def worklist(study: Study, run: MetricRun | None, question: Question, choices: Choices) -> Worklist:
    """Return the disagreements of a run with the majorities of the chosen arm on a question.

    Beside them are the tied targets; there may be some before any metric has run.

    Targets that wait for votes or are tied, and targets without a score of their own (failed,
    assumed, not scored), are not compared, but they are counted. Flagged responses and gold items
    are left out of every figure and are not counted.
    """
    arm = study.arms.filter(kind=choices.truth).select_related("study").first()
    rule = label_rule(question, study.settings)
    cut = run.cut if run else None
    if arm is None or rule.why:
        why = rule.why or f"the study has no {choices.truth} arm"
        return Worklist([], [], 0, 0, 0, {}, why)
    targets, votes = _votes(arm, question, choices)
    raters = n_raters(study, votes)
    labels, missing = rule.labels(votes, raters), rule.unlabelled(votes, raters)
    n_yes, n_no = _sides(rule, votes)
    scores = _scores(run) if run else {}
    left_out: Counter[str] = Counter()
    found, tied = [], []
    for place, target in enumerate(targets):
        scored, why_none = scores.get(target), ""
        if math.isnan(labels[place]):
            why_none = WAITING if missing.is_waiting[place] else TIED
        yes, no = int(n_yes[place]), int(n_no[place])
        counts = (yes, no, int(votes[place].sum()) - yes - no)
        if why_none == TIED:
            tied.append(_item(target, TIED, counts, scored, run))
        if scored is None or scored.problem or why_none:
            left_out[scored.problem or why_none if scored else "unscored"] += 1
            continue
        if run and cut is None:
            left_out["without a threshold"] += 1
            continue
        is_yes = bool(labels[place])
        if cut is None or is_yes == (scored.score > cut):
            continue
        item = _item(target, MISSED if is_yes else FALSE_ALARM, counts, scored, run)
        found.append((abs(yes - no), -abs(item.margin or 0.0), scored.key, scored.citation, item))
    return Worklist(
        [row[-1] for row in sorted(found)],
        _closest_first(tied),
        int(missing.is_waiting.sum()),
        len(targets),
        len(targets) - left_out.total(),
        dict(left_out),
        WITHOUT_THRESHOLD if run and cut is None else "",
    )


def _item(
    target: int,
    kind: str,
    counts: tuple[int, int, int],
    scored: _Scored | None,
    run: MetricRun | None,
) -> Disagreement:
    """Return a row of the worklist.

    Args:
        counts: the numbers of votes for yes, for no, and for neither.
    """
    n_yes, n_no, n_between = counts
    score = margin = None
    if run and scored and not scored.problem:
        score = scored.score
        margin = None if run.threshold is None else score - run.threshold
    return Disagreement(target, kind, n_yes, n_no, score, margin, n_between)


def _closest_first(items: Sequence[Disagreement]) -> list[Disagreement]:
    """Return tied targets: closest votes first, then by the names of the targets."""
    rows = Target.objects.filter(pk__in=[item.target for item in items])
    names = {
        pk: (key, citation or 0)
        for pk, key, citation in rows.values_list("pk", "response__key", "citation__number")
    }
    return sorted(items, key=lambda item: (abs(item.n_yes - item.n_no), names[item.target]))


def adjudicated(study: Study, question: Question) -> frozenset[int]:
    """Return the ids of the targets that researchers have adjudicated on a question."""
    rows = Adjudication.objects.filter(study=study, question=question.key)
    return frozenset(rows.order_by().values_list("target", flat=True).distinct())


def _votes(arm: Arm, question: Question, choices: Choices) -> tuple[list[int], Ints]:
    """Return the rated targets, and how many raters gave each answer to each target.

    The counts have the shape (n_targets, n_answers).
    """
    votes = counted_votes(arm, with_excluded=choices.with_excluded).filter(question=question.key)
    if flagged := flagged_responses(arm, with_excluded=choices.with_excluded):
        votes = votes.exclude(target__response__in=flagged)
    if choices.setup:
        setups = arm.study.setups.filter(name=choices.setup)
        votes = votes.filter(target__response__setup__in=list(setups))
    values = question.scale.values
    counts: dict[int, list[int]] = defaultdict(lambda: [0] * len(values))
    rows = votes.order_by().values_list("target", "answer").annotate(n=Count("pk"))
    for target, answer, n in rows.iterator():
        counts[target][values.index(answer)] = n
    return list(counts), np.array(list(counts.values()), np.int64).reshape(-1, len(values))


def _sides(rule: LabelRule, votes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of votes on each target that count as yes, and that count as no."""
    if rule.kind == "ordinal":
        values = np.array(rule.values)
        yes, no = values > rule.cut, values < rule.cut
    else:
        yes = np.arange(len(rule.values)) == rule.positive
        no = ~yes
    return votes[:, yes].sum(axis=1), votes[:, no].sum(axis=1)


def _scores(run: MetricRun) -> dict[int, _Scored]:
    """Return a run's score of each target, by target id."""
    rows = AutoScore.objects.filter(run=run).values_list(
        "target",
        "score",
        "is_assumed",
        "target__response__key",
        "target__citation__number",
    )
    return {
        target: _Scored(
            math.nan if score is None else score,
            "failed" if score is None else "assumed" if is_assumed else "",
            key,
            citation or 0,
        )
        for target, score, is_assumed, key, citation in rows.iterator()
    }
