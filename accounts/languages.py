"""The languages of the pages that raters reach. All other pages are in English.

Every view declares who may open it (`accounts.access`), and from that follows its language. What
is in the language of a rater is in `locale/`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)

NOT_YET_READ = frozenset({"de"})  # no native speaker has read the words of these languages yet


class OfferedLanguage(NamedTuple):
    """A language that a page offers: its name is in that language."""

    code: str
    name: str
    is_chosen: bool

    @property
    def is_not_yet_read(self) -> bool:
        return self.code in NOT_YET_READ


def speak_to_rater(request: HttpRequest) -> None:
    """Answer a request in the language of its cookie; without one, in the browser's."""
    translation.activate(translation.get_language_from_request(request))
    vars(request)["is_for_raters"] = True


def in_english(
    view: Callable[Concatenate[R, P], HttpResponse],
) -> Callable[Concatenate[R, P], HttpResponse]:
    """Let a view that raters reach answer in English, because what it shows is not translated."""

    @wraps(view)
    def english(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        translation.activate(settings.LANGUAGE_CODE)
        vars(request)["is_for_raters"] = False
        return view(request, *args, **kwargs)

    return english


def offered_languages(request: HttpRequest) -> list[OfferedLanguage]:
    """Return the languages that a page can be read in; an empty list if it has only one."""
    if not vars(request).get("is_for_raters"):
        return []
    now = translation.get_language()
    return [OfferedLanguage(code, name, code == now) for code, name in settings.LANGUAGES]
