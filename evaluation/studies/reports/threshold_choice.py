"""The report on calibration: threshold, flavor and window chosen on some dialogs, tried on others.

Two kinds of rows. A `candidate` is one way to score, cut at its usual threshold; the row of what
was `chosen` among them says how good that is on dialogs that had no part in the choice, beside the
figure that comes of choosing and reporting on the same ones.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.models import MetricRun
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
from evaluation.reports.registry import ReportKind, columns
from evaluation.runs.families import USUAL as USUAL_CHOICES
from evaluation.runs.families import Candidate, Family, families_of
from evaluation.runs.item_scores import Scores, scale_of, scores_of_runs
from evaluation.statistics.human_auto import Bools, balanced_accuracy_from, cells
from evaluation.statistics.intervals import Figure, Floats, bootstrap_intervals, share_from
from evaluation.statistics.rank_measures import auc
from evaluation.statistics.threshold_choice import (
    N_FOLDS,
    N_INNER_FOLDS,
    Choice,
    Nested,
    calibration_figures,
    labels_at,
    nested,
)
from evaluation.statistics.uncertainty import accuracy_statistics
from evaluation.studies.reports.agreement import CEILINGS
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.votes.counts import ArmCounts
from evaluation.votes.people import People, people_of
from generation.choices.declaration import Choice as Declared
from generation.choices.declaration import ChoiceError, check_known

NAME = "calibration"
LEAST_SHARE = 0.5  # of the scores of the fullest candidate: with fewer one would cost the others
CANDIDATE, CHOSEN = "candidate", "chosen"
FIGURES = [
    *(
        f"{prefix}{name}"
        for prefix in ("", "flattering_", "untuned_")
        for name in ("accuracy", "balanced_accuracy")
    ),
    "optimism",
    "gain",
    "baseline",
    *(f"{kind}_{ceiling}" for ceiling in CEILINGS for kind in ("ceiling", "minus_ceiling")),
]


class _Entry(NamedTuple):
    """A candidate with its scores, and why it takes no part in the choice."""

    candidate: Candidate
    scores: Scores
    why: str


def calibration_report(
    study: Study,
    choices: Choices = USUAL,
    *,
    question: str = "",
    model: str = "",
    family: Family | None = None,
) -> Report[Any]:
    """Return the candidates of each family on each question, and what choosing among them gives.

    Args:
        question: the only one; "": all.
        model: the only model (or backend), or the key of a family; "": all.
        family: the only one, where it is at hand.
    """
    counts = study_counts(study, choices)
    of_arm, people = people_of(study, choices.truth, counts, question)
    said = signature(study, NAME, choices, counts, has_labels=True)
    said += f" | {N_FOLDS} folds of dialogs, {N_INNER_FOLDS} inside each"
    missing: Counter[str] = Counter(
        undecided=0, unscored=0, failed=0, assumed_scores=0, not_scored_by_all=0
    )
    rows: list[Row] = []
    digest = hashlib.sha256()
    families = [family] if family else families_of(study)
    for each in families:
        if of_arm and (not model or model in (each.key, each.model)):
            entries = _entries(each, of_arm)
            _count(missing, entries)
            _add_to(digest, entries)
            for asked in people:
                rows += _rows(study, of_arm, each, entries, asked)
    missing["not_scored_by_all"] = sum(row.get("n_not_scored_by_all", 0) for row in rows)
    n_undecided = sum(int((each.is_rated & np.isnan(each.labels)).sum()) for each in people)
    missing["undecided"] = n_undecided
    left_out: LeftOut = dict(missing) | votes_left_out(study, counts, choices)
    said += f" | scores {digest.hexdigest()[:16]}"
    return Report(study.name, NAME, rows, left_out, said)


def _entries(family: Family, of_arm: ArmCounts) -> list[_Entry]:
    """Return the candidates that have given a score; too few scores take no part."""
    found = scores_of_runs([each.run for each in family.candidates], of_arm)
    scored = [(each, found[each.run.pk]) for each in family.candidates]
    counts = [int((~np.isnan(scores.given)).sum()) for _, scores in scored]
    most = max(counts, default=0)
    return [
        _Entry(candidate, scores, _why_left_out(candidate.run, n, most))
        for (candidate, scores), n in zip(scored, counts, strict=True)
        if scores.has_row.any()
    ]


def _why_left_out(run: MetricRun, n: int, most: int) -> str:
    if run.state == MetricRun.State.RUNNING:
        return "still being scored"
    if n <= LEAST_SHARE * most and n < most:
        return f"has {n:,} score{'s'[: n != 1]}, another candidate {most:,}"
    return ""


def _rows(
    study: Study, of_arm: ArmCounts, family: Family, entries: Sequence[_Entry], people: People
) -> list[Row]:
    """Return the rows of a family on one question: one of what was chosen, then the candidates."""
    taking_part = [each for each in entries if not each.why]
    if not taking_part:
        return [_row(of_arm, family, each, people) | {"why": each.why} for each in entries]
    scores = np.array([each.scores.given for each in taking_part])
    cuts = [_untuned_threshold(each.candidate) for each in taking_part]
    usual = next((n for n, e in enumerate(taking_part) if e.candidate.choices == USUAL_CHOICES), 0)
    is_yes_at = _is_yes_at_threshold(taking_part[0].candidate)  # as of the others: one metric
    found = nested(
        scores,
        people.labels,
        of_arm.items.dialogs,
        seed=study.seed,
        untuned=Choice(usual, cuts[usual]),
        scale=scale_of(taking_part[0].candidate.run),
        is_yes_at_threshold=is_yes_at,
    )
    is_compared = ~np.isnan(people.labels) & ~np.isnan(scores).any(axis=0)
    candidates = [each.candidate for each in taking_part]
    says_yes = np.array(
        [labels_at(row, cut, is_yes_at) for row, cut in zip(scores, cuts, strict=True)]
    )
    # Decided, and scored by some of the candidates: it is compared if by all of them.
    is_wanted = ~np.isnan(people.labels) & ~np.isnan(scores).all(axis=0)
    is_lacking = is_wanted & np.isnan(scores)
    rows = [
        _chosen_row(study, of_arm, family, candidates, people, found, is_compared)
        | {"n_not_scored_by_all": int(is_lacking.any(axis=0).sum())}
    ]
    figures = iter(_candidate_figures(study, of_arm, scores, says_yes, people, is_compared))
    number_of = 0
    for each in entries:
        row = _row(of_arm, family, each, people)
        if each.why:
            rows.append(row | {"why": each.why})
            continue
        place = _place_in(found, number_of, scores, is_yes_at, people, is_compared)
        n_lacking = int(is_lacking[number_of].sum())
        rows.append(row | next(figures) | {"n_lacking": n_lacking} | place)
        number_of += 1
    return rows


def _row(of_arm: ArmCounts, family: Family, entry: _Entry, people: People) -> Row:
    """Return what a candidate is, and how many of the rated targets it has no score for."""
    choices = entry.candidate.choices
    run, rated = entry.candidate.run, people.is_rated
    return _heading(of_arm, family, people) | {
        "kind": CANDIDATE,
        "title": entry.candidate.name,
        "run": run.pk,
        "flavor": choices.flavor if choices else None,
        "window": choices.window if choices else None,
        "hypothesis": choices.hypothesis if choices else None,
        "run_signature": run.full_signature,
        "threshold": _untuned_threshold(entry.candidate),
        "unscored": int((rated & ~entry.scores.has_row).sum()),
        "failed": int((rated & entry.scores.is_failed).sum()),
        "assumed": int((rated & entry.scores.is_assumed).sum()),
        "truncated": int(entry.scores.n_truncated[rated].sum()),
    }


def _heading(of_arm: ArmCounts, family: Family, people: People) -> Row:
    return {
        "question": people.question.key,
        "label": people.rule.said or None,
        "truth": of_arm.arm.kind,
        "family": family.key,
        "metric": family.metric,
        "model": family.model or None,
        "evidence": family.evidence or None,
    }


def _candidate_figures(
    study: Study,
    of_arm: ArmCounts,
    scores: Floats,
    says_yes: Bools,
    people: People,
    is_compared: Bools,
) -> list[Row]:
    """Return how good each candidate is at its usual threshold, all over the same items."""
    human, dialogs = people.labels[is_compared], of_arm.items.dialogs[is_compared]
    figures = []
    for labels in says_yes[:, is_compared].astype(np.float64):
        figures.append(Figure(accuracy_statistics(human, labels), dialogs, share_from))
        by_cell = cells(human == 1, labels == 1)
        figures.append(Figure(by_cell, dialogs, balanced_accuracy_from))
    ends = bootstrap_intervals(
        figures, of_arm.items.n_dialogs, seed=study.seed, n_resamples=N_RESAMPLES
    )
    rows: list[Row] = [
        {"n": len(human), "auc": number(auc(human == 1, given))} for given in scores[:, is_compared]
    ]
    for place, (figure, interval) in enumerate(zip(figures, ends, strict=True)):
        name = ("accuracy", "balanced_accuracy")[place % 2]
        rows[place // 2] |= {
            name: number(figure.measure(figure.statistics.sum(axis=0))),
            f"{name}_low": number(interval.low),
            f"{name}_high": number(interval.high),
        }
    return rows


def _place_in(
    found: Nested,
    candidate: int,
    scores: Floats,
    is_yes_at: bool,
    people: People,
    is_compared: Bools,
) -> Row:
    """Return how a candidate fared in the choice: its best threshold, and how often it won."""
    if found.recommended is None:
        return {"best_threshold": None, "best_accuracy": None, "n_chosen": None, "why": None}
    threshold = found.fitted[candidate].threshold
    labels = labels_at(scores[candidate, is_compared], threshold, is_yes_at)
    return {
        "best_threshold": threshold,
        "best_accuracy": float((labels == (people.labels[is_compared] == 1)).mean()),
        "n_chosen": found.n_chosen[candidate],
        "is_recommended": candidate == found.recommended.candidate,
        "why": None,
    }


def _chosen_row(
    study: Study,
    of_arm: ArmCounts,
    family: Family,
    candidates: Sequence[Candidate],
    people: People,
    found: Nested,
    is_compared: Bools,
) -> Row:
    """Return how good choosing is: on other dialogs, on the same, and without it."""
    row = _heading(of_arm, family, people) | {
        "kind": CHOSEN,
        "n": int(is_compared.sum()),
        "n_human_yes": int((people.labels[is_compared] == 1).sum()),
        "n_dialogs": found.n_dialogs,
        "n_candidates": len(candidates),
        "n_folds": len(found.by_fold) or None,
    }
    for prefix, choice in (
        ("", found.recommended),
        ("flattering_", found.flattering),
        ("untuned_", found.untuned),
    ):
        candidate = candidates[choice.candidate] if choice else None
        row[f"{prefix}title"] = candidate.name if candidate else None
        row[f"{prefix}run"] = candidate.run.pk if candidate else None
        row[f"{prefix}threshold"] = choice.threshold if choice else None
    cuts = [choice.threshold for choice in found.by_fold]
    row |= {
        "lowest_threshold": min(cuts, default=None),
        "highest_threshold": max(cuts, default=None),
    }
    why = people.rule.why or found.why
    figures: dict[str, float] = {}
    if not why:
        figures = calibration_figures(
            found,
            people.labels,
            of_arm.items.dialogs,
            of_arm.items.n_dialogs,
            seed=study.seed,
            n_resamples=N_RESAMPLES,
            ceilings=people.ceilings,
        )
    for name in (f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high")):
        row[name] = number(figures.get(name, math.nan))
    for name in CEILINGS:
        statistics = people.ceilings.get(name)
        n = None if statistics is None else int((statistics[is_compared, 1] > 0).sum())
        row[f"ceiling_{name}_n"] = n
    return row | {"why": why or None}


def _untuned_threshold(candidate: Candidate) -> float:
    """Return the threshold that a metric has by itself, whatever the run was given."""
    return candidate.metric.threshold if candidate.metric else candidate.run.threshold


def _is_yes_at_threshold(candidate: Candidate) -> bool:
    """Return whether a score of just the threshold is a yes; of imported ones as the run says."""
    rule = candidate.metric or candidate.run
    return rule.is_yes_at_threshold


def _count(missing: Counter[str], entries: Sequence[_Entry]) -> None:
    for each in entries:
        missing.update(
            unscored=int((~each.scores.has_row).sum()),
            failed=int(each.scores.is_failed.sum()),
            assumed_scores=int(each.scores.is_assumed.sum()),
        )
    missing["candidates_without_part"] += sum(bool(each.why) for each in entries)


def _add_to(digest: "hashlib._Hash", entries: Sequence[_Entry]) -> None:
    for each in entries:
        digest.update(f"{each.candidate.run.full_signature} {each.why}".encode())
        for column in each.scores:
            digest.update(column.tobytes())


class CalibrationChoices(NamedTuple):
    """What a reader may choose about the choice of the threshold."""

    counted: Choices = Choices()
    question: Annotated[str, Declared("Question", help="The only question.")] = ""
    model: Annotated[str, Declared("Model", help="The only model, backend or family.")] = ""


def _usual(study: Study) -> CalibrationChoices:
    return CalibrationChoices(usual_choices(study))


def _check(study: Study, choices: CalibrationChoices) -> None:
    check_choices(study, choices.counted)
    questions = [each.key for each in load_scheme(study.scheme).questions]
    if choices.question:
        check_known("question", choices.question, questions)
    families = families_of(study)
    if choices.model and not any(choices.model in (each.key, each.model) for each in families):
        there = ", ".join(each.key for each in families) or "none yet"
        raise ChoiceError("model", f"No scores by a model {choices.model!r}; there are: {there}.")


def _chosen_report(study: Study, choices: CalibrationChoices) -> Report[Any]:
    counted, question, model = choices
    return calibration_report(study, counted, question=question, model=model)


CALIBRATION = ReportKind(
    key="calibration",
    title="Choice of the threshold",
    lede="Threshold, flavor and window chosen on some dialogs, and tried on others.",
    about=Study,
    choices=CalibrationChoices,
    make=_chosen_report,
    usual=_usual,
    check=_check,
    columns=columns(
        "question",
        "family",
        "kind",
        "title",
        "n_candidates",
        "threshold",
        "n",
        "n_lacking",
        "accuracy",
        "best_threshold",
        "best_accuracy",
        "n_chosen",
        "flattering_accuracy",
        "optimism",
        "untuned_accuracy",
        "baseline",
        "ceiling_merged",
        "ceiling_halves",
        "why",
    ),
)
