"""Made-up minimum sets: triples drawn, questions left out, and the notes about both."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry
from evaluation.votes.export import export_folder
from generation.importers import DatasetError
from generation.models import Dataset, KGQuestion
from generation.retrieval.graph_state import graph_hash
from generation.services.made_up_minimum import MadeUpError, make_up_minimum
from tests.generation.lovelace import QUESTIONS, lovelace
from tests.makers import import_path, import_rows

pytestmark = pytest.mark.once

NAME = "lovelace, made-up minimum sets"
# All but 'name' and 'instance of', and no value that is not there.
OF_ADA = {
    ("Q7259", "place of birth", "London"),
    ("Q7259", "occupation", "mathematician"),
    ("Q7259", "field of work", "mathematics, computing"),
    ("Q7259", "father", "Lord Byron"),
}
OF_BYRON = {
    ("Q5679", "occupation", "poet"),
    ("Q5679", "notable work", "Cain: A Mystery"),
    ("Q5679", "child", "Ada Lovelace"),
}


@pytest.fixture
def graph(tmp_path):
    """Gold is known for 'born' and 'family', only a retrieved list for 'found' and 'elsewhere'."""
    found = {"id": "found", "question": "And Byron?", "entities": [], "retrieved": ["Q5679"]}
    elsewhere = {"id": "elsewhere", "question": "Who?", "entities": [], "retrieved": ["Q404"]}
    return lovelace(tmp_path, kg_questions=[*QUESTIONS, found, elsewhere])


def minimum_of(dataset):
    return {
        question.example.key: [(m.qid, m.relation, m.value) for m in question.minimum.all()]
        for question in KGQuestion.objects.filter(example__dataset=dataset)
    }


def test_sets_are_drawn_from_the_sub_graphs_of_each_question(graph):
    made = make_up_minimum(graph)

    assert made.name == NAME
    sets = minimum_of(made)
    assert list(sets) == ["born", "family", "found"]
    assert sorted(sets["born"]) == sorted(OF_ADA)
    assert set(sets["family"]) < OF_ADA | OF_BYRON
    assert len(set(sets["family"])) == 5
    assert set(sets["found"]) == OF_BYRON
    questions = KGQuestion.objects.filter(example__dataset=made)
    assert {(q.is_minimum_known, q.is_minimum_made_up) for q in questions} == {(True, True)}
    gold = questions.get(example__key="found").entities.filter(is_retrieved=False)
    assert list(gold.values_list("qid", flat=True)) == ["Q5679"]
    assert graph_hash(made.pk) == graph_hash(graph.pk)


def test_the_dataset_that_they_are_made_for_stays_as_it_is(graph):
    before = minimum_of(graph)

    make_up_minimum(graph)

    assert minimum_of(graph) == before
    assert not KGQuestion.objects.filter(example__dataset=graph, is_minimum_made_up=True).exists()


def test_the_seed_decides_and_more_triples_go_on_from_fewer(graph):
    def sets(name, **choices):
        return minimum_of(make_up_minimum(graph, f"{name}, made up", **choices))["family"]

    two, again, five = sets("two", n=2), sets("again", n=2), sets("five")

    assert two == again == five[:2]
    assert len({tuple(sets(f"seed {seed}", n=2, seed=seed)) for seed in range(6)}) > 1


def test_names_and_what_holds_for_everybody_are_never_drawn(tmp_path):
    """As BioKaLMA spells them; 'Category:' is a page of an encyclopedia."""
    stated = {
        "given_name": "Ada",
        "surname": "Byron",
        "sex_or_gender": "female",
        "instance of": "human",
        "topic's main category": "Category:Ada Lovelace",
        "date_of_birth": "1815-12-10",
    }
    triples = [{"relation": relation, "value": value} for relation, value in stated.items()]
    asked = {"id": "who", "question": "Who was Ada?", "entities": ["Q7259"]}
    nothing = {"id": "nothing", "question": "Who was she?", "entities": ["Q1"]}
    outcome = import_rows(
        tmp_path,
        "names",
        entities=[
            {"qid": "Q7259", "label": "Ada", "triples": triples},
            {"qid": "Q1", "label": "She", "triples": triples[:-1]},
        ],
        kg_questions=[asked, nothing],
    )

    assert outcome.dataset is not None

    made = make_up_minimum(outcome.dataset)

    assert minimum_of(made) == {"who": [("Q7259", "date_of_birth", "1815-12-10")]}


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            {"name": "lovelace"},
            "found the name 'lovelace'; expected a name that contains “made-up”",
        ),
        ({"n": 0}, "found 0 triples; expected from 1 to 100"),
        ({"name": "made-up \udcff"}, r"found a lone surrogate \(character 9\) in the name"),
        ({"name": "made-up" * 20}, "found a name of 140 characters; expected at most 100"),
    ],
)
def test_what_cannot_be_made_is_refused(graph, choices, said):
    with pytest.raises(MadeUpError, match=said):
        make_up_minimum(graph, **choices)

    assert list(Dataset.objects.all()) == [graph]


def test_a_second_one_of_the_same_name_is_refused(graph):
    made = make_up_minimum(graph)

    with pytest.raises(MadeUpError, match=f"found a dataset '{NAME}'; expected a new name"):
        make_up_minimum(graph, n=2)

    assert len(minimum_of(made)["family"]) == 5


def test_without_a_question_about_the_graph_nothing_is_made(tmp_path):
    lonely = lovelace(tmp_path, "lonely", kg_questions=[QUESTIONS[2]])

    with pytest.raises(MadeUpError, match="no question about entities of the graph of lonely"):
        make_up_minimum(lonely)

    assert list(Dataset.objects.all()) == [lonely]


def test_an_export_says_so_and_an_import_keeps_it(graph, tmp_path):
    made = make_up_minimum(graph)
    export_folder(made, None, tmp_path / "export")
    rows = (tmp_path / "export" / "kg_questions.jsonl").read_text("utf-8").splitlines()

    same = import_path(tmp_path / "export", NAME)
    other = import_path(tmp_path / "export", "elsewhere").dataset

    assert [json.loads(row)["minimum_made_up"] for row in rows] == [True] * 3
    assert other
    assert same.counts["kg_questions"] == {"new": 0, "unchanged": 3, "bad": 0}
    assert same.counts["entities"] == {"new": 0, "unchanged": 3, "bad": 0}
    assert minimum_of(other) == minimum_of(made)
    assert KGQuestion.objects.filter(example__dataset=other, is_minimum_made_up=True).count() == 3


def test_other_exports_do_not_speak_of_it(graph, tmp_path):
    export_folder(graph, None, tmp_path / "export")

    assert "made_up" not in (tmp_path / "export" / "kg_questions.jsonl").read_text("utf-8")


def test_only_a_known_set_can_be_made_up(tmp_path):
    row = {"id": "a", "question": "Who?", "entities": ["Q1"], "minimum_made_up": True}

    with pytest.raises(DatasetError, match=r"minimum_made_up.*found true; expected false"):
        import_rows(tmp_path, "wrong", kg_questions=[row])


def test_the_command_says_what_it_made_and_what_it_left_out(graph):
    out = StringIO()

    call_command("make_up_minimum", "lovelace", triples=2, stdout=out)

    assert out.getvalue() == (
        f"{NAME} has 3 questions, each with a made-up minimum set. "
        "2 questions of lovelace are left out: they have no sub-graph to draw from.\n"
    )
    assert {len(of) for of in minimum_of(Dataset.objects.get(name=NAME)).values()} == {2}
    entry = AuditEntry.objects.get(action="dataset.minimum_made_up")
    assert (entry.subject, entry.details) == (
        NAME,
        {
            "source": "lovelace",
            "n_triples": 2,
            "seed": 13,
            "source_id": graph.pk,
            "made_id": Dataset.objects.get(name=NAME).pk,
        },
    )
    with pytest.raises(CommandError, match=r"expected a new name\nNothing was made"):
        call_command("make_up_minimum", "lovelace")
