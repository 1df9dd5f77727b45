"""Writes about submissions to a crowd platform: how they stand, and whether they are paid."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import record
from annotation import prolific
from annotation.models import CrowdPlatform, Participant
from annotation.payments import WAITS, asks_prolific
from annotation.prolific import ProlificError, Submission
from annotation.services.joining import end_idle_visits, end_visit

logger = logging.getLogger(__name__)

# Prolific decides within 21 days by itself. Who came earlier is not asked about any more.
ASKED_ABOUT_FOR = timedelta(days=30)
ENDS = {
    prolific.RETURNED: Participant.Outcome.RETURNED,
    prolific.TIMED_OUT: Participant.Outcome.TIMED_OUT,
}


# --- how submissions stand ------------------------------------------------------------------


def follow_visits() -> None:
    """End the visits of people who have left; read from Prolific how all submissions stand.

    If Prolific does not answer, the platform keeps since when, and why. Nothing else changes then.
    """
    going = CrowdPlatform.objects.filter(participants__outcome="").distinct()
    for platform in going:
        end_idle_visits(platform)
    if prolific.has_token():
        _read_submissions()


def _read_submissions() -> None:
    trouble: ProlificError | None = None
    for platform in CrowdPlatform.objects.filter(is_prolific=True):
        people = _people_to_ask_about(platform)
        if not people:
            _note_trouble(platform, None)
            continue
        if trouble is None or not trouble.is_about_all:
            trouble = _read_submissions_of(people)
        _note_trouble(platform, trouble)


def _people_to_ask_about(platform: CrowdPlatform) -> list[Participant]:
    since = timezone.now() - ASKED_ABOUT_FOR
    people = platform.participants.filter(consented_at__gte=since)
    return list(people.exclude(submission__in=prolific.FINAL).select_related("rater__study"))


def _read_submissions_of(people: Collection[Participant]) -> ProlificError | None:
    """Store how these people's submissions stand; return what went wrong with any of them."""
    by_study = defaultdict[str, list[Participant]](list)
    for person in people:
        by_study[person.platform_study].append(person)
    trouble = None
    for study, of_study in by_study.items():
        try:
            found = {each.session: each for each in prolific.submissions(study)} if study else {}
        except ProlificError as error:
            trouble = error
            if error.is_about_all:
                return error
        else:
            _store_states(of_study, found)
    return trouble


def _store_states(people: Collection[Participant], found: Mapping[str, Submission]) -> None:
    """Store the states of submissions, and end the visits that Prolific ended."""
    now = timezone.now()
    by_state = defaultdict[str, list[int]](list)
    for person in people:
        said = found.get(person.session)
        if said is None or said.person != person.person:
            continue
        by_state[said.state].append(person.pk)
        if said.state in ENDS and not person.outcome:
            end_visit(person, ENDS[said.state])
    for state, ids in by_state.items():
        Participant.objects.filter(pk__in=ids).update(submission=state, is_confirmed=True)
    Participant.objects.filter(pk__in=[person.pk for person in people]).update(checked_at=now)


def _note_trouble(platform: CrowdPlatform, trouble: ProlificError | None) -> None:
    same = CrowdPlatform.objects.filter(pk=platform.pk)
    if trouble is None:
        same.exclude(silent_since=None).update(silent_since=None, silent_because="")
        return
    logger.warning("submissions of platform %s were not read: %s", platform.pk, trouble)
    same.filter(silent_since=None).update(silent_since=timezone.now())
    same.exclude(silent_because=str(trouble)).update(silent_because=str(trouble))


# --- review ---------------------------------------------------------------------------------


def approve_submissions(platform: CrowdPlatform, raters: Collection[int], by: User | None) -> int:
    """Approve the submissions of those of these raters who wait; return how many submissions.

    With a token, Prolific is asked first, and pays them. A second approval changes nothing.

    Raises:
        ProlificError: Prolific refuses, or does not answer. Nothing is stored then.
    """
    people = list(platform.participants.filter(WAITS, rater__in=raters).select_related("rater"))
    if not people:
        return 0
    state = ""
    if asks_prolific(platform):
        sessions = [person.session for person in people]
        if len(sessions) == 1:
            state = prolific.approve(sessions[0])
        else:
            prolific.approve_all(sessions)
    return _store_review(platform, people, by, state, review=Participant.Review.APPROVED)


def reject_submission(
    participant: Participant, category: Participant.Reason, reason: str, by: User | None
) -> bool:
    """Reject the submission of a person who waits; return whether they did wait.

    With a token, Prolific is asked first, and sends the reason to the person.

    Raises:
        ProlificError: Prolific refuses, or does not answer. Nothing is stored then.
    """
    platform = participant.platform
    if not Participant.objects.filter(WAITS, pk=participant.pk).exists():
        return False
    state = ""
    if asks_prolific(platform):
        state = prolific.reject(participant.session, reason, category)
    given = {"review_category": category, "review_reason": reason}
    rejected = Participant.Review.REJECTED
    return bool(_store_review(platform, [participant], by, state, review=rejected, **given))


@transaction.atomic
def _store_review(
    platform: CrowdPlatform,
    people: Collection[Participant],
    by: User | None,
    state: str,
    **review: str,
) -> int:
    """Store a review of those who still wait; `state` is what Prolific said, if it said one."""
    waiting = Participant.objects.filter(WAITS, pk__in=[person.pk for person in people])
    locked = list(waiting.select_for_update(of=("self",)).select_related("rater"))
    if not locked:
        return 0
    now = timezone.now()
    stands = {"submission": state, "checked_at": now} if state else {}
    same = Participant.objects.filter(pk__in=[person.pk for person in locked])
    same.update(reviewed_by=by, reviewed_at=now, **review, **stands)
    codes = ", ".join(sorted(person.rater.code for person in locked))
    details = {"category": review["review_category"]} if "review_category" in review else {}
    action = f"study.submissions-{review['review']}"
    record(by, action, platform.link.study.name, raters=codes, **details)
    return len(locked)
