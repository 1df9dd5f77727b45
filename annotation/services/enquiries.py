"""Writes about questions of raters to researchers (enquiries): they are asked and answered."""

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import User
from accounts.services import record
from annotation.guideline_entries import ANSWERS, answered_question, with_entry
from annotation.guidelines import LONGEST_GUIDELINE
from annotation.models import Enquiry, Rater, Study, Unit
from annotation.services.rating import may_still_vote
from annotation.services.studies import lock_study, write_guideline


class EnquiryError(ValueError):
    """A question or an answer that is refused. Pages can show the message."""


def ask_researchers(unit: Unit, rater: Rater, text: str) -> None:
    """Store a rater's question about a unit. The unit stays theirs. A second click stores nothing.

    Raises:
        EnquiryError: another question of this rater about this unit waits for an answer, the study
            is closed, or they no longer take part.
    """
    try:
        with transaction.atomic():
            if not may_still_vote(unit, rater):
                raise EnquiryError(
                    gettext("the study is closed, or you no longer take part in it.")
                )
            Enquiry.objects.create(unit=unit, rater=rater, text=text)
    except IntegrityError as error:
        is_same = Enquiry.objects.filter(unit=unit, rater=rater, answered_at=None, text=text)
        if not is_same.exists():
            raise EnquiryError(
                gettext(
                    "you have asked about this unit already. Wait for the answer, then ask again."
                )
            ) from error


@transaction.atomic
def answer_enquiry(
    enquiry: Enquiry, answer: str, by: User, *, is_for_all: bool, replaces: str = ""
) -> bool:
    """Store a researcher's answer; return whether it is new, which a second click's is not.

    An answer to all raters makes a new version of the guidelines that has question and answer, so
    that all raters read it before their next unit. It does not say who asked.

    Args:
        replaces: the answer that was there when the researcher wrote; empty for none.

    Raises:
        StudyError: the study is closed.
        EnquiryError: another answer was given meanwhile, all raters have the answer already, or
            the guidelines would become too long.
    """
    study = enquiry.rater.study
    lock_study(study, Study.State.OPEN, Study.State.PAUSED)  # other answers wait for this one
    enquiry.refresh_from_db()
    if (enquiry.answer, enquiry.is_for_all) == (answer, is_for_all):
        return False
    if enquiry.is_for_all:
        raise EnquiryError(
            "All raters have an answer to this question already, in the guidelines. Edit the "
            "guidelines to change it."
        )
    if not enquiry.is_open and enquiry.answer != replaces:
        raise EnquiryError(
            f"{enquiry.answered_by} answered this question while you wrote. Nothing was changed: "
            "read that answer first."
        )
    enquiry.answer, enquiry.is_for_all = answer, is_for_all
    enquiry.answered_at, enquiry.answered_by = timezone.now(), by
    enquiry.save()
    record(
        by,
        "study.question-answered",
        study.name,
        rater=enquiry.rater.code,
        unit=enquiry.unit_id,
        for_all=is_for_all,
    )
    if is_for_all:
        _add_to_guidelines(study, enquiry, by)
    return True


def _add_to_guidelines(study: Study, enquiry: Enquiry, by: User) -> None:
    newest = study.guidelines.order_by("-version").first()
    entry = answered_question(enquiry.text, enquiry.answer)
    text = with_entry(newest.text if newest else "", ANSWERS, entry)
    if len(text) > LONGEST_GUIDELINE:
        raise EnquiryError(
            f"With this answer the guidelines would have {len(text):,} characters, and "
            f"{LONGEST_GUIDELINE:,} at most can be saved. Shorten them first, or answer this rater "
            "alone."
        )
    write_guideline(study, text, by)
