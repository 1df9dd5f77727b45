"""Requests and answers as the views of this site know them."""

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
    """A request of somebody who is signed in: `accounts.access` has made sure."""

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
    # Going back, htmx asks for what it no longer has in its history: a whole page.
    wants_fragment = request.htmx and not request.htmx.history_restore_request
    response = render(request, fragment if wants_fragment else page, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def query_string(choices: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return choices as the end of an address, with a ? before; "" where there are none."""
    said = urlencode(choices if isinstance(choices, Mapping) else list(choices))
    return f"?{said}" if said else ""


def is_from_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def page_to_return_to(request: HttpRequest) -> str:
    """Return the path of the page somebody is on, to come back to after signing in.

    That is not the address of a fragment or of a POST, but the page that asked for it.
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
    # A path may begin with two slashes, which make a host of what follows.
    return way_back if _is_ours(way_back, request) else reverse("home")


def _is_ours(address: str, request: HttpRequest) -> bool:
    return url_has_allowed_host_and_scheme(address, request.get_host(), request.is_secure())
