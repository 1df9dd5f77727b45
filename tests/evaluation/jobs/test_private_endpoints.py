"""The address of an endpoint in our own network: admins see it, researchers do not."""

import pytest
from django.urls import reverse

from evaluation.models import Job
from tests.construction_material import make_construction

pytestmark = pytest.mark.once

PRIVATE = "http://10.1.2.3:9999/sparql"
WORDS = "an endpoint in our own network"


def stopped(is_private):
    made = make_construction(state=Job.State.FAILED, error=f"{PRIVATE}: no connection")
    choices = {"endpoint": PRIVATE, "allow_private": is_private}
    made.parameters |= choices
    made.save()
    made.job.parameters |= choices
    made.job.save()
    return made


def shown(client, made):
    pages = [
        reverse("constructions:construction", args=[made.pk]),
        reverse("work:all"),
        f"/api/v1/jobs/{made.job.pk}/",
    ]
    return [client.get(page).content.decode() for page in pages]


def test_researchers_read_that_it_is_ours(client_for, rosa, adam):
    made = stopped(is_private=True)

    of_researcher, of_admin = (shown(client_for(user), made) for user in (rosa, adam))

    assert not any(PRIVATE in each for each in of_researcher)
    assert all(f"{WORDS}: no connection" in each for each in of_researcher)
    assert all(PRIVATE in each for each in of_admin)


def test_a_public_one_is_no_secret(client_for, rosa):
    assert all(PRIVATE in each for each in shown(client_for(rosa), stopped(is_private=False)))
