"""Only what a gold graph states is removed from it: planned, asked, stored and counted the same."""

import pytest

from generation.grids.material import materials
from generation.grids.plan import plan_of
from generation.grids.prompt_choices import PromptChoices
from generation.grids.prompts import PromptMaker
from generation.grids.question_graphs import removable
from generation.models import Call, Response
from generation.text.graph_ablation import stated_members
from generation.text.prompt_types import prompt_type
from tests.generation.lovelace import QUESTIONS, lovelace
from tests.generation.question_makers import ask, grid_of, started
from tests.generation.test_graph_grids import ADA, BYRON
from tests.makers import statements

pytestmark = pytest.mark.once

BORN = ("Q7259", "place of birth", "London")
FATHER = ("Q7259", "father", "Lord Byron")
NOT_IN_GRAPH = [("Q5679", "occupation", "Poet"), ("Q404", "child", "Bob")]  # 'poet'; no such entity
NAME = ("Q7259", "name", "Ada Lovelace")


def test_a_member_that_the_graph_does_not_state_cannot_be_removed():
    again = ("Q7259", "place_of_birth", " London ")

    assert stated_members([*NOT_IN_GRAPH, NAME, BORN, again], [*BYRON, *ADA]) == (BORN,)
    assert stated_members([BORN], BYRON) == ()


@pytest.fixture
def graph(tmp_path):
    """Can be removed: of 'family' one of four rows, of 'only-name' and 'others' none."""
    family = QUESTIONS[1] | {"minimum": [list(row) for row in (*NOT_IN_GRAPH, NAME, BORN)]}
    rest = {"question": "Who is London?", "entities": ["Q84"]}
    return lovelace(
        tmp_path,
        kg_questions=[
            family,
            rest | {"id": "only-name", "minimum": [["Q84", "name", "London"]]},
            rest | {"id": "others", "minimum": [list(BORN)]},  # true, and not in its gold graph
        ],
    )


def prompts(dataset, n, **choices):
    found = materials(list(dataset.examples.order_by("pk").values_list("pk", flat=True)))
    kind = prompt_type(f"graph-gold-minus-{n}" if n else "graph-gold")
    made = PromptMaker(dataset, PromptChoices(kind, **choices)).made(found)
    return {each.key: prompt for each, prompt in zip(found, made, strict=True)}


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_stored_as_removed_was_there(graph, n, seed):
    made = prompts(graph, n, seed=seed)

    assert made["family"].removed == (BORN,)
    assert made["family"].graph == (*BYRON, *(each for each in ADA if each != BORN))
    assert made["family"].n_not_in_graph == 2  # the name is no knowledge
    for key in ("only-name", "others"):
        assert made[key].prompt is None
        assert made[key].problem == "no knowledge of a minimum set to remove"


def test_the_plan_counts_what_the_job_asks(graph):
    """One of three questions has a piece to remove, and not two."""
    kinds = ["graph-gold-minus-1", "graph-gold-minus-2"]
    experiment = started(graph, grid_of(model="extractive", prompts=kinds))
    plan = plan_of(experiment)

    ask(experiment)

    assert plan
    counts = {row.prompt: (row.n_calls, row.n_left_out, row.n_removing_less) for row in plan.rows}
    assert counts == {kinds[0]: (1, 2, 0), kinds[1]: (1, 2, 1)}
    assert plan.total.n_unmade == 0
    assert list(Call.objects.values_list("problem", flat=True)) == ["", ""]
    for response in Response.objects.filter(dataset=graph):
        assert response.removed == [list(BORN)]
        assert response.meta["graph"] == {"members_not_shown": 2}


def test_the_same_said_twice_is_one_piece(tmp_path):
    twice = [list(BORN), ["Q7259", "place_of_birth", "London"]]
    dataset = lovelace(tmp_path, kg_questions=[QUESTIONS[0] | {"minimum": twice}])

    [n] = removable(dataset.pk).values()

    assert n == 1


def test_what_a_budget_cuts_does_not_come_back_and_is_not_removed(tmp_path):
    """One token too few: Ada's, the longest sub-graph, loses its last triple, her father."""
    family = QUESTIONS[1] | {"minimum": [list(FATHER), list(BORN)]}
    dataset = lovelace(tmp_path, kg_questions=[family])
    budget = prompts(dataset, 0)["family"].prompt.n_tokens - 1
    cut = tuple(each for each in (*BYRON, *ADA) if each != FATHER)
    assert prompts(dataset, 0, budget=budget)["family"].graph == cut

    for n in (1, 2):
        less = prompts(dataset, n, budget=budget)["family"]

        assert less.removed == (BORN,)
        assert less.graph == tuple(each for each in cut if each != BORN)
        assert (less.n_not_in_graph, less.prompt.n_triples_left_out) == (1, 1)
    assert set(prompts(dataset, 2)["family"].removed) == {FATHER, BORN}


def test_counting_takes_no_more_queries_for_more_questions(graph, tmp_path):
    few = lovelace(tmp_path, "few", kg_questions=QUESTIONS[:1])

    assert len(statements(lambda: removable(graph.pk))) == len(
        statements(lambda: removable(few.pk))
    )
