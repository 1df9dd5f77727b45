"""Guidelines are edited beside a preview, and raters read what changed before the next unit."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.guidelines import default_guideline
from annotation.models import Target, Vote
from annotation.schemes import load_scheme
from annotation.services.studies import write_guideline
from evaluation.studies.services.adjudication import adjudicate
from tests.annotation.makers import raters_of, researcher
from tests.e2e.rating.keys import press, submitted


def test_the_preview_follows_what_is_typed(page, study, sign_in):
    sign_in(researcher())
    page.goto(reverse("annotation:edit-guidelines", args=[study.slug]))
    page.evaluate("window.sameDocument = true")
    preview = page.get_by_role("group", name="As raters read it")
    expect(preview).to_have_text("Read, then judge.")
    expect(page.get_by_role("button", name="Preview")).to_have_count(0)

    page.get_by_label("Text, as Markdown").fill("## Dates\n\nA date is **one** fact.")

    expect(preview.get_by_role("heading", name="Dates")).to_be_visible()
    expect(preview.locator("strong")).to_have_text("one")
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
    assert study.guidelines.count() == 1
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Version 2 is in use from now on.")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_text_and_preview_are_beside_each_other_where_there_is_room(page, study, sign_in, width):
    page.set_viewport_size({"width": width, "height": 900})
    sign_in(researcher())
    page.goto(reverse("annotation:edit-guidelines", args=[study.slug]))

    text = page.get_by_label("Text, as Markdown").bounding_box()
    preview = page.get_by_role("group", name="As raters read it").bounding_box()

    if width == 1440:
        assert text["x"] + text["width"] < preview["x"]
    else:
        assert text["y"] + text["height"] < preview["y"]


def begin(page, study, sign_in):
    """Give a rater their first unit by the button of 'My studies'."""
    rater = raters_of(study)[0]
    sign_in(rater.user)
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Rate next unit").click()
    expect(page.get_by_role("heading", name="Questions", exact=True)).to_be_visible()
    return rater


def test_changes_are_read_by_one_key_before_the_next_unit(page, study, sign_in):
    rater = begin(page, study, sign_in)
    write_guideline(study, "Read, then judge.\n\nA date is one fact.", researcher())

    press(page, "yyyynyy")
    page.keyboard.press("Control+Enter")  # what is in hand is submitted all the same

    expect(page.get_by_role("heading", name="The guidelines changed")).to_be_visible()
    expect(page.get_by_text("A date is one fact.")).to_be_visible()
    expect(page.get_by_role("button", name="I have read it")).to_be_focused()
    assert Vote.objects.filter(rater=rater).count() == 7
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Questions", exact=True)).to_be_visible()
    press(page, "yyyynyy")
    submitted(page)
    expect(page.get_by_role("heading", name="Questions", exact=True)).to_be_visible()


def test_answers_that_were_typed_are_there_after_the_changes_were_read(page, study, sign_in):
    begin(page, study, sign_in)
    press(page, "yn")
    write_guideline(study, "Read, then judge twice.", researcher())

    page.reload()

    page.get_by_role("button", name="I have read it").press("Enter")
    expect(page.locator(".seg input:checked")).to_have_count(2)


def test_a_decided_case_becomes_a_worked_example_on_a_click(page, study, sign_in):
    page.set_viewport_size({"width": 1440, "height": 900})
    plans, target = researcher(), Target.objects.earliest("pk")
    write_guideline(study, default_guideline("AIS"), plans)  # it is longer than its field
    question = load_scheme(study.scheme).question("attributable")
    assert question
    adjudicate(study, target, question, 1, "The passage says so.", plans)
    sign_in(plans)
    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    page.goto(f"{case}?question=attributable")

    page.get_by_role("link", name="Add to the guidelines as a worked example").click()

    example = page.get_by_role("group", name="As raters read it").get_by_text(
        "The passage says so."
    )
    expect(example).to_be_in_viewport()
    expect(page.get_by_text("6 raters have not rated this response yet,")).to_be_visible()
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("heading", name="Worked examples")).to_be_visible()
    assert "The passage says so." in study.guidelines.get(version=3).text
