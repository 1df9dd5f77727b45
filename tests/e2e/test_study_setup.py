"""A study is planned, previewed and opened in a browser, also without a script and by keyboard."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import Study
from generation.text.prompt_types import SHARES, TWELVE, restricted_key
from tests.annotation.planned import make_dataset, make_raters, make_study
from tests.makers import contents, example_row, import_rows, response_row


@pytest.fixture
def dataset(transactional_db, tmp_path):
    return make_dataset(tmp_path)


@pytest.fixture
def plain_page(browser: Browser, live_server, rosa) -> Iterator[Page]:
    """Return a page of a browser that runs no scripts, in which Rosa is signed in."""
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    client = Client()
    client.force_login(rosa)
    name = settings.SESSION_COOKIE_NAME
    value = client.cookies[name].value
    context.add_cookies([{"name": name, "value": value, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(10_000)
    yield page
    context.close()


def test_a_study_is_planned_and_opened_by_keyboard_without_a_script(plain_page, dataset):
    make_raters(5)
    page, keys = plain_page, plain_page.keyboard
    page.goto(reverse("annotation:new-study"))

    page.get_by_label("Name").focus()
    keys.type("Mills")
    keys.press("Tab")  # The term 'setup' is explained here.
    for key in ("Tab", "Space", "Tab", "Space"):
        keys.press(key)
    page.get_by_label("Every account with the rater role").focus()
    keys.press("Space")
    page.get_by_role("button", name="Plan the study").focus()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Open it")).to_be_visible()
    page.get_by_role("button", name="Open the study").focus()
    keys.press("Enter")

    expect(page.get_by_role("heading", name="The study is open")).to_be_visible()
    study = Study.objects.get()
    assert study.state == Study.State.OPEN
    assert study.raters.count() == 5
    assert [setup.name for setup in study.setups.all()] == ["model-a", "model-b"]


def test_fields_that_make_no_sense_fold_away(page, sign_in, dataset, rosa):
    sign_in(rosa)
    page.goto(f"{reverse('annotation:new-study')}?dataset={dataset.slug}")
    for folded in ("Evidence and sample", "Raters per unit and texts"):
        page.get_by_text(folded).click()
    layout = page.get_by_role("group", name="Merged layout")
    evidence = page.get_by_role("group", name="Evidence")
    own = page.get_by_label("The scheme as JSON")

    expect(layout).to_be_hidden()
    page.get_by_label("Arms", exact=True).select_option("merged")
    expect(layout).to_be_visible()

    expect(evidence).to_be_visible()
    page.get_by_label("Questions", exact=True).select_option("SSA")
    expect(evidence).to_be_hidden()

    expect(own).to_be_hidden()
    page.get_by_label("Questions", exact=True).select_option("own")
    expect(own).to_be_visible()


def test_many_setups_are_filtered_and_parts_of_analyses_are_folded(page, sign_in, tmp_path, rosa):
    prompts = [*(kind.key for kind in TWELVE), *(restricted_key("golden", s) for s in SHARES[:5])]
    responses = [
        response_row(f"r-{prompt}", setup={"model": "m", "temperature": 0.0, "prompt": prompt})
        for prompt in prompts
    ]
    import_rows(tmp_path / "many", "many", examples=[example_row()], responses=responses)
    sign_in(rosa)
    page.goto(f"{reverse('annotation:new-study')}?dataset=many")
    setups = page.get_by_role("group", name="Setups")
    boxes = setups.get_by_role("checkbox")
    expect(boxes).to_have_count(12)  # the folded ones are out of sight

    page.get_by_label("Filter the list").fill("dialog 90")

    expect(boxes).to_have_count(1)
    boxes.check()
    page.get_by_label("Filter the list").fill("one-shot")
    expect(boxes).to_have_count(2)  # what is ticked stays in sight
    page.get_by_label("Filter the list").press("Enter")  # sends nothing
    page.get_by_label("Filter the list").fill("")
    expect(boxes).to_have_count(12)
    page.get_by_text("Restricted context (5)").click()
    expect(boxes).to_have_count(17)


def test_a_refused_form_keeps_what_was_typed_and_goes_to_the_first_error(
    page, sign_in, dataset, rosa
):
    sign_in(rosa)
    page.goto(f"{reverse('annotation:new-study')}?dataset={dataset.slug}")
    page.get_by_text("Introduction and details").click()
    page.get_by_label("Introduction for raters").fill("An hour.")
    page.get_by_label("Name").fill("Mills")

    page.get_by_role("button", name="Plan the study").click()

    expect(page.get_by_role("alert")).to_contain_text("Nothing is saved yet. Look at Setups.")
    expect(page.get_by_label("model-a")).to_be_focused()
    page.get_by_text("Introduction and details").click()
    expect(page.get_by_label("Introduction for raters")).to_have_value("An hour.")


def test_answering_in_a_preview_stores_nothing(page, sign_in, dataset, rosa):
    study = make_study(dataset, rosa, arms=["separate", "merged"])
    sign_in(rosa)
    page.goto(reverse("annotation:preview", args=[study.slug]))
    before = contents()

    question = page.get_by_role("group", name="Can you understand the response?")
    question.get_by_role("radio", name="Yes").check()
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_text("2 of 8")).to_be_visible()
    page.get_by_role("link", name="Merged").click()
    expect(page.get_by_text("1 of 4")).to_be_visible()

    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    assert contents() == before
