"""The list of grids, one grid, and what can be done about it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from generation.models import Call, Grid
from generation.services.grids import cancel_grid
from tests.generation.grid_runs import (
    done,
    failed_in_part,
    planned,
    requested,
    started,
    valley,
    work,
)
from tests.makers import example_row, import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once

GRIDS = "/grids/"
HTML = "<script>alert(1)</script>"


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


OF_ALL_WORK = {"card", "cancel", "resume", "delete"}


def address(name, grid):
    if name in OF_ALL_WORK:
        return reverse(f"work:{name}", args=["grid", grid.pk])
    return reverse(f"grids:{name}", args=[grid.pk])


def buttons_of(page, grid):
    """Return what a grid can be asked to do, except to be archived."""
    here = f"grid/{grid.pk}/"
    own = [there for there in page.actions if here in there.replace("grids/", "grid/")]
    actions = [there.strip("/").rpartition("/")[2] for there in own]
    return [action for action in actions if action != "archive"]


def figures_of(page, grid):
    return page.part(f"grid-{grid.pk}-figures").text


# --- the list -------------------------------------------------------------------------------


def test_without_examples_the_list_leads_to_the_data(researcher):
    page = shown(researcher.get(GRIDS))

    [message] = page.messages
    assert "Nothing to ask about" in message
    assert "/data/" in page.part("grids").addresses


def test_without_grids_the_list_leads_to_a_new_one(researcher, dataset):
    page = shown(researcher.get(GRIDS))

    [message] = page.messages
    assert "No grids" in message
    assert "/grids/new/" in page.part("grids").addresses


def test_the_list_counts_grids_by_state_and_shows_those_of_one(researcher, dataset):
    planned(dataset, name="one")
    cancel_grid(started(dataset, name="two", temperatures=[0.5]), None)
    failed_in_part(dataset)

    listed = shown(researcher.get(GRIDS, {"state": "failed"})).part("grids")
    [tabs] = listed.parts("tabs")
    links = listed.links

    assert [*tabs.links] == [
        *("All 3", "Planned 1", "Running 0", "Cancelled 1", "Failed 1", "Done 0")
    ]
    assert "too small" in links
    assert "one" not in links


def test_the_list_costs_the_same_for_one_grid_and_for_three(researcher, dataset):
    done(dataset)
    one = len(statements(lambda: researcher.get(GRIDS)))
    done(dataset, name="second", temperatures=[0.5])
    failed_in_part(dataset)

    assert len(statements(lambda: researcher.get(GRIDS))) == one


# --- one grid, from its plan to its end -----------------------------------------------------


def test_a_grid_that_is_being_planned_is_asked_again(researcher, dataset):
    grid = requested(dataset)

    answer = researcher.get(address("grid", grid))

    page = shown(answer)
    assert "Progress planning" in page.headings
    assert "Counting calls and tokens" in figures_of(page, grid)
    assert f'hx-get="{address("card", grid)}?seen=" hx-trigger="every 2s"' in answer.text
    assert '<meta http-equiv="refresh"' in answer.text
    assert buttons_of(page, grid) == ["cancel"]


def test_the_plan_says_calls_what_is_left_out_tokens_and_cost(researcher, dataset):
    price = {"input": 1_000_000.0, "output": 0.0}
    grid = planned(dataset, models=[{"name": "extractive", "price": price}])

    page = shown(researcher.get(address("grid", grid)))

    # 3 examples without evidence, 2 with golden evidence: the first has none.
    assert "Start 5 calls" in page.buttons
    assert (page.facts["Calls"], page.notes["Calls"]) == ("5", "2 setups, 3 examples")
    table = page.table("Planned calls")
    assert [row[:6] for row in [table.columns, *table.rows]] == [
        ["Model", "Prompt type", "Setups", "Calls", "Already there", "Left out"],
        ["extractive", "No evidence", "1", "3", "0", "0"],
        ["extractive", "Golden", "1", "2", "0", "1 no golden evidence"],
        ["All", "", "2", "5", "0", "1"],
    ]
    assert table.column("In completions, at most")[:2] == ["384", "256"]  # 3 · 128, 2 · 128
    # A million for a million tokens: as much as there are tokens in prompts.
    n_tokens = table.column("Tokens in prompts")
    assert table.column("Cost, at most")[:2] == [f"{n}.00" for n in n_tokens[:2]]
    assert page.facts["Tokens in prompts"] == n_tokens[2]
    assert page.facts["Cost"] == f"{n_tokens[2]}.00 USD"
    assert "at most" in page.notes["Cost"]


def test_the_plan_says_how_many_calls_show_more_than_their_type_says(researcher, tmp_path):
    evidence = [{"id": f"g{n}", "text": f"Fact {n}.", "golden": True} for n in range(3)]
    rows = [example_row("e1", evidence=evidence), example_row("e2")]
    dataset = import_rows(tmp_path, examples=rows).dataset
    assert dataset

    page = shown(researcher.get(address("grid", planned(dataset, prompts=["retrieved-2"]))))

    assert "1 shows more passages than the prompt type says" in page.text


def test_without_a_price_the_cost_is_not_known(researcher, dataset):
    page = shown(researcher.get(address("grid", planned(dataset))))

    assert page.facts["Cost"] == "—"
    assert "no price" in page.notes["Cost"]


def test_a_planned_grid_is_started_and_sent(
    researcher, dataset, django_capture_on_commit_callbacks
):
    grid = planned(dataset)

    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(address("start", grid))

    grid.refresh_from_db()
    assert answer.status_code == 302
    assert len(sent) == 1
    assert grid.state == "running"
    again = researcher.post(address("start", grid), follow=True)
    [message] = shown(again).messages
    assert "cannot be started" in message


def test_a_grid_that_has_outgrown_its_plan_says_that_it_is_planned_again(
    researcher, dataset, tmp_path, django_capture_on_commit_callbacks
):
    grid = planned(dataset)
    valley(tmp_path / "more", 4)  # one example more

    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(address("start", grid), follow=True)

    grid.refresh_from_db()
    [message] = shown(answer).messages
    assert "Nothing was asked, and the grid is planned" in message
    assert (grid.state, len(sent)) == ("planning", 1)


def test_a_running_grid_says_how_far_it_is(researcher, dataset):
    grid = work(started(dataset), 1)  # the chunk of the first setup: 3 of 5 calls
    now = timezone.now()
    Grid.objects.update(resumed_at=now - timedelta(minutes=10))
    Call.objects.update(created_at=now)

    page = shown(researcher.get(address("grid", grid)))

    assert "Progress running" in page.headings
    assert "3 of 5 calls 60 %" in figures_of(page, grid)
    # 3 calls in 600 seconds; 2 more take 400.
    assert page.facts["Rate"] == "0.3 calls a minute"
    assert page.facts["Ready in"] == "about 7 min"
    assert page.facts["Failed"] == "0"
    assert buttons_of(page, grid) == ["cancel"]


def test_what_is_polled_ends_with_an_event_that_the_page_waits_for(researcher, dataset):
    grid = started(dataset)
    assert "HX-Trigger" not in researcher.get(address("card", grid)).headers

    work(grid)

    answer = researcher.get(address("card", grid))
    assert "work-changed" in answer.headers["HX-Trigger"]
    assert 'hx-trigger="every' not in answer.text
    assert "<html" not in researcher.get(GRIDS, headers={"HX-Request": "true"}).text


def test_a_grid_is_cancelled_and_resumed(researcher, dataset, django_capture_on_commit_callbacks):
    grid = work(started(dataset), 1)

    page = shown(researcher.post(address("cancel", grid), follow=True))
    [message] = page.messages
    assert "was cancelled" in message
    assert page.facts["Remaining"] == "2 calls"
    assert buttons_of(page, grid) == ["resume"]

    with django_capture_on_commit_callbacks() as sent:
        researcher.post(address("resume", grid))
    assert len(sent) == 1
    assert work(grid).state == "done"
    assert Call.objects.filter(grid=grid).count() == 5


def test_what_failed_of_a_cancelled_grid_is_retried_after_the_rest(researcher, dataset):
    grid = failed_in_part(dataset)
    Grid.objects.update(state="cancelled")

    page = shown(researcher.get(address("grid", grid)))

    assert page.facts["Failed"] == "5 (they are retried after the other calls)"
    assert buttons_of(page, grid) == ["resume"]


def test_a_grid_that_is_done_shows_its_setups_with_their_means(researcher, dataset):
    grid = done(dataset)

    page = shown(researcher.get(address("grid", grid)))

    assert "5 of 5 calls 100 %" in figures_of(page, grid)
    golden = Call.objects.filter(setup__prompt="golden")
    mean = sum(call.n_tokens for call in golden) / 2
    setup = golden[0].setup
    row = page.table("Calls by setup").row(setup.name)
    assert row == row | {
        "Prompt type": "Golden",
        "Responses": "2",
        "Failed": "0",
        "Remaining": "0",
        "Truncated": "0",
        "Debris": "0",
        "Mean tokens, prompt": f"{mean:.1f}",
    }
    assert page.links[setup.name] == f"{address('calls', grid)}?setup={setup.pk}"
    assert buttons_of(page, grid) == []
    assert reverse("tradeoffs:score", args=[dataset.slug]) in page.actions


def test_calls_that_failed_are_retried(researcher, dataset):
    grid = failed_in_part(dataset)

    page = shown(researcher.get(address("grid", grid)))
    [message] = page.messages
    assert "5 calls have no response" in message
    assert "0 of 5 calls 0 %" in figures_of(page, grid)
    assert buttons_of(page, grid) == ["retry"]

    researcher.post(address("retry", grid))
    grid.refresh_from_db()
    assert grid.state == "running"
    assert not grid.calls.exists()


def test_a_grid_that_stopped_says_why(researcher, dataset):
    grid = requested(dataset)
    Grid.objects.update(state="failed", error=HTML)

    answer = researcher.get(address("grid", grid))

    page = shown(answer)
    [message] = page.messages
    assert message.endswith(HTML)
    assert HTML not in answer.text
    assert buttons_of(page, grid) == ["resume", "delete"]


def test_only_a_grid_that_has_asked_nothing_is_deleted(researcher, dataset):
    kept, gone = done(dataset, name="kept"), planned(dataset, name="gone")

    refused = researcher.post(address("delete", kept), follow=True)
    researcher.post(address("delete", gone))

    [message] = shown(refused).messages
    assert "has made calls" in message
    assert [each.name for each in Grid.objects.all()] == ["kept"]


def test_the_file_of_a_grid_asks_for_the_same_grid(researcher, dataset):
    grid = planned(dataset, name="as file", seeds=[0, 7])

    answer = researcher.get(address("file", grid))

    assert answer["Content-Disposition"] == 'attachment; filename="as-file.toml"'
    again = researcher.post("/grids/new/file/", {"dataset": "valley", "text": answer.text})
    assert again.url == address("grid", grid)
    assert Grid.objects.count() == 1


def test_a_grid_costs_the_same_for_two_setups_and_for_six(researcher, dataset):
    two = done(dataset)
    six = done(dataset, name="six", temperatures=[0.5, 0.6, 0.7])

    def cost(grid):
        return len(statements(lambda: researcher.get(address("grid", grid))))

    assert cost(two) == cost(six)


# --- who may, and how -----------------------------------------------------------------------

READ = ["grid", "file", "calls"]
DONE_TO = ["start", "cancel", "resume", "retry", "delete"]


@pytest.mark.parametrize("name", READ + DONE_TO)
def test_grids_are_for_researchers_and_read_or_changed_by_their_own_method(
    name, researcher, dataset, client, rachel, client_for
):
    grid = planned(dataset)
    right, wrong = ("get", "post") if name in READ else ("post", "get")
    url = address(name, grid)

    assert getattr(researcher, wrong)(url).status_code == 405
    assert getattr(client, right)(url).url.startswith("/accounts/sign-in/")
    assert getattr(client_for(rachel), right)(url).status_code == 403
    assert getattr(researcher, right)(address(name, Grid(pk=10**6))).status_code == 404
    grid.refresh_from_db()
    assert grid.state == "planned"
