"""The report on uncertainty: merged majorities against separate ones, over the same responses."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Arm, Study
from annotation.schemes import Question, load_scheme
from evaluation.metrics import human
from evaluation.metrics.intervals import Floats, share_from
from evaluation.metrics.labels import label_rule
from evaluation.metrics.uncertainty import (
    accuracy_statistics,
    contrast_by_dialog,
    direction,
    holm,
    mcnemar_p,
    visible_shift,
)
from evaluation.reports.base import (
    Choices,
    LeftOut,
    Planned,
    Report,
    Row,
    number,
    signature,
    study_counts,
    votes_left_out,
    with_intervals,
)
from evaluation.reports.scenarios import setups_in_order
from evaluation.vote_counts import ArmCounts, Ints, n_raters
from generation.models import Setup

Bools = NDArray[np.bool_]

LEVEL = 0.05  # of every test, after Holm's correction


class Pairs(NamedTuple):
    """What both arms say on one question about each response rated in both."""

    is_rated: Bools  # the question has votes in both arms
    separate: Floats  # labels: 1 yes, 0 no, NaN undecided
    merged: Floats
    # Rater score merged − separate; NaN where either arm may have stopped asking (see `Items`).
    difference: Floats
    setups: Ints
    dialogs: Ints
    n_dialogs: int

    @property
    def is_decided(self) -> Bools:
        """Whether both arms have a label: (n_pairs,)."""
        decided: Bools = ~np.isnan(self.separate) & ~np.isnan(self.merged)
        return decided


class _Direction(NamedTuple):
    """Whether merging favours a setup on one question; undefined is NaN, nobody is empty."""

    setup: str = ""  # of the largest contrast
    contrast: float = math.nan
    p: float = math.nan
    visible: float = math.nan
    is_mutual: bool = False  # the setup shifts to better, the mean of the others to worse
    is_in_favour: bool = False


def uncertainty_report(
    study: Study,
    choices: Choices = Choices(),  # noqa: B008 - a tuple
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report:
    """Return how far the arms differ: a row per question, then one per question × setup.

    `counts` and `left_out` as for `raters_report`. No rows where a study has one arm. Rows over
    all setups have `setup` None.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    arms = {of_arm.arm.kind: of_arm for of_arm in counts}
    said = signature(study, "uncertainty", choices, counts)
    if len(arms) < 2:
        return Report(study.name, "uncertainty", [], {"arms": 2 - len(arms)} | left_out, said)

    setups = [s for s in setups_in_order(study) if choices.setup in ("", s.name)]
    questions = load_scheme(study.scheme).questions
    pairs = {question.key: pairs_of(study, question, arms) for question in questions}
    n_dialogs = arms[Arm.Kind.SEPARATE].items.n_dialogs
    planned = [
        *(_over_all_setups(study, question, pairs[question.key]) for question in questions),
        *(_of_setup(q, s, pairs[q.key]) for q in questions for s in setups),
    ]
    rows = list(with_intervals(study, planned, n_dialogs))
    overall, of_setups = rows[: len(questions)], rows[len(questions) :]
    _add_directions(study, overall, questions, pairs, setups)
    for setup in setups:
        _add_tests([row for row in of_setups if row["setup"] == setup.name])
    left_out = {
        "undecided": sum(row["n_left_out_undecided"] for row in overall),
        "rated_in_one_arm": _n_rated_in_one_arm(arms),
    } | left_out
    return Report(study.name, "uncertainty", rows, left_out, said)


def pairs_of(
    study: Study,
    question: Question,
    arms: Mapping[str, ArmCounts],
    numbered_by: str = Arm.Kind.SEPARATE,
) -> Pairs:
    """Return what the two arms say about each response that has votes in both.

    Args:
        numbered_by: the arm whose numbers of dialogs are used.
    """
    rule = label_rule(question, study.settings)
    separate, merged = arms[Arm.Kind.SEPARATE], arms[Arm.Kind.MERGED]
    _, here, there = np.intersect1d(
        separate.items.targets, merged.items.targets, return_indices=True
    )
    in_order = np.argsort(here)  # by name, as items are
    here, there = here[in_order], there[in_order]
    numbering = arms[numbered_by].items
    votes = separate.votes[question.key][here], merged.votes[question.key][there]
    is_full = separate.items.is_always_full[here] & merged.items.is_always_full[there]
    difference = rule.rater_scores(votes[1]) - rule.rater_scores(votes[0])
    return Pairs(
        is_rated=(votes[0].sum(axis=1) > 0) & (votes[1].sum(axis=1) > 0),
        separate=rule.labels(votes[0], n_raters(study, votes[0])),
        merged=rule.labels(votes[1], n_raters(study, votes[1])),
        difference=np.where(is_full, difference, math.nan),
        setups=separate.items.setups[here],
        dialogs=numbering.dialogs[here if numbering is separate.items else there],
        n_dialogs=numbering.n_dialogs,
    )


def _n_rated_in_one_arm(arms: Mapping[str, ArmCounts]) -> int:
    separate, merged = (set(of_arm.items.responses.tolist()) for of_arm in arms.values())
    return len(separate ^ merged)


# --- over all setups ------------------------------------------------------------------------


def _over_all_setups(study: Study, question: Question, pairs: Pairs) -> Planned:
    why = label_rule(question, study.settings).why
    same = accuracy_statistics(pairs.separate, pairs.merged)
    differ = np.column_stack([same[:, 1] - same[:, 0], same[:, 1]])
    before = {
        "question": question.key,
        "setup": None,
        "n": int(pairs.is_decided.sum()),
        "n_left_out_undecided": 0 if why else int((pairs.is_rated & ~pairs.is_decided).sum()),
        "why": why or None,
    }
    figures = {"accuracy": (same, share_from), "disagreement": (differ, share_from)}
    return Planned(before, figures, pairs.dialogs)


def _add_directions(
    study: Study,
    rows: Sequence[Row],
    questions: Sequence[Question],
    pairs: Mapping[str, Pairs],
    setups: Sequence[Setup],
) -> None:
    """Add to each question's row whether merging favours a setup, by Holm over the questions."""
    found = [_direction(study, question, pairs[question.key], setups) for question in questions]
    for row, each, p in zip(rows, found, holm([each.p for each in found]), strict=True):
        is_significant = p < LEVEL and each.is_in_favour
        row |= {
            "favours": each.setup if is_significant and each.is_mutual else None,
            "helps": each.setup if is_significant and not each.is_mutual else None,
            "direction_setup": each.setup or None,
            "direction_shift": number(each.contrast),
            "direction_p": number(each.p),
            "direction_p_holm": number(p),
            "visible_direction": number(each.visible),
        }


def _direction(
    study: Study, question: Question, pairs: Pairs, setups: Sequence[Setup]
) -> _Direction:
    """Return the test on the setup whose shift differs most from the mean of the others' shifts.

    With more than two setups its p-value counts for each of them (Bonferroni), since the largest
    of several contrasts was looked for.
    """
    if question.better is None:
        return _Direction()
    sign = 1 if question.better == "yes" else -1
    shifts = {
        setup: float(np.nanmean(pairs.difference[of_setup]))
        for setup, of_setup in _rated_by_setup(pairs, setups)
    }
    if len(shifts) < 2:
        return _Direction()
    contrasts = {
        setup: shift - (sum(shifts.values()) - shift) / (len(shifts) - 1)
        for setup, shift in shifts.items()
    }
    # Of two setups both contrasts are as large; the one that merging speaks for is named.
    largest = max(abs(contrast) for contrast in contrasts.values())
    chosen = max(
        (setup for setup in contrasts if math.isclose(abs(contrasts[setup]), largest)),
        key=lambda setup: sign * contrasts[setup],
    )
    by_dialog = contrast_by_dialog(
        pairs.difference, pairs.setups, pairs.dialogs, pairs.n_dialogs, chosen.pk
    )
    test = direction(by_dialog, seed=study.seed)
    n_tested = len(shifts) if len(shifts) > 2 else 1
    others = (sum(shifts.values()) - shifts[chosen]) / (len(shifts) - 1)
    return _Direction(
        setup=chosen.name,
        contrast=contrasts[chosen],
        p=min(1.0, n_tested * test.p),
        visible=test.visible,
        is_mutual=sign * shifts[chosen] > 0 and sign * others < 0,
        is_in_favour=sign * contrasts[chosen] > 0,
    )


def _rated_by_setup(pairs: Pairs, setups: Sequence[Setup]) -> Iterator[tuple[Setup, Bools]]:
    """Yield the setups with responses rated in both arms, and which those are."""
    for setup in setups:
        here = (pairs.setups == setup.pk) & ~np.isnan(pairs.difference)
        if here.any():
            yield setup, here


# --- by setup -------------------------------------------------------------------------------


def _of_setup(question: Question, setup: Setup, pairs: Pairs) -> Planned:
    here = (pairs.setups == setup.pk) & pairs.is_decided
    separate, merged = pairs.separate[here], pairs.merged[here]
    before = {
        "question": question.key,
        "setup": setup.name,
        "model": setup.model,
        "temperature": setup.temperature,
        "n": int(here.sum()),
        "n_up": int((merged > separate).sum()),
        "n_down": int((merged < separate).sum()),
    }
    shift = human.mean_statistics(merged - separate)
    return Planned(before, {"shift": (shift, human.mean_from)}, pairs.dialogs[here])


def _add_tests(rows: Sequence[Row]) -> None:
    """Add McNemar's exact test to one setup's rows, by Holm over the questions that have pairs."""
    p_values = [mcnemar_p(row["n_up"], row["n_down"]) if row["n"] else math.nan for row in rows]
    n_tests = sum(row["n"] > 0 for row in rows)
    for row, p, p_holm in zip(rows, p_values, holm(p_values), strict=True):
        n_discordant = row["n_up"] + row["n_down"]
        visible = visible_shift(row["n"], n_discordant, LEVEL / max(1, n_tests))
        row |= {
            "p": number(p),
            "p_holm": number(p_holm),
            "is_significant": p_holm < LEVEL,
            "visible_shift": number(visible),
        }
