"""Pages that show and choose prompts about a knowledge graph: previews, calls, the new grid."""

import re

import pytest
from django.urls import reverse

from generation.models import Call, Experiment
from tests.evaluation.pages import words
from tests.generation.asked import ask, grid_of, started
from tests.generation.grid_runs import valley
from tests.generation.lovelace import lovelace
from tests.generation.test_new_grid_page import NEW, TWELVE, choices
from tests.generation.test_prompt_pages import address, row_of, shown
from tests.makers import example_row

pytestmark = pytest.mark.once


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


@pytest.fixture
def graph(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    return lovelace(tmp_path, examples=[example_row("mill")])


def offered(page, name="prompts"):
    """Return the prompt types that a form offers, and those that it begins with."""
    boxes = re.findall(rf'<input[^>]*name="{name}" value="([\w-]+)"([^>]*)>', page.text)
    return [key for key, _ in boxes], [key for key, more in boxes if " checked" in more]


def max_tokens(page):
    [found] = re.findall(r'name="max_tokens" value="(\d+)"', page.text)
    return found


# --- previews -------------------------------------------------------------------------------


def test_a_question_about_a_graph_begins_with_what_is_retrieved(researcher, graph):
    page = researcher.get(address(graph, "born"))

    parts = dict(shown(page))
    assert list(parts) == ["instructions", "demonstration", "dialog", "evidence"]
    assert parts["evidence"] == [
        "{name: Ada Lovelace, instance of: human, place of birth: London, "
        "occupation: mathematician, field of work: mathematics, computing, "
        "father: Lord Byron, qid: Q7259}"
    ]
    assert parts["dialog"] == ["Where was Ada Lovelace born?", "Answer:"]
    assert "1 sub-graph" in words(page)
    assert row_of(page, "Graph, gold")[0] == "15"


def test_a_preview_says_why_there_is_no_prompt_and_what_had_no_room(researcher, graph):
    page = researcher.get(address(graph, "nobody"), {"type": "graph-gold"})
    assert "No gold entities are known" in words(page)
    assert row_of(page, "Graph, as imported")[-1] == "no retrieved list was imported"

    whole = row_of(researcher.get(address(graph, "born")), "Graph, gold")[4]
    budget = int(whole.replace(",", "")) - 1
    page = researcher.get(address(graph, "born"), {"type": "graph-gold", "budget": budget})
    assert "1 triple left out" in words(page)
    assert row_of(page, "Graph, gold")[-1] == "1 triple"


def test_a_preview_counts_entities_that_the_graph_does_not_have(researcher, graph):
    """An import retrieved Q404 for 'born'."""
    page = researcher.get(address(graph, "born"), {"type": "graph-imported"})

    assert "1 sub-graph; 1 entity is not in the graph" in words(page)
    assert row_of(page, "Graph, as imported")[-1] == "1 entity is not in the graph"
    assert row_of(page, "Graph, gold")[-1] == ""


def test_a_response_says_which_part_of_the_graph_its_model_was_not_shown(researcher, graph):
    whole = row_of(researcher.get(address(graph, "born")), "Graph, as imported")[4]
    budget = int(whole.replace(",", "")) - 1
    grid = grid_of(model="extractive", prompts=["graph-imported"], budget=budget)
    experiment = ask(started(graph, grid))
    call = Call.objects.get(example__key="born")

    page = words(
        researcher.get(reverse("evaluation:response", args=["lovelace", call.response_id]))
    )
    assert (
        "apart from 1 triple that had no room in the prompt. 1 entity is not in the graph." in page
    )
    assert "No room for 1 triple of the graph. 1 entity is not in the graph." in page
    page = words(researcher.get(reverse("grids:call", args=[experiment.pk, call.pk])))
    assert "1 triple left out 1 entity is not in the graph" in page
    page = words(researcher.get(reverse("grids:grid", args=[experiment.pk])))
    assert "1 about questions with entities that are not in the graph" in page


def test_other_examples_show_no_prompts_about_graphs_unless_asked(researcher, graph):
    page = researcher.get(address(graph, "mill"))

    assert "Graph, gold</a>" not in page.text
    page = researcher.get(address(graph, "mill"), {"type": "graph-gold"})
    assert "No question about a knowledge graph" in words(page)


def test_the_page_of_a_call_tells_the_parts_of_its_prompt_apart(researcher, graph):
    experiment = ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"])))
    call = Call.objects.get(example__key="born")

    page = researcher.get(reverse("grids:call", args=[experiment.pk, call.pk]))

    assert [part for part, _ in shown(page)] == [
        *("instructions", "demonstration", "dialog", "evidence", "dialog"),
    ]


# --- a new grid -----------------------------------------------------------------------------


def test_a_dataset_with_questions_begins_with_prompts_about_its_graph(researcher, graph):
    page = researcher.get(NEW)

    keys, chosen = offered(page)
    whole = ["graph-retrieved", "graph-imported", "graph-gold"]
    lacking = [f"graph-gold-minus-{n}" for n in (1, 2, 3)]
    lacking += [f"graph-accuracy-{percent}" for percent in (80, 60, 40, 20)]
    assert keys == [*TWELVE, *whole, *lacking]
    assert chosen == whole
    assert max_tokens(page) == "500"
    assert "3 setups" not in words(page)  # temperatures 0 and 0.7
    assert "6 setups × 4 examples" in words(page)


def test_a_dataset_without_questions_shows_none_of_them(researcher, tmp_path):
    valley(tmp_path)

    page = researcher.get(NEW)

    assert offered(page) == (TWELVE, TWELVE)
    assert max_tokens(page) == "128"


def test_types_that_no_question_has_are_offered_but_not_chosen(researcher, tmp_path):
    asks = [{"id": "q", "question": "Who?", "entities": [], "retrieved": []}]
    lovelace(tmp_path, kg_questions=asks)

    assert offered(researcher.get(NEW))[1] == ["graph-retrieved", "graph-imported"]


def test_other_examples_bring_their_prompts_with_them(researcher, graph, tmp_path):
    valley(tmp_path)

    def after_choosing(over, trigger="over", **more):
        asked = choices(over=over, **more)
        headers = {"HX-Request": "true", "HX-Trigger-Name": trigger}
        page = researcher.get(NEW, asked, headers=headers)
        return offered(page)[1], max_tokens(page)

    graphs = ["graph-retrieved", "graph-imported", "graph-gold"]
    assert after_choosing("dataset:lovelace") == (graphs, "500")
    assert after_choosing("dataset:valley", prompts=graphs, max_tokens="500") == (TWELVE, "128")
    # What somebody has chosen stays where it fits, and at any other change.
    assert after_choosing("dataset:valley") == (["no-evidence", "golden"], "128")
    assert after_choosing("dataset:lovelace", prompts=graphs[:1]) == (graphs[:1], "128")
    assert after_choosing("dataset:lovelace", trigger="seeds")[0] == ["no-evidence", "golden"]


def test_a_grid_about_a_graph_is_planned_from_the_form(researcher, graph):
    asked = choices(over="dataset:lovelace", prompts=["graph-gold"], max_tokens="500")

    researcher.post(NEW, asked)

    grid = Experiment.objects.get().grid
    assert (grid["prompts"], grid["max_tokens"]) == (["graph-gold"], [500])


def test_prompts_about_a_graph_are_refused_where_there_is_none(researcher, tmp_path):
    valley(tmp_path)

    answer = researcher.post(NEW, choices(prompts=["graph-gold"]))

    assert answer.status_code == 422
    for over in ("", "sample:x", "sample:99999999999", "dataset:", "nothing"):
        assert researcher.post(NEW, choices(over=over)).status_code == 422
