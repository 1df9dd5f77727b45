"""People whom a crowd platform sends: consent, their ids, the end of their visit, coming back."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEntry, User
from accounts.services import set_password
from annotation.arrivals import Arrival
from annotation.forms.platform import CrowdPlatformForm
from annotation.models import Participant, Rater
from annotation.services.claiming import claim_next_unit
from annotation.services.joining import (
    Newcomer,
    end_idle_visits,
    end_visit,
    join_study,
    remove_platform,
    write_platform,
)
from annotation.services.studies import StudyError, pause_study
from tests.annotation.joining.test_study_link import address, code_boxes, link_of
from tests.annotation.makers import (
    material,
    opened,
    rate_next,
    rater_users,
    researcher,
)
from tests.shown import shown

pytestmark = pytest.mark.once
SETTINGS = {
    "consent": "Do you agree?",
    "code_done": "DONE1234",
    "code_screened_out": "OUT12345",
    "code_no_work": "NONE1234",
    "code_returned": "BACK1234",
    "end_address": "https://platform.test/end?cc={code}",
    "idle_minutes": 60,
    "is_prolific": "on",
    "person_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID",
    "session_parameter": "SESSION_ID",
}
KIM = {"PROLIFIC_PID": "kim-5f3c", "STUDY_ID": "s1", "SESSION_ID": "kim-visit"}


def platform_of(study, **limits):
    form = CrowdPlatformForm(link_of(study, **limits), None, SETTINGS)
    assert form.is_valid(), form.errors
    platform = form.save(commit=False)
    write_platform(platform, researcher())
    return platform


@pytest.fixture
def study(db, tmp_path):
    return opened(material(tmp_path), scheme="SSA", raters=0)


@pytest.fixture
def platform(study):
    return platform_of(study)


def arrive(platform, client=None, ids=None, **said):
    """Open the link with ids in the address, and send the form with its key."""
    client = client or Client()
    url = address(platform.link)
    page = client.get(url, ids or KIM)
    key = shown(page).fields["key"]
    return client.post(f"{url}?{page.request['QUERY_STRING']}", {"key": key} | said)


def come(platform, person="kim-5f3c", session="kim-visit"):
    """Return the participant whom a platform sends with this id."""
    arrival = Arrival(person, "s1", session)
    return Participant.objects.get(
        rater=join_study(platform.link, uuid4(), Newcomer(arrival=arrival)).rater
    )


def test_nothing_is_stored_before_consent(platform):
    before = User.objects.count()
    client = Client()

    page = client.get(address(platform.link), KIM)
    refused = arrive(platform, answer="no")

    assert "Do you agree?" in shown(page).text
    assert code_boxes(refused) == ["BACK1234"]
    assert (User.objects.count(), Rater.objects.count()) == (before, 0)
    assert "sessionid" not in client.cookies


def test_consent_makes_a_rater_with_their_ids(platform):
    answer = arrive(platform)

    participant = Participant.objects.get()
    assert answer.status_code == 200
    assert (participant.person, participant.platform_study, participant.session) == (
        "kim-5f3c",
        "s1",
        "kim-visit",
    )
    assert participant.rater.user is not None
    assert not participant.rater.user.has_usable_password()


@pytest.mark.parametrize(
    "ids",
    [
        {"PID": "kim"},
        {"PROLIFIC_PID": ""},
        {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"},
        {"PROLIFIC_PID": "k" * 201},
    ],
    ids=["another name", "empty", "a placeholder", "too long"],
)
def test_an_address_without_an_id_says_what_is_missing(platform, ids):
    answer = Client().get(address(platform.link), ids)

    assert answer.status_code == 400
    assert "PROLIFIC_PID in the address: found" in answer.content.decode()


def test_the_ids_leave_the_address_after_consent_and_stand_in_no_page(platform):
    client = Client()
    answer = arrive(platform, client)
    pages = [answer, client.get(reverse("annotation:my-studies"))]

    assert all("kim-5f3c" not in page.content.decode() for page in pages)
    assert not AuditEntry.objects.filter(details__icontains="kim-5f3c").exists()


# --- coming back ----------------------------------------------------------------------------


def test_a_browser_that_is_signed_in_goes_on(platform):
    client = Client()
    arrive(platform, client)

    again = client.get(address(platform.link), KIM)

    assert again["Location"] == reverse("annotation:my-studies")


def test_an_id_alone_lets_nobody_in(platform):
    arrive(platform)
    thief = Client()

    page = thief.get(address(platform.link), KIM)
    posted = thief.post(f"{address(platform.link)}?PROLIFIC_PID=kim-5f3c", {"key": uuid4()})

    assert shown(page).headings[0] == shown(posted).headings[0] == "You were here before"
    assert "_auth_user_id" not in thief.session
    assert Rater.objects.count() == 1


def test_an_account_with_a_password_is_not_found_by_an_id(platform):
    participant = come(platform)
    set_password(participant.rater.user, "a-long-pass-phrase-9")

    with pytest.raises(StudyError, match="has joined already"):
        join_study(platform.link, uuid4(), Newcomer(arrival=Arrival("kim-5f3c", "s1", "other")))


def test_another_person_on_the_same_browser_is_not_taken_for_the_first(platform):
    client = Client()
    arrive(platform, client)

    other = client.get(address(platform.link), KIM | {"PROLIFIC_PID": "lee"})

    assert other.status_code == 409
    assert "Another person is signed in" in other.content.decode()


def test_a_rater_with_an_account_comes_from_the_platform_after_signing_in(platform, client_for):
    [user] = rater_users(1)

    arrive(platform, client_for(user))

    assert Participant.objects.get().rater.user == user


# --- the end of a visit ---------------------------------------------------------------------


def finish(platform, client):
    study = platform.link.study
    return client.post(reverse("annotation:next-unit", args=[study.slug]), follow=True)


def test_who_has_rated_everything_gets_the_code_for_finished(platform):
    client = Client()
    arrive(platform, client)
    rater = Rater.objects.select_related("study").get()
    while rate_next(rater):
        pass

    end = finish(platform, client)

    assert code_boxes(end) == ["DONE1234"]
    assert shown(end).links["Back to the platform"] == "https://platform.test/end?cc=DONE1234"
    assert Participant.objects.get().outcome == "done"
    rater.refresh_from_db()
    assert not rater.gets_units
    assert rater.taken_out_at is None  # they keep their place


def test_who_found_nothing_to_rate_gets_another_code(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), scheme="SSA", raters=5)
    for rater in study.raters.select_related("study"):
        rate_next(rater)
    platform = platform_of(study, most_per_group=6)
    client = Client()
    arrive(platform, client)

    assert code_boxes(finish(platform, client)) == ["NONE1234"]
    assert Participant.objects.get().outcome == "no_work"


def test_who_gives_the_place_back_is_not_counted_and_makes_room(study):
    platform = platform_of(study, most_per_group=1)
    client = Client()
    arrive(platform, client)
    rater = Rater.objects.select_related("study").get()
    rate_next(rater)

    end = client.post(reverse("annotation:give-place-back", args=[study.slug]), follow=True)

    assert code_boxes(end) == ["BACK1234"]
    rater.refresh_from_db()
    assert rater.is_excluded
    assert rater.votes.exists()  # kept, and left out of figures
    assert come(platform, "lee").rater.group == rater.group


def test_a_paused_study_ends_no_visit(platform):
    client = Client()
    arrive(platform, client)
    pause_study(platform.link.study, None)

    finish(platform, client)

    assert Participant.objects.get().outcome == ""


def test_a_person_who_does_nothing_for_too_long_loses_the_place(study):
    platform = platform_of(study, most_per_group=1)
    gone = come(platform)
    with pytest.raises(StudyError, match="All places"):
        come(platform, "lee")
    Participant.objects.update(consented_at=timezone.now() - timedelta(minutes=61))

    came = come(platform, "lee")

    gone.refresh_from_db()
    assert (gone.outcome, came.rater.group) == ("timed_out", gone.rater.group)
    assert not gone.rater.is_excluded  # what they answered counts


def test_a_person_at_work_keeps_the_place(platform):
    participant = come(platform)
    claim_next_unit(participant.rater)
    Participant.objects.update(consented_at=timezone.now() - timedelta(minutes=61))

    assert end_idle_visits(platform) == 0


def test_a_visit_ends_once(platform):
    participant = come(platform)

    first = end_visit(participant, Participant.Outcome.TIMED_OUT)
    second = end_visit(participant, Participant.Outcome.RETURNED)

    participant.refresh_from_db()
    assert (first, second, participant.outcome) == (True, False, "timed_out")


# --- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"code_no_work": "DONE1234"}, "code_no_work", "Found DONE1234 twice"),
        ({"end_address": "javascript:alert(1)//{code}"}, "end_address", "begins with https://"),
        ({"end_address": "https://platform.test/end"}, "end_address", "{code} in it"),
        ({"study_parameter": "PROLIFIC_PID"}, "session_parameter", "three different"),
        ({"consent": " "}, "consent", "required"),
        ({"idle_minutes": 0}, "idle_minutes", "greater than or equal to 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(study, wrong, field, said):
    form = CrowdPlatformForm(link_of(study), None, SETTINGS | wrong)

    assert not form.is_valid()
    assert said in form.errors[field][0]


def test_the_page_shows_what_to_type_on_the_platform(platform, client_for, rosa):
    page = client_for(rosa).get(
        reverse("annotation:study-platform", args=[platform.link.study.slug])
    )

    [typed] = code_boxes(page)
    assert typed.endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert shown(page).tables[0].column("Code") == ["DONE1234", "OUT12345", "NONE1234", "BACK1234"]


def test_a_platform_by_which_people_came_is_not_removed(platform):
    come(platform)

    with pytest.raises(StudyError, match="can no longer be removed"):
        remove_platform(platform, None)
