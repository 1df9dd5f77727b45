import pytest
from django.urls import reverse

from accounts.access import Role, roles_of
from accounts.models import AuditEntry, User
from accounts.services import AccountError, create_user, deactivate, set_roles
from tests.shown import shown

pytestmark = pytest.mark.once

USERS = "/accounts/users/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


def page_of(user):
    return reverse("accounts:user", args=[user.pk])


def names_on(answer):
    return shown(answer).table().column("Name")


def fresh(user):
    return User.objects.get(pk=user.pk)


def test_creating_a_user_leads_to_their_page(admin, adam):
    response = admin.post(USERS, {"username": "nadia", "roles": ["rater", "researcher"]})

    nadia = User.objects.get(username="nadia")
    assert response.url == page_of(nadia)
    assert roles_of(nadia) == {Role.RATER, Role.RESEARCHER}
    assert not nadia.has_usable_password()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.subject) == (adam, "user.created", "nadia")
    assert entry.details == {"roles": "rater, researcher"}


@pytest.mark.parametrize(
    ("posted", "field", "error"),
    [
        ({"username": ""}, "username", "required"),
        ({"username": "two words"}, "username", "valid username"),
        ({"username": "RACHEL"}, "username", "already a user named RACHEL"),
        ({"username": "nadia", "roles": ["king"]}, "roles", "king is not one of"),
    ],
)
def test_a_user_that_cannot_be_is_not_created(admin, rachel, posted, field, error):
    response = admin.post(USERS, posted)

    assert response.status_code == 422
    assert error in shown(response).errors[field]
    assert User.objects.count() == 2  # rachel and adam


def test_of_two_admins_who_create_the_same_user_one_is_told(adam):
    create_user("nadia", [Role.RATER], adam)

    with pytest.raises(AccountError, match="already a user named nadia"):
        create_user("nadia", [Role.ADMIN], adam)

    assert roles_of(User.objects.get(username="nadia")) == {Role.RATER}
    assert AuditEntry.objects.count() == 1


def test_users_are_listed_in_pages_with_a_fixed_number_of_queries(
    admin, adam, django_assert_num_queries
):
    for n in range(30):
        create_user(f"rater-{n:02}", [Role.RATER], adam)

    with django_assert_num_queries(5):  # user, its roles; count, users, their roles
        first = shown(admin.get(USERS))

    assert "1 to 25 of 31" in first.text
    assert first.table().column("Name") == ["adam", *(f"rater-{n:02}" for n in range(24))]
    assert names_on(admin.get(USERS, {"page": "2"})) == [f"rater-{n}" for n in range(24, 30)]


def test_search_finds_names_and_rater_codes_and_paging_keeps_it(admin, adam, rachel):
    for n in range(30):
        create_user(f"rater-{n:02}", [Role.RATER], adam)

    assert names_on(admin.get(USERS, {"q": "ACHE"})) == ["rachel"]
    assert names_on(admin.get(USERS, {"q": rachel.rater_code.lower()})) == ["rachel"]
    assert "?q=rater-&page=2" in shown(admin.get(USERS, {"q": "rater-"})).addresses
    [message] = shown(admin.get(USERS, {"q": "nobody"})).messages
    assert "No user" in message


def test_search_by_htmx_gets_the_list_alone(admin, rachel):
    response = admin.get(USERS, {"q": "rachel"}, headers=HTMX)

    assert shown(response).part("user-list").table().column("Name") == ["rachel"]
    assert "<html" not in response.text
    assert "HX-Request" in response["Vary"]


@pytest.mark.parametrize("query", [{"page": "x"}, {"page": "9" * 40}])
def test_a_nonsense_query_is_a_list_of_users(admin, query):
    assert names_on(admin.get(USERS, query)) == ["adam"]


def test_roles_change_at_once_and_in_the_audit_trail(admin, rachel):
    response = admin.post(page_of(rachel), {"roles": ["researcher"]})

    assert response.url == page_of(rachel)
    assert roles_of(fresh(rachel)) == {Role.RESEARCHER}
    entry = AuditEntry.objects.get()
    assert entry.action == "user.roles_changed"
    assert entry.details == {"before": "rater", "after": "researcher"}


def test_saving_the_same_roles_writes_nothing(rachel, adam):
    set_roles(rachel, [Role.RATER], adam)

    assert not AuditEntry.objects.exists()


def test_an_admin_cannot_stop_being_one_alone(admin, adam):
    response = admin.post(page_of(adam), {"roles": ["rater"]})

    assert response.status_code == 422
    assert "Only another admin" in shown(response).errors["roles"]
    assert Role.ADMIN in roles_of(fresh(adam))


def test_an_admin_cannot_deactivate_themselves(admin, adam):
    response = admin.post(reverse("accounts:deactivate-user", args=[adam.pk]), follow=True)

    [message] = shown(response).messages
    assert "Only another admin" in message
    assert fresh(adam).is_active


def test_deactivating_and_reactivating_twice_leaves_one_line_each(admin, rachel):
    for name in ("deactivate-user", "reactivate-user"):
        url = reverse(f"accounts:{name}", args=[rachel.pk])
        for _ in range(2):
            assert admin.post(url).url == page_of(rachel)

    assert fresh(rachel).is_active
    actions = [entry.action for entry in AuditEntry.objects.all()]
    assert actions == ["user.reactivated", "user.deactivated"]


def test_a_deactivated_user_is_offered_no_link(admin, rachel, adam):
    deactivate(rachel, adam)

    page = shown(admin.get(page_of(rachel)))
    refused = admin.post(reverse("accounts:create-sign-in-link", args=[rachel.pk]), follow=True)

    assert "Reactivate rachel" in page.buttons
    assert not any("link" in button for button in page.buttons)
    [message] = shown(refused).messages
    assert "rachel is deactivated" in message


@pytest.mark.parametrize(
    "name", ["user", "deactivate-user", "reactivate-user", "create-sign-in-link"]
)
def test_nobody_is_found_under_an_unknown_number(admin, name):
    assert admin.post(reverse(f"accounts:{name}", args=[12345])).status_code == 404


@pytest.mark.parametrize("name", ["deactivate-user", "reactivate-user", "create-sign-in-link"])
def test_changes_are_posts(admin, rachel, name):
    assert admin.get(reverse(f"accounts:{name}", args=[rachel.pk])).status_code == 405


@pytest.mark.parametrize(
    "name", ["user", "deactivate-user", "reactivate-user", "create-sign-in-link"]
)
def test_only_admins_change_accounts(rachel, rosa, client_for, name):
    url = reverse(f"accounts:{name}", args=[rachel.pk])

    for user in (rachel, rosa):
        assert client_for(user).post(url, {"roles": ["admin"]}).status_code == 403
    assert roles_of(fresh(rachel)) == {Role.RATER}
    assert fresh(rachel).is_active
