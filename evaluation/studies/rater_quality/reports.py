"""The report on the quality of raters: what each rater did, and who stands out from the others."""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from django.db.models import Count, prefetch_related_objects

from annotation.models import Study
from evaluation.reports.cache import cached, votes_version
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import signature_of
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow, number
from evaluation.statistics.intervals import SHARE_METHOD, Floats
from evaluation.statistics.rater_checks import Paces, StudyVotes, check_raters
from evaluation.statistics.rater_tests import Check
from evaluation.statistics.rater_votes import LEAST, Bools, longest_run
from evaluation.statistics.tied_labels import with_halves
from evaluation.studies.rater_quality.comparison import BesideOthers, beside_others, share_of
from evaluation.studies.rater_quality.judgements import RaterJudgements, judgements_of
from evaluation.studies.rater_quality.pace import (
    PaceOfRater,
    are_faster_than_reading,
    paces_of,
)
from evaluation.studies.rater_quality.rater_model import ModelOfRater, models_of_raters
from evaluation.studies.rater_quality.reading_time import UnitTimes, unit_times
from evaluation.studies.rater_quality.reasons import (
    TOO_FEW,
    Reason,
    faster_than_reading,
    reason_of,
)
from evaluation.studies.reports import methods
from evaluation.votes.rater_work import RaterWork, rater_work


@dataclass(frozen=True, kw_only=True)
class QuestionOfRater(ReportRow):
    """One rater's answers to one question beside the others'; None below 20 responses."""

    n: int  # responses with an answer by another rater
    agreement: Estimate  # share that agrees with the majority of the others
    mean: float | None  # share of yes, or mean answer; None for names
    others_mean: float | None  # the mean of the others' answers to the same responses
    longest_run: int | None  # equal answers in a row
    by_model: ModelOfRater


@dataclass(frozen=True, kw_only=True)
class AgreementOfRater(ReportRow):
    """The share of a rater's answers that agree with the majority of the others."""

    agreement: Annotated[Estimate, Column("Agreement with the others", Format.PERCENT)] = UNKNOWN
    # Answers that were compared with nothing, because the others have no majority.
    n_left_out_waiting: int | None = None
    n_left_out_tied: int | None = None
    agreement_ties_half: Annotated[float | None, Column("Agreement, ties half", Format.PERCENT)] = (
        None
    )
    first_half: Annotated[float | None, Column("In the first half", Format.PERCENT)] = None
    second_half: Annotated[float | None, Column("In the second half", Format.PERCENT)] = None


@dataclass(frozen=True, kw_only=True)
class RaterRow(ReportRow):
    """One rater of a study. Figures about answers and times are None below 20 responses."""

    rater: Annotated[str, Column("Rater")]
    group: Annotated[str | None, Column("Group")]
    is_excluded: Annotated[bool, Column("Excluded")]
    n: Annotated[int, Column("Responses", Format.COUNT)]
    n_compared: int  # responses that another rater judged as well
    with_others: AgreementOfRater
    longest_run: Annotated[int | None, Column("Longest streak", Format.COUNT)]
    gold_score: Annotated[float | None, Column("Gold", Format.PERCENT)]
    qualified: Annotated[str | None, Column("Qualified")]
    qualification: Annotated[float | None, Column("Qualification round", Format.PERCENT)]
    pace: PaceOfRater
    n_flags: Annotated[int, Column("Flags", Format.COUNT)]
    n_skips: Annotated[int | None, Column("Skips", Format.COUNT)]
    n_surplus: Annotated[int | None, Column("Extra", Format.COUNT)]
    stands_out: Annotated[str, Column("Stands out")]
    reasons: str  # whole sentences
    questions: Mapping[str, QuestionOfRater]


class RaterQuality(NamedTuple):
    """The report, with what its rows say in words only."""

    report: Report[RaterRow]
    reasons: Mapping[str, Sequence[Reason]]  # code of a rater who stands out → reasons
    reference: frozenset[str]  # codes of the raters with whom all are compared


def rater_quality(study: Study) -> RaterQuality:
    """Return the figures of all raters of a study, cached until votes, raters or skips change."""
    raters = study.raters.order_by("pk").annotate(
        n_skips=Count("skips", distinct=True),
        n_qualifying=Count("qualification_answers", distinct=True),
    )
    version = json.dumps(
        [
            votes_version(study),
            list(
                raters.values_list("pk", "gold_score", "n_gold", "group", "n_skips", "n_qualifying")
            ),
        ],
        default=str,
    )
    return cached(study, "rater quality", lambda: made_anew(study), version=version)


def rater_quality_report(study: Study, choices: NoChoices) -> Report[RaterRow]:
    """Return a row for each rater of a study, by code."""
    return rater_quality(study).report


def made_anew(study: Study) -> RaterQuality:
    """Compute the figures of all raters, without the cache."""
    prefetch_related_objects([study], "arms")
    judged = judgements_of(study)
    times = unit_times(study, judged)
    votes = StudyVotes(
        n_raters=len(judged.raters),
        questions={key: judged.votes(question) for question, key in enumerate(judged.scheme.keys)},
        forms=judged.forms(),
        paces=Paces(times.raters, times.is_fast),
        has_random_order=judged.has_random_order,
    )
    paces = paces_of(judged, times)
    is_fast = are_faster_than_reading(paces)
    outcome = check_raters(votes, judged.counted)
    codes = [rater.code for rater in judged.raters]
    reasons: dict[str, list[Reason]] = defaultdict(list)
    for place in np.flatnonzero(is_fast).tolist():
        reasons[codes[place]].append(faster_than_reading(paces[place]))
    marks = [each for each in outcome.marks if each.kind != Check.FAST or not is_fast[each.rater]]
    for mark in sorted(marks, key=lambda mark: mark.p):
        partner = codes[mark.partner] if mark.partner >= 0 else ""
        reasons[codes[mark.rater]].append(reason_of(mark, judged.scheme, partner))
    work = rater_work(study, judged.raters)
    beside = beside_others(judged, outcome.reference, study.n_raters(0))
    models = models_of_raters(judged)
    rows = [
        _row(
            judged,
            place,
            beside,
            paces[place],
            work[code],
            reasons.get(code, ()),
            [of_question[place] for of_question in models],
        )
        for place, code in enumerate(codes)
    ]
    n_implied = int(np.count_nonzero(judged.is_implied))
    report = Report(
        study.name,
        "rater_quality",
        rows,
        {**judged.left_out, "implied_votes": n_implied},
        _signature(study, judged, times),
    )
    reference = frozenset(
        code for code, is_in in zip(codes, outcome.reference.tolist(), strict=True) if is_in
    )
    return RaterQuality(report, dict(reasons), reference)


def _row(
    judged: RaterJudgements,
    place: int,
    beside: BesideOthers,
    pace: PaceOfRater,
    work: RaterWork,
    reasons: Sequence[Reason],
    by_model: Sequence[ModelOfRater],
) -> RaterRow:
    rater = judged.raters[place]
    own = judged.of_rater == place
    n = len(np.unique(judged.of_item[own]))
    n_compared = len(np.unique(judged.of_item[own & beside.is_compared]))
    questions = {
        key: _of_question(
            judged,
            own & (judged.of_question == question),
            beside,
            question,
            by_model[question],
        )
        for question, key in enumerate(judged.scheme.keys)
    }
    runs = [each.longest_run for each in questions.values() if each.longest_run is not None]
    stands_out = "; ".join(reason.short for reason in reasons)
    return RaterRow(
        rater=rater.code,
        is_excluded=rater.is_excluded,
        n=n,
        n_compared=n_compared,
        longest_run=max(runs, default=None),
        gold_score=rater.gold_score,
        **work._asdict(),
        stands_out=stands_out or ("" if n >= LEAST else TOO_FEW),
        reasons=" ".join(reason.sentence for reason in reasons),
        questions=questions,
        with_others=_agreement(judged, own, beside) if n_compared >= LEAST else AgreementOfRater(),
        pace=pace,
    )


def _agreement(judged: RaterJudgements, own: Bools, beside: BesideOthers) -> AgreementOfRater:
    """Return the agreement of a rater with the others, also in each half of their order."""
    turns, same = judged.turns[own], beside.same[own]
    halves = (math.nan, math.nan)
    n_units = len(np.unique(turns[turns >= 0]))
    if n_units >= LEAST:
        middle = np.sort(np.unique(turns[turns >= 0]))[n_units // 2]
        halves = (_mean(same[(turns >= 0) & (turns < middle)]), _mean(same[turns >= middle]))
    is_tied = beside.is_tied[own]
    return AgreementOfRater(
        agreement=share_of(same, judged.dialogs[own]),
        n_left_out_waiting=int(beside.is_waiting[own].sum()),
        n_left_out_tied=int(is_tied.sum()),
        agreement_ties_half=number(_mean(with_halves(same, is_tied))) if is_tied.any() else None,
        first_half=number(halves[0]),
        second_half=number(halves[1]),
    )


def _of_question(
    judged: RaterJudgements,
    own: Bools,
    beside: BesideOthers,
    question: int,
    by_model: ModelOfRater,
) -> QuestionOfRater:
    """Return the figures of a rater's votes on one question, which `own` selects."""
    given = own & ~judged.is_implied
    compared = given & beside.is_compared
    n = int(compared.sum())
    scale = judged.scheme.questions[question].scale
    in_order = np.flatnonzero(given & judged.is_first & (judged.turns >= 0))
    in_order = in_order[np.argsort(judged.turns[in_order])]
    run = longest_run(judged.answers[in_order].tolist()) if len(in_order) >= LEAST else None
    if n < LEAST:
        return QuestionOfRater(
            n=n,
            agreement=UNKNOWN,
            mean=None,
            others_mean=None,
            longest_run=run,
            by_model=by_model,
        )
    has_mean = scale.kind != "nominal"
    values = np.array(scale.values, np.float64)[judged.answers[compared]]
    return QuestionOfRater(
        n=n,
        agreement=share_of(beside.same[compared], judged.dialogs[compared]),
        mean=float(values.mean()) if has_mean else None,
        others_mean=float(beside.others[compared].mean()) if has_mean else None,
        longest_run=run,
        by_model=by_model,
    )


def _mean(values: Floats) -> float:
    """Return the mean of the values that are not NaN, or NaN."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def _signature(study: Study, judged: RaterJudgements, times: UnitTimes) -> str:
    content = hashlib.sha256()
    for named in (judged.raters, [item[:5] for item in judged.items]):
        content.update(repr([str(each) for each in named]).encode())
    for column in (judged.of_rater, judged.of_item, judged.of_question, judged.answers):
        content.update(column.tobytes())
    content.update(np.array([rater.is_excluded for rater in judged.raters]).tobytes())
    for known in (judged.turns, times.seconds, times.reading):
        content.update(known.tobytes())
    scheme = json.dumps(study.scheme, ensure_ascii=False, sort_keys=True)
    return signature_of(
        "rater_quality",
        "given votes, excluded raters are compared with the others only",
        f"scheme {judged.scheme.key} {hashlib.sha256(scheme.encode()).hexdigest()[:8]}",
        f"evidence {study.evidence_choice}",
        method=SHARE_METHOD,
        data=content.hexdigest()[:16],
        seed=study.seed,
    )


RATER_QUALITY = ReportKind(
    key="rater_quality",
    title="Rater quality",
    lede="Says how each rater compares with the others, and who stands out for which reason.",
    group=ReportGroup.RATERS,
    about=Study,
    methods=methods.RATER_QUALITY,
    choices=NoChoices,
    make=rater_quality_report,
    rows=(RaterRow,),
)
