"""Errors of the whole site: pages for people, JSON for programs."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views import defaults

from accounts.access import speak_to_reader

API = "/api/"
PAGES_WITH_A_BAR = (403, 404, 405)  # the other pages ask for nothing, not even for the user


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = "The request is malformed, or too large."
    return _answer(request, 400, said, lambda: defaults.bad_request(request, exception))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = "This is not for you."
    return _answer(request, 403, said, lambda: defaults.permission_denied(request, exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = "There is no such address. Addresses end in a slash; /api/ lists them."
    return _answer(request, 404, said, lambda: defaults.page_not_found(request, exception))


def method_not_allowed(request: HttpRequest, allowed: str) -> HttpResponse:
    """Say that an address does not take this method, with those that it takes."""
    said = f"This address takes only {allowed}."
    answer = _answer(
        request, 405, said, lambda: render(request, "405.html", {"allowed": allowed}, status=405)
    )
    answer.headers["Allow"] = allowed
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    said = "Something went wrong on the server; its log says what."
    return _answer(request, 500, said, lambda: defaults.server_error(request))


def unavailable(request: HttpRequest, trouble: str) -> HttpResponse:
    said = f"{trouble}. Nothing was changed."
    return _answer(request, 503, said, lambda: HttpResponse(_page_of(trouble), status=503))


def _page_of(trouble: str) -> str:
    return render_to_string("503.html", {"trouble": trouble})


def _answer(request: HttpRequest, status: int, said: str, page: Callable[[], Any]) -> HttpResponse:
    if request.path_info.startswith(API):
        return JsonResponse({"detail": said}, status=status)
    if hasattr(request, "user") and status in PAGES_WITH_A_BAR:
        speak_to_reader(request)
    request.resolver_match = None  # the page of an error has no help about the page asked for
    answer: HttpResponse = page()
    return answer
