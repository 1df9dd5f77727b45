"""People that the tests know by name: Rachel rates, Rosa researches, Adam administers."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts.access import Role
from accounts.models import User


def person(username: str, *roles: Role) -> User:
    """Return a user without a password; `client_for` needs none."""
    user = User.objects.create_user(username)
    # A test with transactions of its own empties all tables behind it, the groups' too.
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in Role if role in roles])
    return user


@pytest.fixture
def rachel(db: None) -> User:
    return person("rachel", Role.RATER)


@pytest.fixture
def rosa(db: None) -> User:
    return person("rosa", Role.RESEARCHER)


@pytest.fixture
def adam(db: None) -> User:
    return person("adam", Role.ADMIN)


@pytest.fixture
def client_for() -> Callable[[User], Client]:
    """Return a function from a user to a browser in which they are signed in."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in
