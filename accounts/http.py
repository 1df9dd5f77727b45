"""The requests that views get, and helpers for their answers."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from accounts.models import User


class SignedInRequest(HttpRequest):
    """A request of a person who is signed in; `accounts.access` has checked that."""

    user: User
    htmx: HtmxDetails


def render_page_or_fragment(
    request: SignedInRequest,
    *,
    page: str,
    fragment: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Answer htmx with the fragment alone, and everything else with the page around it."""
    # When a person goes back to a page that htmx has no copy of, htmx needs the whole page.
    wants_fragment = request.htmx and not request.htmx.history_restore_request
    response = render(request, fragment if wants_fragment else page, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def query_string(choices: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return choices as the query of an address, with a '?' in front; "" without choices."""
    said = urlencode(choices if isinstance(choices, Mapping) else list(choices))
    return f"?{said}" if said else ""


def is_from_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def page_to_return_to(request: HttpRequest) -> str:
    """Return the path of the page that a person sees, to return to after signing in.

    For a fragment or a POST it is the page that sent the request, not the requested address.
    """
    if is_from_htmx(request):
        page = request.headers.get("HX-Current-URL", "")
    elif request.method in ("GET", "HEAD"):
        page = request.build_absolute_uri()
    else:
        page = request.headers.get("Referer", "")
    if not _is_ours(page, request):
        return reverse("home")
    _, _, path, query, _ = urlsplit(page)
    way_back = urlunsplit(("", "", path, query, ""))
    # A path may begin with two slashes; a browser would read the next part as a host.
    return way_back if _is_ours(way_back, request) else reverse("home")


def _is_ours(address: str, request: HttpRequest) -> bool:
    return url_has_allowed_host_and_scheme(address, request.get_host(), request.is_secure())
