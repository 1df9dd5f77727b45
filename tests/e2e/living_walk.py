"""Stops at guidelines that change, at worked examples, and at questions of raters."""

from collections.abc import Iterator

from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from annotation.models import Assignment, Enquiry, Study
from annotation.schemes import load_scheme
from annotation.services.enquiries import answer_enquiry, ask_researchers
from annotation.services.guideline_reading import begin_with_newest
from annotation.services.studies import write_guideline
from evaluation.studies.services.adjudication import adjudicate
from tests.annotation.makers import raters_of
from tests.e2e.stops import ARABIC, SCRIPT, Stop


def answer_nothing(page: Page) -> None:
    page.get_by_role("button", name="Answer this rater").first.click()
    expect(page.get_by_text("Write an answer.")).to_be_visible()


def ask_again(page: Page) -> None:
    page.keyboard.press("a")
    expect(page.get_by_role("dialog", name="Ask a researcher")).to_be_visible()


def living_stops(study: Study, plans: User) -> Iterator[Stop]:
    """Yield changed guidelines and questions with and without an answer, for both sides."""
    rater = raters_of(study)[0]
    assert rater.user is not None
    held = Assignment.objects.in_hand().get(rater=rater)
    mine = reverse("annotation:my-studies")
    unit = reverse("annotation:rate-unit", args=[study.slug, held.unit_id])
    asked = reverse("annotation:enquiries", args=[study.slug])
    yield Stop("questions of raters, none", plans, asked)
    for text, answer in ((SCRIPT, "Yes."), (f"Does {ARABIC} count?\n\nI doubt it.", "")):
        ask_researchers(held.unit, rater, text)
        if answer:
            enquiry = Enquiry.objects.select_related("rater__study").latest("pk")
            answer_enquiry(enquiry, answer, plans, is_for_all=False)
    yield Stop("a question at its unit", rater.user, unit)
    yield Stop("a question at its unit, asked again", rater.user, unit, ask_again)
    yield Stop("my studies, questions", rater.user, mine)
    yield Stop("questions of raters", plans, asked)
    yield Stop("questions of raters, no answer written", plans, asked, answer_nothing)
    target, question = held.unit.targets.get(), load_scheme(study.scheme).question("attributable")
    assert question is not None
    adjudicate(study, target, question, 1, f"{SCRIPT} {ARABIC}", plans)
    for page in ("disagreement", "worked-example"):
        path = reverse(f"evaluation:{page}", args=[study.slug, target.pk])
        yield Stop(f"{page}, decided", plans, f"{path}?question=attributable")
    begin_with_newest(rater)
    write_guideline(study, "## Rules\n\nThe evidence is the *only* source.", plans)
    changes = reverse("annotation:guideline-changes", args=[study.slug])
    yield Stop("guideline changes", rater.user, changes)
    yield Stop("my studies, guidelines changed", rater.user, mine)
