"""The ids with which a crowd platform sends a person, read from the address. Nothing is stored."""

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext

from accounts.ways_in import has_only_codes
from annotation.models import CrowdPlatform, Participant

LONGEST_ID = 200


class Arrival(NamedTuple):
    """The ids in the address with which a platform sends a person."""

    person: str
    platform_study: str
    session: str


class ArrivalError(ValueError):
    """An address without the ids that a platform should send. Pages show the message."""


def read_arrival(platform: CrowdPlatform, query: Mapping[str, str]) -> Arrival:
    """Return the ids of an address.

    Raises:
        ArrivalError: the person's id is missing, too long, or a placeholder that was not filled.
    """
    names = (platform.person_parameter, platform.study_parameter, platform.session_parameter)
    person, study, session = (query.get(name, "").strip() for name in names)
    if not person or "{" in person or max(map(len, (person, study, session))) > LONGEST_ID:
        found = gettext("found {text}").format(text=repr(person[:30])) if person else ""
        raise ArrivalError(
            gettext(
                "{name} in the address: {found}; expected your id. Open the study again from the "
                "platform that sent you."
            ).format(name=platform.person_parameter, found=found or gettext("found nothing"))
        )
    return Arrival(person, study, session)


def known_participant(platform: CrowdPlatform, arrival: Arrival) -> Participant | None:
    """Return the participant of this study with a person's id; None without one.

    An account with a password, or with another role, is never found by an id: its owner signs in.
    """
    found = (
        platform.participants.filter(person=arrival.person)
        .select_related("rater__user", "rater__study")
        .first()
    )
    user = found and found.rater.user
    return found if user and has_only_codes(user) else None
