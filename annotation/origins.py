"""The browser from which a person joins, by a signed cookie, and the network, by its address.

A study keeps both as hashes that only this site can make, and that differ from study to study. They
say that two people joined from one place, and not from which.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from accounts.throttling import address_of
from annotation.models import Rater, Study

COOKIE = "attest_browser"
COOKIE_IS_VALID_FOR = timedelta(days=365)
# The addresses of one network share so many bits: a home or a school, not a whole provider.
NETWORK_BITS = {4: 24, 6: 48}
LATELY = timedelta(hours=1)


class Origin(NamedTuple):
    """The hashes of a browser and of a network in one study; "" is unknown."""

    browser: str = ""
    network: str = ""


class SharedOrigin(NamedTuple):
    """The codes of other raters who joined from the same place as one; sorted."""

    browser: tuple[str, ...] = ()  # in the same browser
    network: tuple[str, ...] = ()  # same network within an hour, other browsers


def keep_browser(request: HttpRequest, response: HttpResponse) -> None:
    """Give a browser its cookie, unless it has one."""
    if not _cookie(request):
        response.set_signed_cookie(
            COOKIE,
            secrets.token_urlsafe(16),
            max_age=COOKIE_IS_VALID_FOR,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def origin_in(study: Study, request: HttpRequest) -> Origin:
    """Return where a request comes from, as a study keeps it."""
    address = address_of(request)
    network = ""
    if address:
        bits = NETWORK_BITS[ip_address(address).version]
        network = str(ip_network(f"{address}/{bits}", strict=False))
    return Origin(_hash(study, _cookie(request)), _hash(study, network))


def _cookie(request: HttpRequest) -> str:
    return request.get_signed_cookie(COOKIE, "", max_age=COOKIE_IS_VALID_FOR) or ""


def _hash(study: Study, text: str) -> str:
    return salted_hmac(f"origin in study {study.pk}", text).hexdigest() if text else ""


def raters_in_browser(study: Study, origin: Origin) -> list[Rater]:
    """Return the raters who joined a study in a browser, in the order of joining."""
    if not origin.browser:
        return []
    return list(study.raters.filter(browser=origin.browser).order_by("joined_at", "pk"))


def shared_origins(study: Study) -> dict[int, SharedOrigin]:
    """Return with whom raters of a study share a browser or a network, by the rater's id.

    Raters who share nothing are left out. This takes one statement.
    """
    joined = list(
        Rater.objects.filter(study=study, joined_at__isnull=False).only(
            "code", "browser", "network", "joined_at", "study_id"
        )
    )
    browsers, networks = defaultdict[str, list[Rater]](list), defaultdict[str, list[Rater]](list)
    for rater in joined:
        if rater.browser:
            browsers[rater.browser].append(rater)
        if rater.network:
            networks[rater.network].append(rater)
    found = {}
    for rater in joined:
        same = _codes(rater, browsers[rater.browser])
        near = _codes(rater, (each for each in networks[rater.network] if _is_near(rater, each)))
        shared = SharedOrigin(same, tuple(code for code in near if code not in same))
        if any(shared):
            found[rater.pk] = shared
    return found


def _codes(rater: Rater, others: Iterable[Rater]) -> tuple[str, ...]:
    return tuple(sorted(other.code for other in others if other.pk != rater.pk))


def _is_near(rater: Rater, other: Rater) -> bool:
    if rater.joined_at is None or other.joined_at is None:
        return False
    return abs(rater.joined_at - other.joined_at) <= LATELY
