"""The task that ends visits and reads how submissions stand on Prolific."""

from datetime import timedelta

import pytest
from django.conf import settings as site
from django.utils import timezone

from annotation import prolific as client
from annotation.models import CrowdPlatform, Participant
from annotation.tasks import follow_visits
from config.celery import app
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, opened, rate_next
from tests.annotation.payments.conftest import comes
from tests.prolific_server import Fault

pytestmark = pytest.mark.once


def stands(person):
    person.refresh_from_db()
    return person.submission, person.outcome


def test_beat_sends_the_task_to_those_who_wait_for_servers():
    [entry] = [each for each in site.CELERY_BEAT_SCHEDULE.values() if "visits" in each["task"]]

    assert entry["task"] in app.tasks
    assert entry["schedule"] == entry["options"]["expires"] == 60
    assert entry["options"]["queue"] == site.SERVER_QUEUE


def test_states_are_stored_as_prolific_says_them(prolific, platform, monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 2)
    people = {name: comes(platform, name, prolific) for name in ("ann", "ben", "cem", "dan", "eve")}
    for name, state in (("ann", "AWAITING REVIEW"), ("ben", "APPROVED"), ("cem", "ACTIVE")):
        prolific.put(f"{name}-visit", f"{name}-id", status=state)
    del prolific.submissions["dan-visit"]
    prolific.put("eve-visit", "somebody-else", status="RETURNED")

    follow_visits()

    assert stands(people["ann"]) == ("AWAITING REVIEW", "")
    assert stands(people["ben"]) == ("APPROVED", "")
    assert stands(people["cem"]) == ("ACTIVE", "")
    assert stands(people["dan"]) == stands(people["eve"]) == ("", "")  # Prolific has no such visit
    assert Participant.objects.filter(checked_at=None).count() == 0


def test_a_return_and_a_time_out_at_prolific_end_the_visit(prolific, study):
    platform = platform_of(study, most_per_group=2)
    returned, late = comes(platform, "kim", prolific), comes(platform, "lee", prolific)
    rate_next(returned.rater)
    rate_next(late.rater)
    prolific.put("kim-visit", "kim-id", status="RETURNED")
    prolific.put("lee-visit", "lee-id", status="TIMED-OUT")

    follow_visits()

    assert stands(returned) == ("RETURNED", "returned")
    assert stands(late) == ("TIMED-OUT", "timed_out")
    returned.rater.refresh_from_db()
    late.rater.refresh_from_db()
    assert (returned.rater.is_excluded, late.rater.is_excluded) == (True, False)
    assert comes(platform, "ann").rater.group == returned.rater.group  # both places are free
    assert comes(platform, "ben")


def test_a_visit_that_ended_here_keeps_its_end(prolific, platform):
    person = comes(platform, "kim", prolific)
    Participant.objects.update(outcome="done", ended_at=timezone.now())
    prolific.put("kim-visit", "kim-id", status="RETURNED")

    follow_visits()

    assert stands(person) == ("RETURNED", "done")


def test_what_is_final_is_not_asked_about_again(prolific, platform):
    person = comes(platform, "kim", prolific)
    prolific.put("kim-visit", "kim-id", status="APPROVED")
    follow_visits()
    n_before = len(prolific.requests)

    follow_visits()

    assert len(prolific.requests) == n_before
    assert stands(person)[0] == "APPROVED"


def test_who_came_long_ago_is_not_asked_about(prolific, platform):
    comes(platform, "kim", prolific)
    Participant.objects.update(consented_at=timezone.now() - timedelta(days=31))

    follow_visits()

    assert not prolific.requests


@pytest.mark.parametrize("is_prolific", [True, False])
def test_idle_visits_end_without_a_token_too(platform, is_prolific):
    CrowdPlatform.objects.update(is_prolific=is_prolific)
    person = comes(platform)
    Participant.objects.update(consented_at=timezone.now() - timedelta(minutes=61))

    follow_visits()

    assert stands(person) == ("", "timed_out")


def test_a_platform_that_is_not_prolific_is_not_asked(prolific, platform):
    CrowdPlatform.objects.update(is_prolific=False)
    comes(platform)

    follow_visits()

    assert not prolific.requests


# --- when Prolific does not answer ------------------------------------------------------------


def test_a_failing_api_is_noted_with_the_moment_and_changes_nothing_else(
    prolific, platform, caplog
):
    person = comes(platform, "kim", prolific)
    prolific.put("kim-visit", "kim-id", status="RETURNED")
    prolific.is_down = Fault(500)
    follow_visits()
    platform.refresh_from_db()
    since = platform.silent_since

    prolific.is_down = Fault(429, {"Retry-After": "600"})
    follow_visits()

    platform.refresh_from_db()
    assert since is not None
    assert platform.silent_since == since  # since the first time
    assert platform.silent_because.startswith("Prolific got too many requests")
    assert stands(person) == ("", "")
    assert not any(id_ in caplog.text for id_ in ("kim-id", "kim-visit", "s1"))

    prolific.is_down = None
    follow_visits()
    platform.refresh_from_db()
    assert (platform.silent_since, platform.silent_because) == (None, "")
    assert stands(person) == ("RETURNED", "returned")


def test_a_page_that_fails_changes_nothing(prolific, platform, monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 1)
    people = [comes(platform, name, prolific) for name in ("ann", "ben")]
    answer = prolific.answer

    def fails_on_page_two(request):
        return (200, {"results": 7}) if request.query.get("page") == "2" else answer(request)

    prolific.answer = fails_on_page_two
    follow_visits()

    assert [stands(person) for person in people] == [("", ""), ("", "")]


def test_one_trouble_for_all_is_asked_about_once_and_noted_everywhere(
    prolific, platform, tmp_path, settings
):
    other = opened(material(tmp_path / "other"), scheme="SSA", raters=0, name="Other")
    comes(platform, "kim", prolific)
    comes(platform_of(other), "lee", prolific)
    settings.PROLIFIC_TOKEN = "wrong"

    follow_visits()

    assert len(prolific.requests) == 1
    for each in CrowdPlatform.objects.all():
        assert "does not accept the token" in each.silent_because


def test_a_study_that_prolific_does_not_have_does_not_stop_the_others(prolific, platform):
    person = comes(platform, "kim", prolific)
    stranger = comes(platform, "lee", prolific)
    Participant.objects.filter(pk=stranger.pk).update(platform_study="made-up")
    answer = prolific.answer

    def knows_one_study(request):
        if request.query.get("study") == "made-up":
            return 403, {"error": {"status": 403, "title": "Forbidden", "detail": "made-up: no"}}
        return answer(request)

    prolific.answer = knows_one_study
    follow_visits()

    platform.refresh_from_db()
    assert stands(person)[0] == "ACTIVE"
    assert platform.silent_because == "Prolific refused (403): Forbidden: …: no."
