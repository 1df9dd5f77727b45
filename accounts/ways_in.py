"""The ways of being signed in, and which of them an event ends. docs/security.md has the table.

An event after which an account may be in other hands, or may do something else, ends ways for good:
nothing brings back what it ended. Passwords and platform visits cannot be ended here. They are
looked at each time: a password needs an active account, a visit one that `has_only_codes`.
"""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum

from django.db.models import F
from django.utils import timezone

from accounts.access import Role, roles_of
from accounts.models import ApiToken, SignInLink, User


class WayIn(StrEnum):
    """A way of being signed in that the site stores, and can end."""

    SESSION = "session"
    LINK = "one-time link"
    JOIN_KEY = "join key"  # the form by which a person joined signs in if it is sent again
    RETURN_CODE = "return code"
    TOKEN = "API token"


class Event(StrEnum):
    """An event that ends ways of being signed in as a user."""

    PASSWORD_SET = "password set or changed"
    ROLES_CHANGED = "role raised or lowered"
    DEACTIVATED = "deactivated"
    TAKEN_OUT = "taken out of the study"
    LINK_STOPPED = "study link stopped"
    SIGNED_OUT = "signed out"
    SIGNED_OUT_EVERYWHERE = "signed out everywhere"


_ALL_BUT_TOKENS = frozenset(WayIn) - {WayIn.TOKEN}
_OF_STUDY_LINK = frozenset({WayIn.JOIN_KEY, WayIn.RETURN_CODE})
ENDS: Mapping[Event, frozenset[WayIn]] = {
    Event.PASSWORD_SET: _ALL_BUT_TOKENS,  # the page offers to end tokens as well
    Event.ROLES_CHANGED: _ALL_BUT_TOKENS,  # tokens may do what the new roles may
    Event.DEACTIVATED: frozenset(WayIn),
    Event.TAKEN_OUT: _OF_STUDY_LINK,
    Event.LINK_STOPPED: _OF_STUDY_LINK,
    Event.SIGNED_OUT: frozenset({WayIn.JOIN_KEY}),  # Django ends the session itself
    Event.SIGNED_OUT_EVERYWHERE: _ALL_BUT_TOKENS,
}


def end_ways_in(users: Collection[int], event: Event) -> None:
    """End the ways of being signed in as these users, by id, that an event ends.

    Do it in a transaction with the event. User objects that you hold are not read again.
    """
    for way in ENDS[event]:
        _END[way](users)


def has_only_codes(user: User) -> bool:
    """Return whether codes may let a person in as this user, without a password.

    They may not if the account has a password, more than the rater's role, or is deactivated.
    """
    return user.is_active and not user.has_usable_password() and roles_of(user) == {Role.RATER}


# --- how each way ends ----------------------------------------------------------------------


def _end_sessions(users: Collection[int]) -> None:
    User.objects.filter(pk__in=users).update(n_session_ends=F("n_session_ends") + 1)


def end_links(users: Collection[int]) -> None:
    """Let no unused link sign these users in any more."""
    now = timezone.now()
    unused = SignInLink.objects.filter(user__in=users, used_at=None, expires_at__gt=now)
    unused.update(expires_at=now)


def _end_join_keys(users: Collection[int]) -> None:
    # The keys themselves stay, so that their forms make no second rater.
    User.objects.filter(pk__in=users).update(join_key_ends_at=None)


def _end_return_codes(users: Collection[int]) -> None:
    User.objects.filter(pk__in=users).update(return_code_hash="")


def _end_tokens(users: Collection[int]) -> None:
    ApiToken.objects.filter(user__in=users).delete()


_END: Mapping[WayIn, Callable[[Collection[int]], None]] = {
    WayIn.SESSION: _end_sessions,
    WayIn.LINK: end_links,
    WayIn.JOIN_KEY: _end_join_keys,
    WayIn.RETURN_CODE: _end_return_codes,
    WayIn.TOKEN: _end_tokens,
}
