"""The list of datasets and the browser of one: search, filter, page by page."""

import pytest
from django.urls import reverse

from generation.models import Dataset, Passage, Setup
from tests.makers import example_row, import_rows, response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

DATA = "/data/"
HTML = "<script>alert(1)</script>"


@pytest.fixture
def pilot(tmp_path):
    """Four examples in three dialogs, with responses by two setups."""
    turns = [
        {"speaker": "user", "text": "Who built the mill?"},
        {"speaker": "assistant", "text": "The monks of Ebrach."},
        {"speaker": "user", "text": "And when did it close?"},
    ]
    import_rows(
        tmp_path / "pilot",
        examples=[
            example_row("mill/1", dialog="d 1&2", turns=turns),
            example_row("mill/2", dialog="d 1&2", golden_answer="In 1971."),
            example_row("bridge"),
            {"id": "without dialog", "turns": None},
        ],
        responses=[
            response_row("r1", "mill/1", text="It closed in the winter of 1971."),
            response_row("r2", "mill/1", setup="model-b", text="100% sure_ly: \\ no idea."),
            response_row("r3", "bridge", setup="model-b"),
        ],
    )
    return Dataset.objects.get()


def keys_on(answer):
    """Return the ids of the examples that a page lists, in order."""
    tables = shown(answer).part("example-list").tables
    return [key for table in tables for key, *_ in table.links]


def address(dataset):
    return reverse("generation:dataset", args=[dataset.slug])


# --- the list -------------------------------------------------------------------------------


def test_the_list_counts_what_each_dataset_holds(researcher, pilot, tmp_path):
    import_rows(tmp_path / "b", "another", examples=[example_row()])

    table = shown(researcher.get(DATA)).table()

    assert [row[:3] for row in table.rows] == [["another", "1", "0"], ["pilot", "4", "3"]]
    assert table.columns[:3] == ["Dataset", "Examples", "Responses"]


def test_without_data_an_admin_is_shown_the_way_to_import(adam, rosa, client_for, settings):
    settings.RESEARCHERS_IMPORT = False
    there = reverse("evaluation:import")
    assert shown(client_for(adam).get(DATA)).links["Import a dataset"] == there

    answer = client_for(rosa).get(DATA)
    [message] = shown(answer).messages
    assert "An admin can import" in message
    assert there not in answer.text


def test_a_long_list_comes_page_by_page(researcher):
    Dataset.objects.bulk_create(Dataset(name=f"set {n:02}", slug=f"set-{n:02}") for n in range(51))

    first, second = shown(researcher.get(DATA)), shown(researcher.get(DATA, {"page": "2"}))

    assert first.table().column("Dataset") == [f"set {n:02}" for n in range(50)]
    assert second.table().column("Dataset") == ["set 50"]
    assert "51 to 51 of 51" in second.text


@pytest.mark.parametrize("page", ["0", "-1", "999", "x", ""])
def test_a_page_that_does_not_exist_is_the_nearest(researcher, pilot, page):
    for url in (DATA, address(pilot)):
        answer = researcher.get(url, {"page": page})

        assert answer.status_code == 200
        assert "pilot" in shown(answer).text


def test_the_list_costs_the_same_for_3_and_for_30_datasets(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            import_rows(tmp_path / f"{n}-{i}", f"set {n}-{i}", examples=[example_row()])
        return len(statements(lambda: researcher.get(DATA)))

    assert cost(3) == cost(27)


# --- one dataset ----------------------------------------------------------------------------


def test_the_browser_shows_question_turns_passages_and_responses(researcher, pilot):
    answer = researcher.get(address(pilot))

    page = shown(answer)
    table = page.table("Examples")
    assert keys_on(answer) == ["mill/1", "mill/2", "bridge", "without dialog"]
    assert table.columns[1:] == ["Last user question", "Turns", "Passages", "Responses"]
    assert table.rows[0][1:] == ["And when did it close?", "3", "1", "2"]
    assert "3 passages" in page.text
    assert page.table("Setups").row("model-b")["Responses"] == "2"


def test_passages_that_came_with_responses_are_counted_as_such(researcher, tmp_path):
    evidence = [{"id": key, "text": key} for key in ("p1", "p2")]
    import_rows(
        tmp_path,
        passages=[{"id": f"p{n}", "text": f"p{n}"} for n in range(3, 13)],
        examples=[
            example_row("bare", evidence=[]),
            example_row("flat", evidence=[]),
            example_row("both", evidence=evidence),
        ],
        responses=[
            # Ten passages, of which p7 is shown with both responses.
            response_row("r1", "flat", evidence_shown=[f"p{n}" for n in range(3, 8)]),
            response_row("r2", "flat", evidence_shown=[f"p{n}" for n in range(7, 13)]),
            response_row("r3", "both", evidence_shown=["p1", "p3"]),  # p1 is evidence of its own
        ],
    )
    dataset = Dataset.objects.get()

    table = shown(researcher.get(address(dataset))).table("Examples")

    n_passages = [row["Passages"] for row in map(table.row, ("bare", "flat", "both"))]
    assert n_passages == ["0", "shown with responses: 10", "2 shown with responses: 1"]
    flat = dataset.examples.get(key="flat")
    page = shown(researcher.get(reverse("evaluation:example", args=[dataset.slug, flat.pk])))
    assert "0 passages" not in page.text
    assert "shown with responses: 10" in page.text
    assert "The import contained no evidence" not in page.text


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("winter of 1971", ["mill/1"]),  # in a response
        ("MONKS", ["mill/1"]),  # in an earlier turn
        ("1971", ["mill/1", "mill/2"]),  # in a response, in a golden answer
        ("WITHOUT", ["without dialog"]),  # in an id
        ("  bridge  ", ["bridge"]),
        ("100% sure_ly", ["mill/1"]),
        ("100_ sure", []),
        ("%", ["mill/1"]),
        ("\\ no", ["mill/1"]),
        ("'; drop table", []),
        ("Question of", ["mill/2", "bridge"]),
        ("", ["mill/1", "mill/2", "bridge", "without dialog"]),
    ],
)
def test_search_finds_words_in_dialogs_responses_answers_and_ids(researcher, pilot, words, found):
    assert keys_on(researcher.get(address(pilot), {"q": words})) == found


def test_an_example_with_two_fitting_responses_is_listed_once(researcher, pilot, tmp_path):
    more = [response_row(f"more {n}", "bridge", text="Made of stone.") for n in range(3)]
    import_rows(tmp_path / "more", responses=more)

    answer = researcher.get(address(pilot), {"q": "made of stone"})

    assert keys_on(answer) == ["bridge"]
    # All of its responses, not the fitting ones.
    assert shown(answer).table("Examples").column("Responses") == ["4"]


def test_a_dialog_shows_its_examples_and_the_way_back(researcher, pilot):
    answer = researcher.get(address(pilot), {"dialog": "d 1&2"})

    assert keys_on(answer) == ["mill/1", "mill/2"]
    assert "Only dialog d 1&2" in shown(answer).text
    example = shown(researcher.get(f"/data/pilot/examples/{pilot.examples.get(key='mill/1').pk}/"))
    assert f"{address(pilot)}?dialog=d%201%262" in example.addresses


def test_a_setup_shows_the_examples_that_it_answered(researcher, pilot):
    setup = Setup.objects.get(name="model-b")

    assert keys_on(researcher.get(address(pilot), {"setup": setup.pk})) == ["mill/1", "bridge"]
    both = researcher.get(address(pilot), {"setup": setup.pk, "q": "mill"})
    assert keys_on(both) == ["mill/1"]


@pytest.mark.parametrize("setup", ["999999", "x", "-1"])
def test_a_setup_that_is_gone_does_not_undo_the_search(researcher, pilot, setup):
    answer = researcher.get(address(pilot), {"setup": setup, "q": "mill"})

    assert keys_on(answer) == ["mill/1", "mill/2"]


def test_a_setup_of_another_dataset_is_none_of_this_one(researcher, pilot, tmp_path):
    import_rows(
        tmp_path / "b", "other", examples=[example_row()], responses=[response_row(setup="secret")]
    )

    text = researcher.get(address(pilot)).text

    assert "secret" not in text


def test_nothing_found_says_so_and_shows_the_way_to_all(researcher, pilot):
    page = shown(researcher.get(address(pilot), {"q": "no such words"}))

    [message] = page.messages
    assert "No example found" in message
    assert page.links["Show all examples"] == address(pilot)


def test_many_examples_come_page_by_page_with_the_search_kept(researcher, tmp_path):
    import_rows(tmp_path / "a", examples=[example_row(f"e{n:02}") for n in range(30)])
    pilot = Dataset.objects.get()

    first = researcher.get(address(pilot), {"q": "question"})
    second = researcher.get(address(pilot), {"q": "question", "page": 2})

    assert keys_on(first) == [f"e{n:02}" for n in range(15)]
    assert keys_on(second) == [f"e{n:02}" for n in range(15, 30)]
    assert "?q=question&page=2" in shown(first).addresses
    assert "16 to 30 of 30" in shown(second).text


def test_htmx_gets_the_list_alone(researcher, pilot):
    answer = researcher.get(address(pilot), {"q": "bridge"}, headers={"HX-Request": "true"})

    assert answer.text.strip().startswith("{#") is False
    assert "<html" not in answer.text
    assert keys_on(answer) == ["bridge"]


def test_only_admins_see_the_way_to_delete(adam, rosa, client_for, pilot):
    delete = reverse("evaluation:delete-dataset", args=[pilot.slug])

    assert delete in shown(client_for(adam).get(address(pilot))).addresses
    assert delete not in client_for(rosa).get(address(pilot)).text


def test_html_in_the_data_is_shown_as_text(researcher, tmp_path):
    turns = [{"speaker": HTML, "text": HTML}, {"speaker": "user", "text": HTML}]
    import_rows(
        tmp_path / "a",
        HTML,
        examples=[example_row(HTML, dialog=f"{HTML}2", turns=turns)],
        responses=[response_row("r", HTML, setup=HTML)],
    )
    dataset = Dataset.objects.get()

    for answer in (
        researcher.get(DATA),
        researcher.get(address(dataset)),
        researcher.get(address(dataset), {"q": HTML, "dialog": f"{HTML}2"}),
    ):
        assert "<script>alert" not in answer.text
        assert HTML in shown(answer).text


def test_the_browser_costs_the_same_for_3_and_for_24_examples(researcher, tmp_path):
    def cost(name, n):
        dataset = import_rows(
            tmp_path / name,
            name,
            examples=[example_row(f"e{i}") for i in range(n)],
            responses=[response_row(f"r{i}", f"e{i}", setup=f"model {i}") for i in range(n)],
        ).dataset
        assert dataset
        return len(statements(lambda: researcher.get(address(dataset), {"q": "question"})))

    assert cost("few", 3) == cost("many", 24) == cost("more than a page", 40)


def test_a_dataset_that_does_not_exist_is_not_found(researcher):
    assert researcher.get("/data/nothing/").status_code == 404


def test_raters_see_no_data(rachel, client_for, pilot):
    client = client_for(rachel)

    assert client.get(DATA).status_code == 403
    assert client.get(address(pilot)).status_code == 403


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_pages_are_for_reading(researcher, pilot, method):
    assert getattr(researcher, method)(DATA).status_code == 405
    assert getattr(researcher, method)(address(pilot)).status_code == 405


@pytest.mark.parametrize(
    ("title", "text", "called"),
    [
        ("The mill", "It closed.", "The mill"),
        ("", "It  closed\nin 1971.", "It closed in 1971."),
        ("", "word " * 100, "word " * 11 + "word…"),  # 60 characters with the ellipsis
        ("", " ", "p1"),
    ],
)
def test_a_passage_is_called_by_its_title_else_by_its_first_words(title, text, called):
    assert str(Passage(key="p1", title=title, text=text)) == called
