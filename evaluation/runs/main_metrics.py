"""The main metric of each side of the trade-off: the run that is shown for it if you name none.

This module only reads.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Study
from evaluation.measures.ssa import SSA
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.names import run_said
from evaluation.runs.plan import MADE_FOR, PRECISION_CHECK, STUDIES_OF_CHOICE, THRESHOLD_CHOICE
from evaluation.runs.study_targets import is_about, is_of_citations
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Setup

# Runs over a sample, and runs that a threshold choice or a precision check made. They were
# not asked for as scores of all responses, so a person has to pin one to make it a main metric.
_IS_ASIDE = (
    Q(signature__contains="|sample:")
    | Q(**{f"parameters__{MADE_FOR}__in": [THRESHOLD_CHOICE, PRECISION_CHECK]})
    | Q(parameters__has_key=STUDIES_OF_CHOICE) & ~Q(parameters__has_key=MADE_FOR)
)


class Side(NamedTuple):
    """One side of the trade-off, with the metrics and questions that its axis usually shows."""

    name: str
    metrics: Sequence[str]
    questions: Sequence[str]  # the best first
    pin: str  # the field of a dataset that names the run that a person pinned
    run: str  # query of a new run for this side, as in an address

    @property
    def metric_title(self) -> str:
        """The title of the metric that a new run would use."""
        return METRICS[self.metrics[0]].title

    def is_known(self, metrics: Iterable[str], questions: Iterable[str]) -> bool:
        """Whether some metrics or questions are suitable for this side."""
        return bool({*self.metrics} & {*metrics} or {*self.questions} & {*questions})

    def pinned(self, dataset: Dataset) -> str:
        """The run that is pinned for this side, in the words of `run_said`; "" for none."""
        said: str = getattr(dataset, self.pin)
        return said


ATTRIBUTION = Side(
    "attribution",
    ("auto_ais",),
    ("attributable", "faithfulness"),
    "main_attribution_metric",
    "metric=auto_ais&evidence=golden",
)
SENSIBLENESS = Side(
    "sensibleness",
    ("sensible",),
    ("sensible", "naturalness", SSA),
    "main_sensibleness_metric",
    "metric=sensible",
)
SIDES = (ATTRIBUTION, SENSIBLENESS)
# The questions to raters that each metric answers too.
ANSWERED = {
    metric: {metric, *(q for side in SIDES if metric in side.metrics for q in side.questions)}
    for metric in METRICS
}


class MainCandidate(NamedTuple):
    """A run that may be the main metric of a side."""

    run: MetricRun
    n_setups: int  # setups with a score
    is_pinned: bool  # a person pinned it, and it has scores

    @property
    def has_labels(self) -> bool:
        return self.n_setups > 0 and self.run.threshold is not None


def candidates(
    dataset: Dataset, runs: Collection[MetricRun], evidence: str = EvidenceChoice.GOLDEN
) -> dict[str, list[MainCandidate]]:
    """Return by side the runs that may be its main metric, the best first, in one statement.

    The pinned run comes first. Then come the runs with scores of the most setups, and of these the
    newest. Among runs with equally many setups, runs that are done come before others, runs of the
    present rule before those of an earlier one, the wanted evidence before other evidence, and runs
    made here before imported ones. Runs without labels come last. Runs that `set_aside`
    returns are left out unless they are pinned.

    Args:
        dataset: the dataset of all the runs.
        runs: the runs to choose among.
        evidence: the evidence that the run should be against.
    """
    pinned = {
        side.name: {run.pk for run in runs if run_said(run) == side.pinned(dataset)}
        for side in SIDES
    }
    of_pins = set[int]().union(*pinned.values())
    metrics = {metric for side in SIDES for metric in side.metrics}
    wanted = {run.pk for run in runs if run.metric in metrics} | of_pins
    suitable = MetricRun.objects.filter(pk__in=wanted)
    n_setups = n_setups_scored(suitable.exclude(Q(pk__in=set_aside()) & ~Q(pk__in=of_pins)))

    def rank(each: MainCandidate) -> tuple[bool | int, ...]:
        run = each.run
        return (
            not each.is_pinned,
            not each.has_labels,
            -each.n_setups,
            run.state != MetricRun.State.DONE,
            is_of_earlier_rule(run),
            run.parameters.get("evidence", evidence) != evidence,
            run.is_imported,
            -run.pk,
        )

    found = {}
    for side in SIDES:
        here = pinned[side.name]
        of_side = [
            MainCandidate(run, n_setups[run.pk], run.pk in here and n_setups[run.pk] > 0)
            for run in runs
            if run.pk in n_setups and (run.metric in side.metrics or run.pk in here)
        ]
        found[side.name] = sorted(of_side, key=rank)
    return found


def side_of(question: str) -> Side | None:
    """Return the side that a question to raters is about; None for other questions."""
    return next((side for side in SIDES if question in side.questions), None)


def is_asked(run: MetricRun, study: Study) -> bool:
    """Return whether a study asks its raters what a run scores, so that the two can be compared.

    An imported run may score anything. So may the questions of a scheme that no metric answers.
    """
    asked = {question["key"] for question in study.scheme.get("questions", ())}
    answered = ANSWERED.get(run.metric)
    known = set().union(*ANSWERED.values())
    if run.is_imported or answered is None or not asked & known:
        return True
    return bool(answered & asked)


def main_runs_of(study: Study) -> dict[str, list[int]]:
    """Return by question the ids of the runs that stand for its side, the best first.

    They are the runs with labels among those about what the study's raters judge. Runs against the
    evidence that the raters see come before others.
    """
    citations = is_of_citations(study)
    runs = MetricRun.objects.filter(dataset=study.dataset_id)
    about = [run for run in runs if is_about(run, citations=citations)]
    found = candidates(study.dataset, about, study.evidence_choice)
    return {
        question: [each.run.pk for each in found[side.name] if each.has_labels]
        for side in SIDES
        for question in side.questions
    }


def set_aside() -> QuerySet[MetricRun, Any]:
    """Return the ids of runs over a sample, or made for a threshold choice or precision check."""
    return MetricRun.objects.filter(_IS_ASIDE).order_by().values("pk")


def n_setups_scored(runs: QuerySet[MetricRun]) -> dict[int, int]:
    """Return by run how many setups have a score of a response by it, also where it is 0."""
    scores = AutoScore.objects.filter(
        run=OuterRef(OuterRef("pk")),
        target__citation=None,
        target__response__setup=OuterRef("pk"),
        score__isnull=False,
    )
    setups = Setup.objects.filter(Exists(scores), dataset=OuterRef("dataset")).order_by()
    counted = setups.values("dataset").annotate(n=Count("pk")).values("n")
    n = Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    return dict(runs.order_by().values_list("pk").annotate(n_setups=n))


def pinnable_runs(dataset: Dataset) -> list[MetricRun]:
    """Return the runs that a person may pin: those with labels of responses."""
    scores = AutoScore.objects.filter(
        run=OuterRef("pk"), target__citation=None, score__isnull=False
    )
    runs = MetricRun.objects.filter(Exists(scores), dataset=dataset, threshold__isnull=False)
    return sorted(runs, key=lambda run: (run.metric, run.full_signature, run.is_imported))
