"""Middleware of this site, and the address of a client behind proxies."""

import errno
import logging
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import resolve_url
from django.utils import translation
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect

from accounts.http import is_from_htmx, page_to_return_to
from config.errors import bad_request, method_not_allowed, unavailable

logger = logging.getLogger(__name__)

LARGEST_ID = 2**63 - 1  # The databases store no larger one.


def client_address(request: HttpRequest) -> str | None:
    """Return the address that a request comes from, behind DJANGO_PROXIES proxies; see `_address`.

    Each proxy adds the address of its caller at the end of X-Forwarded-For. What is before these
    addresses was sent by the caller and may be false. If the header has no valid address at the
    expected place, return the address of the direct connection, or None if that has no address
    either (a socket of this machine).
    """
    addresses = request.headers.get("X-Forwarded-For", "").split(",")
    caller = None
    if 0 < settings.N_PROXIES <= len(addresses):
        caller = _address(addresses[-settings.N_PROXIES])
    return caller or _address(request.META.get("REMOTE_ADDR", ""))


def _address(text: str) -> str | None:
    """Return a numeric address in the form that databases use; None for any other text.

    An IPv4 address in IPv6 is the IPv4 address. Of any other IPv6 address the first 64 bits are
    kept: a caller who has one has all that begin alike, so a limit for each would limit no caller.
    """
    try:
        address = ip_address(text.strip().partition("%")[0])  # a zone follows the '%'
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        network = ip_network((address, 64), strict=False)
        return str(address.ipv4_mapped or network.network_address)
    return str(address)


def refuse_nul(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Refuse an address with a NUL character, because PostgreSQL stores no text with one."""

    def middleware(request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if "\0" in request.path_info or "\0" in query or "%00" in query:
            return bad_request(request, BadRequest("The address has a NUL character."))
        return get_response(request)

    return middleware


def speak_english_at_first(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer in English, unless a view finds that a rater reads the answer (`accounts.access`)."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with translation.override(settings.LANGUAGE_CODE):
            response = get_response(request)
            if vars(request).get("is_for_raters"):
                patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response

    return middleware


def sign_in_again_with_htmx(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Turn a redirect to the sign-in page into HX-Redirect, so that htmx leaves the page.

    Otherwise htmx would follow the redirect and put the sign-in page into a part of the page.
    After signing in, the person returns to the page that they saw, not to the fragment's address.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not is_from_htmx(request) or response.status_code != 302:
            return response
        if urlsplit(response["Location"]).path != resolve_url(settings.LOGIN_URL):
            return response
        return HttpResponseClientRedirect(redirect_to_login(page_to_return_to(request)).url)

    return middleware


def keep_signed_in_pages_out_of_caches(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Say to browsers and proxies that nothing sent to a person who is signed in may be stored.

    Texts and votes must not stay behind on a shared computer, and going back in the browser must
    show the present state. Who has a session or sends a token counts as signed in, so that the
    database is not asked: it may not answer.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.session.session_key or "Authorization" in request.headers:
            add_never_cache_headers(response)
        return response

    return middleware


def explain_refused_methods(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Give the answer 405 of a view a page. REST framework's has a text of its own."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            return method_not_allowed(request, response.headers["Allow"])
        return response

    return middleware


class KnownNumbers:
    """The answer to a number in an address that no database can store: nothing has it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, numbers: dict[str, object]
    ) -> None:
        """Raise Http404 if a number of the address is too large."""
        if any(isinstance(number, int) and number > LARGEST_ID for number in numbers.values()):
            raise Http404("There is nothing with this number.")


class ServerTrouble:
    """The answer while the disk is full or the database cannot be used, with status 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a page, or JSON to a program; None when the error has another cause."""
        trouble = _trouble_in(error)
        if not trouble:
            return None
        logger.error("%s: %s", trouble, error)
        return unavailable(request, trouble)


def _trouble_in(error: Exception) -> str:
    """Return what is wrong with the server; "" for an error that has another cause."""
    is_about_disk = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if is_about_disk or (isinstance(error, OperationalError) and _is_full(str(error))):
        return "The server’s disk is full"
    return "The database cannot be used" if isinstance(error, OperationalError) else ""


def _is_full(said: str) -> bool:
    return "disk is full" in said or "No space left" in said
