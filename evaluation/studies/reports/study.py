"""All reports on a study, made from one reading of its votes, for the page of the study."""

import time
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q
from django.utils import timezone

from annotation.models import Rater, Study, Target, Vote
from annotation.schemes import load_scheme
from evaluation.reports.base import Choices, study_counts, votes_left_out
from evaluation.reports.registry import ReportKind
from evaluation.reports.report import Report
from evaluation.runs.item_scores import scores_once
from evaluation.studies.rater_quality.pace import FastVotes, fast_votes
from evaluation.studies.reports.agreement import (
    AGREEMENT,
    AgreementRow,
    Curves,
    agreement_with_curves,
)
from evaluation.studies.reports.raters import RATERS, RatersRow, by_rater_of, raters_report
from evaluation.studies.reports.scenarios import (
    SCENARIOS,
    RowOfScenarios,
    scenarios_report,
    setups_in_order,
)
from evaluation.studies.reports.sensibleness import (
    METRICS_LIKE_QUESTIONS,
    SENSIBLENESS,
    SensibleRow,
    sensibleness_report,
)
from evaluation.studies.reports.timing import (
    POSITION,
    TIME,
    PositionRow,
    SavedTime,
    TimeOfArm,
    position_report,
    time_report,
)
from evaluation.studies.reports.uncertainty import (
    UNCERTAINTY,
    UncertaintyRow,
    uncertainty_report,
)
from generation.models import Response

# The order is that of the page of a study.
ON_PAGE = (RATERS, SCENARIOS, UNCERTAINTY, AGREEMENT, SENSIBLENESS, TIME, POSITION)


class Overview(NamedTuple):
    """The size of a study. It does not depend on the reader's choices."""

    n_votes: int
    n_implied: int
    n_simulated_votes: int
    n_voters: int  # raters who gave these votes
    n_rated: int  # responses that have these votes
    n_dialogs_rated: int  # dialogs of these responses
    n_raters: int
    n_excluded: int
    n_simulated: int
    n_decisions: int  # adjudicated decisions, earlier ones too
    n_responses: int
    n_examples: int
    n_dialogs: int
    n_unstated: int  # responses whose evidence the imported file does not state
    arms: list[str]
    setups: list[str]
    main: list[str]  # keys of the scheme's main questions
    seed: int


class Figures(NamedTuple):
    """All figures of a study: each report, and the curves that a page draws beside them."""

    overview: Overview
    raters: Report[RatersRow]
    by_setup: Report[RatersRow]  # the report on raters with a row per setup
    scenarios: Report[RowOfScenarios]
    uncertainty: Report[UncertaintyRow]
    time: Report[TimeOfArm | SavedTime]
    position: Report[PositionRow]
    agreement: Report[AgreementRow]
    sensibleness: Report[SensibleRow]
    fast: FastVotes
    curves: Curves  # those of the report on agreement
    computed_at: datetime
    seconds: float  # duration of the computation

    @property
    def reports(self) -> dict[str, Report[Any]]:
        """The reports by key, in the order of the page of a study, without those refused."""
        every = {kind.key: getattr(self, kind.key) for kind in ON_PAGE}
        return {key: report for key, report in every.items() if report.signature}


def study_figures(study: Study, choices: Choices) -> Figures:
    """Return all figures of a study."""
    began = time.perf_counter()
    choices = choices._replace(by_setup=False)
    counts = study_counts(study, choices)
    left_out = votes_left_out(study, counts, choices)
    given = (study, choices, counts, left_out)
    if not study.has_uniform_draw:
        return _with_weights(study, scenarios_report(*given), began)
    by_rater = by_rater_of(study, choices, counts)
    scores_of = scores_once(METRICS_LIKE_QUESTIONS)
    agreement, curves = agreement_with_curves(*given, scores_of=scores_of)
    return Figures(
        overview=_overview(study),
        raters=raters_report(*given, by_rater),
        by_setup=raters_report(study, choices._replace(by_setup=True), counts, left_out, by_rater),
        scenarios=scenarios_report(*given),
        uncertainty=uncertainty_report(*given),
        time=time_report(*given),
        position=position_report(*given),
        agreement=agreement,
        sensibleness=sensibleness_report(*given, scores_of),
        fast=fast_votes(study),
        curves=curves,
        computed_at=timezone.now(),
        seconds=round(time.perf_counter() - began, 3),
    )


def _with_weights(study: Study, scenarios: Report[RowOfScenarios], began: float) -> Figures:
    """Return the figures of a study that drew dialogs with different probabilities.

    A refused report has neither rows nor a signature.
    """

    def refused(kind: ReportKind[Study, Choices]) -> Report[Any]:
        return Report(study.name, kind.key, [], {}, "")

    return Figures(
        overview=_overview(study),
        raters=refused(RATERS),
        by_setup=refused(RATERS),
        scenarios=scenarios,
        uncertainty=refused(UNCERTAINTY),
        time=refused(TIME),
        position=refused(POSITION),
        agreement=refused(AGREEMENT),
        sensibleness=refused(SENSIBLENESS),
        fast=fast_votes(study),
        curves={},
        computed_at=timezone.now(),
        seconds=round(time.perf_counter() - began, 3),
    )


def _overview(study: Study) -> Overview:
    votes = Vote.objects.filter(arm__in=list(study.arms.values_list("pk", flat=True)))
    responses = Response.objects.of_benchmark().filter(setup__in=study.setups.all())
    return Overview(
        **votes.aggregate(
            n_votes=Count("pk"),
            n_implied=Count("pk", filter=Q(is_implied=True)),
            n_simulated_votes=Count("pk", filter=Q(rater__is_simulated=True)),
            n_voters=Count("rater", distinct=True),
        ),
        **Target.objects.filter(pk__in=votes.order_by().values("target")).aggregate(
            n_rated=Count("response", distinct=True),
            n_dialogs_rated=Count("response__example__dialog", distinct=True),
        ),
        **Rater.objects.filter(study=study).aggregate(
            n_raters=Count("pk"),
            n_excluded=Count("pk", filter=Q(is_excluded=True)),
            n_simulated=Count("pk", filter=Q(is_simulated=True)),
        ),
        **responses.aggregate(
            n_responses=Count("pk"),
            n_examples=Count("example", distinct=True),
            n_dialogs=Count("example__dialog", distinct=True),
            n_unstated=Count("pk", filter=Q(is_evidence_stated=False)),
        ),
        n_decisions=study.adjudications.count(),
        arms=[arm.kind for arm in study.arms.all()],
        setups=[setup.name for setup in setups_in_order(study)],
        main=[question.key for question in load_scheme(study.scheme).main_questions],
        seed=study.seed,
    )
