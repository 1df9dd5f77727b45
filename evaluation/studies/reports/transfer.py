"""The report on shares without votes: a metric's labels, corrected by its errors on a study.

It is about a dataset, because a metric can have run there without any votes.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import signature, study_counts
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import estimate
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow, number
from evaluation.runs.item_scores import labels_of, scores_of
from evaluation.runs.names import configuration, differing_parts, run_key, without_sample
from evaluation.runs.plan import STUDIES_OF_CHOICE
from evaluation.runs.progress import titles_by_key
from evaluation.runs.study_targets import is_about, is_of_citations
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rogan_gladen import (
    LEAST_DIALOGS,
    LEAST_DISCRIMINATION,
    LEAST_ITEMS,
    DialogShare,
    ErrorRates,
    NoTransfer,
    corrected_share,
    dialog_share,
    error_rates,
)
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import usual_choices
from evaluation.studies.reports.response_values import RunKey
from evaluation.studies.reports.run_columns import RunColumns, run_columns, to_run
from evaluation.votes.counts import ArmCounts
from evaluation.votes.people import People, people_of
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset

NAME = "transfer"
WHY: Mapping[NoTransfer, str] = {
    NoTransfer.FEW_LABELS: (
        f"The study has fewer than {LEAST_ITEMS} labels yes, or no, or they are of fewer than "
        f"{LEAST_DIALOGS} dialogs."
    ),
    NoTransfer.WEAK: (
        f"Sensitivity + specificity − 1 is below {LEAST_DISCRIMINATION:g}: the labels of the "
        "metric say too little."
    ),
    NoTransfer.FEW_HERE: "Fewer than two dialogs have labels of the metric.",
    NoTransfer.CONTRADICTED: (
        "No share from 0 to 100 % fits the labels, so the metric errs otherwise on these data."
    ),
}


@dataclass(frozen=True, kw_only=True)
class TransferRow(ReportRow):
    """The share of yes of one setup: as a metric labels it, and corrected by its error rates.

    A run that the study has with other choices has one row without figures.
    """

    named_by = ("title", "model", "question", "setup")

    of_run: RunColumns
    rates_of: Annotated[str, Column("Rates of")]  # the name of the study
    question: Annotated[str | None, Column("Question")]
    setup: Annotated[str | None, Column("Setup")]
    share: Annotated[Estimate, Column("Corrected yes", Format.PERCENT)] = UNKNOWN
    labelled_yes: Annotated[Estimate, Column("Labelled yes", Format.PERCENT)] = UNKNOWN
    n: Annotated[int, Column("n", Format.COUNT)] = 0  # responses with a label of the metric
    n_dialogs: int = 0
    n_left_out: Annotated[int, Column("No label", Format.COUNT)] = 0
    sensitivity: Annotated[Estimate, Column("Sensitivity", Format.PERCENT)] = UNKNOWN
    n_yes: Annotated[int, Column("of yes", Format.COUNT)] = 0
    specificity: Annotated[Estimate, Column("Specificity", Format.PERCENT)] = UNKNOWN
    n_no: Annotated[int, Column("of no", Format.COUNT)] = 0
    # The labels with which raters of the study alone would know the rates as well, if no two
    # were of one dialog.
    n_yes_independent: float | None = None
    n_no_independent: float | None = None
    flattered: Annotated[bool | None, Column("Flattered")] = None  # its votes chose the threshold
    assumption: str
    why: Annotated[str | None, Column("Why not")]


class TransferChoices(NamedTuple):
    """The study whose votes say how often a metric errs, and the only question and metric."""

    study: Annotated[
        str,
        Choice(
            "Rates of",
            help="Slug of the study of another dataset whose votes the metric is compared with.",
            usual="the newest with a run of the same choices",
        ),
    ] = ""
    question: Annotated[
        str,
        Choice("Question", help="The study’s only question.", usual="its main questions"),
    ] = ""
    metric: RunKey = ""


class MetricLabels(NamedTuple):
    """The labels that a run of the dataset gave, of one setup; assumed scores have none."""

    setup: str
    labels: Floats
    dialogs: Indexes
    n_dialogs: int

    @property
    def labelled_yes(self) -> DialogShare:
        return dialog_share(self.labels, self.dialogs, self.n_dialogs)


class VotedStudy(NamedTuple):
    """The votes of a study on each question, and the runs of its dataset."""

    study: Study
    of_arm: ArmCounts
    people: Sequence[People]
    runs: Sequence[MetricRun]

    def run_like(self, run: MetricRun) -> MetricRun | None:
        """Return the run with the same choices: one over all responses, else the newest."""
        alike = [each for each in self.runs if configuration(each) == configuration(run)]
        whole = [each for each in alike if without_sample(each.signature) == each.signature]
        return max(whole or alike, key=lambda each: each.pk, default=None)

    def rates(self, run: MetricRun, people: People) -> ErrorRates:
        """Return how often a run of the study is right about one question."""
        items = self.of_arm.items
        labels = labels_of(run, scores_of(run, self.of_arm).given)
        return error_rates(people.labels, labels, items.dialogs, items.n_dialogs)


def transfer_report(dataset: Dataset, choices: TransferChoices) -> Report[TransferRow]:
    """Return a row for each run × question × setup of a dataset.

    Raises:
        CannotReport: no study is chosen and none fits, or it has no votes on responses.
    """
    if not choices.study:
        raise CannotReport(
            "No study of another dataset has a metric run with the choices of a run of this "
            "dataset. Run the same metric with the same choices on both, or choose a study."
        )
    compared = _compared(Study.objects.get(slug=choices.study), choices.question)
    if not compared.people:
        raise CannotReport(f"No question of {compared.study.name} has answers that are yes or no.")
    runs = [run for run in _runs(dataset) if choices.metric in ("", run_key(run))]
    rows: list[TransferRow] = []
    digest = hashlib.sha256()
    for run in runs:
        there = compared.run_like(run)
        if there is None:
            rows.append(_row_without_like(compared, run))
            continue
        here = list(_metric_labels(run))
        for each in here:
            digest.update(f"{run.full_signature} {run.threshold!r} {each.setup}".encode())
            digest.update(each.labels.tobytes() + each.dialogs.tobytes())
        for people in compared.people:
            rates = compared.rates(there, people)
            digest.update(repr([rate[:5] for rate in rates]).encode())
            rows += [_row(compared, run, there, people, rates, each) for each in here]
    counted = usual_choices(compared.study)
    said = signature(
        compared.study,
        NAME,
        counted,
        [compared.of_arm],
        has_labels=True,
        more=f"rates of {choices.study}",
    )
    left_out = {
        "waiting": sum(int(each.is_waiting.sum()) for each in compared.people),
        "tied": sum(int(each.is_tied.sum()) for each in compared.people),
    }
    return Report(dataset.name, NAME, rows, left_out, f"{said} | scores {digest.hexdigest()[:16]}")


def _compared(study: Study, question: str) -> VotedStudy:
    counted = usual_choices(study)
    of_arm, people = people_of(study, counted.truth, study_counts(study, counted), question)
    if of_arm is None:
        raise CannotReport(f"{study.name} has no arm, so it has no votes.")
    main = {each.key for each in load_scheme(study.scheme).main_questions}
    asked = [each for each in people if (question or each.question.key in main)]
    with_labels = [each for each in asked if not each.rule.why]
    return VotedStudy(study, of_arm, with_labels, _runs(study.dataset))


def _runs(dataset: Dataset) -> list[MetricRun]:
    """Return the runs of a dataset that have labels of responses, in the order of lists."""
    runs = MetricRun.objects.filter(dataset=dataset, threshold__isnull=False)
    return [run for run in runs if is_about(run, citations=False)]


def _metric_labels(run: MetricRun) -> Iterator[MetricLabels]:
    """Yield the labels of a run for each setup by name, in one query."""
    of_responses = AutoScore.objects.filter(run=run, target__citation=None, is_assumed=False)
    rows = of_responses.order_by("target__response__key").values_list(
        "target__response__setup__name", "target__response__example__dialog", "score"
    )
    found = list(rows)
    names, dialogs = np.unique([row[1] for row in found], return_inverse=True)
    setups = np.array([row[0] for row in found])
    scores = np.array([math.nan if row[2] is None else row[2] for row in found], np.float64)
    labels = labels_of(run, scores)
    for setup in sorted(set(setups.tolist())):
        here = setups == setup
        yield MetricLabels(setup, labels[here], dialogs[here], len(names))


def _row(
    compared: VotedStudy,
    run: MetricRun,
    there: MetricRun,
    people: People,
    rates: ErrorRates,
    here: MetricLabels,
) -> TransferRow:
    labelled_yes = here.labelled_yes
    found = corrected_share(labelled_yes, rates)
    sensitivity, specificity = rates
    chosen_by = [
        slug for each in (run, there) for slug in each.parameters.get(STUDIES_OF_CHOICE, [])
    ]
    return TransferRow(
        of_run=run_columns(run),
        rates_of=compared.study.name,
        question=people.question.key,
        setup=here.setup,
        share=estimate(found.share, found.interval),
        labelled_yes=_estimate(labelled_yes),
        n=labelled_yes.n,
        n_dialogs=labelled_yes.n_dialogs,
        n_left_out=len(here.labels) - labelled_yes.n,
        sensitivity=_estimate(sensitivity),
        n_yes=sensitivity.n,
        specificity=_estimate(specificity),
        n_no=specificity.n,
        n_yes_independent=number(sensitivity.n_independent),
        n_no_independent=number(specificity.n_independent),
        flattered=compared.study.slug in chosen_by,
        assumption=assumption(compared.study),
        why=WHY[found.reason] if found.reason else None,
    )


def _row_without_like(compared: VotedStudy, run: MetricRun) -> TransferRow:
    """Return the row of a run that the study has not made with the same choices."""
    of_metric = [each for each in compared.runs if each.metric == run.metric]
    differ = min((differing_parts(run, each) for each in of_metric), key=_n_parts, default=None)
    why = f"The dataset of {compared.study.name} has no run with the same choices."
    if differ:
        here, there = (", ".join(parts) or "nothing" for parts in differ)
        why += f" The nearest one differs: {here} here, {there} there."
    return TransferRow(
        of_run=run_columns(run),
        rates_of=compared.study.name,
        question=None,
        setup=None,
        assumption=assumption(compared.study),
        why=why,
    )


def _n_parts(differ: tuple[list[str], list[str]]) -> int:
    return sum(map(len, differ))


def _estimate(share: DialogShare) -> Estimate:
    return estimate(share.share, share.interval)


def assumption(study: Study) -> str:
    """Return what the corrected shares assume, in a sentence."""
    return f"The metric errs on these data as often as on {study.name}, which nobody has checked."


def studies_elsewhere(dataset: Dataset) -> list[Study]:
    """Return the studies of other datasets that may have rates, newest first.

    Rates of dialogs that a metric's scores drew are those of no dataset.
    """
    opened = Study.objects.exclude(dataset=dataset).exclude(state=Study.State.PLANNED)
    has_runs = Exists(MetricRun.objects.filter(dataset=OuterRef("dataset")))
    found = opened.filter(has_runs).order_by("-pk")
    return [study for study in found if not is_of_citations(study) and study.has_uniform_draw]


def usual_transfer(dataset: Dataset) -> TransferChoices:
    """Return the newest study that has a run with the choices of a run of this dataset."""
    wanted = {configuration(run) for run in _runs(dataset)}
    studies = studies_elsewhere(dataset)
    elsewhere = MetricRun.objects.filter(
        dataset__in=[study.dataset_id for study in studies], threshold__isnull=False
    )
    fitting = {run.dataset_id for run in elsewhere if configuration(run) in wanted}
    fits = (study.slug for study in studies if study.dataset_id in fitting)
    return TransferChoices(study=next(fits, ""))


def known_values(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the studies elsewhere, their questions and the runs of a dataset, each in words."""
    studies = studies_elsewhere(dataset)
    questions = {key: key.replace("_", " ") for s in studies for key in load_scheme(s.scheme).keys}
    return {
        "study": {"": "none"} | {study.slug: study.name for study in studies},
        "question": {"": "the main questions"} | questions,
        "metric": {"": "each metric"} | titles_by_key(_runs(dataset)),
    }


def check_transfer(dataset: Dataset, choices: TransferChoices) -> None:
    """Check that there are the study, the question and the run that were chosen.

    Raises:
        ChoiceError: there are not.
    """
    studies = {study.slug: study for study in studies_elsewhere(dataset)}
    if choices.study:
        check_known("study", choices.study, studies)
    if choices.question:
        asked = [studies[choices.study]] if choices.study else []
        check_known(
            "question", choices.question, [k for s in asked for k in load_scheme(s.scheme).keys]
        )
    if choices.metric:
        check_known("metric", choices.metric, titles_by_key(_runs(dataset)))


TRANSFER = ReportKind(
    key=NAME,
    title="Without votes",
    lede=(
        "Corrects the share of yes of each metric where nobody has voted, on the assumption that "
        "the metric errs as often as on a study of another dataset, which nobody has checked."
    ),
    group=ReportGroup.METRICS,
    about=Dataset,
    choices=TransferChoices,
    make=transfer_report,
    usual=usual_transfer,
    known=known_values,
    check=check_transfer,
    rows=(TransferRow,),
    beyond_export="a study of another dataset",
    methods=methods.TRANSFER,
    leads={"title": to_run},
)
