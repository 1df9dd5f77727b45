"""Gold sub-graphs that lack knowledge: what is taken out or replaced, asked, stored and counted."""

import time

import pytest

from evaluation.votes.export import export_folder
from generation.backends.base import Completion
from generation.backends.timeouts import waited_for
from generation.forms.new_grid import NewGridForm, first_choices
from generation.grids.cells import cells, cells_about
from generation.grids.material import materials
from generation.grids.plan import plan_of
from generation.grids.prompt_choices import PromptChoices, choices_of
from generation.grids.prompts import PromptMaker
from generation.management import grid_commands
from generation.models import Call, Response, Setup
from generation.retrieval.graph_state import graph_hash
from generation.templatetags.grids import why_left_out
from generation.text.graph_ablation import removed_members, replaced, stand_ins, without
from generation.text.prompt_types import accuracy_key, prompt_type, removal_key
from tests.generation.lovelace import QUESTIONS, lovelace
from tests.generation.question_makers import ask, grid_of, started
from tests.generation.test_graph_grids import ADA, BYRON
from tests.makers import example_row, import_path, import_rows, statements

pytestmark = pytest.mark.once

BORN = ("Q7259", "place of birth", "London")
FATHER = ("Q7259", "father", "Lord Byron")
POET = ("Q5679", "occupation", "poet")
WHOLE = [*BYRON, *ADA]


# --- the types ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "title", "n_removed", "accuracy"),
    [
        ("graph-gold", "Graph, gold", 0, 100),
        ("graph-gold-minus-1", "Graph, gold − 1", 1, 100),
        ("graph-gold-minus-9", "Graph, gold − 9", 9, 100),
        ("graph-accuracy-80", "Graph, accuracy 80 %", 0, 80),
        ("graph-accuracy-20", "Graph, accuracy 20 %", 0, 20),
    ],
)
def test_a_key_says_what_is_lacking(key, title, n_removed, accuracy):
    kind = prompt_type(key)

    assert (kind.title, kind.graph, kind.place) == (title, "gold", 15)
    assert (kind.n_removed, kind.accuracy) == (n_removed, accuracy)
    assert kind.key == (removal_key(n_removed) if n_removed else accuracy_key(accuracy))


@pytest.mark.parametrize(
    "key", ["graph-gold-minus-0", "graph-gold-minus-10", "graph-accuracy-100", "graph-accuracy-50"]
)
def test_other_numbers_are_no_types(key):
    with pytest.raises(ValueError, match=r"N from 1 to 9.*graph-accuracy-P .P one of 80, 60"):
        prompt_type(key)


# --- what is drawn --------------------------------------------------------------------------


MINIMUM = [BORN, FATHER, POET, ("Q5679", "child", "Ada Lovelace")]


def test_what_is_removed_of_less_is_removed_of_more_and_the_seed_decides():
    in_order = removed_members(MINIMUM, 4, 7, "family")

    assert sorted(in_order) == sorted(MINIMUM)
    assert [removed_members(MINIMUM, n, 7, "family") for n in range(6)] == [
        *(in_order[:n] for n in range(5)),
        in_order,  # five of four: all
    ]
    assert removed_members(reversed(MINIMUM), 2, 7, "family") == in_order[:2]
    of_seeds = {removed_members(MINIMUM, 1, seed, "family") for seed in range(40)}
    assert of_seeds == {(member,) for member in MINIMUM}
    assert len({removed_members(MINIMUM, 4, 7, key) for key in "abcdefgh"}) > 1


def test_a_member_that_says_the_same_again_or_nothing_is_no_piece():
    same = ("Q7259", "place_of_birth", " London ")
    nothing = [("Q7259", "name", "Ada"), ("Q7259", "date of death", " ")]

    assert removed_members([BORN, same, *nothing], 3, 0, "born") == (BORN,)


def test_all_triples_that_say_what_is_removed_are_gone():
    """Relations are compared without underscores, values without further white space."""
    twice = [*ADA, ("Q7259", "place_of_birth", "London ")]

    kept = without(twice, [("Q7259", "place of birth", "London")])

    assert kept == tuple(triple for triple in ADA if triple != BORN)
    assert without(BYRON, [BORN]) == BYRON


GOLD = {(f"q{n}", position): f"Q{2 * n + position}" for n in range(10) for position in range(2)}


@pytest.mark.parametrize("seed", range(5))
def test_so_many_places_are_replaced_as_the_accuracy_says(seed):
    """4, 8, 12 and 16 of 20 places are replaced; 10 questions have two entities each."""
    found = {percent: stand_ins(GOLD, percent, seed) for percent in (100, 80, 60, 40, 20, 0)}

    assert [len(each) for each in found.values()] == [0, 4, 8, 12, 16, 20]
    for more, less in zip([80, 60, 40, 20], [100, 80, 60, 40], strict=True):
        assert found[less].items() <= found[more].items()
    for (key, position), qid in found[0].items():
        others = {found[0].get((key, other)) for other in range(2) if other != position}
        assert qid in GOLD.values()
        assert qid not in {GOLD[key, 0], GOLD[key, 1]} | others
    shown = replaced("q3", ["Q6", "Q7"], found[20])
    assert shown == tuple(
        found[20].get(("q3", position), GOLD["q3", position]) for position in range(2)
    )


def test_the_seed_decides_what_is_replaced_and_by_what_and_the_order_of_rows_does_not():
    turned = dict(reversed(GOLD.items()))

    assert stand_ins(turned, 40, 3) == stand_ins(GOLD, 40, 3)
    drawn = [stand_ins(GOLD, 80, seed) for seed in range(200)]
    assert {place for each in drawn for place in each} == set(GOLD)
    stands_in = {each[place] for each in drawn for place in each if place == ("q0", 0)}
    assert stands_in <= set(GOLD.values()) - {"Q0", "Q1"}
    assert len(stands_in) > 10


def test_a_place_without_any_other_entity_keeps_its_own():
    """'both' has all entities there are; 20 % of 5 places is one, which is never its."""
    gold = {("both", 0): "Q1", ("both", 1): "Q2", ("a", 0): "Q1", ("b", 0): "Q2", ("c", 0): "Q1"}

    for seed in range(20):
        [(place, qid)] = stand_ins(gold, 80, seed).items()
        assert place[0] != "both"
        assert qid != gold[place]
    assert len(stand_ins(gold, 0, 0)) == 3
    assert stand_ins({("a", 0): "Q1"}, 20, 0) == {}


# --- prompts --------------------------------------------------------------------------------


@pytest.fixture
def graph(tmp_path):
    """'born' needs one triple, 'family' four, 'again' none; of the third nothing is known."""
    family = QUESTIONS[1] | {"minimum": [[*triple] for triple in MINIMUM]}
    again = {"id": "again", "question": "Who is London?", "entities": ["Q84"], "minimum": []}
    return lovelace(
        tmp_path,
        examples=[example_row("mill")],
        kg_questions=[QUESTIONS[0], family, QUESTIONS[2], again],
    )


def made(dataset, key, **more):
    ids = list(dataset.examples.order_by("pk").values_list("pk", flat=True))
    material = materials(ids)
    found = PromptMaker(dataset, PromptChoices(prompt_type(key), **more)).made(material)
    return {each.key: prompt for each, prompt in zip(material, found, strict=True)}


@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_prompt_does_not_hold_what_is_removed(graph, n):
    gone = removed_members(MINIMUM, n, 5, "family")

    prompts = made(graph, removal_key(n), seed=5)

    assert prompts["family"].removed == gone
    assert len(gone) == min(n, 4)
    assert list(prompts["family"].graph) == [each for each in WHOLE if each not in gone]
    for _, relation, value in gone:
        assert f"{relation}: {value}" not in prompts["family"].prompt.text.split("Answer:")[-2]
    assert prompts["born"].graph == tuple(each for each in ADA if each != BORN)
    assert prompts["nobody"].problem == "no gold entities are known"
    assert prompts["again"].problem == "no knowledge of a minimum set to remove"
    assert prompts["mill"].problem == "no question about a knowledge graph"
    assert made(graph, "graph-gold")["family"].removed is None


@pytest.mark.parametrize("percent", [80, 60, 40, 20])
def test_a_prompt_shows_other_sub_graphs_in_the_places_of_right_ones(graph, percent):
    """Places: born 0, family 0 and 1, again 0; of four places 1, 2, 2 and 3 are replaced."""
    gold = {("born", 0): "Q7259", ("family", 0): "Q5679", ("family", 1): "Q7259"}
    gold |= {("again", 0): "Q84"}
    others = stand_ins(gold, percent, 5)

    prompts = made(graph, accuracy_key(percent), seed=5)

    assert len(others) == {80: 1, 60: 2, 40: 2, 20: 3}[percent]
    for key, own in (("born", ["Q7259"]), ("family", ["Q5679", "Q7259"]), ("again", ["Q84"])):
        shown = list(dict.fromkeys(qid for qid, _, _ in prompts[key].graph))
        assert shown == [others.get((key, n), qid) for n, qid in enumerate(own)]
    assert prompts["nobody"].problem == "no gold entities are known"


@pytest.mark.parametrize("key", ["graph-gold-minus-2", "graph-accuracy-40"])
def test_more_questions_take_no_more_queries(graph, key):
    ids = dict(graph.examples.values_list("key", "pk"))
    few, many = materials([ids["born"]]), materials([ids["born"], ids["family"], ids["again"]])

    def queries(some):
        maker = PromptMaker(graph, PromptChoices(prompt_type(key)))
        return statements(lambda: maker.made(some))

    assert len(queries(few)) == len(queries(many)) == 3  # the knowledge; entities, triples


# --- setups ---------------------------------------------------------------------------------


def test_seeds_are_setups_at_temperature_0_where_something_is_drawn(graph):
    prompts = ["graph-gold", "graph-gold-minus-1", "graph-accuracy-80"]

    found = cells(grid_of(model="extractive", prompts=prompts, seeds=[0, 1]))

    assert [cell.setup.name for cell in found] == [
        "extractive · T 0.0 · graph-gold",
        "extractive · T 0.0 · graph-gold-minus-1",
        "extractive · T 0.0 · graph-gold-minus-1 · seed=1",
        "extractive · T 0.0 · graph-accuracy-80",
        "extractive · T 0.0 · graph-accuracy-80 · seed=1",
    ]
    assert [choices_of(cell.setup) for cell in found] == [cell.choices for cell in found]


def marks(dataset):
    prompts = ["graph-gold", "graph-gold-minus-1", "graph-accuracy-80", "graph-accuracy-20"]
    found = cells_about(dataset, grid_of(model="extractive", prompts=prompts))
    return {cell.setup.prompt: cell.setup.settings["graph"] for cell in found}


def test_with_further_gold_entities_what_is_replaced_is_of_another_setup(graph, tmp_path):
    before = marks(graph)
    more = {"id": "more", "question": "Where is London?", "entities": ["Q84"]}
    import_rows(tmp_path / "more", "lovelace", kg_questions=[more])

    after = marks(graph)

    changed = {prompt for prompt in before if before[prompt] != after[prompt]}
    assert changed == {"graph-accuracy-80", "graph-accuracy-20"}
    assert before["graph-gold"] == before["graph-gold-minus-1"] != before["graph-accuracy-80"]
    assert before["graph-accuracy-80"] == before["graph-accuracy-20"]


def test_a_new_grid_offers_them_and_begins_without(graph, rosa):
    first = first_choices({"dataset": graph.slug}, rosa)

    options = NewGridForm(first)["prompts"].subwidgets
    offered = {option.data["value"]: option.choice_label for option in options}

    assert offered["graph-gold-minus-3"] == "Gold sub-graph without 3 of the minimum set"
    assert offered["graph-accuracy-20"] == "20 % right sub-graphs, 80 % wrong ones"
    assert first["prompts"] == ["graph-retrieved", "graph-imported", "graph-gold"]


# --- asked ----------------------------------------------------------------------------------


def test_a_plan_counts_what_has_no_prompt_and_what_has_less_to_remove(graph):
    """There are five examples; 'born' has one member, so that two cannot be removed."""
    prompts = ["graph-gold-minus-1", "graph-gold-minus-2", "graph-accuracy-80"]

    plan = plan_of(started(graph, grid_of(model="extractive", prompts=prompts, seeds=[0, 1])))

    assert plan
    counts = {row.prompt: (row.n_calls, row.n_left_out, row.n_removing_less) for row in plan.rows}
    assert counts == {
        "graph-gold-minus-1": (4, 6, 0),
        "graph-gold-minus-2": (4, 6, 2),
        "graph-accuracy-80": (6, 4, 0),
    }
    assert plan.total.n_unmade == 0
    assert {why_left_out(row, {}) for row in plan.rows} == {
        "no gold entities are known or no knowledge of a minimum set to remove",
        "no gold entities are known",
    }
    said = (
        "2 of the calls remove less than their type says, because the graph has no more of the "
        "minimum set."
    )
    assert said in list(grid_commands._lines(plan))


def test_answers_keep_what_was_removed_and_come_back_from_an_export(graph, tmp_path):
    prompts = ["graph-gold", "graph-gold-minus-2", "graph-accuracy-40"]
    ask(started(graph, grid_of(model="extractive", prompts=prompts)))
    export_folder(graph, None, tmp_path / "export")

    same = import_path(tmp_path / "export", "lovelace")
    other = import_path(tmp_path / "export", "elsewhere").dataset

    removed = {
        (response.setup.prompt, response.example.key): response.removed
        for response in Response.objects.filter(dataset=graph).select_related("setup", "example")
    }
    assert {key: value for key, value in removed.items() if value is not None} == {
        ("graph-gold-minus-2", "born"): [list(BORN)],
        ("graph-gold-minus-2", "family"): [
            list(triple) for triple in removed_members(MINIMUM, 2, 0, "family")
        ],
    }
    assert len(removed) == 3 + 2 + 3
    assert {kind: counts["new"] for kind, counts in same.counts.items() if counts["new"]} == {}
    assert other
    columns = ("key", "text", "graph_shown", "removed", "meta", "digest")
    mine, theirs = (
        list(Response.objects.filter(dataset=each).order_by("key").values_list(*columns))
        for each in (graph, other)
    )
    assert mine == theirs
    assert graph_hash(other.pk) == graph_hash(graph.pk)
    assert set(Setup.objects.filter(dataset=other).values_list("name", flat=True)) == set(
        Setup.objects.filter(dataset=graph).values_list("name", flat=True)
    )


# --- how long calls take --------------------------------------------------------------------


def test_of_a_batch_each_completion_has_the_time_since_the_one_before_it():
    """Loading takes 0.1 s, the second completion 0.05 s; what is done between is not counted."""

    def slowly():
        time.sleep(0.1)
        yield Completion("One")
        time.sleep(0.05)
        yield Completion("Two")

    seconds = []
    for waited in waited_for(slowly):
        seconds.append(waited.seconds)
        time.sleep(0.3)

    assert 0.1 <= seconds[0] < 0.25
    assert 0.05 <= seconds[1] < 0.2


def test_calls_that_fail_were_waited_for_as_well(graph, noting):
    def slowly(n):
        time.sleep(0.05)
        return "it fails" if n == 2 else ""

    noting.on_call = slowly

    ask(started(graph, grid_of(prompts=["graph-gold"])))

    calls = Call.objects.order_by("pk").values_list("problem", "seconds")
    assert [problem for problem, _ in calls] == ["", "it fails", ""]
    assert all(seconds is not None and 0.05 <= seconds < 2 for _, seconds in calls)


def test_where_no_model_was_asked_there_is_no_time(graph):
    ask(started(graph, grid_of(model="extractive", prompts=["graph-gold"], budget=100)))

    assert list(Call.objects.values_list("seconds", flat=True)) == [None] * 3
