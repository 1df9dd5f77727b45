"""A rater's own work: their studies, the unit in hand, and the units that they have submitted.

This module only reads. Each page takes a fixed number of statements, however many studies and
units there are.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import ngettext

from accounts.models import User
from annotation.answer_words import answer_in_words
from annotation.models import (
    Assignment,
    Draft,
    Enquiry,
    Exposure,
    Flag,
    Guideline,
    Rater,
    Study,
    Unit,
    Vote,
)
from annotation.rated_units import fair_share, shown_text
from annotation.schemes import Scheme
from annotation.stated_reasons import reason_in_words
from generation.text.user_questions import user_question


def progress_in_words(n_done: int, n: int, *, is_of_pairs: bool) -> str:
    """Return how far a rater is: '3 of 20 units'."""
    if is_of_pairs:
        said = ngettext("{done} of {n} pair", "{done} of {n} pairs", n)
    else:
        said = ngettext("{done} of {n} unit", "{done} of {n} units", n)
    return said.format(done=n_done, n=n)


class OwnStudy(NamedTuple):
    """One study as the rater's first page shows it."""

    study: Study
    guideline_version: int
    has_to_read: bool  # whether they read what changed in the guidelines before the next unit
    n_submitted: int
    n_share: int
    hours_left: float | None  # estimated, for the rest of their share; None: not known
    has_answers: bool  # whether they submitted anything, in time or late
    is_anything_left: bool
    last_at: datetime | None  # when the rater submitted last
    n_questions: int
    is_of_pairs: bool  # whether a unit is a pair of a sentence and what it cites
    is_taken_out: bool
    must_qualify: bool  # the qualification round comes before the first unit
    has_place: bool  # a platform sent them, and they may give their place back
    has_ended: bool  # a platform sent them, and their visit has ended
    has_asked: bool  # whether they asked researchers something about a unit

    @property
    def is_finished(self) -> bool:
        return self.study.state == Study.State.CLOSED or not self.is_anything_left

    @property
    def questions_words(self) -> str:
        """Return how many questions are asked about each response or pair."""
        n = self.n_questions
        if self.is_of_pairs:
            return ngettext("{n} question for each pair", "{n} questions for each pair", n).format(
                n=n
            )
        return ngettext(
            "{n} question for each response", "{n} questions for each response", n
        ).format(n=n)

    @property
    def progress_words(self) -> str:
        """Return how far the rater is: '3 of 20 units'."""
        return progress_in_words(self.n_submitted, self.n_share, is_of_pairs=self.is_of_pairs)

    @property
    def done_words(self) -> str:
        """Return how much the rater has done: '20 units done'."""
        n = self.n_submitted
        if self.is_of_pairs:
            return ngettext("{n} pair done", "{n} pairs done", n).format(n=n)
        return ngettext("{n} unit done", "{n} units done", n).format(n=n)


class HalfAnswered(NamedTuple):
    """The unit that a rater has in hand."""

    study: Study
    unit_id: int
    n_answers: int  # the number of answers in its draft
    minutes: int  # for how long it is reserved; 0: another rater may get it


def own_studies(user: User) -> list[OwnStudy]:
    """Return the studies that a user rates in; the one that they worked on last comes first."""
    in_study, now = {"study": OuterRef("study")}, timezone.now()
    mine = Assignment.objects.filter(rater=OuterRef("pk"))
    done = mine.filter(submitted_at__isnull=False).order_by().values("rater")
    free = Assignment.objects.filter(
        Q(rater=None) | Q(rater=OuterRef("pk")) | Q(lease_until__lt=now),
        submitted_at=None,
        is_let_go=False,
        group=OuterRef("group"),
        **in_study,
    )
    met = Exposure.objects.filter(rater=OuterRef(OuterRef("pk")), unit=OuterRef("unit"))
    in_hand = mine.filter(submitted_at=None, is_let_go=False)
    colleagues = Rater.objects.filter(Rater.TAKES_PART, group=OuterRef("group"), **in_study)
    newest = Guideline.objects.filter(**in_study).order_by("-version")
    raters = (
        Rater.objects.filter(user=user)
        .exclude(study__state=Study.State.PLANNED)
        .select_related("study", "participant", "read_guideline")
        .annotate(
            n_submitted=Coalesce(Subquery(done.annotate(n=Count("pk")).values("n")), 0),
            last_at=Subquery(done.annotate(at=Max("submitted_at")).values("at")),
            n_colleagues=Subquery(
                colleagues.order_by().values("group").annotate(n=Count("pk")).values("n")
            ),
            version=Subquery(newest.values("version")[:1]),
            has_answers=Exists(Vote.objects.filter(rater=OuterRef("pk")))
            | Exists(mine.filter(submitted_at__isnull=False)),
            has_asked=Exists(Enquiry.objects.filter(rater=OuterRef("pk"))),
            is_left=Exists(free.filter(~Exists(met))) | Exists(in_hand),
        )
        .order_by(F("last_at").desc(nulls_last=True), "-study")
    )
    return [
        OwnStudy(
            study=rater.study,
            guideline_version=rater.version or 0,
            has_to_read=rater.has_to_read(rater.version or 0),
            n_submitted=rater.n_submitted,
            n_share=n_share,
            hours_left=None if hours is None else (n_share - rater.n_submitted) * hours,
            has_answers=rater.has_answers,
            is_anything_left=rater.must_qualify or (rater.is_left and rater.gets_units),
            last_at=rater.last_at,
            n_questions=len(rater.study.scheme["questions"]),
            is_of_pairs=rater.study.scheme.get("target") == "citation",
            is_taken_out=rater.taken_out_at is not None,
            must_qualify=rater.must_qualify,
            has_place=_outcome_of(rater) == "",
            has_ended=bool(_outcome_of(rater)),
            has_asked=rater.has_asked,
        )
        for rater in raters
        for share in [fair_share(rater, rater.n_colleagues or 0)]
        for n_share in [max(rater.n_submitted, share)]
        for hours in [rater.study.hours_per_unit]
    ]


def _outcome_of(rater: Rater) -> str | None:
    """Return how the visit of a rater ended whom a platform sent; None without a platform."""
    participant = getattr(rater, "participant", None)
    return participant.outcome if participant else None


def half_answered(user: User) -> list[HalfAnswered]:
    """Return the units that a user has in hand, the one with the newest lease first."""
    in_hand = (
        Assignment.objects.in_hand()
        .filter(rater__user=user)
        .exclude(study__state=Study.State.CLOSED)
        .select_related("study")
        .order_by("-lease_until")
    )
    drafts = Draft.objects.filter(rater__user=user, unit__in=in_hand.values("unit"))
    answers = dict(drafts.values_list("unit", "answers"))
    now = timezone.now()
    return [
        HalfAnswered(
            study=assignment.study,
            unit_id=assignment.unit_id,
            n_answers=sum(len(given) for given in answers.get(assignment.unit_id, {}).values()),
            minutes=max(0, math.ceil((assignment.lease_until - now).total_seconds() / 60)),
        )
        for assignment in in_hand
        if assignment.lease_until
    ]


# --- what was submitted ---------------------------------------------------------------------


class OwnAnswer(NamedTuple):
    """One answer in words."""

    question: str
    answer: str


class OwnResponse(NamedTuple):
    """One response, or one citation of it, with the answers given to it."""

    text: str
    cited: str  # the fact that a citation claims; empty for a response
    answers: list[OwnAnswer]
    n_implied: int
    flag: str | None

    @property
    def flag_words(self) -> str:
        """Return the reason of the flag in the language of the page."""
        return reason_in_words(self.flag or "")


class OwnUnit(NamedTuple):
    """One unit that a rater has submitted."""

    unit_id: int
    arm: str
    at: datetime
    user_question: str  # empty if the dialog is not known
    is_surplus: bool
    responses: list[OwnResponse]


def submitted_units(rater: Rater) -> QuerySet[Unit]:
    """Return the units that a rater has submitted, in time or late, newest first."""
    in_time = Assignment.objects.filter(unit=OuterRef("pk"), rater=rater)
    late = Vote.objects.filter(
        arm=OuterRef("arm"), rater=rater, is_surplus=True, target__places__unit=OuterRef("pk")
    )
    return (
        Unit.objects.filter(exposures__in=Exposure.objects.filter(rater=rater))
        .annotate(
            done_at=Coalesce(
                Subquery(in_time.values("submitted_at")[:1]),
                Subquery(late.order_by("-at").values("at")[:1]),
            )
        )
        .filter(done_at__isnull=False)
        .distinct()
        .order_by("-done_at", "-pk")
    )


def own_units(rater: Rater, scheme: Scheme, units: Sequence[Unit]) -> list[OwnUnit]:
    """Return a rater's answers to these units.

    The caller must have prefetched the units' targets and the turns of their examples.
    """
    targets = [place.target_id for unit in units for place in unit.places.all()]
    votes: dict[tuple[int, int], dict[str, Vote]] = defaultdict(dict)
    for vote in Vote.objects.filter(rater=rater, target__in=targets):
        votes[vote.arm_id, vote.target_id][vote.question] = vote
    flags = {
        (flag.arm_id, flag.response_id): flag.reason
        for flag in Flag.objects.filter(rater=rater, response__targets__in=targets)
    }
    shown: list[OwnUnit] = []
    for unit in units:
        places = list(unit.places.all())
        of_unit = [votes[unit.arm_id, place.target_id] for place in places]
        both = sorted(
            zip(places, of_unit, strict=True),
            key=lambda pair: next((v.position or 0 for v in pair[1].values()), 99),
        )
        shown.append(
            OwnUnit(
                unit_id=unit.pk,
                arm=unit.arm.kind,
                at=unit.done_at,  # type: ignore[attr-defined]
                user_question=_user_question(unit),
                is_surplus=any(v.is_surplus for given in of_unit for v in given.values()),
                responses=[
                    OwnResponse(
                        text=place.target.citation.sentence
                        if place.target.citation
                        else shown_text(scheme, place.target.response),
                        cited=f"{place.target.citation.relation}: {place.target.citation.value}"
                        if place.target.citation
                        else "",
                        answers=_in_words(scheme, given),
                        n_implied=sum(vote.is_implied for vote in given.values()),
                        flag=flags.get((unit.arm_id, place.target.response_id)),
                    )
                    for place, given in both
                ],
            )
        )
    return shown


def _user_question(unit: Unit) -> str:
    turns = [(turn.speaker, turn.text) for turn in unit.example.turns.all()]
    return user_question(turns) if turns else ""


def _in_words(scheme: Scheme, given: dict[str, Vote]) -> list[OwnAnswer]:
    return [
        OwnAnswer(
            question.key.replace("_", " "),
            answer_in_words(given[question.key].answer, question.scale),
        )
        for question in scheme.questions
        if question.key in given and not given[question.key].is_implied
    ]
