"""Raters read what changed in the guidelines before their next unit."""

import pytest
from django.urls import reverse

from annotation.models import Assignment, Rater, Vote
from annotation.services.guideline_reading import note_reading
from annotation.services.studies import close_study, pause_study, write_guideline
from tests.annotation.makers import claimed, material, opened, raters_of, researcher
from tests.annotation.rating.desk import Desk, filled_in
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once


def page_of(study, name="guideline-changes"):
    return reverse(f"annotation:{name}", args=[study.slug])


def write(study, text):
    return write_guideline(study, text, researcher())


def begin(study, client_for, number=0):
    """Give a rater their first unit by the button of 'My studies'."""
    rater = raters_of(study)[number]
    client = client_for(rater.user)
    client.post(page_of(study, "next-unit"))
    return Desk(rater, client, Assignment.objects.get(rater=rater))


@pytest.fixture
def begun(study, client_for):
    return begin(study, client_for)


def version_read(rater):
    read = Rater.objects.get(pk=rater.pk).read_guideline
    return read and read.version


# --- when they are led there ----------------------------------------------------------------


def test_the_first_unit_comes_at_once_and_its_rater_begins_with_the_version_in_force(
    study, client_for
):
    write(study, "Second.")

    desk = begin(study, client_for)

    assert desk.get().status_code == 200
    assert version_read(desk.rater) == 2


def test_a_unit_in_hand_is_shown_after_the_changes_were_read(begun, study):
    write(study, "Read, then judge.\nDates count.")

    answer = begun.get()
    page = shown(begun.client.get(answer.url))
    went_on = begun.client.post(answer.url, {"version": "2"})

    assert answer.url == page_of(study)
    assert page.headings == ["The guidelines changed", "Version 2"]
    assert "added Dates count." in page.text
    assert "since version 1" in page.text
    assert page.links["Read the whole guidelines"] == page_of(study, "guidelines")
    assert page.fields["version"] == "2"
    assert went_on.url == begun.url()
    assert begun.get().status_code == 200


def test_what_is_in_hand_can_be_submitted_and_its_votes_have_the_version_in_force(begun, study):
    write(study, "Second.")

    answer = begun.post(filled_in())

    assert set(Vote.objects.values_list("guideline__version", flat=True)) == {2}
    following = begun.client.get(answer.url)
    assert following.url == page_of(study)  # the next unit waits until the changes are read
    assert version_read(begun.rater) == 1


def test_a_form_with_a_hole_is_shown_again_with_its_answers(begun, study):
    write(study, "Second.")
    data = filled_in()
    del data["consistent-1"]

    answer = begun.post(data)

    assert answer.status_code == 422
    assert shown(answer).fields["relevant-1"] == "1"


def test_a_draft_waits_behind_the_changes(begun, study):
    begun.post({"understand-1": "1"}, "save-draft", Accept="application/json")
    write(study, "Second.")

    went_on = begun.client.post(page_of(study), {"version": "2"}, follow=True)

    assert shown(went_on).fields["understand-1"] == "1"


def test_a_submitted_unit_is_shown_at_once(begun, study):
    begun.post(filled_in())
    write(study, "Second.")

    assert begun.get("?from_answers=1").status_code == 200


def test_in_a_closed_study_nothing_has_to_be_read(begun, study):
    write(study, "Second.")
    close_study(study, researcher())

    assert begun.get().status_code == 200


def test_in_a_paused_study_the_unit_in_hand_comes_after_the_changes(begun, study):
    write(study, "Second.")
    pause_study(study, researcher())

    answer = begun.client.post(begun.get().url, {"version": "2"})

    assert answer.url == begun.url()


def test_my_studies_say_that_the_guidelines_changed(begun, study):
    mine = reverse("annotation:my-studies")
    assert "changed since you read them" not in shown(begun.client.get(mine)).text

    write(study, "Second.")

    assert "changed since you read them" in shown(begun.client.get(mine)).text


# --- which version was read -----------------------------------------------------------------


def test_changes_are_those_since_the_version_that_was_read(begun, study):
    write(study, "Read, then judge.\nDates count.")
    write(study, "Read, then judge.\nDates count.\nNames count.")

    page = shown(begun.client.get(page_of(study)))

    assert "added Dates count. added Names count." in page.text


def test_a_version_that_came_while_they_read_is_read_next(begun, study):
    write(study, "Second.")
    begun.get()
    write(study, "Third.")

    answer = begun.client.post(page_of(study), {"version": "2"}, follow=True)

    page = shown(answer)
    assert page.headings[0] == "The guidelines changed"
    assert "removed Second. added Third." in page.text


def test_an_older_version_never_replaces_a_newer_one(begun, study):
    second, third = write(study, "Second."), write(study, "Third.")

    note_reading(begun.rater, third)
    note_reading(begun.rater, second)
    begun.client.post(page_of(study), {"version": "1"})

    assert version_read(begun.rater) == 3


@pytest.mark.parametrize("version", ["", "0", "7", "x", "-1", "9" * 30, "²"])
def test_a_version_that_does_not_exist_is_not_confirmed(begun, study, version):
    answer = begun.client.post(page_of(study), {"version": version})

    assert answer.status_code == 404
    assert version_read(begun.rater) == 1


def test_without_a_change_the_page_leads_to_the_guidelines(begun, study):
    assert begun.client.get(page_of(study)).url == page_of(study, "guidelines")


def test_a_text_is_shown_as_text(begun, study):
    write(study, "<script>alert(1)</script>")

    assert "<script>alert" not in begun.client.get(page_of(study)).text


# --- who may, and what it costs ---------------------------------------------------------------


def test_it_is_for_raters_of_the_study(study, rachel, rosa, client_for, client):
    write(study, "Second.")

    for method in ("get", "post"):
        assert getattr(client_for(rachel), method)(page_of(study)).status_code == 404
        assert getattr(client_for(rosa), method)(page_of(study)).status_code == 403
        assert getattr(client, method)(page_of(study)).status_code == 302
    assert not Rater.objects.exclude(read_guideline=None).exists()


def test_a_unit_costs_no_statement_more_for_it(tmp_path, db, client_for):
    study = opened(material(tmp_path / "m"), name="costs")
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    unread = Desk(rater, client, claimed(rater))  # not by a page, so nothing is stored
    unread.get()
    before = len(statements(unread.get))

    client.post(page_of(study, "next-unit"))

    assert version_read(rater) == 1
    assert len(statements(unread.get)) == before
    again = statements(lambda: client.post(page_of(study, "next-unit")))
    assert not [sql for sql in again if "annotation_guideline" in sql and "SELECT" not in sql]
