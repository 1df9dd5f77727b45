"""All changes of accounts. Those of access are recorded in the audit trail."""

import hashlib
import secrets
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from importlib import import_module
from uuid import UUID

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.access import Role
from accounts.models import (
    CODE_LETTERS,
    ApiToken,
    Archivable,
    AuditEntry,
    SignInLink,
    User,
    new_rater_code,
)
from accounts.ways_in import Event, end_links, end_ways_in, has_only_codes

LINK_IS_VALID_FOR = timedelta(days=7)
JOIN_KEY_COUNTS_FOR = timedelta(minutes=15)
RETURN_CODE_PARTS, RETURN_CODE_LETTERS = 3, 4  # 29 letters to choose from: 58 bits
TOKEN_PREFIX = "attest_"  # shows that a leaked text is a token of this site
TOKEN_USE_IS_NOTED_EVERY = timedelta(minutes=1)
HOME_VISIT_IS_NOTED_EVERY = timedelta(minutes=1)
HOME_VISIT_ENDS_AFTER = timedelta(hours=1)  # unless the first page is opened again
FIRST_NEWS = timedelta(days=7)  # how far back the first visit looks


class AccountError(Exception):
    """A change to an account that is refused; the message says why."""


def record(actor: User | None, action: str, subject: str, **details: object) -> AuditEntry:
    """Add a line to the audit trail; the actor is None for commands."""
    return AuditEntry.objects.create(actor=actor, action=action, subject=subject, details=details)


def set_archived(thing: Archivable, is_archived: bool) -> str:
    """Put a thing into the archive or take it out. The caller records that in the audit trail.

    Returns:
        What was done, "archived" or "unarchived"; "" if it was so already.
    """
    archived_at = timezone.now() if is_archived else None
    other = type(thing)._default_manager.filter(pk=thing.pk, archived_at__isnull=is_archived)
    if not other.update(archived_at=archived_at):
        return ""
    thing.archived_at = archived_at
    return "archived" if is_archived else "unarchived"


@transaction.atomic
def create_user(
    username: str, roles: Collection[Role], actor: User | None, password: str | None = None
) -> User:
    """Create an account. Without a password, a sign-in link is the only way in."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, password=password)
    except IntegrityError as exc:
        raise AccountError(f"There is already a user named {username}.") from exc
    user.groups.set(_groups(roles))
    record(actor, "user.created", username, roles=", ".join(sorted(roles)))
    return user


@transaction.atomic
def invite(
    usernames: Sequence[str], roles: Collection[Role], actor: User | None
) -> list[tuple[User, str]]:
    """Create an account for each name; return each with the token of a one-time link.

    Raises:
        AccountError: one of the names is taken. Then no account is created.
    """
    invited = [create_user(username, roles, actor) for username in usernames]
    return [(user, create_sign_in_link(user, actor)) for user in invited]


@transaction.atomic
def create_returning_rater(key: UUID) -> tuple[User, str]:
    """Create an account for a person who joins by themselves; return it with their return code.

    It is named by its rater code, so nothing about the person is stored.

    Args:
        key: the key of the form that they sent.

    Raises:
        AccountError: another account has the key.
    """
    code = new_rater_code()
    key_ends_at = timezone.now() + JOIN_KEY_COUNTS_FOR
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                code, rater_code=code, join_key=key, join_key_ends_at=key_ends_at
            )
    except IntegrityError as exc:
        raise AccountError("This form was sent before. Open the link again to join.") from exc
    user.groups.set(_groups([Role.RATER]))
    return user, renew_return_code(user)


def renew_return_code(user: User) -> str:
    """Give a user a new return code, such as 'K7P2-9QXM-4TRB'. The old one ends."""
    parts = [
        "".join(secrets.choice(CODE_LETTERS) for _ in range(RETURN_CODE_LETTERS))
        for _ in range(RETURN_CODE_PARTS)
    ]
    user.return_code_hash = _hash("".join(parts))
    user.save(update_fields=["return_code_hash"])
    return "-".join(parts)


def user_returning(code: str) -> User | None:
    """Return the user whom a return code lets in, however it is spaced; None without one."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    user = User.objects.filter(return_code_hash=_hash(letters)).first()
    return user if user and has_only_codes(user) else None


def join_key_counts(user: User) -> bool:
    """Return whether the form by which this user joined still signs in who sent it."""
    ends_at = user.join_key_ends_at
    return ends_at is not None and timezone.now() < ends_at and has_only_codes(user)


@transaction.atomic
def set_roles(user: User, roles: Collection[Role], actor: User | None) -> None:
    """Give a user exactly these roles, and sign them out everywhere.

    Admins cannot take the admin role from themselves.
    """
    before = {group.name for group in user.groups.all()}
    if set(roles) == before:
        return
    if user == actor and Role.ADMIN in before and Role.ADMIN not in roles:
        raise AccountError("Only another admin can take the admin role from you.")
    user.groups.set(_groups(roles))
    end_ways_in([user.pk], Event.ROLES_CHANGED)
    user.refresh_from_db(fields=["n_session_ends"])
    record(
        actor,
        "user.roles_changed",
        user.username,
        before=", ".join(sorted(before)),
        after=", ".join(sorted(roles)),
    )


@transaction.atomic
def deactivate(user: User, actor: User | None) -> None:
    """Shut a user out at once. Their votes and their rater code stay theirs.

    All that signs them in ends for good, except for the password.
    """
    if user == actor:
        raise AccountError("Only another admin can deactivate you.")
    if User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        end_ways_in([user.pk], Event.DEACTIVATED)
        record(actor, "user.deactivated", user.username)


@transaction.atomic
def reactivate(user: User, actor: User | None) -> None:
    """Let a deactivated user in again."""
    if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
        record(actor, "user.reactivated", user.username)


@transaction.atomic
def set_password(user: User, password: str) -> None:
    """Change a user's own password, and sign them out everywhere. No code lets them in any more."""
    user.set_password(password)
    user.save(update_fields=["password"])
    end_ways_in([user.pk], Event.PASSWORD_SET)
    user.refresh_from_db(fields=["n_session_ends"])
    record(user, "user.password_changed", user.username)


@transaction.atomic
def sign_out_everywhere(user: User, actor: User | None) -> None:
    """End all that signs a user in, except for the password and API tokens."""
    end_ways_in([user.pk], Event.SIGNED_OUT_EVERYWHERE)
    record(actor, "user.signed_out_everywhere", user.username)


def forget_join_key(user: User) -> None:
    """End the key of the form by which a user joined, because they sign out."""
    end_ways_in([user.pk], Event.SIGNED_OUT)


def set_letter_keys(user: User, on: bool) -> None:
    """Switch single-letter keys of the rating pages on or off for a user."""
    user.has_letter_keys = on
    user.save(update_fields=["has_letter_keys"])


@transaction.atomic
def create_sign_in_link(user: User, actor: User | None) -> str:
    """Return the token of a new one-time link; older unused links of this person expire."""
    if not user.is_active:
        raise AccountError(f"{user.username} is deactivated.")
    end_links([user.pk])
    token = secrets.token_urlsafe()
    expires_at = timezone.now() + LINK_IS_VALID_FOR
    SignInLink.objects.create(user=user, token_hash=_hash(token), expires_at=expires_at)
    record(actor, "link.created", user.username)
    return token


def valid_links(token: str) -> QuerySet[SignInLink]:
    """Return the one link with this token, or no link when it is not valid any more."""
    # This is a subquery, not a join: the UPDATE of `use_sign_in_link` must check the link's own
    # row again after waiting for another click. PostgreSQL does not do that through a join.
    return SignInLink.objects.filter(
        token_hash=_hash(token),
        used_at=None,
        expires_at__gt=timezone.now(),
        user__in=User.objects.filter(is_active=True),
    )


@transaction.atomic
def use_sign_in_link(token: str) -> User | None:
    """Return the user whom a link signs in, and use the link up. Of two clicks, one gets None."""
    if not valid_links(token).update(used_at=timezone.now()):
        return None
    user = User.objects.get(sign_in_links__token_hash=_hash(token))
    record(user, "link.used", user.username)
    return user


@transaction.atomic
def create_api_token(
    user: User, name: str, *, is_read_only: bool = False, ends_on: date | None = None
) -> str:
    """Return a new token with which programs act as a user; it cannot be shown again.

    Args:
        ends_on: the token's last day, by UTC; None: it works until it is revoked.
    """
    token = TOKEN_PREFIX + secrets.token_urlsafe()
    limits = {"is_read_only": is_read_only, "ends_on": ends_on}
    try:
        with transaction.atomic():
            ApiToken.objects.create(user=user, name=name, token_hash=_hash(token), **limits)
    except IntegrityError as exc:
        raise AccountError(f"You already have a token named {name}. Choose another name.") from exc
    last_day = ends_on.isoformat() if ends_on else None
    record(user, "token.created", user.username, name=name, **limits | {"ends_on": last_day})
    return token


@transaction.atomic
def revoke_api_token(token: ApiToken) -> None:
    """Delete a token, so that no program can use it any more."""
    deleted, _ = ApiToken.objects.filter(pk=token.pk).delete()
    if deleted:
        record(token.user, "token.revoked", token.user.username, name=token.name)


def revoke_api_tokens(user: User) -> None:
    """Delete all tokens of a user."""
    for token in user.api_tokens.select_related("user"):
        revoke_api_token(token)


def known_token(token: str) -> ApiToken | None:
    """Return the token of an active user, with that user, also when its last day is over.

    Return None for any other text.
    """
    tokens = ApiToken.objects.select_related("user")
    return tokens.filter(token_hash=_hash(token), user__is_active=True).first()


def note_token_use(token: ApiToken) -> None:
    """Store when a token was used, once a minute at most."""
    now = timezone.now()
    if token.last_used_at and now - token.last_used_at < TOKEN_USE_IS_NOTED_EVERY:
        return
    # One request tries, and waits while the database is busy; the others do not wait for it.
    trying = f"token-use:{token.token_hash}"
    if not cache.add(trying, True, timeout=TOKEN_USE_IS_NOTED_EVERY.total_seconds()):
        return
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    cache.delete(trying)


def note_home_visit(user: User) -> datetime:
    """Store that a person opened the first page; return the moment since which it has news.

    That is the end of the visit before, or a week ago on the first visit. Pages that are opened
    within an hour of each other are one visit, so that a list stays while its entries are read.
    """
    now, seen_at, since = timezone.now(), user.home_seen_at, user.home_news_since
    if seen_at and since and now - seen_at < HOME_VISIT_IS_NOTED_EVERY:
        return since
    if since is None or seen_at is None or now - seen_at > HOME_VISIT_ENDS_AFTER:
        since = seen_at or now - FIRST_NEWS
    User.objects.filter(pk=user.pk).update(home_seen_at=now, home_news_since=since)
    return since


def forget_old_sign_ins() -> None:
    """Delete sessions that are over, and links and sign-in records after SIGN_IN_RECORD_DAYS."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    before = timezone.now() - timedelta(days=settings.SIGN_IN_RECORD_DAYS)
    SignInLink.objects.filter(expires_at__lt=before).delete()
    for records in (AccessLog, AccessFailureLog, AccessAttempt):
        records.objects.filter(attempt_time__lt=before).delete()


def _groups(roles: Collection[Role]) -> list[Group]:
    """Return the groups of roles. A missing group is an error; its role is not left out."""
    return [Group.objects.get(name=role) for role in roles]


def _hash(token: str) -> str:
    """Return the hash of a token, which the database keeps. A random token needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
