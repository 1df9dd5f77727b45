"""The report on the alternative-annotator test: may a metric stand in for one of the raters?"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from annotation.models import Arm, Rater, Study
from annotation.schemes import Question, load_scheme
from evaluation.models import MetricRun
from evaluation.reports.base import (
    CountedLabels,
    SetupName,
    TruthArm,
    WithExcluded,
    signature,
    study_counts,
    votes_left_out,
)
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import estimate
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow, number
from evaluation.runs.item_scores import (
    WITHOUT_THRESHOLD,
    labels_of,
    runs_with_scores,
    scores_of,
)
from evaluation.runs.names import run_key
from evaluation.runs.plan import STUDIES_OF_CHOICE
from evaluation.statistics.alternative_annotator import (
    LEAST_DIALOGS,
    LEAST_ITEMS,
    LEAST_RATERS,
    USUAL_RATERS,
    AlternativeAnnotator,
    LabelVotes,
    alternative_annotator,
)
from evaluation.statistics.intervals import Floats, Interval
from evaluation.statistics.labels import LabelRule, label_rule
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import usual_choices
from evaluation.studies.reports.response_values import (
    QuestionKey,
    RunKey,
    check_values,
    known_values,
)
from evaluation.studies.reports.run_columns import RunColumns, run_columns, to_run
from evaluation.votes.by_rater import VotesByRater, digest_of, votes_by_rater
from evaluation.votes.counts import ArmCounts, n_outside_full_share
from evaluation.votes.people import truth_of
from generation.choices.declaration import Choice

NAME = "alternative_annotator"
USUAL_EPSILON = 0.1
TOO_FEW_ITEMS = f"fewer than {LEAST_ITEMS} items, or items of fewer than {LEAST_DIALOGS} dialogs"
TOO_FEW_RATERS = (
    f"Fewer than {LEAST_RATERS} raters judged {LEAST_ITEMS} items that another rater and the "
    "metric judged too."
)
FEW_RATERS = f"Only {LEAST_RATERS} raters have a part; the test is meant for {USUAL_RATERS}."
PLACES = (
    "The raters are numbered in turn. If these are places in a file and not persons, the test says "
    "nothing."
)
FLATTERED = "The threshold was chosen on these votes, which flatters the metric."


@dataclass(frozen=True, kw_only=True)
class StandInRow(ReportRow):
    """Whether one run may stand in for one of the raters, on one question."""

    named_by = ("title", "model", "question")

    of_run: RunColumns
    question: Annotated[str, Column("Question")]
    passes: Annotated[bool | None, Column("May stand in")]
    winning_rate: Annotated[float | None, Column("Winning rate", Format.PERCENT)]
    advantage: Annotated[Estimate, Column("Advantage probability", Format.PERCENT)]
    epsilon: float
    n_raters: Annotated[int, Column("Raters", Format.COUNT)]
    n_raters_left_out: Annotated[int, Column("Raters left out", Format.COUNT)]
    n: Annotated[int, Column("n", Format.COUNT)]  # items with two raters and the metric's label
    n_dialogs: Annotated[int, Column("Dialogs", Format.COUNT)]
    flattered: bool  # the run's threshold was chosen on these votes
    note: Annotated[str | None, Column("Note")]


@dataclass(frozen=True, kw_only=True)
class BesideRaterRow(ReportRow):
    """One run beside one rater: how often each agrees with the other raters as well or better."""

    named_by = ("title", "model", "question", "rater")
    folded: ClassVar[str] = "Rater by rater"

    of_run: RunColumns
    question: Annotated[str, Column("Question")]
    rater: Annotated[str, Column("Rater")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_dialogs: Annotated[int, Column("Dialogs", Format.COUNT)]
    metric_advantage: Annotated[float | None, Column("Metric as good", Format.PERCENT)] = None
    rater_advantage: Annotated[float | None, Column("Rater as good", Format.PERCENT)] = None
    mean_advantage: Annotated[float | None, Column("Metric − rater", Format.POINTS)] = None
    p: Annotated[float | None, Column("p", Format.P_VALUE)] = None
    p_corrected: Annotated[float | None, Column("p, Benjamini–Yekutieli", Format.P_VALUE)] = None
    is_won: Annotated[bool | None, Column("Metric wins")] = None  # None: the rater has no part
    why: Annotated[str | None, Column("Why left out")]


class AlternativeAnnotatorChoices(NamedTuple):
    """The choices that a reader may make about the alternative-annotator test."""

    epsilon: Annotated[
        float,
        Choice(
            "Margin ε",
            help=(
                "By how much a rater may agree more often with the others than the metric, because "
                "a metric costs less: 0.1 for a crowd, 0.15 for trained raters, 0.2 for experts."
            ),
            low=0.01,
            high=0.5,
        ),
    ] = USUAL_EPSILON
    question: QuestionKey = ""
    metric: RunKey = ""
    setup: SetupName = ""
    truth: TruthArm = Arm.Kind.SEPARATE
    with_excluded: WithExcluded = False

    @property
    def counted(self) -> CountedLabels:
        """The choices that reports on labels share."""
        return CountedLabels(self.setup, self.truth, self.with_excluded)


class _Asked(NamedTuple):
    """One question, with the votes on it as labels."""

    question: Question
    rule: LabelRule
    votes: LabelVotes
    n_on_cut: int  # votes that are on the cut of an ordinal scale, so they are no label


def alternative_annotator_report(
    study: Study, choices: AlternativeAnnotatorChoices
) -> Report[StandInRow | BesideRaterRow]:
    """Return a row for each run × question, and then one for each run × question × rater.

    All votes count that the labels of human–auto agreement are made of, also implied ones. Items
    where a study may have stopped asking take no part.

    Raises:
        CannotReport: the study has no arm.
    """
    counted = choices.counted.choices._replace(with_implied=True)
    counts = study_counts(study, counted)
    of_arm = truth_of(choices.truth, counts)
    if of_arm is None:
        raise CannotReport("This study has no arm, so no response is rated.")
    votes = votes_by_rater(
        of_arm,
        load_scheme(study.scheme),
        with_excluded=choices.with_excluded,
        with_implied=counted.with_implied,
        by_gates=False,
    )
    asked = _asked(study, votes, choices.question)
    codes = sorted(Rater.objects.filter(study=study).values_list("code", flat=True))
    verdicts: list[StandInRow] = []
    beside: list[BesideRaterRow] = []
    missing = Counter(unscored=0, failed=0, assumed_scores=0)
    digest = hashlib.sha256()
    for run in runs_with_scores(study):
        if choices.metric not in ("", run_key(run)):
            continue
        scores = scores_of(run, of_arm)
        metric = labels_of(run, scores.given)
        missing.update(
            unscored=int((~scores.has_row).sum()),
            failed=int(scores.is_failed.sum()),
            assumed_scores=int(scores.is_assumed.sum()),
        )
        digest.update(f"{run.full_signature} {run.threshold!r}".encode())
        digest.update(metric.tobytes())
        for each in asked:
            found = _tested(each.votes, metric, of_arm, choices.epsilon)
            verdicts.append(_verdict(study, run, each, found, codes, choices.epsilon))
            beside += _rows_beside(run, each.question, found, codes)
    left_out = {
        **missing,
        "items_of_one_rater": sum(_n_of_one_rater(each.votes) for each in asked),
        "votes_on_the_cut": sum(each.n_on_cut for each in asked),
        "items_outside_full_share": n_outside_full_share(of_arm),
    }
    said = signature(
        study, NAME, counted, counts, has_labels=True, more=f"margin {choices.epsilon:g}"
    )
    said += f" | raters {digest_of([votes])} | scores {digest.hexdigest()[:16]}"
    left_out |= votes_left_out(study, counts, counted)
    return Report(study.name, NAME, [*verdicts, *beside], left_out, said)


def _asked(study: Study, votes: VotesByRater, chosen: str) -> list[_Asked]:
    """Return the chosen question, or the main ones, with the votes that have a label."""
    scheme = load_scheme(study.scheme)
    questions = [each for each in scheme.questions if each.key == chosen] or scheme.main_questions
    found = []
    for question in questions:
        rule, given = label_rule(question, study.settings), votes[question.key]
        given = given.only(given.items >= 0)
        # One vote for each answer of the scale: its label is that of the answer.
        of_answer = rule.label_of(np.eye(len(given.values)))
        said = of_answer[given.answers]
        has_label = ~np.isnan(said)
        labelled = given.only(has_label)
        of_votes = LabelVotes(labelled.raters, labelled.items, said[has_label].astype(np.int64))
        n_on_cut = 0 if rule.why else int((~has_label).sum())
        found.append(_Asked(question, rule, of_votes, n_on_cut))
    return found


def _tested(
    votes: LabelVotes, metric: Floats, of_arm: ArmCounts, epsilon: float
) -> AlternativeAnnotator:
    items = of_arm.items
    return alternative_annotator(votes, metric, items.dialogs, items.n_dialogs, epsilon)


def _n_of_one_rater(votes: LabelVotes) -> int:
    """Return how many items only one rater has given a label."""
    return int(np.count_nonzero(np.bincount(votes.items, minlength=1) == 1))


def _verdict(
    study: Study,
    run: MetricRun,
    asked: _Asked,
    found: AlternativeAnnotator,
    codes: Sequence[str],
    epsilon: float,
) -> StandInRow:
    is_flattered = study.slug in run.parameters.get(STUDIES_OF_CHOICE, [])
    return StandInRow(
        of_run=run_columns(run),
        question=asked.question.key,
        passes=found.passes,
        winning_rate=number(found.winning_rate),
        advantage=estimate(found.advantage, Interval(found.low, found.high)),
        epsilon=epsilon,
        n_raters=found.n_raters,
        n_raters_left_out=len(found.beside) - found.n_raters,
        n=found.n_items,
        n_dialogs=found.n_dialogs,
        flattered=is_flattered,
        note=" ".join(_notes(run, asked.rule, found, codes, is_flattered=is_flattered)) or None,
    )


def _notes(
    run: MetricRun,
    rule: LabelRule,
    found: AlternativeAnnotator,
    codes: Sequence[str],
    *,
    is_flattered: bool,
) -> Iterator[str]:
    """Yield why there is no verdict, or what to know about it."""
    if why := rule.why or (WITHOUT_THRESHOLD if run.cut is None else ""):
        yield f"{why[0].upper()}{why[1:]}."
    elif found.passes is None:
        yield TOO_FEW_RATERS
    else:
        if found.n_raters < USUAL_RATERS:
            yield FEW_RATERS
        if set(codes) == {str(place) for place in range(1, len(codes) + 1)}:
            yield PLACES
        if is_flattered:
            yield FLATTERED


def _rows_beside(
    run: MetricRun, question: Question, found: AlternativeAnnotator, codes: Sequence[str]
) -> Iterator[BesideRaterRow]:
    """Yield a row for each rater; one without a part in the test has no figures."""
    for each in found.beside:
        row = BesideRaterRow(
            of_run=run_columns(run),
            question=question.key,
            rater=codes[each.rater],
            n=each.n_items,
            n_dialogs=each.n_dialogs,
            why=TOO_FEW_ITEMS,
        )
        if each.has_part:
            row = replace(
                row,
                metric_advantage=each.metric_advantage,
                rater_advantage=each.rater_advantage,
                mean_advantage=each.metric_advantage - each.rater_advantage,
                p=each.p,
                p_corrected=each.p_corrected,
                is_won=each.is_won,
                why=None,
            )
        yield row


def _usual(study: Study) -> AlternativeAnnotatorChoices:
    return AlternativeAnnotatorChoices(truth=usual_choices(study).truth)


ALTERNATIVE_ANNOTATOR = ReportKind(
    key=NAME,
    title="Stand-in for a rater",
    lede=(
        "Tests whether a metric may stand in for one of the raters. It cannot know whether the "
        "raters are right, or what other raters and other data would say."
    ),
    group=ReportGroup.METRICS,
    about=Study,
    choices=AlternativeAnnotatorChoices,
    make=alternative_annotator_report,
    usual=_usual,
    known=known_values,
    check=check_values,
    rows=(StandInRow, BesideRaterRow),
    methods=methods.ALTERNATIVE_ANNOTATOR,
    leads={"title": to_run},
)
