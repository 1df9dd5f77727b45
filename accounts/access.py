"""Access to pages: roles are groups, and every view declares the roles that may open it."""

from collections.abc import Callable, Collection
from enum import StrEnum
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy

from accounts.http import SignedInRequest
from accounts.interrupted_forms import sign_in_first
from accounts.languages import OfferedLanguage, offered_languages, speak_to_rater
from accounts.models import User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
SignedInView = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]


class Role(StrEnum):
    """The role in which a person acts. The values are names of groups."""

    RATER = "rater"
    RESEARCHER = "researcher"
    ADMIN = "admin"


def roles_of(user: User | AnonymousUser) -> frozenset[Role]:
    """Return the roles of a person. Admins are researchers as well, but only raters rate.

    This takes one query at most for each user object, which keeps the names of its groups.
    """
    if not isinstance(user, User):
        return frozenset()
    groups = user.group_names
    roles = {role for role in Role if role in groups}
    if user.is_superuser:
        roles.add(Role.ADMIN)
    if Role.ADMIN in roles:
        roles.add(Role.RESEARCHER)
    return frozenset(roles)


def allowed(*roles: Role) -> Callable[[SignedInView[P]], View[P]]:
    """Let in people who have one of these roles; send others to sign in, or to the 403 page."""

    def decorate(view: SignedInView[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if request.user.is_authenticated and not roles_of(request.user) & set(roles):
                raise PermissionDenied(_page_is_for(roles))
            if roles == (Role.RATER,):
                speak_to_rater(request)
            return signed_in(request, *args, **kwargs)

        signed_in = allowed_to_all(view)
        vars(guarded)["allowed_roles"] = frozenset(roles)
        return guarded

    return decorate


def allowed_to_all(view: SignedInView[P]) -> View[P]:
    """Let in everyone who is signed in, also without a role; send others to sign in.

    A form that these others sent is kept, so that they can send it again after signing in.
    """

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        speak_to_reader(request)
        if not request.user.is_authenticated:
            return sign_in_first(request)
        return view(cast(SignedInRequest, request), *args, **kwargs)

    vars(guarded)["allowed_roles"] = frozenset(Role)
    return guarded


def _page_is_for(roles: Collection[Role]) -> object:
    """Return why another person is refused, in the language of the page that will say so."""
    if len(roles) > 1:
        return gettext_lazy("This page is for raters and researchers.")
    if Role.RATER in roles:
        return gettext_lazy("This page is for raters.")
    if Role.RESEARCHER in roles:
        return gettext_lazy("This page is for researchers.")
    return gettext_lazy("This page is for admins.")


def may_import(user: User | AnonymousUser) -> bool:
    """Return whether a person may import data: admins, and researchers where an admin allows it."""
    roles = roles_of(user)
    return Role.ADMIN in roles or (settings.RESEARCHERS_IMPORT and Role.RESEARCHER in roles)


def for_importers(view: SignedInView[P]) -> View[P]:
    """Let in people who may import data; send others to sign in, or to the 403 page."""

    @allowed(Role.RESEARCHER)
    @wraps(view)
    def guarded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not may_import(request.user):
            raise PermissionDenied(
                "This page is for admins. On this site, researchers may not import."
            )
        return view(request, *args, **kwargs)

    return guarded


def public(view: View[P]) -> View[P]:
    """Mark a view that needs no sign-in, so that no view is open by mistake."""

    @wraps(view)
    def open_to_all(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        speak_to_reader(request)
        return view(request, *args, **kwargs)

    vars(open_to_all)["is_public"] = True
    return open_to_all


def speak_to_reader(request: HttpRequest) -> None:
    """Answer in the language of a person who does not read pages of researchers as well."""
    if Role.RESEARCHER not in roles_of(request.user):
        speak_to_rater(request)


def roles(request: HttpRequest) -> dict[str, bool]:
    """Return `is_rater`, `is_researcher`, `is_admin` and `may_import` for all templates."""
    user = getattr(request, "user", AnonymousUser())
    mine = roles_of(user)
    return {f"is_{role}": role in mine for role in Role} | {"may_import": may_import(user)}


def languages(request: HttpRequest) -> dict[str, Callable[[], list[OfferedLanguage]]]:
    """Return `languages` for all templates: those that the reader of a page can choose."""
    return {"languages": lambda: offered_languages(request)}
