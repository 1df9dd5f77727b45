"""People from Prolific who come to the study's link: confirmed, refused, or asked for a code."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.services import set_password
from annotation.models import CrowdPlatform, Participant, Rater
from tests.annotation.joining.test_platform import KIM, arrive
from tests.annotation.joining.test_study_link import address
from tests.shown import shown

pytestmark = pytest.mark.once


def put(prolific, status="ACTIVE"):
    prolific.put(KIM["SESSION_ID"], KIM["PROLIFIC_PID"], KIM["STUDY_ID"], status)


def is_in(client):
    return "_auth_user_id" in client.session


def test_another_browser_is_let_in_while_prolific_confirms_the_visit(prolific, platform):
    put(prolific)
    arrive(platform)
    again = Client()

    answer = again.get(address(platform.link), KIM)

    assert answer["Location"] == reverse("annotation:my-studies")
    assert is_in(again)
    assert Rater.objects.count() == 1


def test_it_is_asked_for_the_code_when_the_visit_has_ended(prolific, platform):
    put(prolific)
    arrive(platform)
    put(prolific, "AWAITING REVIEW")
    again = Client()

    assert "You were here before" in again.get(address(platform.link), KIM).content.decode()
    assert not is_in(again)


def test_an_account_with_a_password_is_not_entered_by_ids(prolific, platform):
    put(prolific)
    arrive(platform)
    rater = Rater.objects.get()
    assert rater.user is not None
    set_password(rater.user, "a-long-pass-phrase-9")
    again = Client()

    again.get(address(platform.link), KIM)

    assert not is_in(again)


def test_a_signed_address_lets_another_browser_in_without_a_token_of_ours(
    server, prolific, platform, settings
):
    put(prolific)
    arrive(platform)
    settings.PROLIFIC_TOKEN = ""
    url = address(platform.link)
    signed = server.signed(f"http://testserver{url}", KIM)
    other = server.signed(f"http://testserver{url}", KIM | {"PROLIFIC_PID": "lee"})
    by_other, by_signed = Client(), Client()

    by_other.get(url, KIM | {"prolific_token": other})
    by_signed.get(url, KIM | {"prolific_token": signed})

    assert not is_in(by_other)
    assert is_in(by_signed)


@pytest.mark.parametrize("status", [None, "RETURNED"])
def test_ids_that_prolific_does_not_know_or_that_have_ended_do_not_join(prolific, platform, status):
    if status:
        put(prolific, status)

    answer = arrive(platform)

    assert answer.status_code == 410
    assert "knows nothing of this visit" in answer.content.decode()
    assert not Rater.objects.exists()


def test_whom_nothing_confirms_is_marked_or_refused_and_a_signature_confirms(
    server, platform, settings, client_for, rosa
):
    settings.PROLIFIC_API, settings.PROLIFIC_TOKEN = server.url, ""
    url = address(platform.link)
    lee, mia = (KIM | {"PROLIFIC_PID": name, "SESSION_ID": f"{name}-1"} for name in ("lee", "mia"))

    arrive(platform)
    CrowdPlatform.objects.update(needs_confirmation=True)
    refused = arrive(platform, ids=lee)
    signed = server.signed(f"http://testserver{url}", mia)
    confirmed = arrive(platform, ids=mia | {"prolific_token": signed})

    assert (refused.status_code, confirmed.status_code) == (410, 200)
    people = Participant.objects.values_list("person", "is_confirmed")
    assert dict(people) == {KIM["PROLIFIC_PID"]: False, "mia": True}
    page = client_for(rosa).get(
        reverse("annotation:study-platform", args=[platform.link.study.slug])
    )
    assert "Only confirmed visits" in shown(page).text
    assert "1 person is not confirmed" in shown(page).text
