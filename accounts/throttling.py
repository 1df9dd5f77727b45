"""Limits for wrong passwords and codes: a caller who reaches one is shut out for a while.

django-axes counts what was wrong; the limits are in this module. A code is a return code, the token
of a one-time link or a study's code.
"""

from collections.abc import Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.db.models import Max, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from accounts.models import User
from accounts.token_mask import without_tokens

IS_SHARED = "is_shared"  # in credentials: many people have the same code, as that of a study


class Lock(NamedTuple):
    """A limit for what was wrong with something in common: the name, the address or both."""

    shared: tuple[str, ...]  # what the wrong passwords and codes have in common
    limit: int  # number of wrong ones, among those that axes still counts
    wait: timedelta  # time after the last wrong one; attempts meanwhile are not counted
    shuts_out: Promise  # a sentence, which may name {username}

    def is_shut(self, caller: Mapping[str, str | None], since: datetime, now: datetime) -> bool:
        """Return whether a caller must wait; False if the caller lacks what the lock compares."""
        shared = {name: caller[name] for name in self.shared}
        if not all(shared.values()):
            return False
        lately = AccessAttempt.objects.filter(**shared, attempt_time__gt=since)
        counted = lately.aggregate(n=Sum("failures_since_start"), last=Max("attempt_time"))
        return bool((counted["n"] or 0) >= self.limit and now - counted["last"] < self.wait)


# This stops attempts with one password for each of many names.
OF_ADDRESS = Lock(
    ("ip_address",),
    limit=50,
    wait=timedelta(minutes=15),
    shuts_out=gettext_lazy("Nobody can sign in or join from here."),
)
LOCKS = (
    Lock(
        ("username", "ip_address"),
        limit=5,
        wait=timedelta(minutes=15),
        shuts_out=gettext_lazy("{username} cannot sign in from here."),
    ),
    OF_ADDRESS,
    # This stops attempts from many machines on one name. The wait is short, because it also shuts
    # out the person who has that name.
    Lock(
        ("username",),
        limit=20,
        wait=timedelta(minutes=1),
        shuts_out=gettext_lazy("{username} cannot sign in from anywhere."),
    ),
)
# A study's code is one for many people. A class at one address may mistype it more than five times,
# and must not shut out people at other addresses.
LOCKS_OF_SHARED = (
    Lock(
        ("username", "ip_address"),
        limit=20,
        wait=timedelta(minutes=15),
        shuts_out=gettext_lazy("People with the code of this study cannot join from here."),
    ),
    OF_ADDRESS,
)


def shut_locks(request: HttpRequest, credentials: Mapping[str, Any] | None) -> list[Lock]:
    """Return the locks that shut out the sender of a request. Axes must have seen the request."""
    caller = {
        "username": get_client_username(request, credentials),
        "ip_address": request.axes_ip_address,  # type: ignore[attr-defined]
    }
    since, now = get_cool_off_threshold(request), request.axes_attempt_time  # type: ignore[attr-defined]
    locks = LOCKS_OF_SHARED if credentials and credentials.get(IS_SHARED) else LOCKS
    return [lock for lock in locks if lock.is_shut(caller, since, now)]


def address_of(request: HttpRequest) -> str | None:
    """Return the address from which a request comes, also behind proxies; None if unknown."""
    AxesProxyHandler.update_request(request)
    address: str | None = request.axes_ip_address  # type: ignore[attr-defined]
    return address


def is_shut_out(request: HttpRequest, of_study: str = "") -> bool:
    """Return whether the sender of a code must wait. Then the site answers with 429 in any case.

    Args:
        request: the request that has the code.
        of_study: the name of the study whose code it is; "" if the code is a person's own.
    """
    credentials = _code_of(of_study)
    if AxesProxyHandler.is_allowed(request, credentials):
        return False
    request.axes_locked_out, request.axes_credentials = True, credentials  # type: ignore[attr-defined]
    return True


def note_wrong_code(request: HttpRequest, of_study: str = "") -> None:
    """Count a wrong code, as a wrong password is counted. The arguments are as in `is_shut_out`."""
    user_login_failed.send(__name__, credentials=_code_of(of_study), request=request)


def _code_of(study: str) -> dict[str, Any]:
    """Return what axes shall know of a code; a person's own code has no name before it is right."""
    name = f"a person with the code of {study}" if study else None
    return {"username": name, IS_SHARED: bool(study)}


class SignInThrottle(AxesDatabaseHandler):  # type: ignore[misc] # no types
    """The handler of wrong passwords: axes counts them, and `LOCKS` decide who is shut out."""

    def get_failures(
        self, request: HttpRequest, credentials: Mapping[str, Any] | None = None
    ) -> int:
        """Return how many locks are shut. Axes refuses from one on (AXES_FAILURE_LIMIT)."""
        return len(shut_locks(request, credentials))

    def user_login_failed(
        self,
        sender: object,
        credentials: dict[str, Any],
        request: HttpRequest | None = None,
        **kwargs: Any,
    ) -> None:
        """Count what was wrong, without what was typed and without the address's parameters."""
        if request is None:
            return
        bare = copy(request)
        bare.GET = bare.POST = QueryDict()
        bare.axes_path_info = without_tokens(request.axes_path_info)  # type: ignore[attr-defined]
        super().user_login_failed(sender, credentials, bare, **kwargs)
        for name in ("axes_locked_out", "axes_credentials", "axes_failures_since_start"):
            setattr(request, name, getattr(bare, name))

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
        "shuts_out": str(lock.shuts_out).format(username=username),
        "minutes": int(lock.wait.total_seconds() // 60),
    }
    status = settings.AXES_HTTP_RESPONSE_CODE
    return render(request, "accounts/locked_out.html", context, status=status)
