import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from accounts.access import Role, roles_of
from accounts.models import User
from tests.conftest import person

pytestmark = pytest.mark.once


def test_a_rater_rates_and_nothing_else(rachel):
    assert roles_of(rachel) == {Role.RATER}


def test_an_admin_may_do_all_that_a_researcher_may_but_does_not_rate(adam):
    assert roles_of(adam) == {Role.ADMIN, Role.RESEARCHER}


def test_a_superuser_counts_as_an_admin(db):
    root = User.objects.create_superuser("root")

    assert roles_of(root) == {Role.ADMIN, Role.RESEARCHER}


def test_somebody_not_signed_in_has_no_role():
    assert roles_of(AnonymousUser()) == frozenset()


def test_roles_cost_one_query_however_often_they_are_asked(rosa, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert roles_of(rosa) == roles_of(rosa) == {Role.RESEARCHER}


def test_a_page_costs_two_queries_for_user_and_roles(rachel, client_for, django_assert_num_queries):
    client = client_for(rachel)

    with django_assert_num_queries(2):
        page = client.get(reverse("accounts:change-password"))

    assert "My studies" in page.text  # the roles were looked up


def test_a_page_without_sign_in_costs_no_query(client, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.get(reverse("accounts:sign-in"))


def test_home_is_a_page_for_researchers_and_sends_raters_to_their_studies(
    rachel, rosa, adam, client_for
):
    both = person("both", Role.RATER, Role.RESEARCHER)

    assert client_for(rachel).get(reverse("home")).url == reverse("annotation:my-studies")
    for user in (rosa, both, adam):
        assert client_for(user).get(reverse("home")).status_code == 200


def test_home_tells_somebody_without_a_role_what_is_missing(db, client_for):
    response = client_for(person("nora")).get(reverse("home"))

    assert response.status_code == 403
    assert "no role yet" in response.text


def test_the_navigation_shows_the_pages_of_ones_role(rachel, rosa, adam, client_for):
    def links(user):
        page = client_for(user).get(reverse("accounts:change-password")).text
        return [
            name
            for name in ("Datasets", "Studies", "My studies", "Users", "Help")
            if f">{name}</a>" in page
        ]

    assert links(rachel) == ["My studies", "Help"]
    assert links(rosa) == ["Datasets", "Studies", "Help"]
    assert links(adam) == ["Datasets", "Studies", "Users", "Help"]
