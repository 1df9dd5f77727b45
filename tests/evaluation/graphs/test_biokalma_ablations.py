"""Knowledge taken out of BioKaLMA's graphs, and wrong graphs in place of right ones.

Its minimum sets are not published: they are made up here. The offline model cites what it is shown
and nothing else, so that its recall falls with what is not shown, and its correctness does not.
"""

from itertools import pairwise

import pytest

from evaluation.graphs.reports.citations import citations_report
from generation.grids.material import materials
from generation.grids.prompt_choices import PromptChoices
from generation.grids.prompts import PromptMaker
from generation.models import KGQuestion, MinimumTriple, Response, Sample
from generation.services.made_up_minimum import make_up_minimum
from generation.text.compared_triples import compared, knowledge
from generation.text.flat_graph import Triple
from generation.text.prompt_types import ACCURACIES, accuracy_key, prompt_type, removal_key
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import import_path

pytestmark = pytest.mark.once

PUBLISHED = "data/biokalma/complex_question_graph.json"
REMOVALS = [removal_key(n) for n in range(4)]
BY_ACCURACY = [accuracy_key(percent) for percent in (100, *ACCURACIES)]
EVERY = 24  # questions: of 482 each 24th is asked, of which there are 21


@pytest.fixture
def source(shared):
    path = shared / PUBLISHED
    if not path.is_file():
        pytest.skip(f"no BioKaLMA at {path}")
    return import_path(path, "biokalma").dataset


def asked(dataset, prompts):
    """Ask the offline model about some questions; return what it was shown, by prompt and key."""
    sample = Sample.objects.create(dataset=dataset, name="some", parameters={}, state="done")
    for position, example in enumerate(dataset.examples.order_by("pk")[::EVERY]):
        sample.members.create(example=example, position=position)
    wanted = grid_of(f"over {dataset}"[:100], "extractive", prompts=prompts, sample="some")
    experiment = ask(started(dataset, wanted))
    assert (experiment.state, experiment.error) == ("done", "")
    responses = Response.objects.filter(dataset=dataset).select_related("setup", "example")
    return {(each.setup.prompt, each.example.key): each for each in responses}


def test_recall_falls_with_knowledge_that_is_not_shown_and_correctness_does_not(source):
    dataset = make_up_minimum(source)
    assert not KGQuestion.objects.filter(example__dataset=source, is_minimum_known=True).exists()
    # Of 543 questions 55 have no sub-graph, and 6 one that says nothing but names.
    assert dataset.examples.count() == 482

    answers = asked(dataset, list(dict.fromkeys([*REMOVALS, *BY_ACCURACY])))

    report = citations_report(dataset)
    rows = {row["prompt"]: row for row in report.records}
    assert {row["n_answers"] for row in rows.values()} == {21}
    assert {row["correctness"] for row in rows.values()} == {1.0}
    for prompts in (REMOVALS, BY_ACCURACY):
        recalls = [rows[prompt]["recall"] for prompt in prompts]
        assert all(more > less for more, less in pairwise(recalls)), recalls
    assert report.left_out["made_up_minimum_sets"] > 0

    # What is removed of less is removed of more, and is not shown.
    needed: dict[str, set[Triple]] = {}
    of_dataset = MinimumTriple.objects.filter(question__example__dataset=dataset)
    for key, qid, relation, value in of_dataset.values_list(
        "question__example__key", "qid", "relation", "value"
    ):
        needed.setdefault(key, set()).add((qid, relation, value))
    keys = [key for prompt, key in answers if prompt == "graph-gold"]
    for key in keys:
        whole = answers["graph-gold", key]
        assert whole.removed is None
        last: list[list[str]] = []
        for n, prompt in enumerate(REMOVALS[1:], start=1):
            response = answers[prompt, key]
            assert len(response.removed) == min(n, len(needed[key]))
            assert response.removed[: len(last)] == last
            last = response.removed
            removed = {(qid, relation, value) for qid, relation, value in last}
            assert removed <= needed[key]
            gone = knowledge(removed)
            assert response.graph_shown == [
                [qid, relation, value]
                for qid, relation, value in whole.graph_shown
                if compared((qid, relation, value)) not in gone
            ]

    # A second time in a dataset of its own: the same is shown, and the same removed.
    again = asked(make_up_minimum(source, "again, made up"), [REMOVALS[3], BY_ACCURACY[3]])
    assert len(again) == 2 * 21
    for at, response in again.items():
        first = answers[at]
        assert (response.graph_shown, response.removed) == (first.graph_shown, first.removed)


def test_over_all_questions_what_is_replaced_stays_so_as_the_accuracy_falls(source):
    """Every question's prompt, none asked: the share of places that keep their entity."""
    dataset = make_up_minimum(source)
    ids = list(dataset.examples.order_by("pk").values_list("pk", flat=True))
    material = materials(ids)
    gold = [each.about_graph.gold for each in material if each.about_graph]
    n_places = sum(map(len, gold))
    before: dict[tuple[int, int], str] = {}
    for percent in ACCURACIES:
        maker = PromptMaker(dataset, PromptChoices(prompt_type(accuracy_key(percent)), seed=13))
        found = {}
        for number, made in enumerate(maker.made(material)):
            shown = list(dict.fromkeys(qid for qid, _, _ in made.graph or ()))
            assert len(shown) == len(gold[number])  # none occurs twice
            for place, (qid, own) in enumerate(zip(shown, gold[number], strict=True)):
                if qid != own:
                    assert qid not in gold[number]
                    found[number, place] = qid
        assert len(found) == round(n_places * (100 - percent) / 100)
        assert before.items() <= found.items()
        before = found
