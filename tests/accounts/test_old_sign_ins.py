"""The remains of old sign-ins are deleted: sessions, records of axes, links."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings as site
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import SignInLink
from accounts.services import create_sign_in_link, set_password
from accounts.tasks import forget_old_sign_ins
from tests.conftest import session_of

pytestmark = pytest.mark.once


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def recorded(model, days, **more):
    row = model.objects.create(username="rachel", ip_address="192.0.2.1", **more)
    model.objects.filter(pk=row.pk).update(attempt_time=days_ago(days))
    return row


def test_sessions_go_when_they_are_over_and_others_stay(rachel, client_for):
    open_session, over = session_of(rachel), session_of(rachel)
    Session.objects.filter(pk=over).update(expire_date=days_ago(0))

    forget_old_sign_ins()

    assert [session.pk for session in Session.objects.all()] == [open_session]


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (AccessLog, {}),
        (AccessFailureLog, {}),
        (AccessAttempt, {"failures_since_start": 1}),
    ],
)
def test_sign_in_records_stay_for_ninety_days(db, model, more):
    recent = recorded(model, 89, user_agent="a", **more)
    recorded(model, 91, user_agent="b", **more)

    forget_old_sign_ins()

    assert list(model.objects.all()) == [recent]


def test_links_that_have_long_ended_go(rachel, adam):
    create_sign_in_link(rachel, adam)
    set_password(rachel, "fig-and-walnut")
    SignInLink.objects.update(expires_at=days_ago(91))
    create_sign_in_link(rachel, adam)

    forget_old_sign_ins()

    assert SignInLink.objects.get().expires_at > timezone.now()


def test_a_site_may_forget_sooner(db, settings):
    settings.SIGN_IN_RECORD_DAYS = 7
    recorded(AccessLog, 8)

    forget_old_sign_ins()

    assert not AccessLog.objects.exists()


def test_the_beat_forgets_every_day():
    [entry] = [
        entry
        for entry in site.CELERY_BEAT_SCHEDULE.values()
        if entry["task"] == forget_old_sign_ins.name
    ]

    assert entry["schedule"] == timedelta(days=1).total_seconds()
