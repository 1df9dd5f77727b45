"""The common parts of reports on a study: the reader's choices, and the votes that count."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from django.db.models import Count, Q

from annotation.models import Arm, Rater, Study, Vote, arm_name
from annotation.schemes import Question, load_scheme
from evaluation.reports.columns import Column, Format
from evaluation.reports.estimates import data_hash, signature_of
from evaluation.reports.report import LeftOut, ReportRow
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import Floats, Indexes, Measure, share_from
from evaluation.statistics.labels import label_rule
from evaluation.statistics.rank_measures import dialogs_with_another_value
from evaluation.statistics.rater_answers import Bools
from evaluation.statistics.tied_labels import with_halves
from evaluation.votes.assumed_answers import assumed_responses
from evaluation.votes.counts import (
    ArmCounts,
    Ints,
    arm_counts,
    gold_targets,
    n_gold_items,
    of_setup,
    unrated_responses,
)
from evaluation.votes.dialog_probabilities import probabilities_of
from generation.choices.declaration import Choice

SetupName = Annotated[str, Choice("Setup", help="Name of the only setup that counts.")]


WithExcluded = Annotated[
    bool, Choice("Count excluded raters", help="Count votes of excluded raters.")
]
TruthArm = Annotated[
    str,
    Choice(
        "Truth",
        dict(Arm.Kind.choices),
        help="Arm whose votes metrics are compared with.",
        usual="the first of the study",
    ),
]
Adjudicated = Annotated[
    bool,
    Choice(
        "Adjudicated decisions are the truth",
        help=(
            "Where labels of people are compared with metrics or with each other, adjudicated "
            "decisions replace them. All other numbers stay as voted."
        ),
    ),
]


class Choices(NamedTuple):
    """The reader's choices for the reports of a study. The signature includes all of them."""

    by_setup: Annotated[
        bool,
        Choice("A row for each setup", help="In the report raters: a row for each setup as well."),
    ] = False
    with_implied: Annotated[bool, Choice("Count implied answers in agreement")] = False
    with_excluded: WithExcluded = False
    setup: SetupName = ""
    truth: TruthArm = Arm.Kind.SEPARATE
    by_gates: Annotated[
        bool,
        Choice(
            "Treat answers behind a closed gate as implied",
            help="Agreement treats answers behind a gate that the same rater closed as implied.",
        ),
    ] = False
    adjudicated: Adjudicated = False

    def __str__(self) -> str:
        implied = "given and implied votes" if self.with_implied else "given votes"
        excluded = "counted" if self.with_excluded else "left out"
        gates = ", answers behind closed gates implied" if self.by_gates else ""
        said = f"agreement over {implied}{gates}, excluded raters {excluded}"
        if self.setup:
            said += f", setup {self.setup} only"
        if self.truth != Arm.Kind.SEPARATE:
            said += f", truth of the {arm_name(self.truth)} arm"
        if self.adjudicated:
            said += ", metrics compared with adjudicated decisions where there are any"
        return said


class CountedLabels(NamedTuple):
    """The choices for reports that need the labels of one arm, but no agreement between raters."""

    setup: SetupName = ""
    truth: TruthArm = Arm.Kind.SEPARATE
    with_excluded: WithExcluded = False
    adjudicated: Adjudicated = False

    @property
    def choices(self) -> Choices:
        """The same choices for functions that all reports on a study share."""
        return Choices(**self._asdict())


USUAL = Choices()  # the choices of a page before its reader changes any


def study_counts(study: Study, choices: Choices) -> list[ArmCounts]:
    """Return the counted votes of each arm, from which all reports on a study are made."""
    scheme, assumed = load_scheme(study.scheme), assumed_responses(study)
    counts = [
        arm_counts(
            arm,
            scheme,
            assumed,
            with_excluded=choices.with_excluded,
            by_gates=choices.by_gates,
        )
        for arm in study.arms.select_related("study")
    ]
    if not choices.setup:
        return counts
    chosen = study.setups.filter(name=choices.setup).values_list("pk", flat=True)
    return [of_setup(of_arm, set(chosen)) for of_arm in counts]


def signature(
    study: Study,
    report: str,
    choices: Choices,
    counts: Sequence[ArmCounts],
    *,
    has_labels: bool = False,
    more: str = "",
) -> str:
    """Return every choice that changes a report's numbers, with a hash of the data, in one line.

    Args:
        study: the study.
        report: the key of the report.
        choices: the reader's choices.
        counts: the counted votes of each arm.
        has_labels: whether the report is made from yes and no. Then the signature also states the
            conditions for a yes.
        more: another choice of the report; "" for none.
    """
    return signature_of(
        report,
        str(choices),
        *_of_study(study, has_labels=has_labels),
        more,
        data="+".join(of_arm.data_hash for of_arm in counts),
        seed=study.seed,
    )


def _of_study(study: Study, *, has_labels: bool) -> Iterator[str]:
    """Yield the parts that the study fixes: scheme, labels, N, evidence, and early stopping."""
    scheme = load_scheme(study.scheme)
    content = json.dumps(study.scheme, ensure_ascii=False, sort_keys=True)
    yield f"scheme {scheme.key} {hashlib.sha256(content.encode()).hexdigest()[:8]}"
    rules = [(q.key, label_rule(q, study.settings)) for q in scheme.questions]
    labels = [
        f"{key}: {rule.description or 'none'}" for key, rule in rules if rule.kind != "yes_no"
    ]
    if has_labels and labels:
        yield f"a yes is {', '.join(labels)}"
    yield f"N {study.raters_per_unit or 'the votes an item has'}"
    yield f"evidence {study.evidence_choice}"
    if (probabilities := probabilities_of(study)) is not None:
        yield f"dialogs weighted by 1 / probability {data_hash(probabilities.items())}"
    if study.stops_when_decided:
        yield f"stops when decided but for {100 * study.full_share:g} % of examples"


@dataclass(frozen=True, kw_only=True)
class RowOfQuestion(ReportRow):
    """A row about a question of a study. Its `scale` decides how means are written."""

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column in a table of text: a mean of yes and no as percent."""
        if column.format is Format.MEAN and self.value("scale") == "yes_no":
            column = column._replace(format=Format.PERCENT)
        return super().text(name, column)


def item_values(question: Question, votes: Ints, raters: Ints) -> Floats | None:
    """Return the values of a mean: majority labels, or medians; None for nominal questions."""
    if question.scale.kind == "yes_no":
        return rater_answers.majority_label(votes, raters)
    if question.scale.kind == "ordinal":
        return rater_answers.consensus(votes, question.scale.values)
    return None


def values_with_halves(question: Question, values: Floats | None, is_tied: Bools) -> Floats | None:
    """Return the values of a mean whose ties count half; None where no tied item is missing.

    Medians are missing nowhere, so only a yes/no question has such values.
    """
    if values is None or question.scale.kind != "yes_no" or not is_tied.any():
        return None
    return with_halves(values, is_tied)


class MeanRow(Protocol):
    """Any row with the mean of a question."""

    @property
    def scale(self) -> str: ...
    @property
    def waiting(self) -> int: ...
    @property
    def tied(self) -> int: ...


def means_left_out(rows: Sequence[MeanRow]) -> LeftOut:
    """Return how many items are missing from means of majorities, those of yes/no questions."""
    of_majorities = [row for row in rows if row.scale == "yes_no"]
    return {
        "waiting": sum(row.waiting for row in of_majorities),
        "tied": sum(row.tied for row in of_majorities),
    }


def with_assumed(values: Floats | None, n_assumed: int) -> Floats | None:
    """Return the values of a mean: those of items, then a no (0) for each assumed answer."""
    return None if values is None else np.concatenate([values, np.zeros(n_assumed)])


def mean_measure(question: Question) -> Measure:
    """Return the measure that makes a question's mean from `rater_answers.mean_statistics`."""
    return share_from if question.scale.kind == "yes_no" else rater_answers.mean_from


def n_other_dialogs(question: Question, values: Floats | None, dialogs: Indexes) -> int | None:
    """Return how many dialogs have another value than the most frequent one; None for a share."""
    if values is None or question.scale.kind == "yes_no":
        return None
    return dialogs_with_another_value(values, dialogs)


def votes_left_out(study: Study, counts: Sequence[ArmCounts], choices: Choices) -> LeftOut:
    """Return how many votes, items and raters every report of a study leaves out, by reason.

    If a setup is chosen, only its votes and items count. Raters belong to no setup, so all of them
    count.
    """
    excluded = list(
        Rater.objects.filter(study=study, is_excluded=True).values_list("pk", flat=True)
    )
    all_votes = Vote.objects.filter(arm__in=[of_arm.arm.pk for of_arm in counts])
    if choices.setup:
        all_votes = all_votes.filter(target__response__setup__name=choices.setup)
    votes = all_votes.aggregate(
        n_surplus=Count("pk", filter=Q(is_surplus=True)),
        n_excluded=Count("pk", filter=Q(rater__in=excluded, is_surplus=False)),
    )
    rated: set[int] = set().union(*(of_arm.items.responses.tolist() for of_arm in counts))
    flagged: set[int] = set().union(*(of_arm.flagged for of_arm in counts))
    unrated = unrated_responses(study, rated | flagged, choices.setup)
    return {
        "flagged_responses": len(flagged),
        "gold_items": _n_gold_items(study, choices.setup),
        "surplus_votes": votes["n_surplus"],
        "excluded_raters": 0 if choices.with_excluded else len(excluded),
        "excluded_votes": 0 if choices.with_excluded else votes["n_excluded"],
        "unrated_responses": unrated.n,
        "assumed": unrated.n_assumed,
    }


def _n_gold_items(study: Study, setup: str) -> int:
    """Return the number of gold items; for one setup, the number of those stored here."""
    if not setup:
        return n_gold_items(study)
    return gold_targets(study).filter(target__response__setup__name=setup).count()
