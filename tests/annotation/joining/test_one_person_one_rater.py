"""One person joins once: browsers are known again, networks have limits, doubles are marked."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from annotation.models import Rater
from annotation.origins import COOKIE, Origin, shared_origins
from annotation.services.joining import (
    Newcomer,
    TurnedAwayError,
    forget_networks,
    join_study,
)
from annotation.services.studies import StudyError
from tests.annotation.joining.test_study_link import address, code_boxes, join, link_of
from tests.annotation.makers import material, opened
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def study(db, tmp_path):
    return opened(material(tmp_path), scheme="SSA", raters=0)


def comes_from(study, browser="", network=""):
    """Return the rater whom a person becomes who joins from here."""
    return join_study(study.link, uuid4(), Newcomer(origin=Origin(browser, network))).rater


def sign_out(client):
    client.post(reverse("accounts:sign-out"))


# --- one browser ----------------------------------------------------------------------------


def test_a_browser_that_joins_thirty_times_in_a_row_is_one_rater(study):
    link, client = link_of(study, most_per_group=100), Client()

    for _ in range(30):
        join(link, client)
        sign_out(client)
    answer = join(link, client)

    [rater] = study.raters.all()
    assert answer.status_code == 409
    assert rater.code in answer.text
    assert User.objects.filter(join_key__isnull=False).count() == 1


def test_the_form_that_is_sent_again_later_or_elsewhere_lets_nobody_in(study):
    link, client, thief = link_of(study), Client(), Client()
    key = shown(client.get(address(link))).fields["key"]
    [code] = code_boxes(client.post(address(link), {"key": key}))
    thief.get(address(link))

    elsewhere = thief.post(address(link), {"key": key})
    User.objects.update(join_key_ends_at=timezone.now() - timedelta(minutes=16))
    del client.cookies[settings.SESSION_COOKIE_NAME]
    later = client.post(address(link), {"key": key})

    assert (elsewhere.status_code, later.status_code) == (410, 410)
    assert "_auth_user_id" not in thief.session
    assert "_auth_user_id" not in client.session
    assert study.raters.count() == 1
    owner = Client()
    owner.post(reverse("accounts:return"), {"code": code})
    assert "_auth_user_id" in owner.session  # the thief has drawn no new code


def test_the_key_of_a_form_alone_lets_nobody_in(study):
    link, key = link_of(study), uuid4()
    client, thief = Client(), Client()  # neither has opened the page, so neither has its cookie
    client.post(address(link), {"key": key})

    answer = thief.post(address(link), {"key": key})

    assert answer.status_code == 410
    assert "_auth_user_id" not in thief.session


def test_a_key_that_joined_another_study_is_refused(study, tmp_path):
    other = opened(material(tmp_path / "other"), scheme="SSA", raters=0, name="Other")
    key = uuid4()
    Client().post(address(link_of(other)), {"key": key})

    answer = Client().post(address(link_of(study)), {"key": key})

    assert (answer.status_code, study.raters.count()) == (410, 0)
    assert "This form was sent before." in answer.text


def test_who_shares_a_computer_joins_with_the_code_of_the_study(study):
    link, client = link_of(study, code="mill river"), Client()
    join(link, client, code="mill river")
    sign_out(client)

    alone = join(link, client, code="mill river")
    wrong = join(link, client, code="mill", somebody_else="yes")
    other = join(link, client, code="mill river", somebody_else="yes")

    assert [answer.status_code for answer in (alone, wrong, other)] == [409, 422, 200]
    assert study.raters.count() == 2


def test_without_a_code_a_researcher_lets_one_more_person_join(study, client_for, rosa):
    link, client = link_of(study, most_per_group=9), Client()
    join(link, client)
    sign_out(client)
    [first] = study.raters.all()
    share = reverse("annotation:share-computer", args=[study.slug])

    refused = join(link, client, somebody_else="yes")
    client_for(rosa).post(share, {"code": f" {first.code.lower()}"})
    joined = join(link, client, somebody_else="yes").status_code
    sign_out(client)
    again = join(link, client, somebody_else="yes").status_code

    assert (refused.status_code, joined, again) == (409, 200, 409)
    assert "Nobody has let one more person join" in refused.text
    assert study.raters.count() == 2
    unknown = client_for(rosa).post(share, {"code": "R-000000"}, follow=True)
    assert "Found R-000000; expected" in shown(unknown).text


@pytest.mark.parametrize("cookie", ["", "forged", "forged:1abc:xyz"])
def test_a_cookie_that_the_site_did_not_sign_is_no_browser(study, cookie):
    client = Client()
    client.cookies[COOKIE] = cookie

    assert join(link_of(study), client).status_code == 200
    assert client.cookies[COOKIE].value != cookie  # it got one of its own


# --- one network ----------------------------------------------------------------------------


def test_from_one_network_so_many_people_join_in_an_hour(study, client_for, rosa):
    link = link_of(study, most_per_group=9, most_per_hour=2)
    here = [Client(REMOTE_ADDR=f"192.0.2.{host}") for host in (1, 2, 3)]
    there = Client(REMOTE_ADDR="198.51.100.1")

    answers = [join(link, client).status_code for client in (*here, there)]
    Rater.objects.update(joined_at=timezone.now() - timedelta(minutes=61))
    later = join(link, here[2]).status_code

    assert answers == [200, 200, 410, 200]
    assert later == 200
    page = client_for(rosa).get(reverse("annotation:study-link", args=[study.slug]))
    assert "2 people at most join within an hour; so far 1 was turned away" in shown(page).text
    assert not Rater.objects.filter(network__contains="192.0.2").exists()  # a hash, no address


def test_networks_are_forgotten_after_ninety_days(study):
    link_of(study, most_per_group=9)
    old, new = comes_from(study, "a", "n"), comes_from(study, "b", "n")
    Rater.objects.filter(pk=old.pk).update(joined_at=timezone.now() - timedelta(days=91))

    forget_networks()

    assert [Rater.objects.get(pk=rater.pk).network for rater in (old, new)] == ["", "n"]
    assert Rater.objects.get(pk=old.pk).browser == "a"


# --- marks ----------------------------------------------------------------------------------


def test_raters_of_one_browser_or_of_one_network_in_time_are_marked(study, client_for, rosa):
    link_of(study, most_per_group=9, code="mill river")
    first = comes_from(study, "a", "n")
    twin = join_study(
        study.link, uuid4(), Newcomer(origin=Origin("a", "n"), is_somebody_else=True)
    ).rater
    neighbour, late, alone = (comes_from(study, *at) for at in (("b", "n"), ("c", "n"), ("", "")))
    Rater.objects.filter(pk=late.pk).update(joined_at=timezone.now() + timedelta(minutes=61))

    shared = shared_origins(study)

    assert shared[first.pk] == ((twin.code,), (neighbour.code,))
    assert shared[twin.pk] == ((first.code,), (neighbour.code,))
    assert shared[neighbour.pk] == ((), tuple(sorted([first.code, twin.code])))
    assert {late.pk, alone.pk}.isdisjoint(shared)
    page = client_for(rosa).get(reverse("annotation:study-setup", args=[study.slug]))
    assert f"same browser as {twin.code}" in shown(page).text


# --- codes ----------------------------------------------------------------------------------


def test_fifty_wrong_codes_of_any_kind_shut_an_address_out(study):
    link = link_of(study, code="mill river")
    client = Client(REMOTE_ADDR="192.0.2.1")

    for n in range(17):
        client.post(reverse("accounts:return"), {"code": f"K7P2-9QXM-{n:04}"})
        client.get(reverse("accounts:sign-in-link", args=[f"token-{n}"]))
        answer = join(link, Client(REMOTE_ADDR="192.0.2.1"), code=f"mill {n}")

    assert answer.status_code == 429
    assert join(link, Client(REMOTE_ADDR="192.0.2.1"), code="mill river").status_code == 429
    assert client.post(reverse("accounts:return"), {"code": "K7P2"}).status_code == 429
    assert join(link, Client(REMOTE_ADDR="192.0.2.2"), code="mill river").status_code == 200


def test_twenty_wrong_codes_of_a_study_shut_it_for_their_address_and_nobody_else(study):
    link = link_of(study, code="mill river", most_per_group=9)

    for _ in range(20):
        join(link, Client(REMOTE_ADDR="192.0.2.1"), code="mill")

    here, there = (Client(REMOTE_ADDR=host) for host in ("192.0.2.1", "198.51.100.1"))
    assert join(link, here, code="mill river").status_code == 429
    assert join(link, there, code="mill river").status_code == 200


def test_five_people_of_a_class_may_mistype_the_code(study):
    link = link_of(study, code="mill river")

    for _ in range(6):
        join(link, code="mil river")

    assert join(link, code="mill river").status_code == 200


@pytest.mark.parametrize("code", ["a", "abc", "  ab "])
def test_a_code_that_can_be_guessed_is_refused(study, code):
    with pytest.raises(StudyError, match="expected 4 or more"):
        link_of(study, code=code)


def test_a_person_beyond_the_limit_is_counted_and_nothing_else_changes(study):
    link = link_of(study, most_per_group=9, most_per_hour=1)
    comes_from(study, "a", "n")

    with pytest.raises(TurnedAwayError):
        comes_from(study, "b", "n")

    link.refresh_from_db()
    assert (study.raters.count(), link.n_turned_away) == (1, 1)
