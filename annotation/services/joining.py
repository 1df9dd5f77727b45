"""Writes about people who join a study by its link: the link itself, and who comes by it."""

from collections import Counter
from datetime import date, timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import User
from accounts.services import (
    AccountError,
    create_returning_rater,
    join_key_counts,
    record,
    renew_return_code,
)
from accounts.ways_in import Event
from annotation.arrivals import Arrival
from annotation.models import (
    Assignment,
    CrowdPlatform,
    Draft,
    Participant,
    QualificationAnswer,
    Rater,
    Study,
    StudyLink,
)
from annotation.models.joining import SHORTEST_CODE
from annotation.ordering import random_key
from annotation.origins import LATELY, Origin, raters_in_browser
from annotation.services.studies import StudyError, lock_study
from annotation.services.study_raters import end_codes, set_excluded, take_out_rater
from annotation.services.units import give_gold_a_slot_per_rater

GAVE_BACK = "They gave their place back, and with it their consent."


class Joined(NamedTuple):
    """A rater who has joined, and their return code; "" if they came with an account."""

    rater: Rater
    return_code: str


# --- the link -------------------------------------------------------------------------------


@transaction.atomic
def write_link(
    study: Study,
    by: User | None,
    *,
    most_per_group: int,
    ends_on: date | None = None,
    code: str = "",
    most_units: int | None = None,
    most_per_hour: int = 30,
) -> StudyLink:
    """Make a study's link, or change it; return it. The address stays the same.

    Args:
        code: what people must type to join; "": nothing.
        most_units: how many units each rater of the study gets at most; None: any number.
        most_per_hour: how many people may join from one network within an hour.

    Raises:
        StudyError: the study is closed, or the code is short enough to be guessed.
    """
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    n_typed = len(code.strip())
    if 0 < n_typed < SHORTEST_CODE:
        raise StudyError(f"The code has {n_typed} characters; expected {SHORTEST_CODE} or more.")
    said = {"most_per_group": most_per_group, "ends_on": ends_on, "code": code}
    said |= {"most_per_hour": most_per_hour}
    link, _ = StudyLink.objects.update_or_create(study=study, defaults=said)
    study.most_units_per_rater = most_units
    study.save(update_fields=["most_units_per_rater"])
    details = {"most_per_group": most_per_group, "has_code": bool(code), "most_units": most_units}
    last_day = ends_on.isoformat() if ends_on else None
    record(by, "study.link-written", study.name, **details, ends_on=last_day)
    return link


@transaction.atomic
def stop_link(link: StudyLink, is_stopped: bool, by: User | None) -> None:
    """Stop a link, so that no more people join by it, or start it again.

    When it stops, return codes and keys of forms of people who joined by it end as well, unless
    they take part in another study. Who is signed in, or has a password, goes on.
    """
    stopped_at = timezone.now() if is_stopped else None
    other = StudyLink.objects.filter(pk=link.pk, stopped_at__isnull=is_stopped)
    if other.update(stopped_at=stopped_at):
        done = "stopped" if is_stopped else "started"
        record(by, f"study.link-{done}", link.study.name)
        if is_stopped:
            end_codes(link.study.raters.all(), Event.LINK_STOPPED)


@transaction.atomic
def write_platform(platform: CrowdPlatform, by: User | None) -> None:
    """Store the settings of a study's platform. The audit trail keeps what people agree to.

    Raises:
        StudyError: the study is closed.
    """
    study = platform.link.study
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    platform.save()
    record(by, "study.platform-written", study.name, consent=platform.consent)


@transaction.atomic
def remove_platform(platform: CrowdPlatform, by: User | None) -> None:
    """Remove a platform by which no person has come; the link then works without one.

    Raises:
        StudyError: people have come by it.
    """
    study = platform.link.study
    lock_study(study, *Study.State.values)
    if platform.participants.exists():
        raise StudyError("People have come by this platform, so it can no longer be removed.")
    platform.delete()
    record(by, "study.platform-removed", study.name)


def refusal(link: StudyLink) -> str:
    """Return why no person can join by a link now; "" if people can, while there are places."""
    if link.stopped_at or link.has_ended or link.study.state == Study.State.CLOSED:
        return gettext("This link is no longer in use. Ask the person who sent it to you.")
    if link.study.state != Study.State.OPEN:
        return gettext("The study is not open now. Please come back later.")
    return ""


# --- joining --------------------------------------------------------------------------------


class AllPlacesTakenError(StudyError):
    """Every group has as many raters as the link lets in."""


class TurnedAwayError(StudyError):
    """Within an hour, as many people joined from one network as the link lets in."""


class KnownBrowserError(StudyError):
    """Another person has joined the study in this browser, or the same one."""


class Newcomer(NamedTuple):
    """A person who wants to join: who they are and where they come from, as far as it is known."""

    user: User | None = None  # who is signed in; None makes an account
    arrival: Arrival | None = None  # the ids that a platform sent; None without a platform
    is_confirmed: bool = False  # whether the platform said that it is them
    origin: Origin = Origin()
    is_somebody_else: bool = False  # they say so, where a rater joined in this browser


NOBODY_KNOWN = Newcomer()


def join_study(link: StudyLink, key: UUID, newcomer: Newcomer = NOBODY_KNOWN) -> Joined:
    """Make a person a rater of a study, with an account unless they have one.

    Their group is drawn under the study's lock. A form that is sent twice has the same key, so it
    makes one rater; the second answer has a new return code. If all places are taken, visits of
    people who did nothing for too long are ended first.

    Raises:
        StudyError: the link is not in use, all places are taken, another rater has the ids, too
            many came from one network, a rater joined in this browser, or the form is too old.
    """
    try:
        return _join(link, key, newcomer)
    except TurnedAwayError:
        StudyLink.objects.filter(pk=link.pk).update(n_turned_away=F("n_turned_away") + 1)
        raise
    except AllPlacesTakenError:
        # This is a transaction of its own: what it ends stays ended, also if no place is free.
        platform = CrowdPlatform.objects.filter(link=link).first()
        if not (platform and end_idle_visits(platform)):
            raise
    return _join(link, key, newcomer)


@transaction.atomic
def _join(link: StudyLink, key: UUID, newcomer: Newcomer) -> Joined:
    study, user, arrival = link.study, newcomer.user, newcomer.arrival
    lock_study(study, *Study.State.values)
    link.refresh_from_db()
    there = study.raters.filter(user=user) if user else study.raters.filter(user__join_key=key)
    if rater := there.select_related("user", "study").first():
        return Joined(rater, "" if user else _code_once_more(rater, newcomer.origin))
    if why := refusal(link):
        raise StudyError(why)
    platform = CrowdPlatform.objects.filter(link=link).first()
    if platform and arrival and platform.participants.filter(person=arrival.person).exists():
        raise StudyError(
            gettext("Somebody with your id has joined already. Come back with a return code.")
        )
    if not platform:
        _refuse_known_browser(link, newcomer)
    _refuse_crowd_from_one_network(link, newcomer.origin)
    group = drawn_group(study, link.most_per_group)
    if group is None:
        raise AllPlacesTakenError(
            gettext("All places of this study are taken. Thank you for coming.")
        )
    try:
        account, code = (user, "") if user else create_returning_rater(key)
    except AccountError as error:
        raise StudyError(str(error)) from error
    rater = Rater.objects.create(
        study=study,
        user=account,
        code=account.rater_code,
        group=group,
        joined_at=timezone.now(),
        **newcomer.origin._asdict(),
        is_in_qualification=study.qualification_items.exists(),
    )
    if platform and arrival:
        Participant.objects.create(
            rater=rater,
            platform=platform,
            consented_at=timezone.now(),
            is_confirmed=newcomer.is_confirmed,
            **arrival._asdict(),
        )
    give_gold_a_slot_per_rater(study)
    record(account, "study.joined", study.name, rater=rater.code)
    return Joined(rater, code)


def _code_once_more(rater: Rater, origin: Origin) -> str:
    """Return a new return code for a form that was sent twice, while its key counts."""
    account = rater.user
    is_same_browser = origin.browser and rater.browser == origin.browser
    if account is None or not is_same_browser or not join_key_counts(account):
        raise StudyError(gettext("This form was sent before. Come back with your return code."))
    return renew_return_code(account)


def _refuse_known_browser(link: StudyLink, newcomer: Newcomer) -> None:
    """Refuse a second person in a browser, unless they typed the code or a researcher agreed."""
    before = raters_in_browser(link.study, newcomer.origin)
    if not before or (newcomer.is_somebody_else and link.code):
        return
    let_in = Rater.objects.filter(pk__in=[each.pk for each in before], lets_one_more_join=True)
    if not (newcomer.is_somebody_else and let_in.update(lets_one_more_join=False)):
        raise KnownBrowserError("Somebody has joined this study in this browser already.")


def _refuse_crowd_from_one_network(link: StudyLink, origin: Origin) -> None:
    since = timezone.now() - LATELY
    lately = link.study.raters.filter(network=origin.network, joined_at__gt=since)
    if origin.network and lately.count() >= link.most_per_hour:
        raise TurnedAwayError(
            gettext(
                "Many people have just joined from where you are. Please come back in an hour, or "
                "tell the person who sent you the link."
            )
        )


@transaction.atomic
def let_one_more_join(study: Study, code: str, by: User | None) -> None:
    """Let one more person join in the browser of a rater, because they share a computer.

    Raises:
        StudyError: no rater of the study with this code joined by the link.
    """
    joined = study.raters.filter(code=code).exclude(browser="")
    if not joined.update(lets_one_more_join=True):
        raise StudyError(f"Found {code}; expected the code of a rater who joined by the link.")
    record(by, "study.one-more-may-join", study.name, rater=code)


def forget_networks() -> None:
    """Delete the networks of people who joined longer ago than SIGN_IN_RECORD_DAYS."""
    before = timezone.now() - timedelta(days=settings.SIGN_IN_RECORD_DAYS)
    Rater.objects.exclude(network="").filter(joined_at__lt=before).update(network="")


def drawn_group(study: Study, most: int) -> int | None:
    """Return the group of the next person who joins; None when every group has `most` raters.

    The groups are filled in blocks, in which each group comes once, in an order that the seed draws
    for each block. Excluded raters and those who were taken out fill no place, so the group that
    lost one is the next.
    """
    raters = study.raters.filter(Rater.TAKES_PART)
    there = Counter(raters.values_list("group", flat=True))
    with_places = [group for group in range(study.n_groups) if there[group] < most]
    return min(
        with_places,
        key=lambda group: (there[group], random_key(study.seed, "block", there[group], group)),
        default=None,
    )


# --- the end of a visit ---------------------------------------------------------------------


@transaction.atomic
def end_visit(participant: Participant, outcome: Participant.Outcome) -> bool:
    """Store how a person's visit ended; return whether it had not ended before.

    Except for those who finished, their place is free again. The votes of a person who gives the
    place back are excluded, because they take their consent back as well.
    """
    rater = participant.rater
    lock_study(rater.study, *Study.State.values)
    going = Participant.objects.filter(pk=participant.pk, outcome="")
    if not going.update(outcome=outcome, ended_at=timezone.now()):
        return False
    participant.refresh_from_db()
    Rater.objects.filter(pk=rater.pk).update(has_finished=True)
    rater.has_finished = True
    if outcome != Participant.Outcome.DONE and rater.study.is_running:
        take_out_rater(rater, None)
    if outcome == Participant.Outcome.RETURNED:
        set_excluded(rater, True, GAVE_BACK, None)
    return True


def end_visit_of(rater: Rater) -> bool:
    """End the visit of a rater who gets no unit; return whether a platform has sent this rater.

    It ends only if the study hands out units: a paused one may go on.
    """
    participant = Participant.objects.filter(rater=rater).select_related("rater__study").first()
    if participant is None:
        return False
    if not participant.outcome and rater.study.state == Study.State.OPEN:
        end_visit(participant, _outcome_without_unit(rater))
    return bool(participant.outcome)


def _outcome_without_unit(rater: Rater) -> Participant.Outcome:
    if rater.is_under_threshold:
        return Participant.Outcome.SCREENED_OUT
    has_rated = rater.assignments.filter(submitted_at__isnull=False).exists()
    return Participant.Outcome.DONE if has_rated else Participant.Outcome.NO_WORK


def end_idle_visits(platform: CrowdPlatform) -> int:
    """End the visits of people who did nothing for too long; return how many visits."""
    since = timezone.now() - timedelta(minutes=platform.idle_minutes)
    of_rater = {"rater": OuterRef("rater")}
    has_in_hand = Q(submitted_at=None, lease_until__gt=timezone.now())
    at_work = Q(claimed_at__gte=since) | Q(submitted_at__gte=since) | has_in_hand
    idle = platform.participants.filter(
        ~Exists(Assignment.objects.filter(at_work, **of_rater)),
        ~Exists(Draft.objects.filter(saved_at__gte=since, **of_rater)),
        ~Exists(QualificationAnswer.objects.filter(at__gte=since, **of_rater)),
        outcome="",
        consented_at__lt=since,
    )
    gone = list(idle.select_related("rater__study"))
    return sum(end_visit(participant, Participant.Outcome.TIMED_OUT) for participant in gone)
