"""Each way of being signed in, tried after each event: the table of docs/security.md."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import services
from accounts.access import Role, roles_of
from accounts.models import User
from annotation.models import Rater, Study, StudyLink
from annotation.services.joining import Newcomer, join_study, stop_link
from annotation.services.study_raters import take_out_rater
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.joining.test_study_link import address, code_boxes, join, link_of
from tests.annotation.makers import material, opened
from tests.conftest import person
from tests.prolific_server import TOKEN, prolific_server
from tests.shown import shown

pytestmark = pytest.mark.both

FOR_ALL = reverse("accounts:change-password")  # a page that everybody may open who is signed in
OLD, NEW = "an old pass phrase 7", "a new pass phrase 8"


class Account(NamedTuple):
    """A person with one way in, and a function that tries it in a browser of its own."""

    user: User
    gets_in: Callable[[], bool]


def let_in(client: Client) -> bool:
    return client.get(FOR_ALL).status_code == 200


# --- the ways -------------------------------------------------------------------------------


def by_session(study):
    client = Client()
    join(study.link, client)
    return Account(newest(study), lambda: let_in(client))


def by_password(study):
    user = member(study)
    user.set_password(OLD)
    user.save()

    def gets_in():
        client = Client()
        client.post(reverse("accounts:sign-in"), {"username": user.username, "password": OLD})
        return let_in(client)

    return Account(user, gets_in)


def by_one_time_link(study):
    user = member(study)
    token = services.create_sign_in_link(user, None)

    def gets_in():
        client = Client()
        client.post(reverse("accounts:sign-in-link", args=[token]))
        return let_in(client)

    return Account(user, gets_in)


def by_join_key(study):
    client = Client()
    key = shown(client.get(address(study.link))).fields["key"]
    client.post(address(study.link), {"key": key})

    def gets_in():
        del client.cookies[settings.SESSION_COOKIE_NAME]
        client.post(address(study.link), {"key": key})
        return settings.SESSION_COOKIE_NAME in client.cookies and let_in(client)

    return Account(newest(study), gets_in)


def by_return_code(study):
    [code] = code_boxes(join(study.link))

    def gets_in():
        client = Client()
        client.post(reverse("accounts:return"), {"code": code})
        return let_in(client)

    return Account(newest(study), gets_in)


def by_token(study):
    user = member(study, Role.RESEARCHER)
    token = services.create_api_token(user, "notebook")

    def gets_in():
        answer = Client().get("/api/v1/studies/", headers={"Authorization": f"Bearer {token}"})
        return answer.status_code == 200

    return Account(user, gets_in)


def by_visit(prolific, study):
    ids = {"PROLIFIC_PID": uuid4().hex, "STUDY_ID": "s1", "SESSION_ID": uuid4().hex}
    prolific.put(ids["SESSION_ID"], ids["PROLIFIC_PID"], ids["STUDY_ID"], "ACTIVE")
    client = Client()
    url = address(study.link)
    page = client.get(url, ids)
    query = page.request["QUERY_STRING"]
    client.post(f"{url}?{query}", {"key": shown(page).fields["key"]})

    def gets_in():
        again = Client()
        again.get(url, ids)
        return let_in(again)

    return Account(newest(study), gets_in)


def newest(study: Study) -> User:
    rater = study.raters.select_related("user").order_by("-pk")[0]
    assert rater.user is not None
    return rater.user


def member(study: Study, *roles: Role) -> User:
    """Return a user with an account of their own, who has joined the study under it."""
    user = person(f"user-{uuid4().hex[:8]}", Role.RATER, *roles)
    join_study(study.link, uuid4(), Newcomer(user))
    return user


WAYS: Mapping[str, Callable[[Study], Account]] = {
    "session": by_session,
    "password": by_password,
    "one-time link": by_one_time_link,
    "join key": by_join_key,
    "return code": by_return_code,
    "API token": by_token,
}


# --- the events -----------------------------------------------------------------------------


def raise_role(user, study):
    above = Role.ADMIN if Role.RESEARCHER in roles_of(user) else Role.RESEARCHER
    services.set_roles(user, [*roles_of(user), above], None)


def lower_role(user, study):
    services.set_roles(user, roles_of(user) - {max(roles_of(user), key=list(Role).index)}, None)


def activate_again(user, study):
    services.deactivate(user, None)
    services.reactivate(user, None)


def take_out(user, study):
    take_out_rater(Rater.objects.select_related("study").get(user=user, study=study), None)


def stop(user, study):
    stop_link(study.link, True, None)


def end_last_day(user, study):
    yesterday = timezone.now().date() - timedelta(days=1)
    StudyLink.objects.filter(study=study).update(ends_on=yesterday)


EVENTS: Mapping[str, Callable[[User, Study], object]] = {
    "nothing": lambda user, study: None,
    "password set or changed": lambda user, study: services.set_password(user, NEW),
    "role raised": raise_role,
    "role lowered": lower_role,
    "deactivated": lambda user, study: services.deactivate(user, None),
    "activated again": activate_again,
    "taken out of the study": take_out,
    "study link stopped": stop,
    "link's last day over": end_last_day,
    "signed out everywhere": lambda user, study: services.sign_out_everywhere(user, None),
    "token ended": lambda user, study: services.revoke_api_tokens(user),
}


def table_of_docs() -> dict[tuple[str, str], str]:
    """Return each cell of the table by its event and way."""
    page = (Path(__file__).parents[3] / "docs/security.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in rows if len(row) == len(head)]
    return {
        (row[0], way): cell for row in rows for way, cell in zip(head[1:], row[1:], strict=True)
    }


@pytest.fixture
def prolific(settings):
    with prolific_server() as server:
        settings.PROLIFIC_API, settings.PROLIFIC_TOKEN = server.url, TOKEN
        yield server


def test_each_way_in_works_or_ends_as_the_table_says(db, tmp_path, prolific):
    cells = table_of_docs()
    dataset = material(tmp_path)
    studies = {
        name: opened(dataset, scheme="SSA", raters=0, name=name) for name in ("link", "platform")
    }
    link_of(studies["link"], most_per_group=1000, most_per_hour=1000)
    platform_of(studies["platform"], most_per_group=1000, most_per_hour=1000)
    ways: dict[str, Callable[[Study], Account]] = {
        **WAYS,
        "platform visit": partial(by_visit, prolific),
    }
    found = {}

    for event, happens in EVENTS.items():
        for way, comes in ways.items():
            study = studies["platform" if way == "platform visit" else "link"]
            account = comes(study)
            happens(account.user, study)
            found[event, way] = account.gets_in()
            StudyLink.objects.update(stopped_at=None, ends_on=None)

    assert found == {cell: says == "works" for cell, says in cells.items()}
    assert set(cells.values()) == {"works", "shut", "ends"}
