"""Human and automatic alignment over the same pairs of sentence and citation (KaLMA, table 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study, Target, UnitTarget
from annotation.schemes import load_scheme
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.alignment import AlignmentRunColumns, newest_alignment, run_columns
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import USUAL, study_counts, votes_left_out
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, signature_of, with_estimates
from evaluation.reports.registry import CannotReport, NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.runs.item_scores import cut_of
from evaluation.statistics import agreement
from evaluation.statistics.intervals import (
    Floats,
    MixOfShares,
    Statistic,
    difference_of_shares,
    share_from,
)
from evaluation.votes.counts import ArmCounts, Ints
from evaluation.votes.dialog_weights import UNEQUAL
from generation.models import Setup

REPORT = "human_alignment"
LEAST_VOTES = 2
ALL_MODELS = "all models"
SAME, WHOLE = "Metric, same pairs", "Metric, over its run"  # titles of groups of columns


class RatedPair(NamedTuple):
    """One pair that people rated, with its votes and the run's label."""

    target: int
    key: str  # key of its response
    number: int  # number of its citation
    model: str
    dialog: str
    votes: tuple[int, int]  # numbers of no and yes votes
    is_aligned: bool | None  # the run's label; None: no score

    @property
    def is_counted(self) -> bool:
        return sum(self.votes) >= LEAST_VOTES

    @property
    def is_against(self) -> bool:
        """Whether all raters agree, and the run's label is the opposite."""
        is_agreed = self.is_counted and 0 in self.votes
        return is_agreed and self.is_aligned is not None and self.is_aligned != (not self.votes[0])


class ScoredPair(NamedTuple):
    """One pair with an automatic score. Raters may have rated it or not."""

    target: int
    model: str
    dialog: str
    is_aligned: bool


class RatedPairs(NamedTuple):
    """The votes of raters and the labels of a run on the pairs of a study."""

    counts: ArmCounts
    run: MetricRun | None  # the `newest_alignment` of its dataset
    models: Mapping[int, str]  # setup id → model
    rated: list[RatedPair]  # sorted by key of the response and number of the citation
    scored: list[ScoredPair]

    @property
    def counted(self) -> list[RatedPair]:
        """The pairs that figures are over: those with two votes or more."""
        return [each for each in self.rated if each.is_counted]


@dataclass(frozen=True, kw_only=True)
class NoRun(ReportRow):
    """The columns without a run, used if no run of alignment is finished."""


@dataclass(frozen=True, kw_only=True)
class RunOfPairs(ReportRow):
    """The columns about the run that is used for a study's dataset."""

    run: AlignmentRunColumns
    run_n_sampled: int | None  # answers that it drew of each model; None: it is over all answers


@dataclass(frozen=True, kw_only=True)
class HumanAlignmentRow(ReportRow):
    """Human and automatic alignment over the pairs of one model, or of all models."""

    paper_columns = ("label", "automatic", "human")  # [K] table 6

    study: str
    label: Annotated[str, Column("Model")]
    model: str | None  # None: all
    n_pairs: Annotated[int, Column("Pairs", Format.COUNT, "People")]
    n_votes: int
    n_dialogs: int
    n_scored: Annotated[int, Column("Pairs", Format.COUNT, SAME)]
    n_agreed: int
    n_run: Annotated[int, Column("Pairs", Format.COUNT, WHOLE)]
    by: RunOfPairs | NoRun
    human: Annotated[Estimate, Column("Aligned", Format.PERCENT, "People")]
    percent_agreement: Annotated[Estimate, Column("Agreement", Format.PERCENT, "People")]
    alpha: Annotated[Estimate, Column("Alpha", Format.COEFFICIENT, "People")]
    automatic: Annotated[Estimate, Column("Aligned", Format.PERCENT, WHOLE)]
    automatic_same: Annotated[Estimate, Column("Aligned", Format.PERCENT, SAME)]
    gap: Annotated[Estimate, Column("Gap", Format.POINTS_OF_100, WHOLE)]
    gap_same: Annotated[Estimate, Column("Gap", Format.POINTS_OF_100, SAME)]
    accuracy: Annotated[Estimate, Column("Right", Format.PERCENT, SAME)]


def human_alignment_report(study: Study) -> Report[HumanAlignmentRow]:
    """Return a row for each model of a study, and a row over all models (model None).

    Over the pairs with two votes or more (`n_pairs`), `human` is the mean of their mean votes, and
    `percent_agreement` and `alpha` are those of the raters. Over those of them that have an
    automatic score (`n_scored`), `automatic_same` is the share that is aligned, and `gap_same` is
    human minus automatic, in points. `accuracy` is how often the metric agrees with the raters,
    over the scored pairs on which all raters agree (`n_agreed`). `automatic` is over all `n_run`
    pairs of the study's setups that the run has scored, and `gap` is human minus that, in points.
    `run_n_sampled` is how many answers of each model the run drew; None: it is over all. Intervals
    are over dialogs.

    Raises:
        CannotReport: the study does not ask exactly one yes/no question about citations, or its
            dialogs were drawn with different probabilities.
    """
    if not study.has_uniform_draw:
        raise CannotReport(UNEQUAL)
    found = rated_pairs(study)
    pairs, scored, run = found.counted, found.scored, found.run
    names = sorted({each.dialog for each in pairs} | {each.dialog for each in scored})
    dialogs = {name: place for place, name in enumerate(names)}
    by = _run_columns(run)
    planned = [
        _planned(
            partial(
                HumanAlignmentRow, study=study.name, label=model or ALL_MODELS, model=model, by=by
            ),
            [each for each in pairs if model in (None, each.model)],
            [each for each in scored if model in (None, each.model)],
            dialogs,
        )
        for model in (*sorted(set(found.models.values())), None)
    ]
    data = [
        found.counts.data_hash,
        *(each[1:] for each in found.rated),
        *(each[1:] for each in scored),
    ]
    choices = (
        f"study {study.slug}",
        f"{study.n_sampled or 'all'} pairs of each model, seed {study.seed}",
        f"run {run.full_signature}" if run else "no run of alignment",
    )
    return Report(
        study.name,
        REPORT,
        list(with_estimates(planned, len(dialogs))),
        _left_out(study, found),
        signature_of(REPORT, *choices, data=data_hash(data)),
    )


def rated_pairs(study: Study) -> RatedPairs:
    """Return the pairs of a study that have a vote.

    Pairs of flagged responses and gold items are left out. The number of queries does not depend
    on the number of pairs.

    Raises:
        CannotReport: the study does not ask exactly one yes/no question about citations.
    """
    scheme = load_scheme(study.scheme)
    if scheme.target != "citation" or [q.scale.kind for q in scheme.questions] != ["yes_no"]:
        raise CannotReport(f"{study.name} does not ask one yes/no question about citations.")
    [counts] = study_counts(study, USUAL)
    run = newest_alignment(study.dataset)
    models = {setup.pk: model_of(setup) for setup in study.setups.all()}
    scored = _scored(run, models)
    aligned = {each.target: each.is_aligned for each in scored}
    items = counts.items
    places = Target.objects.filter(pk__in=items.targets.tolist())
    named = {
        pk: (key, number or 0)
        for pk, key, number in places.values_list("pk", "response__key", "citation__number")
    }
    rated = [
        RatedPair(
            target,
            *named[target],
            models[setup],
            items.dialog_names[dialog],
            (int(of_item[0]), int(of_item[1])),
            aligned.get(target),
        )
        for target, setup, dialog, of_item in zip(
            items.targets.tolist(),
            items.setups.tolist(),
            items.dialogs.tolist(),
            counts.votes[scheme.questions[0].key],
            strict=True,
        )
    ]
    return RatedPairs(counts, run, models, rated, scored)


def _left_out(study: Study, found: RatedPairs) -> LeftOut:
    planned = UnitTarget.objects.filter(unit__arm__study=study, unit__is_gold=False)
    n_flagged = planned.filter(target__response__in=found.counts.flagged).count()
    n_pairs = max(planned.count() - n_flagged, len(found.rated))
    return votes_left_out(study, [found.counts], USUAL) | {
        "flagged_pairs": n_flagged,
        "pairs_without_two_votes": n_pairs - len(found.counted),
        "pairs_without_an_automatic_score": sum(each.is_aligned is None for each in found.counted),
    }


def model_of(setup: Setup) -> str:
    """Return the model to whose pool of pairs a setup belongs. Without a model, it is its name."""
    return setup.model or setup.name


def _scored(run: MetricRun | None, models: Mapping[int, str]) -> list[ScoredPair]:
    """Return every pair of some setups (given by id) that a run has scored, by one query."""
    if run is None:
        return []
    scores = AutoScore.objects.filter(
        run=run,
        score__isnull=False,
        target__citation__isnull=False,
        target__response__setup__in=list(models),
    ).order_by()
    columns = "target", "target__response__setup", "target__response__example__dialog", "score"
    cut = cut_of(run)
    return [
        ScoredPair(
            target,
            models[setup],
            dialog,
            score > cut,
        )
        for target, setup, dialog, score in scores.values_list(*columns).iterator(chunk_size=5000)
    ]


def _run_columns(run: MetricRun | None) -> RunOfPairs | NoRun:
    if run is None:
        return NoRun()
    return RunOfPairs(run=run_columns(run), run_n_sampled=run.parameters.get("n_sampled"))


def _planned(
    make: Callable[..., HumanAlignmentRow],
    pairs: Sequence[RatedPair],
    scored: Sequence[ScoredPair],
    dialogs: Mapping[str, int],
) -> Planned[HumanAlignmentRow]:
    with_score = [each for each in pairs if each.is_aligned is not None]
    counted = partial(
        make,
        n_pairs=len(pairs),
        n_votes=sum(sum(each.votes) for each in pairs),
        n_dialogs=len({each.dialog for each in pairs}),
        n_scored=len(with_score),
        n_agreed=sum(0 in each.votes for each in with_score),
        n_run=len(scored),
    )
    return Planned(counted, _figures(pairs, scored, dialogs))


def _figures(
    pairs: Sequence[RatedPair], scored: Sequence[ScoredPair], places: Mapping[str, int]
) -> Mapping[str, Statistic]:
    votes = np.array([each.votes for each in pairs], np.int64).reshape(-1, 2)
    dialogs = np.array([places[each.dialog] for each in pairs], np.int64)
    of_run = np.array([places[each.dialog] for each in scored], np.int64)
    human = votes[:, 1] / votes.sum(axis=1)
    has_score = np.array([each.is_aligned is not None for each in pairs], float)
    is_aligned = np.array([bool(each.is_aligned) for each in pairs], float)
    agree = has_score * (votes == 0).any(axis=1)
    whole = np.array([each.is_aligned for each in scored], float)
    voted = _share(human, np.ones(len(pairs)), dialogs)
    automatic = _share(whole, np.ones(len(scored)), of_run)
    same = _share(is_aligned * has_score, has_score, dialogs)
    return {
        "human": voted,
        "percent_agreement": Statistic(
            agreement.percent_agreement_statistics(votes), dialogs, agreement.percent_agreement_from
        ),
        "alpha": Statistic(
            agreement.krippendorff_alpha_statistics(votes),
            dialogs,
            agreement.ALPHA["nominal"],
        ),
        "automatic": automatic,
        "automatic_same": same,
        "gap": _gap(voted, automatic),
        "gap_same": _gap(_share(human * has_score, has_score, dialogs), same),
        "accuracy": _share(agree * ((human == 1) == (is_aligned == 1)), agree, dialogs),
    }


def _share(part: Floats, whole: Floats, dialogs: Ints) -> Statistic:
    return Statistic(np.column_stack([part, whole]), dialogs, share_from)


def _gap(human: Statistic, automatic: Statistic) -> Statistic:
    """Return one share minus another, in points. Dialogs are paired."""
    points = MixOfShares((100.0, -100.0))
    return difference_of_shares(human, automatic)._replace(measure=points)


HUMAN_ALIGNMENT = ReportKind(
    key="human_alignment",
    title="Human alignment",
    lede="Compares raters with a metric: does a sentence support what it cites?",
    group=ReportGroup.METRICS,
    about=Study,
    methods=methods.HUMAN_ALIGNMENT,
    choices=NoChoices,
    make=lambda study, _: human_alignment_report(study),
    rows=(HumanAlignmentRow,),
)
