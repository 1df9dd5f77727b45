"""Every address of the site declares the users it is for, and refuses all others."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.urls.resolvers import RegexPattern, RoutePattern
from rest_framework.views import APIView

from accounts.access import Role, roles_of
from accounts.models import User
from accounts.services import create_api_token
from tests.conftest import person, session_of

SIGN_IN = "/accounts/sign-in/"
NOT_OURS: frozenset[str] = frozenset()  # names of addresses that packages bring along
DUMMIES = {"IntConverter": 1}  # whatever is not a number may be 'x'


class Page(NamedTuple):
    name: str
    url: str
    view: Callable[..., Any]


def pages(resolver: URLResolver, namespaces: tuple[str, ...] = (), **outer: Any) -> Iterator[Page]:
    """Return every address below `resolver`, with made-up numbers and words in it."""
    for entry in resolver.url_patterns:
        kwargs = outer | dummies(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = (*namespaces, entry.namespace) if entry.namespace else namespaces
            yield from pages(entry, inner, **kwargs)
        else:
            name = ":".join((*namespaces, name_of(entry)))
            if name not in NOT_OURS:
                yield Page(name, reverse(name, kwargs=kwargs), entry.callback)


def name_of(entry: URLPattern) -> str:
    if not entry.name:
        raise ValueError(f"The address {entry.pattern} has no name.")
    return entry.name


def dummies(pattern: Any) -> dict[str, Any]:
    if isinstance(pattern, RoutePattern):
        return {key: DUMMIES.get(type(c).__name__, "x") for key, c in pattern.converters.items()}
    if isinstance(pattern, RegexPattern):
        return dict.fromkeys(re.compile(pattern.regex).groupindex, "1")
    return {}


def is_api(page: Page) -> bool:
    """Return whether programs ask here: refused by 401 and 403, never sent to sign in."""
    is_api_view = issubclass(getattr(page.view, "cls", object), APIView)
    return is_api_view and not hasattr(page.view, "allowed_roles")


ALL = list(pages(get_resolver()))
API = [page for page in ALL if is_api(page)]
PAGES = [page for page in ALL if not is_api(page)]
each_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
each_api_view = pytest.mark.parametrize("page", API, ids=[page.name for page in API])
each_address = pytest.mark.parametrize("page", ALL, ids=[page.name for page in ALL])


@pytest.fixture(scope="module")
def sessions(module_database: None) -> dict[User, str]:
    """Sign in one person of each role, once for all addresses."""
    people = [person(f"some-{role}", role) for role in Role]
    return {user: session_of(user) for user in people}


@pytest.fixture
def people(sessions: dict[User, str]) -> dict[User, Client]:
    """Return a person of each role, in the order of `Role`, with a browser of their own."""
    clients = {user: Client() for user in sessions}
    for user, client in clients.items():
        client.cookies[settings.SESSION_COOKIE_NAME] = sessions[user]
    return clients


@pytest.fixture
def reading(people: dict[User, Client]) -> Client:
    """Return a program of an admin's with a token that only reads."""
    admin = list(people)[-1]
    token = create_api_token(admin, "reads", is_read_only=True)
    return Client(headers={"Authorization": f"Bearer {token}"})


def ask(client: Client, url: str) -> Any:
    """Open a page; what only takes POST is posted to."""
    response = client.get(url)
    return client.post(url) if response.status_code == 405 else response


@each_page
def test_every_view_says_whom_it_is_for(page: Page):
    is_public = getattr(page.view, "is_public", False)
    allowed_roles = getattr(page.view, "allowed_roles", None)

    assert is_public != bool(allowed_roles), (
        f"{page.name} needs one of @allowed(...), @allowed_to_all, @public"
    )


@each_address
def test_no_address_hides_behind_another(page: Page):
    assert resolve(page.url).view_name == page.name


@pytest.mark.once
@each_page
def test_nobody_gets_in_without_signing_in(page: Page, client: Client, db: None):
    response = ask(client, page.url)

    if getattr(page.view, "is_public", False):
        assert not goes_to_sign_in(response)
    else:
        assert goes_to_sign_in(response)


@pytest.mark.once
@each_page
def test_every_role_gets_in_where_it_may_and_nowhere_else(page: Page, people: dict[User, Client]):
    allowed_roles = getattr(page.view, "allowed_roles", frozenset(Role))

    for user, client in people.items():
        if roles_of(user) & allowed_roles:
            response = client.get(page.url)
            assert response.status_code != 403, user
            assert response.status_code < 500, user
            assert not goes_to_sign_in(response), user
            assert "no-store" in response["Cache-Control"], user
        else:
            assert ask(client, page.url).status_code == 403, user


def answers(client: Client, page: Page) -> dict[str, int]:
    """Return the status of each method of an API view."""
    methods = set(getattr(page.view, "actions", None) or {"get"}) - {"head"}
    return {method: client.generic(method.upper(), page.url).status_code for method in methods}


@pytest.mark.once
@each_api_view
def test_the_api_lets_nobody_in_without_token_or_session(page: Page, client: Client, db: None):
    assert set(answers(client, page).values()) == {401}


@pytest.mark.once
@each_api_view
def test_the_api_is_for_researchers_and_admins_alone(page: Page, people: dict[User, Client]):
    rater, researcher, admin = (answers(client, page) for client in people.values())

    assert set(rater.values()) == {403}
    for said in (researcher, admin):
        assert not {401, 403} & set(said.values())
        assert max(said.values()) < 500


@pytest.mark.once
@each_api_view
def test_a_token_that_only_reads_changes_nothing(page: Page, reading: Client):
    said = answers(reading, page)

    assert {said.pop("get", 200)} <= {200, 400, 404, 405, 409}
    assert set(said.values()) <= {403, 405}


def goes_to_sign_in(response: Any) -> bool:
    return bool(response.status_code == 302 and response.url.startswith(SIGN_IN))
