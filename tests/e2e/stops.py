"""A stop of a walk: one page in one state, and who opens it."""

from collections.abc import Callable
from typing import NamedTuple

from django.contrib.auth.models import Group
from playwright.sync_api import Page

from accounts.access import Role
from accounts.models import User

LONG = "A very long passage about the mill and the flood. " * 400  # 20,000 characters
ARABIC = "أغلق المصنع عام 1971 بعد الفيضان."
SCRIPT = "<script>alert('x')</script><b>bold</b> " + "incomprehensibilities" * 12


class Stop(NamedTuple):
    """One page in one state: the user who opens it, its address, and the user's action there.

    Without a user, the page is opened without signing in.
    """

    name: str
    user: User | None
    path: str
    act: Callable[[Page], object] = lambda page: None


def administrator() -> User:
    user, _ = User.objects.get_or_create(username="who-administers")
    user.groups.add(Group.objects.get_or_create(name=Role.ADMIN)[0])
    return user
