"""Making up minimum sets from a page, and pages that say that sets are made up."""

import pytest
from django.urls import reverse

from evaluation.graphs.views import minimum_sets
from generation.models import Dataset, KGQuestion, Triple
from generation.services.made_up_minimum import make_up_minimum, usual_name
from tests.generation.lovelace import lovelace
from tests.shown import shown

pytestmark = pytest.mark.once

NAME = "lovelace, made-up minimum sets"


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path)


def test_a_researcher_makes_the_dataset_once(researcher, rosa, graph):
    url = reverse("graphs:make-up", args=[graph.slug])

    first, second = researcher.post(url), researcher.post(url)

    made = Dataset.objects.get(name=NAME)
    assert first.url == second.url == reverse("graphs:experiments", args=[made.slug])
    assert (made.created_by, Dataset.objects.count()) == (rosa, 2)


def test_it_is_made_by_a_post_and_by_researchers_alone(researcher, graph, client_for, rachel):
    url = reverse("graphs:make-up", args=[graph.slug])

    assert researcher.get(url).status_code == 405
    assert client_for(rachel).post(url).status_code == 403
    assert Dataset.objects.count() == 1


def test_without_a_sub_graph_it_says_why_nothing_was_made(researcher, tmp_path):
    lonely = lovelace(tmp_path, "lonely", kg_questions=[])

    answer = researcher.post(reverse("graphs:make-up", args=[lonely.slug]), follow=True)

    [message] = shown(answer).messages
    assert "Nothing was made: found no question about entities" in message


def test_pages_of_questions_say_what_is_made_up(researcher, graph):
    made = make_up_minimum(graph)

    for dataset, n in ((graph, 0), (made, 2)):
        listed = shown(researcher.get(reverse("graphs:questions", args=[dataset.slug])))
        sets = listed.table("Questions").column("Minimum set")
        assert sum(each.endswith(" made up") for each in sets) == n
        question = KGQuestion.objects.get(example__dataset=dataset, example__key="born")
        address = reverse("graphs:question", args=[dataset.slug, question.example_id])
        page = shown(researcher.get(address))
        assert ("Minimum set made up" in page.headings) == bool(n)
        assert ("These triples were drawn at random from the sub-graphs" in page.text) == bool(n)


def test_a_large_graph_is_for_the_command(researcher, graph, monkeypatch):
    """Lovelace's graph: entities and triples together are more than any one of them."""
    n_entities = graph.entities.count()
    n = n_entities + Triple.objects.filter(subject__dataset=graph).count()
    url = reverse("graphs:make-up", args=[graph.slug])

    monkeypatch.setattr(minimum_sets, "MOST_ROWS", n - 1)
    messages = shown(researcher.post(url, follow=True)).messages
    said = f"Use the command 'manage.py make_up_minimum {graph.slug}'"
    assert any(said in message for message in messages)
    assert Dataset.objects.count() == 1

    monkeypatch.setattr(minimum_sets, "MOST_ROWS", n)
    researcher.post(url)
    assert Dataset.objects.count() == 2


def test_nobody_is_led_to_the_copy_of_another_dataset(researcher, graph, tmp_path):
    """Two names that are the same for 78 characters; a copy of the usual name that is foreign."""
    long = [lovelace(tmp_path, "l" * 78 + end) for end in ("one", "two")]
    made = [researcher.post(reverse("graphs:make-up", args=[each.slug])).url for each in long]
    assert len(set(made)) == 2
    assert all(len(usual_name(each)) == 100 for each in long)

    lovelace(tmp_path, NAME)
    answer = researcher.post(reverse("graphs:make-up", args=[graph.slug]), follow=True)

    assert answer.redirect_chain[-1][0] == reverse("graphs:experiments", args=[graph.slug])
    messages = shown(answer).messages
    assert any("Nothing was made: found a dataset" in message for message in messages)
