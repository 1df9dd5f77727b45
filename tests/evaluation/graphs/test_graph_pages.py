"""Pages of knowledge graphs: the list, entities, one entity, questions, one question's steps."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from generation.models import Dataset, Entity, Example
from tests.graph_material import ENTITIES, QUESTION, cited_row, hathaways
from tests.makers import example_row, import_rows
from tests.ruler_model import save_ruler_model
from tests.shown import Shown, shown

pytestmark = pytest.mark.once
GRAPHS = reverse("graphs:graphs")


@pytest.fixture
def client(rosa: User, client_for: Callable[[User], Client]) -> Client:
    return client_for(rosa)


@pytest.fixture
def graph(tmp_path: Path) -> Dataset:
    return hathaways(tmp_path, responses=[cited_row()])


def page_of(client: Client, name: str, dataset: Dataset, *args: int, **query: str) -> Shown:
    return shown(client.get(reverse(f"graphs:{name}", args=[dataset.slug, *args], query=query)))


def entity(dataset: Dataset, qid: str) -> Entity:
    return dataset.entities.get(qid=qid)


def k1(dataset: Dataset) -> Example:
    return dataset.examples.get(key="k1")


class TestList:
    def test_an_empty_list_says_how_to_get_a_graph(
        self, client: Client, adam: User, client_for: Callable[[User], Client]
    ):
        [message] = shown(client.get(GRAPHS)).messages
        assert "An admin can import entities" in message
        assert "Import a graph" in shown(client_for(adam).get(GRAPHS)).links

    def test_each_graph_is_listed_with_what_it_holds(self, client: Client, graph: Dataset):
        """3 + 5 + 3 + 0 triples, of 4 entities."""
        [(dataset, counts)] = client.get(GRAPHS).context["rows"]

        assert dataset == graph
        assert counts == (4, 11, 2, 1, 0)

    def test_datasets_without_entities_are_not_listed(self, client: Client, tmp_path: Path):
        import_rows(tmp_path, examples=[example_row()])

        assert client.get(GRAPHS).context["rows"] == []

    def test_more_graphs_take_no_more_queries(
        self, client: Client, graph: Dataset, tmp_path: Path, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(12) as first:
            client.get(GRAPHS)
        hathaways(tmp_path, "second")
        with django_assert_max_num_queries(len(first.captured_queries)):
            assert len(client.get(GRAPHS).context["rows"]) == 2


class TestEntities:
    @pytest.mark.parametrize(
        ("query", "qids"),
        [
            ({}, ["Q1", "Q2", "Q4", "Q3"]),
            ({"q": "hathaway"}, ["Q1", "Q2"]),
            ({"q": "  bard  of "}, ["Q3"]),  # an alias
            ({"q": "q3"}, ["Q3"]),  # an id
            ({"type": "theatre"}, ["Q4"]),
            ({"q": "hathaway", "type": "theatre"}, []),
        ],
    )
    def test_they_are_found_by_label_alias_id_and_type(
        self, client: Client, graph: Dataset, query: dict[str, str], qids: list[str]
    ):
        response = client.get(reverse("graphs:graph", args=[graph.slug], query=query))

        assert [each.qid for each in response.context["page"]] == qids

    def test_an_alias_is_looked_for_in_this_graph_alone(self, client: Client, graph: Dataset):
        assert "No entity found" in page_of(client, "graph", graph, q="nobody").headings

    def test_htmx_is_answered_with_the_list_alone(self, client: Client, graph: Dataset):
        address = reverse("graphs:graph", args=[graph.slug])
        answer = client.get(address, {"q": "globe"}, headers={"HX-Request": "true"})

        assert "<html" not in answer.text
        page = shown(answer)
        assert page.headings == []
        assert page.part("entity-list").table().column("Entity") == ["Globe Q4"]

    def test_more_entities_take_no_more_queries(
        self, client: Client, graph: Dataset, tmp_path: Path, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(17) as few:
            page_of(client, "graph", graph)
        more = [{"qid": f"Q{n}", "label": f"L{n}", "triples": []} for n in range(100, 180)]
        many = hathaways(tmp_path, "many", entities=[*ENTITIES, *more])
        with django_assert_max_num_queries(len(few.captured_queries)):
            page = page_of(client, "graph", many)
        assert "Entities 84 Triples 11 Questions 2" in page.text
        for button in ("Ask a question", "Read citations", "Run experiments"):
            assert button in page.links
        assert len(page.table("Entities").rows) == 50
        assert "1 to 50 of 84 entities" in page.text

    def test_a_dataset_without_a_graph_says_so(self, client: Client, tmp_path: Path):
        dataset = import_rows(tmp_path, examples=[example_row()]).dataset
        assert dataset

        assert "No entities" in page_of(client, "graph", dataset).headings
        [message] = page_of(client, "questions", dataset).messages
        assert "has no knowledge graph" in message
        assert "Nothing to ask about" in page_of(client, "ask", dataset).headings

    def test_admins_are_led_to_pulling_more(
        self, client: Client, adam: User, client_for: Callable[[User], Client], graph: Dataset
    ):
        assert "Pull entities" not in page_of(client, "graph", graph).text
        of_admin = page_of(client_for(adam), "graph", graph)
        assert of_admin.links["Pull entities"].endswith(f"?dataset={graph.slug}")


class TestEntity:
    def test_its_triples_are_a_picture_and_a_table(self, client: Client, graph: Dataset):
        address = reverse("graphs:entity", args=[graph.slug, entity(graph, "Q2").pk])
        answer = client.get(address)

        assert shown(answer).table("Triples of").rows[0] == ["occupation", "actor"]
        picture = answer.context["page"].picture
        assert [(g.full, g.n_more) for g in picture.wide.groups] == [
            ("occupation", 1),
            ("place of birth", 0),
        ]

    def test_neighbours_in_the_graph_are_links_and_others_are_not(
        self, client: Client, graph: Dataset
    ):
        page = page_of(client, "entity", graph, entity(graph, "Q1").pk)
        spouse = reverse("graphs:entity", args=[graph.slug, entity(graph, "Q3").pk])

        # In both pictures, in the table, and as what points here.
        assert page.addresses.count(spouse) == 4
        place = page.table("Triples of").row("place of birth")["Value"]
        assert place == "Shottery Q99, not in this graph"

    def test_namesakes_and_questions_are_named(self, client: Client, graph: Dataset):
        address = reverse("graphs:entity", args=[graph.slug, entity(graph, "Q2").pk])
        page = client.get(address).context["page"]

        assert [other.qid for other in page.namesakes.rows] == ["Q1"]
        [question] = page.questions.rows
        assert (question.text, question.is_gold, question.is_retrieved) == (QUESTION, False, True)

    def test_a_document_shows_its_text_and_that_nothing_is_around_it(
        self, client: Client, graph: Dataset
    ):
        text = page_of(client, "entity", graph, entity(graph, "Q4").pk).text

        assert "A theatre. A theatre." in text
        assert "Only the name of this entity is known" in text
        assert "No triple points to this entity" in text

    def test_an_entity_of_another_dataset_is_not_found(
        self, client: Client, graph: Dataset, tmp_path: Path
    ):
        other = hathaways(tmp_path, "other")
        address = reverse("graphs:entity", args=[other.slug, entity(graph, "Q1").pk])

        assert client.get(address).status_code == 404

    def test_all_of_it_takes_a_fixed_number_of_queries(
        self, client: Client, graph: Dataset, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(20):
            page_of(client, "entity", graph, entity(graph, "Q1").pk)


class TestQuestions:
    def test_what_is_known_of_each_is_counted_and_what_is_not_is_a_dash(
        self, client: Client, graph: Dataset
    ):
        response = client.get(reverse("graphs:questions", args=[graph.slug]))

        names = ("n_gold", "n_retrieved", "n_minimum", "n_answers")
        assert [tuple(row[name] for name in names) for row in response.context["rows"]] == [
            (2, 2, 2, 1),
            (None, None, None, 0),
        ]

    @pytest.mark.parametrize(("words", "keys"), [("MILL", ["k2"]), ("k1", ["k1"]), ("queen", [])])
    def test_they_are_found_by_their_words_and_ids(
        self, client: Client, graph: Dataset, words: str, keys: list[str]
    ):
        response = client.get(reverse("graphs:questions", args=[graph.slug]), {"q": words})

        assert [row["example"].key for row in response.context["rows"]] == keys


class TestSteps:
    def test_the_wife_of_shakespeare_is_chosen_and_her_namesake_is_not(
        self, client: Client, graph: Dataset
    ):
        """Her neighbour 'William Shakespeare' is in the question: score 1; the actor has 0."""
        address = reverse("graphs:question", args=[graph.slug, k1(graph).pk])
        steps = client.get(address).context["steps"]

        assert [m.steps.mention.text for m in steps.mentions] == [
            "Anne Hathaway",
            "William Shakespeare",
        ]
        assert [
            (row.candidate.qid, row.candidate.score, row.is_chosen)
            for row in steps.mentions[0].rows
        ] == [("Q1", 1, True), ("Q2", 0, False)]

    def test_entities_that_the_type_filter_drops_are_marked_counted_and_explained(
        self, client: Client, tmp_path: Path, settings
    ):
        film = {"qid": "Q5", "label": "Anne Hathaway", "type": "film", "triples": []}
        dataset = hathaways(tmp_path, entities=[*ENTITIES, film])
        kinds = {"Anne Hathaway": "PERSON", "William Shakespeare": "PERSON"}
        settings.SPACY_MODEL = str(save_ruler_model(tmp_path / "model", kinds))
        page = page_of(client, "question", dataset, k1(dataset).pk)

        candidates = page.table("Candidates of each name, the likeliest first")
        checks = [row[3] for row in candidates.rows if len(row) > 3]
        assert checks == ["fits", "fits", "dropped", "fits"]
        assert "3 candidates, 1 dropped" in page.text
        assert "the type of the entity does not fit the kind of the name" in page.text
        settings.SPACY_MODEL = ""
        assert "dropped" not in page_of(client, "question", dataset, k1(dataset).pk).text.lower()

    def test_an_entity_says_how_its_name_was_found(self, client: Client, tmp_path: Path):
        asked = {"id": "k3", "question": "who was anne  hathaway?", "entities": ["Q1"]}
        dataset = hathaways(tmp_path, kg_questions=[asked])
        text = page_of(client, "question", dataset, dataset.examples.get(key="k3").pk).text

        assert "Q1, found with its white space folded, without regard to capitals" in text

    def test_sub_graphs_say_who_names_them_and_what_the_answer_needs(
        self, client: Client, graph: Dataset
    ):
        address = reverse("graphs:question", args=[graph.slug, k1(graph).pk])
        steps = client.get(address).context["steps"]

        assert [(g.qid, g.is_chosen, g.is_gold, g.is_imported) for g in steps.graphs] == [
            ("Q1", True, True, True),
            ("Q3", True, True, False),
            ("Q2", False, False, True),
        ]
        assert [g.n_minimum for g in steps.graphs] == [1, 1, 0]
        assert [(row.value, row.round, row.is_shown) for row in steps.minimum] == [
            ("1623", 1, True),
            ("Hamlet", 2, True),
        ]

    def test_the_prompt_shows_the_graph_that_was_retrieved(self, client: Client, graph: Dataset):
        text = page_of(client, "question", graph, k1(graph).pk).text

        assert "{name: Anne Hathaway, spouse: William Shakespeare" in text

    def test_entities_that_the_graph_does_not_have_are_counted(
        self, client: Client, tmp_path: Path
    ):
        """Gold Q1 and Q98, retrieved elsewhere Q98 and Q99: it has Q1."""
        asked = {"id": "k3", "question": "Who?", "entities": ["Q1", "Q98"]}
        dataset = hathaways(tmp_path, kg_questions=[asked | {"retrieved": ["Q98", "Q99"]}])
        text = page_of(client, "question", dataset, dataset.examples.get(key="k3").pk).text

        assert "2 entities are not in the graph." in text

    def test_each_citation_has_its_verdict_in_words(self, client: Client, graph: Dataset):
        """In the minimum set; shown, not needed; not shown; without entity or value."""
        address = reverse("graphs:question", args=[graph.slug, k1(graph).pk])
        [answer] = client.get(address).context["answers"]

        assert [str(fact.verdict) for fact in answer.facts] == [
            "in minimum set",
            "correct",
            "wrong",
            "incomplete",
        ]
        assert answer.n_na == 1
        assert "".join(part.text for part in answer.parts) == answer.response.text

    def test_answers_are_shown_page_by_page(self, client: Client, tmp_path: Path):
        """Nine answers are a page of eight and a page of one."""
        rows = [cited_row(key=f"r{n}") for n in range(9)]
        dataset = hathaways(tmp_path, responses=rows)
        address = reverse("graphs:question", args=[dataset.slug, k1(dataset).pk])
        first, second = (client.get(address, {"page": n}) for n in (1, 2))

        assert "9 answers" in shown(second).text
        assert [len(each.context["answers"]) for each in (first, second)] == [8, 1]
        assert 'href="?page=2#answers"' in first.text

    def test_citations_stand_below_their_sentence_and_lead_to_their_entity(
        self, client: Client, graph: Dataset
    ):
        answer = client.get(reverse("graphs:question", args=[graph.slug, k1(graph).pk]))
        cited = shown(answer).table("Citations by sentence")
        entity_url = reverse("graphs:entity", args=[graph.slug, entity(graph, "Q1").pk])

        assert cited.rows.count(["She died in 1623."]) == 1
        below = cited.rows.index(["She died in 1623."]) + 1
        assert cited.rows[below][0] == "1 date of death: 1623 Anne Hathaway Q1"
        assert cited.links[below] == {"Anne Hathaway": entity_url}
        assert '<details class="replies" open>' in answer.text

    def test_an_answer_whose_graph_is_not_known_is_not_judged(self, client: Client, tmp_path: Path):
        dataset = hathaways(tmp_path, responses=[cited_row(graph_shown=None)])
        text = page_of(client, "question", dataset, k1(dataset).pk).text

        assert "It is not known which graph the model was shown" in text
        assert "in minimum set" not in text

    def test_a_question_about_nothing_says_so_at_each_step(self, client: Client, graph: Dataset):
        text = page_of(client, "question", graph, graph.examples.get(key="k2").pk).text

        for said in (
            "The question contains no name of the graph",
            "No sub-graph was retrieved",
            "The minimum set is not known, so precision and recall",
            "No answer yet",
        ):
            assert said in text

    def test_an_example_that_asks_about_no_graph_has_no_steps(self, client: Client, tmp_path: Path):
        dataset = hathaways(tmp_path, examples=[example_row("plain")])
        address = reverse(
            "graphs:question", args=[dataset.slug, dataset.examples.get(key="plain").pk]
        )

        assert client.get(address).status_code == 404

    def test_more_answers_take_no_more_queries(
        self, client: Client, tmp_path: Path, django_assert_max_num_queries
    ):
        few = hathaways(tmp_path, "few", responses=[cited_row()])
        many = hathaways(
            tmp_path,
            "many",
            responses=[cited_row(f"a{n}", setup=f"model-{n}") for n in range(6)],
        )
        page_of(client, "question", few, k1(few).pk)  # reads the graph
        page_of(client, "question", many, k1(many).pk)
        with django_assert_max_num_queries(40) as queries:
            page_of(client, "question", few, k1(few).pk)
        with django_assert_max_num_queries(len(queries.captured_queries)):
            page_of(client, "question", many, k1(many).pk)


class TestOtherPages:
    def test_example_and_dataset_lead_to_the_graph(self, client: Client, graph: Dataset):
        example = k1(graph)
        steps = reverse("graphs:question", args=[graph.slug, example.pk])
        of_example = client.get(reverse("evaluation:example", args=[graph.slug, example.pk]))
        of_dataset = client.get(reverse("generation:dataset", args=[graph.slug]))

        assert steps in shown(of_example).addresses
        assert reverse("graphs:graph", args=[graph.slug]) in shown(of_dataset).addresses

    def test_a_response_shows_its_citations_and_its_graph_with_what_was_taken_out(
        self, client: Client, tmp_path: Path
    ):
        removed = [["Q1", "place of birth", "Shottery"]]
        dataset = hathaways(tmp_path, responses=[cited_row(removed=removed)])
        address = reverse("evaluation:response", args=[dataset.slug, dataset.responses.get().pk])
        answer = client.get(address)
        page = shown(answer)

        assert "✓✓ 1 in minimum set" in page.text
        assert "Removed from it" in page.headings
        assert ">Shottery</bdi></del>" in answer.text
        assert "Nothing was shown" not in page.text
        assert "Evidence" not in page.headings
        assert not page.parts("turn--response")  # it is shown once, with its citations

    def test_a_response_without_a_graph_has_no_citations(self, client: Client, tmp_path: Path):
        dataset = hathaways(tmp_path, responses=[cited_row(graph_shown=None)])
        address = reverse("evaluation:response", args=[dataset.slug, dataset.responses.get().pk])

        page = shown(client.get(address))
        assert "Dialog and response" in page.headings
        assert not any("citations" in heading for heading in page.headings)
