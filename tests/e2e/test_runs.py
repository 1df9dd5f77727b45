"""A researcher runs a metric in a real worker: the bar moves, is stopped, goes on, and is full."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from evaluation.models import AutoScore, MetricRun
from tests.evaluation.metric_runs import done, mill
from tests.makers import example_row, response_row, vote_row
from tests.tiny_models import tiny_checkpoint

pytestmark = pytest.mark.django_db(transaction=True)

N_RESPONSES = 400
# Many windows for each response, so that the worker is busy for some seconds.
PASSAGE = " ".join(f"In {year} the mill ground {year} sacks of rye." for year in range(1200, 1800))
ENDS_WITHIN = 60_000  # ms


@pytest.fixture
def mill_dataset(tmp_path):
    evidence = [{"id": "p1", "text": PASSAGE, "golden": True}]
    responses = [
        response_row(f"r{n}", setup=f"s{n % 4}", text=f"It ground {1200 + n} sacks.")
        for n in range(N_RESPONSES)
    ]
    votes = [vote_row(f"r{n}", rater) for n in range(8) for rater in ("anna", "ben")]
    examples = [example_row("e1", evidence=evidence)]
    return mill(tmp_path, examples=examples, responses=responses, votes=votes)


def bar(page: Page) -> Locator:
    return page.get_by_role("progressbar").first


def is_between(page: Page) -> None:
    """Wait until the bar is neither empty nor full."""
    expect(bar(page)).to_have_attribute(
        "aria-label",
        re.compile(rf": (?!0 )(?!{N_RESPONSES} )\d+ of {N_RESPONSES}$"),
        timeout=20_000,
    )


@pytest.mark.usefixtures("worker")
def test_a_run_is_started_cancelled_resumed_and_done(page, sign_in, rosa, mill_dataset):
    sign_in(rosa)
    page.goto(reverse("evaluation:runs"))
    page.get_by_role("link", name="New run").first.click()
    page.get_by_label("Responses", exact=True).select_option("dataset:mill")
    page.get_by_label("Window K").fill("3")
    page.get_by_label("Window K").blur()
    expect(page.get_by_role("status")).to_contain_text(
        re.compile(r"A worker scores 400\s+responses without a score under these\s+choices\.")
    )
    page.get_by_role("button", name="Start run").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Auto-AIS, localized K = 3")
    page.evaluate("window.sameDocument = true")
    is_between(page)
    assert page.evaluate("window.sameDocument"), "htmx should move the bar, not a page load"
    page.get_by_role("button", name="Cancel Auto-AIS").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    run = MetricRun.objects.get()
    assert run.state == "cancelled"
    assert 0 < run.scores.count() < N_RESPONSES

    page.get_by_role("link", name="Score").click()
    page.get_by_role("button", name="Resume Auto-AIS").click()
    page.evaluate("window.sameDocument = true")
    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=ENDS_WITHIN)
    expect(page.get_by_text(f"{N_RESPONSES} responses")).to_be_visible()
    expect(page.get_by_role("link", name="Done 1")).to_be_visible()
    assert page.evaluate("window.sameDocument"), "the queue should come by htmx as well"
    assert AutoScore.objects.filter(score__isnull=False).count() == N_RESPONSES


@pytest.mark.usefixtures("worker")
def test_the_page_of_a_run_shows_its_scores_when_it_has_ended(page, sign_in, rosa, mill_dataset):
    sign_in(rosa)
    page.goto(reverse("evaluation:start-run") + "?dataset=mill")
    page.get_by_role("button", name="Start run").click()
    page.evaluate("window.sameDocument = true")
    is_between(page)

    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=ENDS_WITHIN)

    spread = page.get_by_role("table", name="Number of responses by score")
    spread.get_by_role("link").last.click()
    page.get_by_role("table", name="Scores by response").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Dialog and response")).to_be_visible()


@pytest.mark.usefixtures("worker")
def test_one_click_on_a_study_fills_its_report(page, sign_in, rosa, mill_dataset):
    sign_in(rosa)
    page.goto(reverse("evaluation:study-metrics", args=["mill"]))
    page.evaluate("window.sameDocument = true")
    page.get_by_role("button", name="Run Auto-AIS (added words)").click()
    is_between(page)

    table = page.get_by_role("table", name=re.compile("Auto-metrics against the human majority"))
    expect(table).to_contain_text("Auto-AIS, localized K = 2", timeout=ENDS_WITHIN)

    assert page.evaluate("window.sameDocument"), "htmx should bring the report, not a page load"


def test_a_refused_form_leads_to_its_first_mistake(page, sign_in, rosa, mill_dataset):
    sign_in(rosa)
    page.goto(reverse("evaluation:start-run") + "?dataset=mill")

    page.get_by_label("Threshold").fill("2")
    page.get_by_role("button", name="Start run").click()

    expect(page.get_by_text("Not started.")).to_be_visible()
    expect(page.get_by_label("Threshold")).to_be_focused()
    assert not MetricRun.objects.exists()


@pytest.mark.usefixtures("worker")
def test_another_metric_is_chosen_and_started_by_keyboard(page, sign_in, rosa, mill_dataset):
    sign_in(rosa)
    page.goto(reverse("evaluation:start-run") + "?dataset=mill")
    page.evaluate("window.sameDocument = true")
    expect(page.get_by_label("Window K")).to_be_visible()

    page.get_by_role("radio", name="Auto-AIS").focus()
    page.keyboard.press("ArrowDown")

    expect(page.get_by_label("Window K")).to_have_count(0)
    expect(page.get_by_role("radio", name="Auto-SSA: sensible")).to_be_focused()
    expect(page.get_by_label("Model", exact=True)).to_have_value("heuristic")
    expect(page.get_by_text("This score or a higher one counts as yes.")).to_be_visible()
    for _ in range(2):  # the term 'signature' is explained in between
        page.keyboard.press("Tab")
    expect(page.get_by_label("Model", exact=True)).to_be_focused()
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.get_by_text("Sample: all responses, seed 0")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.get_by_label("Seed of the draw")).to_be_focused()
    assert page.evaluate("window.sameDocument"), "htmx should show its choices, not a page load"
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Auto-SSA: sensible")
    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=ENDS_WITHIN)
    choices = page.get_by_role("table", name="Choices of the run")
    expect(choices).to_contain_text("0.5: that or more counts as yes")
    expect(page.get_by_text(f"n {N_RESPONSES}")).to_be_visible()
    assert MetricRun.objects.get().backend == "heuristic"


@pytest.mark.usefixtures("worker")
def test_what_bf16_flips_is_measured_on_the_page_of_a_run(page, sign_in, rosa, tmp_path):
    location = str(tiny_checkpoint(tmp_path / "tiny"))
    model = {"backend": "transformers", "model_name": "tiny", "model_location": location}
    run = done(mill(tmp_path, 5), rosa, **model)
    sign_in(rosa)
    page.goto(reverse("evaluation:run", args=[run.pk]))

    page.get_by_role("button", name="Measure bf16").click(timeout=ENDS_WITHIN)
    page.get_by_role("button", name=re.compile("^Start: .* calls at most")).click()

    said = page.get_by_role("region", name="Precision")
    expect(said).to_contain_text("The same in bf16")
    page.evaluate("window.sameDocument = true")
    expect(said).to_contain_text(
        re.compile(r"Labels flipped against fp32:\s+\d of \d responses"), timeout=ENDS_WITHIN
    )
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
