"""A guesser of passwords is shut out: by name and address, by address alone, by name alone."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client

from tests.conftest import person
from tests.shown import shown

pytestmark = pytest.mark.once

SIGN_IN = "/accounts/sign-in/"
HERE = "192.0.2.1"


@pytest.fixture
def rachel(rachel):
    rachel.set_password("right")
    rachel.save()
    return rachel


def sign_in(username="rachel", password="wrong", address=HERE, browser="a"):
    """Try a password in a browser that is not signed in, and return the answer."""
    client = Client(REMOTE_ADDR=address, headers={"User-Agent": browser})
    return client.post(SIGN_IN, {"username": username, "password": password})


def wait(**time):
    """Let this much time pass since the wrong passwords that were counted."""
    for attempt in AccessAttempt.objects.all():
        earlier = attempt.attempt_time - timedelta(**time)
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=earlier)


def guess_names(n):
    """Try one password for each of n names, from one address."""
    return [sign_in(f"user-{i}", browser=str(i)).status_code for i in range(n)]


def guess_from_everywhere(n):
    """Try n passwords for one name, each from its own address."""
    return [sign_in(address=f"198.51.100.{i}").status_code for i in range(n)]


def is_let_in(answer):
    return answer.status_code == 302


def test_fifty_wrong_passwords_shut_an_address_out(rachel):
    assert guess_names(50) == [422] * 49 + [429]

    shut_out = sign_in(password="right")

    assert shut_out.status_code == 429
    assert "50" in shown(shut_out.text).text
    assert "15 minutes" in shown(shut_out.text).text
    assert is_let_in(sign_in(password="right", address="192.0.2.2"))


def test_twenty_wrong_passwords_shut_a_name_for_a_minute(rachel):
    assert guess_from_everywhere(20) == [422] * 19 + [429]

    shut_out = sign_in(password="right")

    assert shut_out.status_code == 429
    assert "20" in shown(shut_out.text).text
    assert "1 minute" in shown(shut_out.text).text
    wait(seconds=61)
    assert is_let_in(sign_in(password="right"))


def test_who_goes_on_guessing_a_name_gets_one_guess_a_minute(rachel):
    guess_from_everywhere(20)
    wait(seconds=61)

    assert sign_in(address="203.0.113.1").status_code == 429  # it was counted
    wait(seconds=61)
    assert is_let_in(sign_in(password="right"))


@pytest.mark.parametrize("n_more", [1, 30])
def test_tries_while_one_is_shut_out_do_not_prolong_the_wait(rachel, n_more):
    guess_from_everywhere(20)
    wait(seconds=50)
    for _ in range(n_more):
        assert sign_in(address="203.0.113.1").status_code == 429
    wait(seconds=11)

    assert is_let_in(sign_in(password="right"))


def test_an_address_is_let_in_after_a_quarter_of_an_hour(rachel):
    guess_names(50)

    wait(minutes=14)
    assert sign_in(password="right").status_code == 429
    wait(minutes=1, seconds=1)
    assert is_let_in(sign_in(password="right"))


def test_ones_own_account_does_not_clear_what_one_has_guessed(rachel):
    own = person("mallory")
    own.set_password("own")
    own.save()
    guess_names(49)

    assert is_let_in(sign_in("mallory", "own"))
    assert sign_in("user-50").status_code == 429


def test_the_right_password_clears_the_slips_before_it(rachel):
    for _ in range(2):
        for _ in range(4):
            assert sign_in().status_code == 422
        assert is_let_in(sign_in(password="right"))


def test_a_caller_without_an_address_is_throttled_by_name(rachel):
    answers = [sign_in(address="").status_code for _ in range(20)]

    assert answers == [422] * 19 + [429]


def test_a_forwarded_address_that_is_none_is_no_error(client, rachel, settings):
    settings.N_PROXIES = 1

    answer = client.post(
        SIGN_IN,
        {"username": "rachel", "password": "wrong"},
        headers={"X-Forwarded-For": "nonsense"},
    )

    assert answer.status_code == 422
    assert AccessAttempt.objects.get().ip_address == "127.0.0.1"
