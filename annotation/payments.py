"""The people whom a platform sent: what they did in the study, and which of them are to be paid.

This module only reads, in a number of statements that does not grow with the people. The two files
are the only place that has the ids of a platform.
"""

import csv
from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import timedelta
from statistics import median
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet

from annotation import prolific
from annotation.models import (
    Assignment,
    CrowdPlatform,
    Flag,
    Participant,
    Vote,
)
from annotation.qualification import scores_of
from generation.importers.spreadsheet import LineFile, csv_cell

# Prolific approves several submissions after it has answered. If one still waits so long after
# that, it was not approved.
SETTLES_WITHIN = timedelta(minutes=10)
COLUMNS = (
    *("person", "session", "rater", "confirmed", "outcome", "code", "units", "minutes"),
    *("review", "category", "reason"),
)

_ENDED_WITH_A_CODE = Q(
    outcome__in=(
        Participant.Outcome.DONE,
        Participant.Outcome.SCREENED_OUT,
        Participant.Outcome.NO_WORK,
    )
)
_IS_OWED = (
    Q(submission=prolific.AWAITING_REVIEW)
    | (Q(submission="") & _ENDED_WITH_A_CODE)
    | Q(submission=prolific.TIMED_OUT, outcome=Participant.Outcome.DONE)  # went back too late
)
_WAS_NOT_APPROVED = Q(
    review=Participant.Review.APPROVED,
    submission=prolific.AWAITING_REVIEW,
    checked_at__gt=F("reviewed_at") + SETTLES_WITHIN,
)
WAITS = (Q(review="") & _IS_OWED) | _WAS_NOT_APPROVED  # for a researcher's review


class Payment(NamedTuple):
    """A person whom a platform sent, and what they did. Nothing here compares them with others."""

    participant: Participant
    waits: bool  # for a review
    n_units: int  # submitted
    seconds: float | None  # median for one response
    qualification: float | None  # share of right answers in the round
    n_flags: int

    @property
    def minutes(self) -> float | None:
        """The minutes from consent to the end of the visit; None before the end."""
        person = self.participant
        if person.ended_at is None:
            return None
        return (person.ended_at - person.consented_at).total_seconds() / 60


def asks_prolific(platform: CrowdPlatform) -> bool:
    """Return whether this site reads and reviews the submissions of a platform by itself."""
    return platform.is_prolific and prolific.has_token()


def participants_of(platform: CrowdPlatform) -> QuerySet[Participant]:
    """Return the people whom a platform sent, those whose visit ended first before others."""
    people = Participant.objects.filter(platform=platform)
    related = people.select_related("rater__study", "reviewed_by")
    return related.order_by(F("ended_at").asc(nulls_last=True), "pk")


def payments(participants: Collection[Participant]) -> list[Payment]:
    """Return these people with what they did, in the given order."""
    raters = [person.rater_id for person in participants]
    submitted = Assignment.objects.filter(rater__in=raters, submitted_at__isnull=False)
    n_units = dict(submitted.order_by().values_list("rater").annotate(n=Count("pk")))
    flags = Flag.objects.filter(rater__in=raters).order_by()
    n_flags = dict(flags.values_list("rater").annotate(n=Count("pk")))
    seconds, qualification = _median_seconds(raters), scores_of(raters)
    waiting = Participant.objects.filter(WAITS, rater__in=raters)
    waits = set(waiting.values_list("pk", flat=True))
    return [
        Payment(
            participant=person,
            waits=person.pk in waits,
            n_units=n_units.get(person.rater_id, 0),
            seconds=seconds.get(person.rater_id),
            qualification=qualification.get(person.rater_id),
            n_flags=n_flags.get(person.rater_id, 0),
        )
        for person in participants
    ]


def _median_seconds(raters: Collection[int]) -> dict[int, float]:
    """Return each rater's median time on one response, of those that count and have a time."""
    timed = Vote.objects.filter(rater__in=raters, is_surplus=False, seconds__isnull=False)
    times = defaultdict[int, list[float]](list)
    for rater, _, seconds in timed.values_list("rater", "target", "seconds").distinct():
        times[rater].append(seconds or 0.0)
    return {rater: median(each) for rater, each in times.items()}


# --- files ----------------------------------------------------------------------------------


def payments_csv(platform: CrowdPlatform) -> Iterator[str]:
    """Yield the lines of a CSV of all people with their ids, their visit and its review."""
    rows = csv.writer(LineFile())
    yield rows.writerow(COLUMNS)
    for row in payments(list(participants_of(platform))):
        person = row.participant
        cells = (
            *(person.person, person.session, person.rater.code),
            *("yes" if person.is_confirmed else "no", person.outcome),
            *(platform.code_of(person.outcome) if person.outcome else "", row.n_units),
            "" if row.minutes is None else round(row.minutes, 1),
            *(person.review, person.review_category, person.review_reason),
        )
        yield rows.writerow([csv_cell(cell) for cell in cells])


def approved_ids(platform: CrowdPlatform) -> str:
    """Return the ids of the people who are approved here, in the form that Prolific takes."""
    approved = participants_of(platform).filter(review=Participant.Review.APPROVED)
    return ",\n".join("".join(person.person.split()) for person in approved)
