"""A researcher draws a sample, waits for it, and verifies it by hand with and without a script."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from generation.models import Sample
from generation.sample_choices import SampleChoices
from generation.services.samples import SAMPLES, request_sample
from tests.makers import example_row, import_rows

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = [
    {"speaker": "user", "text": "Who built the mill?"},
    {"speaker": "assistant", "text": "The monks of Ebrach."},
    {"speaker": "user", "text": "When did the mill close?"},
]


def material(folder, n):
    golden = [{"id": "p", "title": "Mill", "text": "It closed in the winter.", "golden": True}]
    good = {"turns": TURNS, "golden_answer": "in the winter", "evidence": golden}
    rows = [example_row(f"e{number}", **good) for number in range(n)]
    dataset = import_rows(folder, "mills", examples=[*rows, example_row("alone")]).dataset
    assert dataset
    return dataset


@pytest.fixture
def sample(tmp_path):
    """Three examples, in the order drawn."""
    made = request_sample(material(tmp_path / "mills", 3), SampleChoices(name="pilot"), None)
    SAMPLES.claim_and_do(made.pk)
    return made


def is_at(page, heading):
    """Wait for an example's page, with its keys: a script may come after the heading."""
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    page.wait_for_load_state()


def verdicts(sample):
    return list(sample.members.values_list("verdict", "reason"))


def test_a_sample_is_drawn_while_its_page_waits(page, sign_in, rosa, tmp_path):
    dataset = material(tmp_path / "mills", 3)
    sign_in(rosa)

    page.goto(reverse("generation:dataset", args=[dataset.slug]))
    page.get_by_role("button", name="More about").click()
    page.get_by_role("link", name="Samples").click()
    page.get_by_role("link", name="New sample").click()
    page.get_by_role("checkbox", name="last turn does not mention").uncheck()
    page.get_by_role("textbox", name="Name").fill("pilot")
    page.get_by_role("button", name="Filter and draw").click()
    bar = page.get_by_role("progressbar", name="pilot: 0 of 4")
    expect(bar).to_be_visible()
    SAMPLES.claim_and_do(Sample.objects.get().pk)  # a worker calls this

    table = page.get_by_role("table", name="Filters in their order")
    expect(table).to_be_visible()
    expect(table.get_by_role("row", name="has history")).to_contain_text("1 3 75.0")
    expect(table.get_by_role("row", name="last turn does not mention")).to_contain_text("off")
    expect(page.get_by_text("All 3 that are left; you asked for 100")).to_be_visible()


def test_a_sample_is_verified_by_keys(page, sign_in, rosa, sample):
    sign_in(rosa)
    page.goto(reverse("generation:sample", args=["mills", sample.pk]))
    page.get_by_role("link", name="Verify by hand").click()

    is_at(page, "Example 1 of 3")
    expect(page.get_by_text("The monks of Ebrach.")).to_be_visible()
    page.keyboard.press("k")
    is_at(page, "Example 2 of 3")
    page.keyboard.press("d")
    expect(page.get_by_label("Why it is dropped")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Say why the example is dropped.")).to_be_visible()
    page.wait_for_load_state()
    expect(page.get_by_label("Why it is dropped")).to_be_focused()
    page.keyboard.type("kd: no key here")
    page.keyboard.press("Enter")
    is_at(page, "Example 3 of 3")
    assert verdicts(sample) == [("keep", ""), ("drop", "kd: no key here"), ("", "")]

    page.keyboard.press("ArrowLeft")
    is_at(page, "Example 2 of 3 dropped")
    page.get_by_role("button", name="Undo the decision").click()
    is_at(page, "Example 3 of 3")
    page.keyboard.press("k")
    is_at(page, "Example 2 of 3")
    page.keyboard.press("k")
    expect(page.get_by_text("You have decided about every example of this sample.")).to_be_visible()
    assert verdicts(sample) == [("keep", "")] * 3


def test_letters_are_no_keys_for_who_switched_them_off(page, sign_in, rosa, sample):
    rosa.has_letter_keys = False
    rosa.save()
    sign_in(rosa)
    page.goto(reverse("generation:verify-example", args=["mills", sample.pk, 1]))

    page.keyboard.press("k")
    page.keyboard.press("ArrowRight")

    is_at(page, "Example 2 of 3")
    assert verdicts(sample) == [("", "")] * 3


def test_it_works_without_javascript(browser, live_server, page, sign_in, rosa, sample):
    sign_in(rosa)
    context = browser.new_context(
        base_url=live_server.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    )
    plain = context.new_page()

    plain.goto(reverse("generation:verify-sample", args=["mills", sample.pk]))
    plain.get_by_label("Why it is dropped").fill("It says nothing.")
    plain.get_by_role("button", name="Drop").click()
    expect(plain.get_by_role("heading", name="Example 2 of 3")).to_be_visible()
    plain.get_by_role("button", name="Keep").click()
    expect(plain.get_by_role("heading", name="Example 3 of 3")).to_be_visible()

    assert verdicts(sample) == [("drop", "It says nothing."), ("keep", ""), ("", "")]
    assert Sample.objects.get().state == "done"
    context.close()
