"""The speed of work, and the time that it still takes, on its card and in the API."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import cancel_job, resume_job
from evaluation.models import Job
from tests.shown import shown
from work.cards import speed

pytestmark = pytest.mark.both


@pytest.fixture
def job():
    """Return a search that has tried 30 of 600 prompts, and that no worker has taken."""
    return Job.objects.create(kind="prompt_search", name="search", n_done=30, n_total=600)


def taken(job, seconds_ago):
    """Return the job at work, as if a worker had taken it some time ago."""
    JOBS.claim(job.pk)
    Job.objects.update(taken_at=timezone.now() - timedelta(seconds=seconds_ago))
    return Job.objects.get()


@pytest.mark.parametrize(
    ("per_second", "words"),
    [
        (None, "—"),
        (0.05, "3.0 prompts a minute"),
        (0.1, "0.1 prompts a second"),
        (31.44, "31.4 prompts a second"),
        (1234.5, "1,234 prompts a second"),
    ],
)
def test_speeds_in_words(per_second, words):
    assert speed(per_second, "prompt") == words


def test_the_first_worker_decides_when_it_began(job):
    first = taken(job, 100)
    Job.objects.update(state="queued", lease_until=None, token="")
    JOBS.claim(job.pk)

    assert Job.objects.get().taken_at == first.taken_at


def test_what_was_done_before_it_was_resumed_says_nothing_of_its_speed(rosa, client_for, job):
    """200 of 600 prompts were tried in the last 100 s, and 30 before: 370 more take 185 s."""
    taken(job, 5000)
    cancel_job(job, None)
    resume_job(job, None)
    assert (Job.objects.get().taken_at, Job.objects.get().n_done_before) == (None, 30)
    taken(job, 100)
    Job.objects.update(n_done=230)
    browser = client_for(rosa)

    card = shown(browser.get(reverse("work:card", args=["prompt-search", job.pk])))
    said = browser.get(f"/api/v1/work/prompt-search/{job.pk}/").json()

    assert card.facts == {"Rate": "2.0 prompts a second", "Ready in": "about 3 min"}
    assert said["per_second"] == pytest.approx(2, rel=0.05)
    assert said["seconds_left"] == pytest.approx(185, rel=0.05)


def test_before_anything_is_done_the_time_is_not_known(rosa, client_for, job):
    taken(job, 100)
    Job.objects.update(n_done_before=30)

    card = shown(client_for(rosa).get(reverse("work:card", args=["prompt-search", job.pk])))

    assert card.facts == {"Rate": "—", "Ready in": "—"}
