"""Questions of raters to researchers (enquiries), as pages list them. This module only reads."""

from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce

from accounts.models import User
from annotation.models import Enquiry, Study, Unit
from generation.models import Response
from generation.text.user_questions import user_question

LONGEST_ENQUIRY = 2000  # characters of a question, and of an answer
MOST_OWN = 10  # enquiries on a rater's own page


class EnquiryCounts(NamedTuple):
    """The number of questions of a study's raters that wait for an answer, and that have one."""

    n_open: int
    n_answered: int


class ListedEnquiry(NamedTuple):
    """One question of a rater with what it is about, for researchers."""

    enquiry: Enquiry
    user_question: str  # empty if the dialog is not known
    responses: list[Response]


def enquiry_counts(study: Study) -> EnquiryCounts:
    """Return how many questions of a study's raters are open and answered."""
    counted = Enquiry.objects.filter(rater__study=study).aggregate(
        n_open=Count("pk", filter=Q(answered_at=None)), n_answered=Count("answered_at")
    )
    return EnquiryCounts(**counted)


def enquiries_of(study: Study) -> QuerySet[Enquiry]:
    """Return all questions of a study's raters: open ones in their order, then the newest answer.

    They have all that `listed` needs.
    """
    related = ("rater", "answered_by", "unit__arm", "unit__example")
    return (
        Enquiry.objects.filter(rater__study=study)
        .select_related(*related)
        .prefetch_related("unit__example__turns", "unit__places__target__response")
        .order_by(F("answered_at").desc(nulls_first=True), "pk")
    )


def listed(enquiry: Enquiry) -> ListedEnquiry:
    """Return one question of `enquiries_of` with what it is about."""
    unit: Unit = enquiry.unit
    turns = [(turn.speaker, turn.text) for turn in unit.example.turns.all()]
    responses = {place.target.response for place in unit.places.all()}
    return ListedEnquiry(
        enquiry,
        user_question(turns) if turns else "",
        sorted(responses, key=lambda response: response.pk),
    )


def own_enquiries(user: User) -> list[Enquiry]:
    """Return the last questions of a rater in studies that are not closed.

    The one that was answered or asked last comes first.
    """
    of_user = Enquiry.objects.filter(rater__user=user)
    newest = Coalesce("answered_at", "asked_at").desc()
    return list(
        of_user.exclude(rater__study__state=Study.State.CLOSED)
        .select_related("rater__study")
        .order_by(newest, "-pk")[:MOST_OWN]
    )
