"""Raters work blind: no answer that the site gives them shows what they must not know.

Hidden are scores, setups, other raters and their votes, known answers, and how people are paid.
`tests.annotation.blind.planted` makes studies in which each of them has an unmistakable name.
"""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation.models import Study, Unit
from annotation.schemes import load_scheme
from tests.annotation.blind.addresses import UnknownArgumentError, routes
from tests.annotation.blind.hidden_material import hidden
from tests.annotation.blind.planted import IDS, Planted, Viewer, plant
from tests.annotation.blind.unseen_changes import CHANGES, right_answers_are_others
from tests.annotation.blind.walk import WITHOUT_ROWS, Walk, all_routes, arguments_of
from tests.annotation.makers import yes_where_possible
from tests.conftest import session_of
from tests.shown import shown

pytestmark = pytest.mark.walk
EVERYBODY_REACHES = {"annotation:my-studies", "annotation:guidelines"}
REACHED = {
    "rachel": {"annotation:rate-unit", "annotation:my-answers", "docs", "docs-page"},
    "rebecca": {"annotation:guideline-changes"},
    "kim": {
        "annotation:rate-unit",
        "annotation:my-answers",
        "annotation:qualification-item",
        "annotation:end-of-round",
    },
    "lee": {"annotation:qualification", "annotation:qualification-item"},
    "mia": {"annotation:end-of-round", "annotation:end-of-visit"},
}
STATES = {
    "open": 'popovertarget="skip"',
    "submitted": "You have submitted this unit.",
    "surplus": "Kept, but not counted.",
    "gone": "This unit went to another rater.</strong> Your draft is kept.",
    "skipped": "You skipped this unit.",
    "closed": "This unit is not needed any more.",
    "flagged": "The river is missing",
    "asked about": "You asked:",
}


@pytest.fixture(scope="module", autouse=True)
def silence() -> Iterator[None]:
    """Log nothing, because each refusal would be logged with all that led to it."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def planted(module_database: None, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return plant(tmp_path_factory.mktemp("planted"))


def walk_of(viewer: Viewer) -> Walk:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session_of(viewer.user)
    return Walk(client, viewer)


@pytest.fixture(scope="module")
def walks(planted: Planted) -> dict[str, Walk]:
    """Let each viewer request every address of the site, and follow the links there.

    All have the same role. So the others leave out what refuses the role of Rachel, the first, and
    the documents, which are the same for everybody.
    """
    every = all_routes(planted)
    walks: dict[str, Walk] = {}
    for name, viewer in planted.viewers.items():
        walks[name] = walk_of(viewer)
        walks[name].try_every(every)
        walks[name].follow_links()
        refusing = walks["rachel"].refusing
        every = [r for r in every if r.path not in refusing and not r.path.startswith("docs/")]
    return walks


def test_no_page_that_raters_reach_shows_what_is_hidden(walks, db):
    assert [leak for walk in walks.values() for leak in walk.leaks] == []


def test_where_no_row_is_planted_raters_are_refused(walks, db):
    """This finds pages that would show something if there were rows."""
    assert [each for walk in walks.values() for each in walk.not_refused] == []


@pytest.mark.parametrize("name", REACHED)
def test_the_walk_reaches_the_pages_of_raters(walks, db, name):
    assert (EVERYBODY_REACHES | REACHED[name]) - walks[name].reached == set()


def test_the_walk_meets_units_in_every_state_and_of_both_arms(planted, walks, db):
    units = [
        seen.text
        for seen in walks["rachel"].seen
        if seen.name == "annotation:rate-unit" and seen.status == 200
    ]
    texts = [" ".join(text.split()) for text in units]
    addresses = {seen.address for seen in walks["rachel"].seen if seen.status == 200}

    assert {state for state, said in STATES.items() if not any(said in t for t in texts)} == set()
    of_mill = Unit.objects.filter(arm__study=planted.mill)
    for some in ({"is_gold": True}, {"arm__kind": "merged"}, {"arm__kind": "separate"}):
        urls = {unit_url(planted.mill, unit.pk) for unit in of_mill.filter(**some)}
        assert urls & addresses, some


def test_an_address_with_an_unknown_argument_is_a_failure(planted, db):
    known = [dict(each) for each in arguments_of(planted)]
    for each in known:
        del each["unit_id"]

    with pytest.raises(UnknownArgumentError, match="argument without values: unit_id"):
        list(routes(known, WITHOUT_ROWS))


# --- what stays the same ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(walks: dict[str, Walk]) -> dict[str, dict[str, str]]:
    return {name: walk.pages() for name, walk in walks.items()}


def test_a_page_is_the_same_whatever_is_hidden(walks, pages, db):
    """A page without a hidden word may still depend on hidden rows, in its order or its marks.

    All changes are made at once, which saves time. If this fails, make them one by one.
    """
    for change in CHANGES:
        change()

    for name, walk in walks.items():
        assert differing(walk.pages(), pages[name]) == [], name


def test_an_item_of_the_round_is_the_same_whatever_is_right(walks, pages, db):
    """Lee has not answered the second item, so nothing depends on its right answers yet."""
    right_answers_are_others()

    assert differing(walks["lee"].pages(), pages["lee"]) == []


def differing(now: dict[str, str], before: dict[str, str]) -> list[str]:
    assert now.keys() == before.keys()
    return [address for address in now if now[address] != before[address]]


# --- what is sent -----------------------------------------------------------------------------


def unit_url(study: Study, unit_id: int) -> str:
    return reverse("annotation:rate-unit", args=[study.slug, unit_id])


def form_of(study: Study, n: int = 1) -> dict[str, int]:
    """Return a complete form of n responses; all answers are in their favour."""
    right = yes_where_possible(load_scheme(study.scheme))
    return {f"{key}-{place}": right[key] for key in right for place in range(1, n + 1)}


def rate_everything(walk: Walk, study: Study) -> tuple[int, str]:
    """Take each unit and send all that can be sent, also forms that are refused.

    Return how many units there were, and the address to which the last answer leads.
    """
    n_rated, answer = 0, walk.ask(reverse("annotation:next-unit", args=[study.slug]), {})
    while "/units/" in answer.get("Location", ""):
        url = answer["Location"].partition("?")[0]
        n_responses = Unit.objects.get(pk=url.split("/")[-2]).targets.count()
        form = form_of(study, n_responses)
        statuses = [
            walk.ask(answer["Location"]).status_code,
            walk.ask(f"{url}draft/", form, accept="application/json").status_code,
            walk.ask(url, {}).status_code,
            walk.ask(f"{url}skip/", {}).status_code,
            walk.ask(f"{url}flag/", {}).status_code,
            walk.ask(f"{url}flag/", {"reason": "Something else", "responses": [1]}).status_code,
            walk.ask(f"{url}ask/", {"text": f"What is {url}?"}).status_code,
            walk.ask(f"{url}ask/", {"text": "And what else?"}).status_code,
            walk.ask(url).status_code,
            walk.ask(f"{url}flag/", {"take_back": "1"}).status_code,
        ]
        assert statuses == [200, 200, 422, 422, 422, 302, 302, 422, 200, 302]
        n_rated += 1
        if n_rated % 3 == 2:
            answer = walk.ask(f"{url}skip/", {"reason": "Another reason"})
        else:
            answer = walk.ask(url, form)
        assert walk.ask(url).status_code == 200
    return n_rated, answer["Location"]


def test_who_joins_reads_nothing_hidden_from_consent_to_the_last_unit(planted, db):
    study, client = planted.mill, Client()
    url = reverse("join", args=[study.link.token]) + f"?{IDS[0]}=joe&{IDS[1]}=s&{IDS[2]}=v"
    stranger = Walk(client)
    key = shown(stranger.ask(url)).fields["key"]
    stranger.ask(url, {"key": ""})
    stranger.ask(url.replace("joe", hidden("person-of-kim")))
    joined = stranger.ask(url, {"key": key})
    joe = study.raters.select_related("user").get(participant__person="joe").user
    walk = Walk(client, Viewer(joe))
    qualify(walk, study)

    n_rated, end = rate_everything(walk, study)

    assert shown(joined).headings[0] == "You take part in The mill"
    assert n_rated == 8  # 6 separate ones, of which one is gold, and 2 merged ones
    walk.may_see.add(hidden("code-done"))
    assert end == reverse("annotation:end-of-visit", args=[study.slug])
    assert walk.ask(end).status_code == 200
    assert stranger.leaks + walk.leaks == []


def qualify(walk: Walk, study: Study) -> None:
    """Answer all items of the qualification round; each explains itself afterwards."""
    url = reverse("annotation:qualification", args=[study.slug])
    for place in (1, 2):
        assert walk.ask(url).status_code == 200
        of_item = f"{url}?item={study.qualification_items.get(place=place).pk}"
        assert walk.ask(of_item, {}).status_code == 422
        answered: Any = walk.ask(of_item, form_of(study))
        walk.may_see.add(hidden(f"explanation-{place}"))
        assert walk.ask(answered["Location"]).status_code == 200
    assert walk.ask(reverse("annotation:end-of-round", args=[study.slug])).status_code == 200


@pytest.mark.parametrize("place", [0, 1], ids=["in turn", "citations"])
def test_a_rater_reads_nothing_hidden_in_answers_to_what_they_send(planted, db, place):
    walk = walk_of(planted.viewers["rachel"])

    n_rated, end = rate_everything(walk, planted.others[place])

    assert n_rated
    assert walk.ask(end).status_code == 200
    assert walk.leaks == []
