"""Limits for wrong passwords: a caller who reaches one is shut out for a while.

django-axes counts the wrong passwords; the limits are in this module.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Max, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from accounts.token_mask import without_tokens


class Lock(NamedTuple):
    """A limit for wrong passwords that have something in common: the name, the address or both."""

    shared: tuple[str, ...]  # what the wrong passwords have in common
    limit: int  # number of wrong passwords, among those that axes still counts
    wait: timedelta  # time after the last wrong password; attempts meanwhile are not counted
    shuts_out: str

    def is_shut(self, caller: Mapping[str, str | None], since: datetime, now: datetime) -> bool:
        """Return whether a caller must wait; False if the caller lacks what the lock compares."""
        shared = {name: caller[name] for name in self.shared}
        if not all(shared.values()):
            return False
        lately = AccessAttempt.objects.filter(**shared, attempt_time__gt=since)
        counted = lately.aggregate(n=Sum("failures_since_start"), last=Max("attempt_time"))
        return bool((counted["n"] or 0) >= self.limit and now - counted["last"] < self.wait)


LOCKS = (
    Lock(
        ("username", "ip_address"),
        limit=5,
        wait=timedelta(minutes=15),
        shuts_out="{username} cannot sign in from here",
    ),
    # This stops attempts with one password for each of many names.
    Lock(
        ("ip_address",),
        limit=50,
        wait=timedelta(minutes=15),
        shuts_out="no user can sign in from here",
    ),
    # This stops attempts from many machines on one name. The wait is short, because it also shuts
    # out the person who has that name.
    Lock(
        ("username",),
        limit=20,
        wait=timedelta(minutes=1),
        shuts_out="{username} cannot sign in from anywhere",
    ),
)


def shut_locks(request: HttpRequest, credentials: Mapping[str, Any] | None) -> list[Lock]:
    """Return the locks that shut out the sender of a request. Axes must have seen the request."""
    caller = {
        "username": get_client_username(request, credentials),
        "ip_address": request.axes_ip_address,  # type: ignore[attr-defined]
    }
    since, now = get_cool_off_threshold(request), request.axes_attempt_time  # type: ignore[attr-defined]
    return [lock for lock in LOCKS if lock.is_shut(caller, since, now)]


class SignInThrottle(AxesDatabaseHandler):  # type: ignore[misc] # no types
    """The handler of wrong passwords: axes counts them, and `LOCKS` decides who is shut out."""

    def get_failures(
        self, request: HttpRequest, credentials: Mapping[str, Any] | None = None
    ) -> int:
        """Return how many locks are shut. Axes refuses from one on (AXES_FAILURE_LIMIT)."""
        return len(shut_locks(request, credentials))

    def user_logged_in(
        self, sender: object, request: HttpRequest, user: User, **kwargs: Any
    ) -> None:
        """Record who has signed in, without the token of the link that they used."""
        path = request.axes_path_info  # type: ignore[attr-defined]
        request.axes_path_info = without_tokens(path)  # type: ignore[attr-defined]
        super().user_logged_in(sender, request, user, **kwargs)


def shut_out(
    request: HttpRequest, response: HttpResponse, credentials: Mapping[str, Any] | None
) -> HttpResponse:
    """Show who cannot sign in, and for how long, instead of the usual answer."""
    username = get_client_username(request, credentials) or ""
    lock = max(shut_locks(request, credentials), key=lambda lock: lock.wait, default=LOCKS[0])
    context = {
        "limit": lock.limit,
        "shuts_out": lock.shuts_out.format(username=username),
        "minutes": int(lock.wait.total_seconds() // 60),
    }
    status = settings.AXES_HTTP_RESPONSE_CODE
    return render(request, "accounts/locked_out.html", context, status=status)
