"""The demo's passwords are public in the source, so they must open nothing in production."""

import pytest
from django.contrib.auth import authenticate
from django.urls import reverse

from accounts.access import Role
from accounts.backends import DEMO_PASSWORDS
from accounts.services import create_user
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.mark.parametrize(("is_on_own_machine", "is_let_in"), [(True, True), (False, False)])
def test_a_demo_password_opens_only_a_site_under_development(
    rf, settings, is_on_own_machine, is_let_in
):
    settings.IS_ON_OWN_MACHINE = is_on_own_machine
    create_user("admin", [Role.ADMIN], None, DEMO_PASSWORDS[Role.ADMIN])

    user = authenticate(rf.post("/"), username="admin", password=DEMO_PASSWORDS[Role.ADMIN])

    assert (user is not None) == is_let_in


def test_other_passwords_open_it_either_way(rf, settings):
    settings.IS_ON_OWN_MACHINE = False
    create_user("admin", [Role.ADMIN], None, "a better one")

    assert authenticate(rf.post("/"), username="admin", password="a better one")


@pytest.mark.parametrize("is_on_own_machine", [True, False])
@pytest.mark.parametrize("password", DEMO_PASSWORDS.values())
def test_a_demo_password_is_refused_as_a_new_one(
    rosa, client_for, settings, is_on_own_machine, password
):
    settings.IS_ON_OWN_MACHINE = is_on_own_machine
    rosa.set_unusable_password()
    rosa.save()
    posted = {"new_password1": password, "new_password2": password}

    answer = client_for(rosa).post(reverse("accounts:change-password"), posted)

    assert answer.status_code == 422
    assert "demo" in shown(answer).errors["new_password2"]
