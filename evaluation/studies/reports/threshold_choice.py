"""The report on threshold choice: the choice is made on some dialogs and tried on others.

There are two kinds of rows. A `candidate` is one way to score, at its usual threshold. The
`chosen` row has the accuracy of the choice among the candidates on dialogs that had no part in it,
and beside it the accuracy that results from choosing and reporting on the same dialogs.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.estimates import N_RESAMPLES, estimates_in, estimates_of
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, number
from evaluation.runs.families import Family, RunWithMetric, families_of, is_usual
from evaluation.runs.item_scores import scale_of
from evaluation.runs.reports import fitness_columns
from evaluation.statistics.human_auto import BALANCED_ACCURACY, Bools, cells, recalls
from evaluation.statistics.intervals import Floats, Statistic, share_from
from evaluation.statistics.rank_measures import auc
from evaluation.statistics.rater_answers import Unlabelled
from evaluation.statistics.threshold_choice import (
    N_FOLDS,
    N_INNER_FOLDS,
    Nested,
    ThresholdChoice,
    figures_of_choice,
    labels_at,
    nested,
)
from evaluation.statistics.tied_labels import share_with_ties
from evaluation.statistics.uncertainty import accuracy_statistics
from evaluation.studies.reports import methods
from evaluation.studies.reports.adjudicated_labels import decisions_signature, labels_left_out
from evaluation.studies.reports.ceilings import ceiling_columns
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.run_columns import (
    to_run,
    without_score,
)
from evaluation.studies.reports.threshold_choice_candidates import (
    CandidateEntry,
    add_to_digest,
    count_missing,
    entries_of,
    is_yes_at_threshold,
    untuned_threshold,
)
from evaluation.studies.reports.threshold_choice_rows import (
    ACCURACIES,
    FIGURES,
    CandidateRow,
    ChosenCandidate,
    ChosenRow,
    FamilyColumns,
    ThresholdChoiceRow,
)
from evaluation.votes.counts import ArmCounts
from evaluation.votes.people import People, people_of
from generation.choices.declaration import Choice, ChoiceError, check_known

NAME = "threshold_choice"


def threshold_choice_report(
    study: Study,
    choices: Choices = USUAL,
    *,
    question: str = "",
    model: str = "",
    family: Family | None = None,
) -> Report[ThresholdChoiceRow]:
    """Return the candidates of each family on each question, and the choice among them.

    Args:
        question: the only question; "": all.
        model: the only model (or backend), or the key of a family; "": all.
        family: the only family, if the caller has it already; None: all families of the study.
    """
    counts = study_counts(study, choices)
    of_arm, people = people_of(
        study, choices.truth, counts, question, adjudicated=choices.adjudicated
    )
    said = signature(study, NAME, choices, counts, has_labels=True)
    said += decisions_signature(people, choices)
    said += f" | {N_FOLDS} folds of dialogs, {N_INNER_FOLDS} inside each"
    missing: Counter[str] = Counter(unscored=0, failed=0, assumed_scores=0, not_scored_by_all=0)
    rows: list[ThresholdChoiceRow] = []
    digest = hashlib.sha256()
    families = [family] if family else families_of(study)
    for each in families:
        if of_arm and (not model or model in (each.key, each.model)):
            entries = entries_of(each, of_arm)
            count_missing(missing, entries)
            add_to_digest(digest, entries)
            for asked in people:
                rows += _rows(study, of_arm, each, entries, asked)
    missing["not_scored_by_all"] = sum(
        row.n_not_scored_by_all for row in rows if isinstance(row, ChosenRow)
    )
    left_out: LeftOut = labels_left_out(people, choices) | dict(missing)
    left_out |= votes_left_out(study, counts, choices)
    said += f" | scores {digest.hexdigest()[:16]}"
    return Report(study.name, NAME, rows, left_out, said)


def _rows(
    study: Study,
    of_arm: ArmCounts,
    family: Family,
    entries: Sequence[CandidateEntry],
    people: People,
) -> list[ThresholdChoiceRow]:
    """Return the rows of a family on one question: the row of the choice, then the candidates."""
    about = _about(of_arm, family, people)
    taking_part = [each for each in entries if not each.why]
    if not taking_part:
        return [_candidate_row(about, each, people) for each in entries]
    scores = np.array([each.scores.given for each in taking_part])
    usual_cuts = [untuned_threshold(each.candidate) for each in taking_part]
    cuts = [math.nan if cut is None else cut for cut in usual_cuts]
    usual = next((n for n, e in enumerate(taking_part) if is_usual(e.candidate.choices)), 0)
    is_yes_at = is_yes_at_threshold(taking_part[0].candidate)  # all candidates share one metric
    found = nested(
        scores,
        people.labels,
        of_arm.items.dialogs,
        seed=study.seed,
        untuned=ThresholdChoice(usual, cuts[usual]),
        scale=scale_of(taking_part[0].candidate.run),
        is_yes_at_threshold=is_yes_at,
    )
    is_scored = ~np.isnan(scores).any(axis=0)
    is_compared = is_scored & ~np.isnan(people.labels)
    missing = Unlabelled(people.is_waiting & is_scored, people.is_tied & is_scored)
    candidates = [each.candidate for each in taking_part]
    says_yes = np.array(
        [labels_at(row, cut, is_yes_at) for row, cut in zip(scores, cuts, strict=True)]
    )
    # An item is wanted when it is decided and at least one candidate has scored it. It is compared
    # when all candidates have scored it.
    is_wanted = ~np.isnan(people.labels) & ~np.isnan(scores).all(axis=0)
    is_lacking = is_wanted & np.isnan(scores)
    n_lacking_any = int(is_lacking.any(axis=0).sum())
    rows: list[ThresholdChoiceRow] = [
        _chosen_row(
            study, of_arm, about, candidates, people, found, is_compared, missing, n_lacking_any
        )
    ]
    figures = iter(
        _candidate_figures(study, of_arm, scores, says_yes, people, is_compared, missing)
    )
    number_of = 0
    for each in entries:
        if each.why:
            rows.append(_candidate_row(about, each, people))
            continue
        place = _place_in(found, number_of, scores, is_yes_at, people, is_compared)
        n_lacking = int(is_lacking[number_of].sum())
        of_candidate = next(figures)
        if usual_cuts[number_of] is None:
            of_candidate |= {"accuracy": UNKNOWN, "balanced_accuracy": UNKNOWN}
        rows.append(
            _candidate_row(about, each, people, **of_candidate, n_lacking=n_lacking, **place)
        )
        number_of += 1
    return rows


def _about(of_arm: ArmCounts, family: Family, people: People) -> FamilyColumns:
    return FamilyColumns(
        question=people.question.key,
        label=people.rule.description or None,
        truth=of_arm.arm.kind,
        family=family.key,
        metric=family.metric,
        model=family.model or None,
        evidence=family.evidence or None,
    )


def _candidate_row(
    about: FamilyColumns, entry: CandidateEntry, people: People, **of_choice: Any
) -> CandidateRow:
    """Return the row of a candidate, with the numbers of rated targets that it has no score for.

    Args:
        of_choice: further fields, which only a candidate that takes part has.
    """
    choices = entry.candidate.choices
    run, rated = entry.candidate.run, people.is_rated
    return CandidateRow(
        about=about,
        title=entry.candidate.name,
        run=run.pk,
        flavor=choices.flavor if choices else None,
        window=choices.window if choices else None,
        hypothesis=choices.hypothesis if choices else None,
        run_signature=run.full_signature,
        threshold=untuned_threshold(entry.candidate),
        of_controls=fitness_columns(entry.fitness),
        without_score=without_score(entry.scores, rated),
        truncated=int(entry.scores.n_truncated[rated].sum()),
        why=entry.why or None,
        **of_choice,
    )


def _candidate_figures(
    study: Study,
    of_arm: ArmCounts,
    scores: Floats,
    says_yes: Bools,
    people: People,
    is_compared: Bools,
    missing: Unlabelled,
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each candidate at its usual threshold, all for the same items."""
    human, dialogs = people.labels[is_compared], of_arm.items.dialogs[is_compared]
    figures = []
    for labels in says_yes[:, is_compared].astype(np.float64):
        figures.append(Statistic(accuracy_statistics(human, labels), dialogs, share_from))
        by_cell = cells(human == 1, labels == 1)
        figures.append(Statistic(recalls(by_cell), dialogs, BALANCED_ACCURACY))
    estimates = iter(estimates_of(figures, of_arm.items.n_dialogs, seed=study.seed))
    for given in scores[:, is_compared]:
        accuracy = next(estimates)
        yield {
            "n": len(human),
            **_missing_labels(missing),
            "auc": number(auc(human == 1, given)),
            "accuracy": accuracy,
            "accuracy_ties_half": _ties_half(accuracy, len(human), missing),
            "balanced_accuracy": next(estimates),
        }


def _missing_labels(missing: Unlabelled) -> dict[str, Any]:
    return {
        "n_left_out_waiting": int(missing.is_waiting.sum()),
        "n_left_out_tied": int(missing.is_tied.sum()),
    }


def _ties_half(accuracy: Estimate, n: int, missing: Unlabelled) -> float | None:
    """Return an accuracy if tied labels agreed half with any choice; None where none is tied."""
    if accuracy.value is None:
        return None
    return number(share_with_ties(accuracy.value, n, int(missing.is_tied.sum())))


def _place_in(
    found: Nested,
    candidate: int,
    scores: Floats,
    is_yes_at: bool,
    people: People,
    is_compared: Bools,
) -> dict[str, Any]:
    """Return the result of a candidate in the choice.

    It has the best threshold, its accuracy, the number of folds that chose the candidate, and
    whether the candidate is recommended.
    """
    if found.recommended is None:
        return {}
    threshold = found.fitted[candidate].threshold
    labels = labels_at(scores[candidate, is_compared], threshold, is_yes_at)
    return {
        "best_threshold": threshold,
        "best_accuracy": float((labels == (people.labels[is_compared] == 1)).mean()),
        "n_chosen": found.n_chosen[candidate],
        "is_recommended": candidate == found.recommended.candidate,
    }


def _chosen_row(
    study: Study,
    of_arm: ArmCounts,
    about: FamilyColumns,
    candidates: Sequence[RunWithMetric],
    people: People,
    found: Nested,
    is_compared: Bools,
    missing: Unlabelled,
    n_not_scored_by_all: int,
) -> ChosenRow:
    """Return the row of the choice: its figures on other dialogs, on the same, and without it."""
    cuts = [choice.threshold for choice in found.by_fold]
    why = people.rule.why or found.why
    estimates = {}
    if not why:
        estimates = estimates_in(
            figures_of_choice(
                found,
                people.labels,
                of_arm.items.dialogs,
                of_arm.items.n_dialogs,
                seed=study.seed,
                n_resamples=N_RESAMPLES,
                ceilings=people.ceilings,
            )
        )
    figures: dict[str, Any] = {name: estimates.get(name, UNKNOWN) for name in FIGURES}
    if math.isnan(found.untuned.threshold):  # imported scores without a usual threshold
        figures |= dict.fromkeys(("untuned_accuracy", "untuned_balanced_accuracy", "gain"), UNKNOWN)
    n = int(is_compared.sum())
    ties_half: dict[str, Any] = {
        f"{name}_ties_half": _ties_half(figures[name], n, missing) for name in ACCURACIES
    }
    recommended = _chosen(candidates, found.recommended)
    return ChosenRow(
        about=about,
        n=n,
        **_missing_labels(missing),
        n_human_yes=int((people.labels[is_compared] == 1).sum()),
        n_adjudicated=int((is_compared & people.is_decided).sum()),
        n_dialogs=found.n_dialogs,
        n_candidates=len(candidates),
        n_folds=len(found.by_fold) or None,
        title=recommended.title,
        run=recommended.run,
        threshold=recommended.threshold,
        others={
            "flattering": _chosen(candidates, found.flattering),
            "untuned": _chosen(candidates, found.untuned),
        },
        lowest_threshold=min(cuts, default=None),
        highest_threshold=max(cuts, default=None),
        **figures,
        **ties_half,
        ceilings=ceiling_columns(estimates, people.ceilings, ~np.isnan(found.labels)),
        why=why or None,
        n_not_scored_by_all=n_not_scored_by_all,
    )


def _chosen(candidates: Sequence[RunWithMetric], choice: ThresholdChoice | None) -> ChosenCandidate:
    if choice is None:
        return ChosenCandidate(title=None, run=None, threshold=None)
    candidate, threshold = candidates[choice.candidate], number(choice.threshold)
    return ChosenCandidate(title=candidate.name, run=candidate.run.pk, threshold=threshold)


class ThresholdChoiceOptions(NamedTuple):
    """The choices that a reader may make about the report on threshold choice."""

    counted: Choices = Choices()
    question: Annotated[str, Choice("Question", help="The only question.")] = ""
    model: Annotated[str, Choice("Model", help="The only model, backend or family.")] = ""


def _usual(study: Study) -> ThresholdChoiceOptions:
    return ThresholdChoiceOptions(usual_choices(study))


def _check(study: Study, choices: ThresholdChoiceOptions) -> None:
    check_choices(study, choices.counted)
    questions = [each.key for each in load_scheme(study.scheme).questions]
    if choices.question:
        check_known("question", choices.question, questions)
    families = families_of(study)
    if choices.model and not any(choices.model in (each.key, each.model) for each in families):
        keys = ", ".join(each.key for each in families)
        there = f"There are scores by: {keys}." if keys else "There are no scores yet."
        raise ChoiceError(
            "model",
            f"There are no scores by a model {choices.model!r}. {there}",
        )


def _chosen_report(study: Study, choices: ThresholdChoiceOptions) -> Report[ThresholdChoiceRow]:
    counted, question, model = choices
    return threshold_choice_report(study, counted, question=question, model=model)


THRESHOLD_CHOICE = ReportKind(
    key=NAME,
    former_key="calibration",
    title="Threshold choice",
    lede="Chooses threshold, flavor and window on some dialogs and reports them on others.",
    group=ReportGroup.METRICS,
    about=Study,
    methods=methods.THRESHOLD_CHOICE,
    choices=ThresholdChoiceOptions,
    make=_chosen_report,
    usual=_usual,
    check=_check,
    rows=(ChosenRow, CandidateRow),
    leads={"title": to_run},
)
