"""The page of payments: who waits beside what they did; and what is never shown."""

from datetime import timedelta
from functools import partial

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    CrowdPlatform,
    Flag,
    Participant,
    QualificationItem,
    Rater,
    Vote,
)
from annotation.services.joining import GAVE_BACK
from annotation.services.qualification import ItemToStore, answer_item, set_qualification
from annotation.tasks import follow_visits
from generation.models import Response
from tests.annotation.makers import n_statements, rate_next, researcher
from tests.annotation.payments.conftest import comes, finished
from tests.prolific_server import TOKEN, Fault
from tests.shown import shown

pytestmark = pytest.mark.once
DONE, RETURNED = Participant.Outcome.DONE, Participant.Outcome.RETURNED

# --- what the page shows --------------------------------------------------------------------


def test_a_person_is_shown_beside_what_they_did(platform, page):
    person = comes(platform)
    for _ in range(3):
        rate_next(person.rater, {"sensible": 1, "specific": 1})
    targets = sorted(set(Vote.objects.values_list("target", flat=True)))
    for target, seconds in zip(targets, (2.0, 4.0, 30.0), strict=True):
        Vote.objects.filter(target=target).update(seconds=seconds)
    arm = platform.link.study.arms.get()
    Flag.objects.create(arm=arm, response=Response.objects.all()[0], rater=person.rater)
    start = timezone.now() - timedelta(minutes=12, seconds=30)
    Participant.objects.update(outcome="done", consented_at=start, ended_at=timezone.now())

    row = page().table("People").row("")

    assert row["Rater"] == person.rater.code
    assert (row["Visit"], row["Units"], row["Flags"], row["Votes"]) == (
        "finished not confirmed",  # no server of Prolific's was there to ask
        "3",
        "1",
        "count",
    )
    assert row["Seconds"] == "4"  # the median of 2, 4 and 30, not of the six votes
    assert row["Minutes"] == "12.5"
    assert row["Gold"] == row["Qualified"] == "—"


def test_the_score_of_the_qualification_round_is_shown(study, platform, page):
    extra = study.dataset.setups.get(name="warm")
    study.arms.first().units.filter(targets__response__setup=extra).delete()
    keys = list(Response.objects.filter(setup=extra).values_list("key", flat=True))
    items = {key: ItemToStore({"sensible": 1, "specific": 1}) for key in keys}
    set_qualification(study, items, 0.5, researcher())
    person = comes(platform)
    one, two = QualificationItem.objects.order_by("place")
    answer_item(person.rater, one, {"sensible": 1, "specific": 1})  # 2 of 2
    answer_item(person.rater, two, {"sensible": 1, "specific": 0})  # 1 of 2

    assert page("?show=all").table("People").column("Qualified") == ["75 %"]


def test_why_a_person_is_excluded_is_shown(platform, page):
    finished(platform, outcome=RETURNED)

    [votes] = page("?show=all").table("People").column("Votes")

    assert votes == f"excluded {GAVE_BACK}"


def test_no_id_of_the_platform_and_no_token_stands_on_a_page(prolific, platform, page, post):
    person = finished(platform, "kim", prolific)
    comes(platform, "lee", prolific)
    prolific.is_down = Fault(400, body=b'{"error": {"title": "kim-visit", "detail": "kim-visit"}}')
    pages = [page().text, page("?show=all").text]
    pages += [post("approve-submissions", one=person.rater_id).content.decode()]
    pages += [post("reject-submission", person.rater_id).content.decode()]

    for text in pages:
        assert person.rater.code in text or "lee" not in text
        assert not any(word in text for word in ("kim-id", "kim-visit", "lee-id", TOKEN))


@pytest.mark.parametrize(
    ("outcome", "submission", "waits"),
    [
        ("done", "", True),
        ("screened_out", "", True),
        ("no_work", "", True),
        ("returned", "", False),
        ("timed_out", "", False),
        ("", "", False),
        ("", "ACTIVE", False),
        ("done", "ACTIVE", False),
        ("", "AWAITING REVIEW", True),  # they sent a code, and are not finished here
        ("done", "AWAITING REVIEW", True),
        ("timed_out", "AWAITING REVIEW", True),
        ("done", "TIMED-OUT", True),  # they finished, and did not go back in time
        ("timed_out", "TIMED-OUT", False),
        ("done", "APPROVED", False),
        ("done", "RETURNED", False),
        ("done", "REJECTED", False),
        ("screened_out", "SCREENED OUT", False),
    ],
)
def test_who_waits(platform, page, outcome, submission, waits):
    comes(platform)
    ended_at = timezone.now() if outcome else None
    Participant.objects.update(outcome=outcome, ended_at=ended_at, submission=submission)

    assert bool(page().tables) is waits
    assert len(page("?show=all").table("People").rows) == 1


def test_without_people_the_page_says_so(platform, page):
    assert page().headings[-1] == "Nobody has come yet"

    comes(platform)

    assert page().headings[-1] == "Nobody waits"
    assert "at work" in page("?show=all").text


def test_boxes_are_ticked_on_a_click(platform, page):
    people = [finished(platform, name) for name in ("ann", "ben")]

    assert page().fields["rater"] == []
    ticked = page("?ticked=all").fields["rater"]

    assert ticked == [str(person.rater_id) for person in people]


@pytest.mark.parametrize(
    ("token", "is_prolific", "is_said"),
    [("", True, True), (TOKEN, True, False), ("", False, False)],
)
def test_the_page_says_if_there_is_no_token(platform, page, settings, token, is_prolific, is_said):
    settings.PROLIFIC_TOKEN = token
    CrowdPlatform.objects.update(is_prolific=is_prolific)

    assert ("no token" in page().messages[0]) is is_said


def test_the_page_says_since_when_prolific_is_silent(prolific, platform, page):
    comes(platform, "kim", prolific)
    prolific.is_down = Fault(502)
    follow_visits()

    [message] = [said for said in page().messages if "since" in said]

    assert "Prolific is out of order (502)." in message


def test_two_hundred_people_take_at_most_15_queries(platform, client_for, rosa):
    client = client_for(rosa)
    addresses = [
        reverse("annotation:payments", args=[platform.link.study.slug]) + query
        for query in ("", "?show=all")
    ]
    study = platform.link.study
    raters = Rater.objects.bulk_create(Rater(study=study, code=f"r{n}") for n in range(200))
    now = timezone.now()
    Participant.objects.bulk_create(
        Participant(
            rater=rater,
            platform=platform,
            person=rater.code,
            consented_at=now,
            outcome=DONE if place % 3 else RETURNED,
            ended_at=now,
        )
        for place, rater in enumerate(raters)
    )
    rate_next(comes(platform).rater)

    for address in addresses:
        assert n_statements(partial(client.get, address)) <= 15
    assert len(shown(client.get(addresses[1])).table("People").rows) == 100
