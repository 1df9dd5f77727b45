"""Home lists what has ended since the visit before; the first visit lists the last week."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.services import note_home_visit

pytestmark = pytest.mark.once


def later(user: User, **time: float) -> User:
    """Let time pass since a person's last visit; return the person as the next request has them."""
    user.refresh_from_db()
    assert user.home_seen_at
    passed = timedelta(**time)
    moved = {"home_seen_at": user.home_seen_at - passed}
    if user.home_news_since:
        moved["home_news_since"] = user.home_news_since - passed
    User.objects.filter(pk=user.pk).update(**moved)
    user.refresh_from_db()
    return user


def test_the_first_visit_looks_a_week_back(rosa):
    since = note_home_visit(rosa)

    assert timedelta(days=7) <= timezone.now() - since < timedelta(days=7, minutes=1)


def test_a_page_that_is_opened_again_soon_belongs_to_the_same_visit(rosa):
    first = note_home_visit(rosa)

    again = note_home_visit(later(rosa, minutes=59))

    assert first - again == timedelta(minutes=59)  # all times were moved by that much


def test_a_visit_after_a_pause_begins_where_the_last_one_ended(rosa):
    note_home_visit(rosa)
    rosa = later(rosa, minutes=40)
    note_home_visit(rosa)  # the first visit goes on until here
    rosa = later(rosa, hours=5)
    last_seen_at = rosa.home_seen_at

    assert note_home_visit(rosa) == last_seen_at


def test_a_visit_is_stored_once_a_minute_at_most(rosa, django_assert_num_queries):
    note_home_visit(rosa)
    rosa.refresh_from_db()

    with django_assert_num_queries(0):
        note_home_visit(rosa)
    rosa = later(rosa, seconds=61)
    with django_assert_num_queries(1):
        note_home_visit(rosa)
