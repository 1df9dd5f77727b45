"""The calls of a grid: their list, and the page of each."""

import pytest
from django.urls import reverse

from generation.models import Call
from tests.generation.grid_runs import done, failed_in_part, valley
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

HTML = "<script>alert(1)</script>"


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


def calls_of(grid):
    return reverse("grids:calls", args=[grid.pk])


def address(grid, call):
    return reverse("grids:call", args=[grid.pk, call.pk])


def test_calls_are_narrowed_to_a_setup_and_to_those_that_failed(researcher, dataset):
    grid = done(dataset)
    setup = grid.setups.get(prompt="golden")
    Call.objects.filter(example__key="e2", setup=setup).update(response=None, problem=HTML)

    def listed(**chosen):
        page = shown(researcher.get(calls_of(grid), chosen))
        return page.table().column("Example")

    assert listed() == ["e0", "e1", "e2", "e1", "e2"]
    assert listed(setup=setup.pk) == ["e1", "e2"]
    assert listed(setup=setup.pk, failed="on") == ["e2"]
    assert len(listed(setup="999999")) == 5
    page = shown(researcher.get(calls_of(grid), {"failed": "on"}))
    assert page.table().column("Response") == [f"Failed. {HTML}"]
    assert "Retry 1 failed" in page.buttons


def test_the_list_of_calls_costs_the_same_for_one_and_for_five(researcher, dataset, tmp_path):
    many, one = done(dataset), done(valley(tmp_path, 1, "lone"), prompts=["no-evidence"])

    def cost(grid):
        return len(statements(lambda: researcher.get(calls_of(grid))))

    assert cost(one) == cost(many)


def test_a_call_shows_its_prompt_and_what_came_of_it(researcher, dataset):
    grid = done(dataset)
    call = grid.calls.get(setup__prompt="golden", example__key="e1")

    page = shown(researcher.get(address(grid, call)))

    evidence, dialog = page.parts("prompt-part")
    assert evidence.text == "Evidence Fact: Mill 1 closed in 1901."
    assert "Dialog 0 -1 0 Who built mill 1? [eot] 1 0 1 Monks did. [eot]" in dialog.text
    assert page.facts["Dialog"] == str(call.n_dialog_tokens)
    assert page.facts["Evidence"] == str(call.n_evidence_tokens)
    assert call.response is not None
    [response] = page.parts("response")
    assert response.text == call.response.text
    assert reverse("evaluation:response", args=["valley", call.response_id]) in page.addresses
    assert page.facts["Made with"].startswith("extractive|")


def test_a_call_leads_to_its_neighbours_in_the_setup(researcher, tmp_path):
    grid = done(valley(tmp_path, n=4), prompts=["no-evidence", "golden"])
    calls = grid.calls.filter(setup__prompt="no-evidence").order_by("pk")
    first, second, third, _ = (address(grid, call) for call in calls)

    links = shown(researcher.get(second)).links

    assert (links["Previous"], links["Next"]) == (first, third)
    assert "Previous" not in shown(researcher.get(first)).links


def test_a_call_of_restricted_context_says_what_is_left_of_both(researcher, dataset):
    grid = done(dataset, prompts=["restricted-golden-0.4"])
    call = grid.calls.select_related("response").get(example__key="e1")

    page = shown(researcher.get(address(grid, call)))
    response = shown(
        researcher.get(reverse("evaluation:response", args=["valley", call.response_id]))
    )

    assert call.response is not None
    # The question has 6 of the 14 tokens of the turns; the passage is one sentence.
    assert call.response.meta["shares"] == {"dialog": 6 / 14, "evidence": 1}
    assert (page.facts["Dialog"], page.notes["Dialog"]) == ("16", "43 % of the dialog")
    assert (page.facts["Evidence"], page.notes["Evidence"]) == ("8", "100 % of the evidence")
    assert page.facts["Prompt"] == "Restricted, golden, dialog 40 %"
    assert "43 % of the tokens of the dialog" in response.text
    assert "100 % of the tokens of the evidence" in response.text


def test_a_call_without_a_prompt_says_why(researcher, dataset):
    grid = failed_in_part(dataset)
    call = grid.calls.earliest("pk")

    page = shown(researcher.get(address(grid, call)))

    assert "No prompt was made" in page.text
    [message] = page.messages
    assert "expected at most 3" in message


def test_a_call_is_no_page_of_another_grid(researcher, dataset, tmp_path):
    grid, other = done(dataset), done(valley(tmp_path, 1, "lone"), name="other")

    call = grid.calls.earliest("pk")
    assert researcher.get(address(other, call)).status_code == 404


def test_the_page_of_a_response_leads_to_its_call(researcher, dataset):
    grid = done(dataset)
    call = grid.calls.get(setup__prompt="golden", example__key="e1")

    page = shown(researcher.get(reverse("evaluation:response", args=["valley", call.response_id])))

    assert address(grid, call) in page.addresses
    assert page.facts["Made with"].startswith("extractive|")
    assert "How it was made" in page.headings
    assert "As imported" not in page.text
