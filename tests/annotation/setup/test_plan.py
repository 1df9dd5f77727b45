"""The set-up page's estimate of a study's work, and the preview of its units."""

import pytest

from annotation.models import Study
from annotation.planning import GroupNeed
from annotation.templatetags.study_figures import group_need_text, hours
from tests.annotation.planned import (
    make_open_study,
    make_study,
    setups_named,
)
from tests.annotation.setup.pages import page_of
from tests.makers import contents
from tests.shown import shown

pytestmark = pytest.mark.once


# --- the plan --------------------------------------------------------------------------------


def test_the_plan_shows_units_slots_and_what_is_left_out(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=list(dataset.setups.all()))

    page = shown(researcher.get(page_of(study)))

    # 4 examples x 2 setups with evidence; the third setup was shown none.
    row = page.table("Units").row("separate")
    assert (row["Units"], row["Raters each"], row["Slots"]) == ("8", "5", "40")
    assert any(item.startswith("4 responses without evidence") for item in page.items)


def test_both_arms_have_units_slots_and_time_each(researcher, dataset, rosa):
    study = make_study(dataset, rosa, arms=["separate", "merged"])

    table = shown(researcher.get(page_of(study))).table("Units")

    # merged: one unit for the two responses of each example
    assert [row[:4] for row in table.rows] == [
        ["separate", "8", "5", "40"],
        ["merged", "4", "5", "20"],
        ["in all", "12", "", "60"],
    ]
    assert all(table.column("Time"))


def test_too_few_raters_are_said_with_the_number_that_would_do(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters[:4])

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Too few raters" in warning
    assert "4 of 5" in warning


def test_each_group_of_two_arms_is_counted(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters, arms=["separate", "merged"])

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Group 1: 3 of 5" in warning
    assert "Group 2: 2 of 5" in warning


def test_groups_are_named_after_their_arm_when_each_has_one(researcher, dataset, rosa, raters):
    study = make_study(
        dataset, rosa, raters, arms=["separate", "merged"], mixing=Study.Mixing.RATERS
    )

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Separate arm: 3 of 5" in warning


def test_a_plan_with_nothing_to_rate_says_so(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    page = shown(researcher.get(page_of(study)))

    assert any("Nothing to rate" in message for message in page.messages)


# --- figures in words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "words"),
    [(0, "0 min"), (0.01, "under 1 min"), (0.2, "12 min"), (2.44, "2.4 h"), (1234.5, "1,234 h")],
)
def test_hours_are_written_as_people_say_them(figure, words):
    assert hours(figure) == words


@pytest.mark.parametrize(
    ("n_there", "name", "words"),
    [
        (5, "", "5 raters."),
        (7, "group 1", "Group 1: 7 raters."),
        (4, "group 2", "Group 2: 4 of 5 raters. 1 more is needed."),
        (0, "", "0 of 5 raters. 5 more are needed."),
    ],
)
def test_a_need_says_how_many_more_will_do(n_there, name, words):
    assert group_need_text(GroupNeed(0, n_there, 5), name) == words


# --- preview ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["separate", "merged"])
@pytest.mark.parametrize("make", [make_study, make_open_study])
def test_a_preview_shows_a_unit_without_storing_anything(
    researcher, dataset, rosa, raters, make, arm
):
    study = make(dataset, rosa, raters, arms=["separate", "merged"])
    before = contents()

    answer = researcher.get(page_of(study, "preview"), {"arm": arm, "number": 2})

    assert answer.status_code == 200
    page = shown(answer)
    can_be_known = make is make_study and arm == "separate"  # a button stores them as gold
    assert ("nothing is stored" in page.text) is not can_be_known
    assert "Can you understand the response?" in page.text
    assert "model-a" not in answer.text
    assert contents() == before


def test_a_preview_goes_on_to_the_last_unit_and_no_further(researcher, planned):
    url = page_of(planned, "preview")
    first, last = shown(researcher.get(url)), shown(researcher.get(url, {"number": 8}))

    assert "?arm=separate&number=2" in first.addresses
    assert not any("number=9" in address for address in last.addresses)
    for number in ("9", "0", "-1", "x", "9" * 30):
        assert researcher.get(url, {"number": number}).status_code == 404
    assert researcher.get(url, {"arm": "merged"}).status_code == 404


def test_a_preview_of_nothing_says_so(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    [message] = shown(researcher.get(page_of(study, "preview"))).messages

    assert "Nothing to rate" in message
