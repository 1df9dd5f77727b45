"""Forms that were sent after a session had ended: the page keeps them until they are sent again.

A session may end, and a browser may lose its cookies, while a person fills in a form. The sign-in
page then carries the form, sealed. The server stores nothing from people whom it does not know.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from accounts.http import is_from_htmx, page_to_return_to

SALT = "accounts.interrupted_forms"
LONGEST_WAIT = 24 * 60 * 60  # seconds; a person who returns later fills in the form again
IS_A_FORM = "application/x-www-form-urlencoded"
TOKEN = "csrfmiddlewaretoken"  # a field that every form of this site has


class KeptForm(NamedTuple):
    """A form as it was sent: the address that it was sent to, and its fields in order."""

    path: str
    fields: list[tuple[str, str]]

    def sealed(self) -> str:
        """Return the form as a text that only this site can make."""
        return signing.dumps(self._asdict(), salt=SALT, compress=True)


def unsealed(text: str) -> KeptForm | None:
    """Return the form that a text carries; None when the text is not ours, or is too old."""
    try:
        said = signing.loads(text, salt=SALT, max_age=LONGEST_WAIT)
    except signing.BadSignature:
        return None
    return KeptForm(said["path"], [(name, value) for name, value in said["fields"]])


def sent_form(request: HttpRequest) -> KeptForm | None:
    """Return the form of this site that a request sends, or None.

    A form with a password or a file gives None too.
    """
    if request.method != "POST" or request.content_type != IS_A_FORM or TOKEN not in request.POST:
        return None
    fields = [
        (name, str(value))
        for name, values in request.POST.lists()
        for value in values
        if name != TOKEN
    ]
    if any("password" in name for name, _ in fields):
        return None
    return KeptForm(request.get_full_path(), fields)


def was_sent_from_here(request: HttpRequest) -> bool:
    """Return whether a page of this site sent a request, by headers that no page can forge."""
    origin = urlsplit(request.headers.get("Origin") or request.headers.get("Referer", ""))
    ours = {f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS}
    return f"{origin.scheme}://{origin.netloc}" in ours


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """Send a person to sign in, and then back to their page with the form that they just sent.

    Htmx always gets a redirect: the page that used htmx still has what was filled in.
    """
    kept = None if is_from_htmx(request) else sent_form(request)
    if kept is None:
        return redirect_to_login(page_to_return_to(request))
    return _not_cached(
        render(
            request,
            "accounts/sign_in.html",
            {
                "form": AuthenticationForm(request),
                "next": page_to_return_to(request),
                "kept": kept.sealed(),
                "is_signed_out": True,
            },
            status=403,
        )
    )


def sign_in_once_more(request: HttpRequest) -> HttpResponse:
    """Show the sign-in page again when it was sent without its cookie; it still carries the form.

    A person who has signed in meanwhile, in another tab, can send the carried form at once.
    """
    kept = unsealed(request.POST.get("kept", ""))
    if kept and request.user.is_authenticated:
        return send_again(request, kept, reverse("home"))
    context = {
        "form": AuthenticationForm(request),
        "next": request.POST.get("next", ""),
        "kept": request.POST.get("kept", ""),
        "is_cookie_lost": True,
    }
    return _not_cached(render(request, "accounts/sign_in.html", context, status=403))


def send_again(request: HttpRequest, kept: KeptForm, page: str) -> HttpResponse:
    """Show a person who is signed in the form that they sent before, and a button to send it.

    Args:
        page: the address of the page that they sent it from.
    """
    context = {"kept": kept, "page": page}
    return render(request, "accounts/send_again.html", context)


def _not_cached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response
