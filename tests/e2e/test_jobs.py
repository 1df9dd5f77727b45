"""The page of a search follows it, and says when it is over, without being loaded again."""

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from evaluation.models import Job, JobStep
from tests.annotation.makers import researcher
from tests.e2e.job_walk import job_pages

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_search_is_followed_step_by_step_until_its_end(page, sign_in, tmp_path):
    list(job_pages(tmp_path))
    job = Job.objects.get(name="pilot-warm-running")
    done = Job.objects.get(name="pilot-warm-done")
    sign_in(researcher())
    page.goto(reverse("evaluation:job", args=[job.pk]))
    page.evaluate("window.sameDocument = true")
    tried = page.get_by_role("region", name="Every prompt that was tried").locator("tbody tr")
    expect(tried).to_have_count(3)

    JobStep.objects.create(job=job, number=4, content=done.steps.get(number=4).content)
    Job.objects.filter(pk=job.pk).update(n_done=4)
    expect(tried).to_have_count(4)
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.DONE, result=done.result, lease_until=None, finished_at=timezone.now()
    )
    expect(page.get_by_role("link", name="Start a run with it")).to_be_visible()

    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
