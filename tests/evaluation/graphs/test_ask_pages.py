"""Asking a question about a graph: stored once, asked once, answered by the code of the workers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry, User
from generation.models import Call, Checkpoint, Dataset, Grid, KGQuestion, Sample
from generation.sample_choices import SampleChoices
from tests.generation.grid_runs import work
from tests.graph_material import QUESTION, hathaways
from tests.makers import at_each_statement, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once
WHO = "Who was the spouse of Anne Shakespeare?"


@pytest.fixture
def client(rosa: User, client_for: Callable[[User], Client]) -> Client:
    return client_for(rosa)


@pytest.fixture
def graph(tmp_path: Path) -> Dataset:
    return hathaways(tmp_path)


def ask(client: Client, dataset: Dataset, question: str = WHO, **more: object):
    said = {"question": question, "model": "extractive|fp32", "temperature": "0", "seed": "0"}
    return client.post(reverse("graphs:ask", args=[dataset.slug]), said | more)


def asked(dataset: Dataset) -> KGQuestion:
    return KGQuestion.objects.get(example__dataset=dataset, example__key__startswith="asked-")


def steps(dataset: Dataset, question: KGQuestion) -> str:
    return reverse("graphs:question", args=[dataset.slug, question.example_id])


def steps_after(client: Client, dataset: Dataset, question: str):
    """Return the answer with the page of a question that was asked and answered."""
    address = ask(client, dataset, question).url
    work(Grid.objects.order_by("-pk")[0])
    return client.get(address)


def test_a_question_is_stored_planned_started_and_answered(client: Client, graph: Dataset):
    response = ask(client, graph)

    question = asked(graph)
    assert response.status_code == 302
    assert response.url == steps(graph, question)
    assert (question.is_minimum_known, question.is_retrieved_known) == (False, False)
    grid = Grid.objects.get()
    assert grid.state == "running"
    waiting = client.get(response.url)
    [message] = shown(waiting).messages
    assert "being made" in message
    assert 'hx-trigger="every 2s"' in waiting.text

    assert work(grid).state == "done"
    done = client.get(response.url)
    assert "on its way" not in shown(done).text
    [answer] = done.context["answers"]
    assert [entity.qid for entity in answer.shown] == ["Q1"]
    assert [fact.qid for fact in answer.facts]


def test_while_it_waits_htmx_gets_the_answers_alone(client: Client, graph: Dataset):
    address = ask(client, graph).url

    answer = client.get(address, headers={"HX-Request": "true"})

    assert "<html" not in answer.text
    page = shown(answer)
    assert len(page.headings) == len(page.messages) == 1
    assert "being made" in page.messages[0]


def test_whenever_the_answer_comes_the_page_asks_on_or_shows_it(client: Client, graph: Dataset):
    address = ask(client, graph).url
    grid = Grid.objects.get()

    def polled():
        return client.get(address, headers={"HX-Request": "true"})

    for answer in at_each_statement(polled, lambda: work(grid)):
        assert 'hx-trigger="every' in answer.text or answer.context["answers"]


def test_a_grid_of_one_question_is_called_as_the_question_and_crowds_no_list(
    client: Client, graph: Dataset
):
    address = ask(client, graph).url
    ask(client, graph, "Where? " * 40)
    cut, grid = (work(each) for each in Grid.objects.all())

    assert grid.title == WHO
    assert grid.name == f"{WHO} {grid.name[-12:]}"
    assert cut.title == ("Where? " * 40)[:86] + "…"
    listing = {"/": False, "/grids/": False, "/grids/?asked=one": True, "/work/": True}
    assert {page: WHO in shown(client.get(page)).text for page in listing} == listing
    of_grid = shown(client.get(f"/grids/{grid.pk}/"))
    assert WHO in of_grid.headings
    assert "Citation quality" not in of_grid.links  # it counts in no experiment
    [answer] = shown(client.get(address)).parts("sheet-head")[-1:]
    assert answer.text.startswith("extractive · T 0.0 · Graph, retrieved here Asked")


def test_asking_twice_the_same_is_one_question_and_one_call(client: Client, graph: Dataset):
    first = ask(client, graph)
    again = ask(client, graph, f"  {WHO.replace(' ', '  ')} ", seed="7")  # nothing is drawn at 0

    assert first.url == again.url
    assert work(Grid.objects.get()).state == "done"
    ask(client, graph)
    assert Grid.objects.get().state == "done"
    assert Call.objects.count() == graph.responses.count() == Sample.objects.count() == 1
    entry = AuditEntry.objects.get(action="question.asked")
    assert entry.subject == graph.name
    assert entry.details == {"dataset": graph.pk, "key": asked(graph).example.key}


def test_of_a_graph_that_has_grown_the_same_question_is_another_call(
    client: Client, graph: Dataset, tmp_path: Path
):
    steps_after(client, graph, WHO)
    hamnet = {"qid": "Q5", "label": "Hamnet", "type": "human", "triples": []}
    import_rows(tmp_path / "more", graph.name, entities=[hamnet])

    same = steps_after(client, graph, WHO)
    other = steps_after(client, graph, "Who was the mother of Hamnet?")

    assert same.context["waiting"] == other.context["waiting"] == []
    first, second = same.context["answers"]
    assert first.response.setup.name != second.response.setup.name
    [answer] = other.context["answers"]
    assert [entity.qid for entity in answer.shown] == ["Q5"]
    assert answer.response.setup in (first.response.setup, second.response.setup)


def test_what_failed_about_an_earlier_graph_is_not_shown_once_it_was_asked_again(
    client: Client, graph: Dataset, tmp_path: Path
):
    address = ask(client, graph).url
    import_rows(
        tmp_path / "more", graph.name, entities=[{"qid": "Q5", "label": "Hamnet", "triples": []}]
    )
    work(Grid.objects.get())
    [waiting] = client.get(address).context["waiting"]
    assert "has changed since this grid was started" in waiting.problem

    answer = steps_after(client, graph, WHO)

    assert answer.context["waiting"] == []
    assert len(answer.context["answers"]) == 1


def test_questions_that_were_asked_here_can_be_listed_alone_and_crowd_no_list_of_samples(
    client: Client, graph: Dataset
):
    ask(client, graph)
    sample = Sample.objects.get()
    chosen = SampleChoices("drawn").parameters
    drawn = Sample.objects.create(dataset=graph, name="drawn", parameters=chosen, state="done")

    def keys(source: str) -> list[str]:
        listed = client.get(reverse("graphs:questions", args=[graph.slug]), {"source": source})
        return [row["example"].key for row in listed.context["rows"]]

    own = asked(graph).example.key
    assert (keys(""), keys("asked"), keys("all")) == (["k1", "k2"], [own], ["k1", "k2", own])
    samples = client.get(reverse("generation:samples", args=[graph.slug]))
    assert [report.sample for report in samples.context["reports"]] == [drawn]
    assert "1 more is one question each, asked under Graph" in shown(samples).text
    offered = client.get(reverse("grids:new"))
    assert shown(offered).choices("over")[f"sample:{drawn.pk}"] == "Sample drawn"
    assert sample.name not in offered.text
    named = shown(client.get(reverse("grids:new"), {"sample": sample.pk}))
    assert named.fields["over"] == f"sample:{sample.pk}"


def test_the_page_says_what_becomes_of_a_question(client: Client, graph: Dataset):
    page = shown(client.get(reverse("graphs:ask", args=[graph.slug])))

    assert "A question of your own is ad hoc" in page.text


def test_another_temperature_is_another_call_about_the_same_question(
    client: Client, graph: Dataset
):
    ask(client, graph)
    ask(client, graph, temperature="0.7")

    assert [work(each).state for each in Grid.objects.all()] == ["done", "done"]
    assert len(client.get(steps(graph, asked(graph))).context["answers"]) == 2


def test_a_question_that_was_imported_is_asked_itself(client: Client, graph: Dataset):
    response = ask(client, graph, QUESTION)

    k1 = graph.examples.get(key="k1")
    assert response.url == reverse("graphs:question", args=[graph.slug, k1.pk])
    work(Grid.objects.get())
    [answer] = client.get(response.url).context["answers"]
    assert answer.is_minimum_known


def test_the_form_offers_the_words_of_a_question(client: Client, graph: Dataset):
    k1 = graph.examples.get(key="k1")
    address = reverse("graphs:ask", args=[graph.slug])

    page = shown(client.get(address, {"question": k1.pk}))
    assert page.fields["question"] == QUESTION
    assert client.get(address, {"question": "mill"}).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("question", "  ", "This field is required."),
        ("question", "x" * 2001, "at most 2000 characters"),
        ("model", "nobody|fp32", "Select a valid choice"),
        ("temperature", "3", "less than or equal to 2"),
        ("temperature", "nan", "Enter a number."),
        ("seed", "-1", "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_one_message(
    client: Client, graph: Dataset, field: str, value: str, said: str
):
    response = ask(client, graph, **{"question": WHO, field: value})

    assert response.status_code == 422
    [(wrong, message)] = shown(response).errors.items()
    assert wrong == field
    assert said in message
    assert not Grid.objects.exists()
    assert not graph.examples.filter(key__startswith="asked-").exists()


def test_a_model_that_is_not_there_says_why_leads_to_its_grid_and_may_be_asked_again(
    client: Client, graph: Dataset
):
    Checkpoint.objects.create(name="gone", backend="language-model", location="/nowhere")
    response = ask(client, graph, model="gone|fp32")
    grid = work(Grid.objects.get())
    answer = client.get(response.url)

    assert grid.state == "failed"
    [callout] = shown(answer).parts("callout")
    assert "gone gave no answer." in callout.text
    assert grid.error
    assert " ".join(grid.error.split()) in callout.text
    assert callout.addresses == [reverse("grids:grid", args=[grid.pk])]
    assert 'hx-trigger="every 2s"' not in answer.text

    assert ask(client, graph, model="gone|fp32").url == response.url
    assert Grid.objects.get().state == "running"
