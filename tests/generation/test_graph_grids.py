"""Grids over questions about a knowledge graph: what each type shows, asks and stores."""

from hashlib import sha256

import pytest

from evaluation.votes.export import export_folder
from generation.backends.base import Completion
from generation.grids.cells import cells, decoding_of
from generation.grids.material import AboutGraph, materials
from generation.grids.plan import plan_of
from generation.grids.prompt_choices import PromptChoices
from generation.grids.prompts import PromptMaker
from generation.management import grid_commands
from generation.models import Call, Checkpoint, Response, Setup
from generation.retrieval.graph_state import graph_hash
from generation.retrieval.subgraphs import SubgraphRetriever
from generation.services.citations import store_cited_facts
from generation.templatetags.grids import why_left_out
from generation.text.citations import parse_citations
from generation.text.graph_prompts import STOPS
from generation.text.prompt_types import GRAPHS, prompt_type
from tests.generation.lovelace import lovelace
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import example_row, import_path, import_rows, statements
from tests.tiny_language_models import tiny_causal

pytestmark = pytest.mark.once

ALL = [kind.key for kind in GRAPHS]
ADA = (
    ("Q7259", "name", "Ada Lovelace"),
    ("Q7259", "instance of", "human"),
    ("Q7259", "place of birth", "London"),
    ("Q7259", "occupation", "mathematician"),
    ("Q7259", "field of work", "mathematics, computing"),
    ("Q7259", "father", "Lord Byron"),
)
BYRON = (
    ("Q5679", "name", "Lord Byron"),
    ("Q5679", "occupation", "poet"),
    ("Q5679", "notable work", "Cain: A Mystery"),
    ("Q5679", "child", "Ada Lovelace"),
)


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path, examples=[example_row("mill")])


def made(dataset, key, **more):
    """Return the prompt of each example, or why there is none, by the example's key."""
    ids = list(dataset.examples.order_by("pk").values_list("pk", flat=True))
    material = materials(ids)
    found = PromptMaker(dataset, PromptChoices(prompt_type(key), **more)).made(material)
    return {each.key: prompt for each, prompt in zip(material, found, strict=True)}


# --- what each type shows -------------------------------------------------------------------


def test_material_knows_what_is_known_of_a_question(graph):
    ids = dict(graph.examples.values_list("key", "pk"))

    found = materials([ids[key] for key in ("born", "family", "nobody", "mill")])

    assert [each.about_graph for each in found] == [
        AboutGraph(("Q7259",), ("Q7259", "Q404")),
        AboutGraph(("Q5679", "Q7259"), ()),
        AboutGraph((), None),
        None,
    ]


def test_gold_prompts_show_the_gold_entities_in_their_order(graph):
    prompts = made(graph, "graph-gold")

    assert prompts["born"].graph == ADA
    assert prompts["family"].graph == (*BYRON, *ADA)
    assert prompts["nobody"].problem == "no gold entities are known"
    assert prompts["mill"].problem == "no question about a knowledge graph"
    assert prompts["mill"].graph is None


def test_imported_prompts_show_what_was_retrieved_elsewhere(graph):
    """An empty list is one: the graph is empty then, and the question is still asked."""
    prompts = made(graph, "graph-imported")

    assert prompts["born"].graph == ADA
    assert prompts["family"].graph == ()
    assert prompts["nobody"].problem == "no retrieved list was imported"


def test_entities_that_the_graph_does_not_have_are_counted(graph):
    """For 'born' an import says that Q404 was retrieved, which is not in the graph."""
    of_types = [made(graph, key) for key in ALL]

    for key, missing in (("born", [0, 1, 0]), ("family", [0, 0, 0])):
        assert [made[key].prompt.n_missing_entities for made in of_types] == missing


def test_retrieved_prompts_show_what_is_found_here(graph):
    prompts = made(graph, "graph-retrieved")

    assert prompts["born"].graph == ADA
    assert prompts["family"].graph == (*ADA, *BYRON)
    assert prompts["nobody"].graph == ()
    assert prompts["nobody"].problem == ""
    assert "information:\nWho built the lighthouse?\n\nAnswer:" in prompts["nobody"].prompt.text


@pytest.mark.parametrize("key", ALL)
def test_more_questions_take_no_more_queries(graph, key):
    ids = dict(graph.examples.values_list("key", "pk"))
    maker = PromptMaker(graph, PromptChoices(prompt_type(key)))
    few, many = materials([ids["born"]]), materials([ids["born"], ids["family"], ids["nobody"]])
    maker.made(few)  # a recogniser is loaded once

    n_few = len(statements(lambda: maker.made(few)))

    assert len(statements(lambda: maker.made(many))) == n_few


def test_a_budget_leaves_triples_out_and_counts_them(graph):
    whole = made(graph, "graph-gold")["born"].prompt

    shorter = made(graph, "graph-gold", budget=whole.n_tokens - 1)["born"]
    none = made(graph, "graph-gold", budget=100)["born"]

    assert shorter.graph == ADA[:-1]
    assert shorter.prompt.n_triples_left_out == 1
    assert "expected at most 100" in none.problem


# --- setups ---------------------------------------------------------------------------------


def test_what_changes_nothing_about_graphs_makes_no_further_setup():
    both = ["before-dialog", "before-last-turn"]
    grid = grid_of(
        model="extractive", prompts=ALL, positions=both, one_shot="e", temperatures=[0.0, 0.5]
    )

    found = cells(grid)

    assert [cell.setup.name for cell in found] == [
        f"extractive · T {temperature} · {key}" for key in ALL for temperature in (0.0, 0.5)
    ]
    assert {cell.decoding.max_tokens for cell in found} == {500}
    assert {cell.decoding.stop for cell in found} == {STOPS}
    assert [decoding_of(cell.setup) for cell in found] == [cell.decoding for cell in found]


def test_a_grid_with_a_graph_has_longer_answers_unless_it_says_otherwise():
    assert grid_of(prompts=["graph-gold"]).max_tokens == (500,)
    assert grid_of(prompts=["no-evidence"]).max_tokens == (128,)
    [said] = cells(grid_of(model="extractive", prompts=["graph-gold"], max_tokens=[128]))
    assert said.setup.name == "extractive · T 0.0 · graph-gold · max_tokens=128"
    assert decoding_of(said.setup).max_tokens == 128


# --- asked ----------------------------------------------------------------------------------


def test_a_plan_counts_what_has_no_prompt_and_says_why(graph):
    grid = started(graph, grid_of(model="extractive", prompts=ALL, budget=100))

    plan = plan_of(grid)

    assert plan
    counts = {row.prompt: (row.n_calls, row.n_left_out, row.n_unmade) for row in plan.rows}
    assert counts == {
        "graph-retrieved": (3, 1, 3),  # 3 of 4 examples; no prompt fits 100 tokens
        "graph-imported": (2, 2, 2),
        "graph-gold": (2, 2, 2),
    }
    assert {row.prompt: why_left_out(row, {}) for row in plan.rows} == {
        "graph-retrieved": "no question about a knowledge graph",
        "graph-imported": "no retrieved list was imported",
        "graph-gold": "no gold entities are known",
    }


def test_answers_cite_the_graph_that_their_prompt_held(graph):
    grid = ask(started(graph, grid_of(model="extractive", prompts=ALL)))

    assert (grid.state, grid.error) == ("done", "")
    answers = {
        (response.setup.prompt, response.example.key): response
        for response in Response.objects.select_related("setup", "example")
    }
    assert len(answers) == 3 + 2 + 2
    born = answers["graph-retrieved", "born"]
    assert born.text.startswith(
        "Ada Lovelace's place of birth is London and occupation is mathematician "
        "[Q7259, place of birth: London, occupation: mathematician]. "
    )
    assert born.graph_shown == [list(triple) for triple in ADA]
    assert (born.is_evidence_stated, born.shown.count()) == (True, 0)
    assert answers["graph-gold", "family"].graph_shown == [list(t) for t in (*BYRON, *ADA)]
    nobody = answers["graph-retrieved", "nobody"]
    assert nobody.graph_shown == []
    assert nobody.text == "Nothing here says more about built the lighthouse [NA]."
    for response in answers.values():
        shown = {tuple(triple) for triple in response.graph_shown or ()}
        cited = parse_citations(response.text, {relation for _, relation, _ in shown}).citations
        assert {(fact.qid, fact.relation, fact.value) for fact in cited} <= shown
        assert len(cited) > 1 or not shown
        tokens = response.meta["tokens"]
        call = Call.objects.get(response=response)
        assert tokens["total"] == call.n_tokens == call.n_model_prompt_tokens
        assert (call.n_evidence_tokens == 0) == (shown == set())


def test_a_plan_counts_calls_that_miss_entities_of_the_graph(graph):
    """Two setups of each type; Q404 of 'born' is missing where the imported list is shown."""
    grid = started(graph, grid_of(model="extractive", prompts=ALL, temperatures=[0.0, 0.5]))

    plan = plan_of(grid)

    assert plan
    assert {row.prompt: row.n_incomplete for row in plan.rows} == {
        "graph-retrieved": 0,
        "graph-imported": 2,
        "graph-gold": 0,
    }
    assert plan.total.n_incomplete == 2
    said = "2 of the calls are about questions with entities that are not in the graph."
    assert said in list(grid_commands._lines(plan))


def test_a_response_counts_entities_that_were_not_in_the_graph(graph):
    ask(started(graph, grid_of(model="extractive", prompts=["graph-imported"])))

    metas = Response.objects.values_list("example__key", "meta")
    assert {key: meta.get("graph") for key, meta in metas} == {
        "born": {"entities_missing": 1},
        "family": None,
    }


def test_triples_without_room_are_counted_with_the_response(graph):
    n_tokens = made(graph, "graph-gold")["born"].prompt.n_tokens

    ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"], budget=n_tokens - 1)))

    born = Response.objects.get(example__key="born")
    assert born.meta["graph"] == {"triples_left_out": 1}
    assert born.graph_shown == [list(triple) for triple in ADA[:-1]]


def test_citations_of_answers_made_here_become_rows_once(graph):
    ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"])))
    ids = list(Response.objects.values_list("pk", flat=True))

    n_citations = store_cited_facts(ids)

    assert n_citations == store_cited_facts(ids) > 2
    first = Response.objects.get(example__key="born").citations.get(number=1)
    assert (first.qid, first.relation, first.value) == ("Q7259", "place of birth", "London")
    assert first.sentence == (
        "Ada Lovelace's place of birth is London and occupation is mathematician."
    )


def test_an_answer_keeps_its_paragraphs_and_ends_before_the_next_question(graph, noting):
    said = " One [NA].\n\nTwo [eot] three.\nQuestion: And?\n\nAnswer: No."
    noting.complete = lambda prompts, decoding: iter([Completion(said) for _ in prompts])

    ask(started(graph, grid_of(prompts=["graph-imported"])))

    assert set(Response.objects.values_list("text", flat=True)) == {"One [NA].\n\nTwo [eot] three."}


def test_models_are_asked_to_stop_before_the_next_question(graph, noting):
    ask(started(graph, grid_of(prompts=["graph-gold", "no-evidence"])))

    stops = {text.endswith("\n\nAnswer:"): decoding.stop for text, decoding in noting.asked}
    assert stops == {True: STOPS, False: ("[eot]",)}


# --- what they are made with ----------------------------------------------------------------


def test_setups_say_which_graph_they_are_made_with(graph):
    ask(started(graph, grid_of(model="extractive", prompts=[*ALL, "no-evidence"])))

    made_with = {setup.prompt: setup.made_with.get("retrieval") for setup in Setup.objects.all()}
    assert made_with == {
        "graph-retrieved": SubgraphRetriever(graph.pk).signature,
        "graph-imported": graph_hash(graph.pk),
        "graph-gold": graph_hash(graph.pk),
        "no-evidence": None,
    }


def test_the_name_of_a_setup_says_which_graph_by_a_hash_of_what_it_is_made_with(graph):
    ask(started(graph, grid_of(model="extractive", prompts=[*ALL, "no-evidence"])))

    shown = Setup.objects.exclude(prompt="no-evidence")
    for setup in shown:
        mark = sha256(setup.made_with["retrieval"].encode()).hexdigest()[:8]
        assert setup.name == f"extractive · T 0.0 · {setup.prompt} · graph={mark}"
    assert len({setup.settings["graph"] for setup in shown}) == 2  # retrieved; as it is
    assert "graph" not in Setup.objects.get(prompt="no-evidence").settings


def grow(folder):
    """Add one entity to the graph."""
    more = {"qid": "Q1", "label": "Universe", "triples": []}
    import_rows(folder / "more", "lovelace", entities=[more])


def test_of_a_changed_graph_a_grid_has_other_setups(graph, tmp_path):
    ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"])))
    grow(tmp_path)

    again = ask(started(graph, grid_of("again", model="extractive", prompts=["graph-gold"])))

    assert (again.state, again.error) == ("done", "")
    by_setup = [setup.responses.count() for setup in Setup.objects.all()]
    assert by_setup == [2, 2]
    assert len(set(Setup.objects.values_list("made_with__retrieval", flat=True))) == 2


def test_a_grid_does_not_go_on_with_a_graph_that_has_changed_since(graph, tmp_path):
    grid = started(graph, grid_of(model="extractive", prompts=["graph-retrieved"]))
    grow(tmp_path)

    stopped = ask(grid)

    assert stopped.state == "failed"
    assert "the graph, or how it is searched, has changed since this grid" in stopped.error
    assert not Response.objects.exists()
    again = started(graph, grid_of("again", model="extractive", prompts=["graph-retrieved"]))
    assert ask(again).state == "done"


def test_a_grid_goes_on_where_it_is_imported_with_the_same_graph(graph, tmp_path):
    ask(started(graph, grid_of(model="extractive", prompts=ALL)))
    export_folder(graph, None, tmp_path / "export")
    other = import_path(tmp_path / "export", "elsewhere").dataset
    assert other

    grid = started(other, grid_of("there", model="extractive", prompts=ALL))

    plan = plan_of(grid)
    assert plan
    assert (plan.total.n_calls, plan.total.n_there) == (0, 3 + 2 + 2)
    assert grid.state == "done"


def test_what_was_made_here_comes_back_from_an_export_as_it_was(graph, tmp_path):
    ask(started(graph, grid_of(model="extractive", prompts=ALL)))
    export_folder(graph, None, tmp_path / "export")

    same = import_path(tmp_path / "export", "lovelace")
    other = import_path(tmp_path / "export", "elsewhere").dataset

    assert {kind: counts["new"] for kind, counts in same.counts.items() if counts["new"]} == {}
    assert other
    columns = ("key", "text", "graph_shown", "is_evidence_stated", "meta", "digest")
    mine, theirs = (
        list(Response.objects.filter(dataset=each).order_by("key").values_list(*columns))
        for each in (graph, other)
    )
    assert mine == theirs
    assert graph.responses.count() == 7


# --- a real model ---------------------------------------------------------------------------


def test_a_transformers_model_is_asked_the_same_prompt(graph, tmp_path):
    """Its weights are random, and it goes on until 500 tokens: what it says means nothing."""
    folder = tiny_causal(tmp_path / "tiny", context=4096)
    Checkpoint.objects.create(name="tiny", backend="language-model", location=str(folder))

    ask(started(graph, grid_of(model="tiny", prompts=["graph-gold"], max_tokens=[8])))

    calls = Call.objects.order_by("example__key")
    assert [call.problem for call in calls] == ["", ""]
    assert {call.prompt[-9:] for call in calls} == {"\n\nAnswer:"}
    assert {tuple(map(len, response.graph_shown)) for response in graph.responses.all()} == {
        (3,) * len(ADA),
        (3,) * (len(ADA) + len(BYRON)),
    }
