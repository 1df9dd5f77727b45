"""Pages that show and choose prompts about a knowledge graph: previews, calls, the new grid."""

import pytest
from django.urls import reverse

from generation.models import Call, Grid
from tests.generation.grid_runs import valley
from tests.generation.lovelace import lovelace
from tests.generation.question_makers import ask, grid_of, started
from tests.generation.test_new_grid_page import NEW, TWELVE, choices
from tests.generation.test_prompt_pages import address, prompt_on
from tests.makers import example_row
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def graph(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    return lovelace(tmp_path, examples=[example_row("mill")])


def types_on(page):
    """Return the table of all prompt types of an example."""
    return page.table("Tokens of each prompt type")


# --- previews -------------------------------------------------------------------------------


def test_a_question_about_a_graph_begins_with_what_is_retrieved(researcher, graph):
    page = shown(researcher.get(address(graph, "born")))

    parts = dict(prompt_on(page))
    assert list(parts) == ["Instructions", "Demonstration", "Dialog", "Evidence"]
    assert parts["Evidence"] == [
        "{name: Ada Lovelace, instance of: human, place of birth: London, "
        "occupation: mathematician, field of work: mathematics, computing, "
        "father: Lord Byron, qid: Q7259}"
    ]
    assert parts["Dialog"] == ["Where was Ada Lovelace born?", "Answer:"]
    assert page.notes["Evidence"] == "1 sub-graph"
    assert types_on(page).row("Graph, gold")


def test_a_preview_says_why_there_is_no_prompt_and_what_had_no_room(researcher, graph):
    page = shown(researcher.get(address(graph, "nobody"), {"type": "graph-gold"}))
    [message] = page.messages
    assert "No gold entities are known" in message
    row = types_on(page).row("Graph, as imported")
    assert row["Left out"] == "no retrieved list was imported"

    whole = types_on(shown(researcher.get(address(graph, "born")))).row("Graph, gold")["All"]
    chosen = {"type": "graph-gold", "budget": int(whole.replace(",", "")) - 1}
    page = shown(researcher.get(address(graph, "born"), chosen))
    assert "1 triple left out" in page.notes["Evidence"]
    assert types_on(page).row("Graph, gold")["Left out"] == "1 triple"


def test_a_preview_counts_entities_that_the_graph_does_not_have(researcher, graph):
    """An import retrieved Q404 for 'born'."""
    page = shown(researcher.get(address(graph, "born"), {"type": "graph-imported"}))

    missing = "1 entity is not in the graph"
    assert page.notes["Evidence"] == f"1 sub-graph; {missing}"
    assert types_on(page).row("Graph, as imported")["Left out"] == missing
    assert types_on(page).row("Graph, gold")["Left out"] == ""


def test_a_response_says_which_part_of_the_graph_its_model_was_not_shown(researcher, graph):
    page = shown(researcher.get(address(graph, "born")))
    budget = int(types_on(page).row("Graph, as imported")["All"].replace(",", "")) - 1
    choices = grid_of(model="extractive", prompts=["graph-imported"], budget=budget)
    grid = ask(started(graph, choices))
    call = Call.objects.get(example__key="born")

    page = shown(
        researcher.get(reverse("evaluation:response", args=["lovelace", call.response_id]))
    )
    assert "apart from 1 triple that had no room" in page.text
    assert "The prompt had no room for 1 triple" in page.text
    assert page.text.count("1 entity is not in the graph") == 2
    page = shown(researcher.get(reverse("grids:call", args=[grid.pk, call.pk])))
    assert page.notes["Evidence"] == "1 triple left out 1 entity is not in the graph"
    page = shown(researcher.get(reverse("grids:grid", args=[grid.pk])))
    assert "1 about questions with entities that are not in the graph" in page.text


def test_other_examples_show_no_prompts_about_graphs_unless_asked(researcher, graph):
    page = shown(researcher.get(address(graph, "mill")))
    assert "Graph, gold" not in types_on(page).column("Prompt")

    page = shown(researcher.get(address(graph, "mill"), {"type": "graph-gold"}))
    assert "Graph, gold" in types_on(page).column("Prompt")
    [message] = page.messages
    assert "No question about a knowledge graph" in message


def test_the_page_of_a_call_tells_the_parts_of_its_prompt_apart(researcher, graph):
    grid = ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"])))
    call = Call.objects.get(example__key="born")

    page = shown(researcher.get(reverse("grids:call", args=[grid.pk, call.pk])))

    assert [part for part, _ in prompt_on(page)] == [
        *("Instructions", "Demonstration", "Dialog", "Evidence", "Dialog"),
    ]


# --- a new grid -----------------------------------------------------------------------------


def test_a_dataset_with_questions_begins_with_prompts_about_its_graph(researcher, graph):
    page = shown(researcher.get(NEW))

    whole = ["graph-retrieved", "graph-imported", "graph-gold"]
    lacking = [f"graph-gold-minus-{n}" for n in (1, 2, 3)]
    lacking += [f"graph-accuracy-{percent}" for percent in (80, 60, 40, 20)]
    assert list(page.choices("prompts")) == [*whole, *lacking, *TWELVE]
    assert page.fields["prompts"] == whole
    assert page.fields["max_tokens"] == "500"
    # Temperatures 0 and 0.7.
    assert page.part("to-ask").text.startswith(
        "Planning counts the tokens of 6 setups × 4 examples"
    )


def test_a_dataset_without_questions_shows_none_of_them(researcher, tmp_path):
    valley(tmp_path)

    page = shown(researcher.get(NEW))

    assert list(page.choices("prompts")) == page.fields["prompts"] == TWELVE
    assert page.fields["max_tokens"] == "128"


def test_types_that_no_question_has_are_offered_but_not_chosen(researcher, tmp_path):
    asks = [{"id": "q", "question": "Who?", "entities": [], "retrieved": []}]
    lovelace(tmp_path, kg_questions=asks)

    assert shown(researcher.get(NEW)).fields["prompts"] == ["graph-retrieved", "graph-imported"]


def test_other_examples_bring_their_prompts_with_them(researcher, graph, tmp_path):
    valley(tmp_path)

    def after_choosing(over, trigger="over", **more):
        asked = choices(over=over, **more)
        headers = {"HX-Request": "true", "HX-Trigger-Name": trigger}
        page = shown(researcher.get(NEW, asked, headers=headers))
        return page.fields["prompts"], page.fields["max_tokens"]

    graphs = ["graph-retrieved", "graph-imported", "graph-gold"]
    assert after_choosing("dataset:lovelace") == (graphs, "500")
    assert after_choosing("dataset:valley", prompts=graphs, max_tokens="500") == (TWELVE, "128")
    # The researcher's choices stay where they fit, and at any other change.
    assert after_choosing("dataset:valley") == (["no-evidence", "golden"], "128")
    assert after_choosing("dataset:lovelace", prompts=graphs[:1]) == (graphs[:1], "128")
    assert after_choosing("dataset:lovelace", trigger="seeds")[0] == ["no-evidence", "golden"]


def test_a_grid_about_a_graph_is_planned_from_the_form(researcher, graph):
    asked = choices(over="dataset:lovelace", prompts=["graph-gold"], max_tokens="500")

    researcher.post(NEW, asked)

    grid = Grid.objects.get().choices
    assert (grid["prompts"], grid["max_tokens"]) == (["graph-gold"], [500])


def test_prompts_about_a_graph_are_refused_where_there_is_none(researcher, tmp_path):
    valley(tmp_path)

    answer = researcher.post(NEW, choices(prompts=["graph-gold"]))

    assert answer.status_code == 422
    for over in ("", "sample:x", "sample:99999999999", "dataset:", "nothing"):
        assert researcher.post(NEW, choices(over=over)).status_code == 422
