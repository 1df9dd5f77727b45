"""The report on human–auto agreement: each run's scores against people, question by question."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.disagreements.worklist import FALSE_ALARM, MISSED, Disagreement
from evaluation.metrics.ceiling import halves_statistics, rest_statistics
from evaluation.metrics.human_auto import (
    MEASURES,
    Outcomes,
    calibration_bins,
    confusion,
    measures_with_intervals,
    roc_points,
)
from evaluation.metrics.intervals import Floats
from evaluation.metrics.labels import LabelRule, label_rule
from evaluation.metrics.uncertainty import accuracy_statistics
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import (
    N_RESAMPLES,
    USUAL,
    Choices,
    LeftOut,
    Report,
    Row,
    number,
    signature,
    study_counts,
    votes_left_out,
)
from evaluation.reports.uncertainty import pairs_of
from evaluation.runs.progress import title_of
from evaluation.vote_counts import ArmCounts, Ints, n_raters

CEILINGS = ("merged", "halves", "rest")
MOST_DISAGREEMENTS = 5  # that a page shows before somebody asks for all

Curves = dict[str, dict[str, list[Any]]]  # "run/question" → "roc", "calibration" → points


class Details(NamedTuple):
    """What a page shows beside the rows, each by "run/question".

    Of disagreements: how many (`n`) of how many compared, and the `first` of them as
    `evaluation.disagreements.worklist.worklist` orders them.
    """

    curves: Curves
    disagreements: dict[str, dict[str, Any]]


class _People(NamedTuple):
    """What people say on one question, and how far they agree with themselves."""

    question: Question
    rule: LabelRule
    is_rated: NDArray[np.bool_]  # (n_items,)
    labels: Floats  # 1, 0, NaN undecided
    rater_scores: Floats
    ceilings: Mapping[str, Floats]  # statistics, (n_items, 2): agreeing and compared


class _Scores(NamedTuple):
    """One run's scores on the items of an arm; NaN where there is none."""

    score: Floats
    has_row: NDArray[np.bool_]
    is_assumed: NDArray[np.bool_]
    n_truncated: Ints  # pairs whose premise was cut

    @property
    def is_failed(self) -> NDArray[np.bool_]:
        failed: NDArray[np.bool_] = self.has_row & np.isnan(self.score)
        return failed


def agreement_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report:
    """Return how well each run repeats what people said: a row per run × question.

    `counts` and `left_out` as for `raters_report`.
    """
    return agreement_with_details(study, choices, counts, left_out, with_details=False)[0]


def curves(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
) -> Curves:
    """Return the ROC and calibration curve of each run and question that can be compared."""
    of_arm, people = _people(study, choices, counts or study_counts(study, choices))
    if of_arm is None:
        return {}
    return {
        f"{run.pk}/{each.question.key}": _curves_of(outcomes)
        for run in runs_with_scores(study)
        for scores in [_scores_of(run, of_arm)]
        for each in people
        if _n_compared(outcomes := _outcomes(run, scores, of_arm, each))
    }


def agreement_with_details(
    study: Study,
    choices: Choices,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
    *,
    with_details: bool = True,
) -> tuple[Report, Details]:
    """Return the report, the curves and the first disagreements, from one reading of the scores."""
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    of_arm, people = _people(study, choices, counts)
    said = signature(study, "agreement", choices, counts)
    if of_arm is None:
        return Report(study.name, "agreement", [], left_out, said), Details({}, {})
    rows: list[Row] = []
    details = Details({}, {})
    digest = hashlib.sha256()
    missing: Counter[str] = Counter(unscored=0, failed=0, assumed_scores=0, truncated_pairs=0)
    for run in runs_with_scores(study):
        scores = _scores_of(run, of_arm)
        missing.update(
            unscored=int((~scores.has_row).sum()),
            failed=int(scores.is_failed.sum()),
            assumed_scores=int(scores.is_assumed.sum()),
            truncated_pairs=int(scores.n_truncated.sum()),
        )
        digest.update(f"{run.metric} {run.full_signature} {run.threshold!r}".encode())
        for column in scores:
            digest.update(column.tobytes())
        for each in people:
            outcomes = _outcomes(run, scores, of_arm, each)
            rows.append(_row(study, run, of_arm, each, scores, outcomes))
            if with_details and _n_compared(outcomes):
                key = f"{run.pk}/{each.question.key}"
                details.curves[key] = _curves_of(outcomes)
                details.disagreements[key] = _disagreements_of(of_arm, each, outcomes)
    n_undecided = sum(int((each.is_rated & np.isnan(each.labels)).sum()) for each in people)
    said += f" | scores {digest.hexdigest()[:16]}"
    left_out = {"undecided": n_undecided} | missing | left_out
    return Report(study.name, "agreement", rows, left_out, said), details


# --- people ---------------------------------------------------------------------------------


def _people(
    study: Study, choices: Choices, counts: Sequence[ArmCounts]
) -> tuple[ArmCounts | None, list[_People]]:
    """Return the arm that is the truth, and what it says on each question.

    A study without that arm has its only one.
    """
    arms = {of_arm.arm.kind: of_arm for of_arm in counts}
    of_arm = arms.get(choices.truth, next(iter(arms.values()), None))
    if of_arm is None:
        return None, []
    questions = load_scheme(study.scheme).questions
    return of_arm, [_of_question(study, question, of_arm, arms) for question in questions]


def _of_question(
    study: Study, question: Question, of_arm: ArmCounts, arms: Mapping[str, ArmCounts]
) -> _People:
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
    # A share of votes is unbiased only where a study did not stop asking when decided.
    rater_scores = np.where(is_full, rule.rater_scores(votes), math.nan)
    return _People(question, rule, is_rated, labels, rater_scores, ceilings)


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
    """Return the runs of a study's dataset that have given a score, imported or not."""
    has_scores = Exists(AutoScore.objects.filter(run=OuterRef("pk")))
    runs = MetricRun.objects.filter(has_scores, dataset=study.dataset_id)
    return sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))


def _scores_of(run: MetricRun, of_arm: ArmCounts) -> _Scores:
    """Return a run's scores in the order of an arm's items."""
    place = {target: item for item, target in enumerate(of_arm.items.targets.tolist())}
    n_items = len(place)
    scores = _Scores(
        np.full(n_items, math.nan),
        np.zeros(n_items, bool),
        np.zeros(n_items, bool),
        np.zeros(n_items, np.int64),
    )
    rows = AutoScore.objects.filter(run=run).values_list(
        "target", "score", "is_assumed", "n_truncated"
    )
    for target, score, is_assumed, n_truncated in rows.iterator(chunk_size=20_000):
        item = place.get(target)
        if item is not None:
            scores.has_row[item] = True
            scores.is_assumed[item] = is_assumed
            scores.n_truncated[item] = n_truncated
            if score is not None:
                scores.score[item] = score
    return scores


# --- both -----------------------------------------------------------------------------------


def _outcomes(run: MetricRun, scores: _Scores, of_arm: ArmCounts, people: _People) -> Outcomes:
    """Return a run beside people on one question; assumed scores take no part."""
    return Outcomes(
        human=people.labels,
        score=np.where(scores.is_assumed, math.nan, scores.score),
        rater_score=people.rater_scores,
        dialogs=of_arm.items.dialogs,
        n_dialogs=of_arm.items.n_dialogs,
        threshold=run.cut,
    )


def _n_compared(outcomes: Outcomes) -> int:
    return int((~np.isnan(outcomes.score) & ~np.isnan(outcomes.human)).sum())


def _row(
    study: Study,
    run: MetricRun,
    of_arm: ArmCounts,
    people: _People,
    scores: _Scores,
    outcomes: Outcomes,
) -> Row:
    """Return the row of one run and one question.

    Of the rated targets `n` are compared; each of the others is unscored, failed, assumed or, with
    a score, undecided. Ceilings are over the compared ones alone, so that a metric and its ceiling
    are about the same items; `ceiling_*_n` of them take part.
    """
    has_score = ~np.isnan(outcomes.score)
    is_compared = has_score & ~np.isnan(outcomes.human)
    why = people.rule.why
    row: Row = {
        "run": run.pk,
        "metric": run.metric,
        "title": title_of(run),
        "model": run.model_name or run.backend,
        "run_signature": run.full_signature,
        "question": people.question.key,
        "label": people.rule.said or None,
        "truth": of_arm.arm.kind,
        "threshold": run.threshold,
        "n": int(is_compared.sum()),
        "n_human_yes": int((outcomes.human[is_compared] == 1).sum()),
    }
    dialogs = of_arm.items.dialogs[is_compared]
    ceilings = {
        name: (statistics[is_compared], dialogs) for name, statistics in people.ceilings.items()
    }
    figures = (
        dict.fromkeys(_figure_names())
        if why
        else measures_with_intervals(
            outcomes, seed=study.seed, n_resamples=N_RESAMPLES, ceilings=ceilings
        )
    )
    for name in _figure_names():
        figure = figures.get(name)
        row[name] = None if figure is None else number(figure)
    for name in CEILINGS:
        found = ceilings.get(name)
        row[f"ceiling_{name}_n"] = None if found is None else int((found[0][:, 1] > 0).sum())
    row |= confusion(outcomes)
    rated = people.is_rated
    row |= {
        "undecided": 0 if why else int((rated & has_score & np.isnan(outcomes.human)).sum()),
        "unscored": int((rated & ~scores.has_row).sum()),
        "failed": int((rated & scores.is_failed).sum()),
        "assumed": int((rated & scores.is_assumed).sum()),
        "truncated": int(scores.n_truncated[is_compared].sum()),
        "flattered": False,
        "why": why or None,
    }
    return row


def _figure_names() -> list[str]:
    """Return the names of all figures of a row, each with the ends of its interval."""
    ceilings = [f"{kind}_{c}" for c in CEILINGS for kind in ("ceiling", "minus_ceiling")]
    return [f"{name}{end}" for name in (*MEASURES, *ceilings) for end in ("", "_low", "_high")]


def _curves_of(outcomes: Outcomes) -> dict[str, list[Any]]:
    return {"roc": _plain(roc_points(outcomes)), "calibration": _plain(calibration_bins(outcomes))}


def _disagreements_of(of_arm: ArmCounts, people: _People, outcomes: Outcomes) -> dict[str, Any]:
    """Return how many labels differ, and those with the closest votes, then the widest margin."""
    said_yes = outcomes.score > outcomes.threshold
    is_compared = ~np.isnan(outcomes.score) & ~np.isnan(outcomes.human)
    differing = np.flatnonzero(is_compared & ((outcomes.human == 1) != said_yes))
    votes = of_arm.votes[people.question.key][differing]
    n_yes, n_no = people.rule.sides(votes)
    margins = outcomes.score[differing] - outcomes.threshold
    # Items are in the order of their names, which decides between equals.
    order = np.lexsort([differing, -np.abs(margins), np.abs(n_yes - n_no)])
    first = [
        Disagreement(
            target=int(of_arm.items.targets[differing[place]]),
            response_id=int(of_arm.items.responses[differing[place]]),
            kind=MISSED if outcomes.human[differing[place]] == 1 else FALSE_ALARM,
            n_yes=int(n_yes[place]),
            n_no=int(n_no[place]),
            score=float(outcomes.score[differing[place]]),
            margin=float(margins[place]),
            n_between=int(votes[place].sum() - n_yes[place] - n_no[place]),
        )._asdict()
        for place in order[:MOST_DISAGREEMENTS].tolist()
    ]
    return {"n": len(differing), "n_compared": int(is_compared.sum()), "first": first}


def _plain(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return points as JSON knows them: undefined is None, and four digits are enough to draw."""
    return [
        {
            name: (None if not math.isfinite(value) else round(float(value), 4) + 0.0)  # no −0.0
            if isinstance(value, float)
            else value
            for name, value in point.items()
        }
        for point in points
    ]
