"""Middleware of our own."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect

from accounts.http import page_to_return_to


def client_address(request: HttpRequest) -> str:
    """Return the address that a request comes from, behind as many proxies as there are.

    Each proxy adds the address it was called from at the end of X-Forwarded-For; what stands
    before those is the caller's own word.
    """
    addresses = request.headers.get("X-Forwarded-For", "").split(",")
    if not settings.N_PROXIES or len(addresses) < settings.N_PROXIES:
        return str(request.META.get("REMOTE_ADDR", ""))
    caller: str = addresses[-settings.N_PROXIES]
    return caller.strip()


def sign_in_again_with_htmx(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Turn a redirect to the sign-in page into HX-Redirect, so that htmx leaves the page.

    Without it htmx follows the redirect by itself and swaps the sign-in page into a fragment.
    The way back is the page the person was on, not the fragment's address.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.headers.get("HX-Request") != "true" or response.status_code != 302:
            return response
        if urlsplit(response["Location"]).path != resolve_url(settings.LOGIN_URL):
            return response
        return HttpResponseClientRedirect(redirect_to_login(page_to_return_to(request)).url)

    return middleware
