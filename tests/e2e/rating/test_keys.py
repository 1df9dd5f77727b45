"""Rating in a real browser by keys alone."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Vote
from tests.annotation.makers import material, opened, raters_of
from tests.e2e.rating.keys import ALL_YES, answered, press, saved, submitted
from tests.makers import example_row

# key, code and Shift of an event on a keyboard → the letter, digit or sign that it stands for
LAYOUTS = [
    ("Y", "KeyY", True, "y"),
    ("z", "KeyY", False, "z"),  # German
    ("y", "KeyZ", False, "y"),
    ("/", "Digit7", True, "/"),
    ("a", "KeyQ", False, "a"),  # French
    ("&", "Digit1", False, "1"),
    ("1", "Digit1", True, "1"),
    ("!", "Digit1", True, "!"),  # English
    ("ф", "KeyA", False, "a"),  # Russian
    ("Ф", "KeyA", True, "a"),
    (".", "Slash", False, "."),
    ("ю", "Period", False, "."),
    ("λ", "KeyL", False, "l"),  # Greek
    ("ㅛ", "KeyY", False, "y"),  # Korean
    ("ظ", "Slash", False, "/"),  # Arabic
    ("؟", "Slash", True, "?"),
    ("٣", "Digit3", False, "3"),
    ("/", "Digit2", False, "2"),  # Thai
    ("ğ", "KeyW", False, "ğ"),  # Turkish
    ("5", "Numpad5", False, "5"),
    ("Dead", "KeyE", False, "dead"),
]


def test_a_study_is_rated_from_the_keyboard_alone(page, study, sign_in):
    rater = raters_of(study)[0]
    sign_in(rater.user)
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Rate next unit").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question.is-now")).to_have_count(1)  # the keys are listened to
    page.evaluate("window.sameDocument = true")

    for _ in range(3):
        press(page, ALL_YES)
        expect(page.get_by_text("7 of 7 answered")).to_be_visible()
        submitted(page)
    press(page, "n")
    expect(page.get_by_text("1 of 1 answered")).to_be_visible()
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="My studies")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Nothing is left to rate. Thank you.")
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
    assert Vote.objects.filter(rater=rater).count() == 4 * 7
    assert Vote.objects.filter(is_implied=True).count() == 6
    assert all(vote.seconds is not None for vote in Vote.objects.all())


def test_keys_move_answer_help_and_find(page, study, rating):
    rating(study)
    heard = page.evaluate(
        """all => all.map(([key, code, shiftKey]) =>
          keyOf(new KeyboardEvent("keydown", { key, code, shiftKey })))""",
        LAYOUTS,
    )
    assert heard == [wanted for *_, wanted in LAYOUTS]

    press(page, "j")
    page.keyboard.press("KeyJ")
    page.evaluate(  # 'k' on a Russian keyboard
        """document.activeElement.dispatchEvent(
          new KeyboardEvent("keydown", { key: "л", code: "KeyK", bubbles: true }))"""
    )
    expect(page.locator(".question.is-now .q-num")).to_have_text("2")
    press(page, "n")
    expect(page.locator(".question.is-now .q-num")).to_have_text("3")
    press(page, "e")
    expect(page.locator(".question.is-now details")).to_have_attribute("open", "")
    press(page, "/")
    page.keyboard.type("passage of")
    expect(page.locator("[data-find] output")).to_have_text("1 of 1")
    expect(page.locator("mark")).to_have_text("Passage of")
    assert answered(page) == ["0"]  # no letter of the search was an answer
    page.keyboard.press("Control+Enter")
    missing = page.locator("[data-missing]")
    expect(missing).to_have_text("6 answers are missing.")
    expect(page.locator("#understand-1 input").first).to_be_focused()
    press(page, "y.")
    expect(missing).to_have_text("5 answers are missing.")
    expect(page.locator(".question.is-now")).to_have_attribute("id", "consistent-1")
    press(page, "yyny")
    expect(missing).to_have_text("1 answer is missing.")
    press(page, "y")
    expect(missing).to_be_hidden()


def test_letters_can_be_switched_off(page, study, rating):
    rating(study)
    press(page, "?")
    page.get_by_role("button", name="Switch them off").click()
    expect(page.locator("form[data-no-letters]")).to_be_visible()

    press(page, "y?s")

    assert answered(page) == []
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_answers_on_a_scale_are_digits(page, study, rating):
    quality = opened(study.dataset, name="Quality", scheme="QUALITY")
    rating(quality)

    press(page, "y9453")
    expect(page.locator("[data-answered]")).to_have_text("3 of 4 answered")
    press(page, "1")
    submitted(page)

    votes = Vote.objects.order_by("pk").values_list("answer", flat=True)
    assert list(votes) == [4, 5, 3, 1]


def test_a_scale_of_a_hundred_points_is_written_as_a_number(page, study, rating):
    scale = {"key": "overall", "wording": "How good is it?", "scale": {"ordinal": [1, 100]}}
    example = {"answer": "100", "text": "It is 3 m.", "reason": "All of it is right."}
    told = {"ends": ["useless", "perfect"], "help": "Judge the whole.", "examples": [example]}
    own = {"key": "grades", "questions": [scale | told]}
    rating(opened(study.dataset, name="Grades", scheme=own))
    field = page.get_by_label("From 1 to 100")

    press(page, "5")  # no button has this digit
    field.fill("57")
    expect(page.locator("[data-answered]")).to_have_text("1 of 1 answered")
    saved(page)
    page.reload()
    expect(field).to_have_value("57")
    page.keyboard.press("Control+Enter")
    expect(field).to_have_value("")

    assert [*Vote.objects.values_list("answer", flat=True)] == [57]


def test_what_cannot_stand_together_is_said_at_once_and_not_sent(page, study, rating):
    rating(study)
    wrong = page.get_by_text("5 and 7 cannot both be yes.")
    expect(wrong).to_be_hidden()

    press(page, "yyyyyyy")
    expect(wrong).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(
        page.locator("#evidence_contradicts-1 input, #attributable-1 input")
        .filter(visible=True)
        .and_(page.locator(":focus"))
    ).to_have_count(1)
    page.locator("#evidence_contradicts-1").get_by_label("No").check()
    expect(wrong).to_be_hidden()
    submitted(page)

    assert Vote.objects.count() == 7


@pytest.mark.parametrize("width", [390, 768])
def test_a_form_with_a_hole_comes_back_to_the_hole_on_a_small_screen(
    page, tmp_path, rating, live_server, width
):
    evidence = [{"id": "p-e1", "text": "A long passage. " * 600}]
    dataset = material(
        tmp_path / "m", n_examples=1, examples=[example_row("e1", evidence=evidence)]
    )
    page.set_viewport_size({"width": width, "height": 800})
    rating(opened(dataset))
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#understand-1")).to_be_in_viewport()
    expect(page.locator("input[name=understand-1]").first).to_be_focused()
    expect(page.get_by_role("region", name="Response to rate")).to_be_in_viewport()


def test_a_closed_gate_folds_what_is_not_asked(page, study, rating):
    rating(study)

    press(page, "yyyn")

    expect(page.get_by_text("5 to 7 are not asked.")).to_be_visible()
    expect(page.locator("[data-answered]")).to_have_text("4 of 4 answered")
    page.locator("#understand-1").get_by_label("No").check()
    expect(page.get_by_text("2 to 7 are not asked.")).to_be_visible()
    expect(page.get_by_text("5 to 7 are not asked.")).to_be_hidden()
    expect(page.locator("[data-answered]")).to_have_text("1 of 1 answered")
