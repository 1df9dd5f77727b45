"""The list of datasets and the browser of one: search, filter, page by page."""

import re

import pytest
from django.urls import reverse

from generation.models import Dataset, Setup
from tests.makers import example_row, import_rows, response_row, statements

pytestmark = pytest.mark.once

DATA = "/data/"
HTML = "<script>alert(1)</script>"


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


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
    return re.findall(r'<a class="cut"[^>]*>([^<]*)</a>', answer.text)


def address(dataset):
    return reverse("generation:dataset", args=[dataset.slug])


# --- the list -------------------------------------------------------------------------------


def test_the_list_counts_what_each_dataset_holds(researcher, pilot, tmp_path):
    import_rows(tmp_path / "b", "another", examples=[example_row()])

    text = re.sub(r"\s+", " ", researcher.get(DATA).text)

    assert text.index(">another<") < text.index(">pilot<")
    assert re.search(r'>pilot</a></th> <td class="r">4</td> <td class="r">3</td>', text)
    assert re.search(r'>another</a></th> <td class="r">1</td> <td class="r">0</td>', text)


def test_without_data_an_admin_is_shown_the_way_to_import(adam, rosa, client_for):
    assert "Import a dataset" in client_for(adam).get(DATA).text

    text = client_for(rosa).get(DATA).text
    assert "An admin can import" in text
    assert reverse("evaluation:import") not in text


def test_a_long_list_comes_page_by_page(researcher):
    Dataset.objects.bulk_create(Dataset(name=f"set {n:02}", slug=f"set-{n:02}") for n in range(51))

    first, second = researcher.get(DATA), researcher.get(DATA, {"page": "2"})

    assert first.text.count('<th scope="row">') == 50
    assert "set 50" not in first.text
    assert "set 50" in second.text
    assert "51 to 51 of 51 datasets" in second.text


@pytest.mark.parametrize("page", ["0", "-1", "999", "x", ""])
def test_a_page_that_does_not_exist_is_the_nearest(researcher, pilot, page):
    for url in (DATA, address(pilot)):
        answer = researcher.get(url, {"page": page})

        assert answer.status_code == 200
        assert "pilot" in answer.text


def test_the_list_costs_the_same_for_3_and_for_30_datasets(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            import_rows(tmp_path / f"{n}-{i}", f"set {n}-{i}", examples=[example_row()])
        return len(statements(lambda: researcher.get(DATA)))

    assert cost(3) == cost(27)


# --- one dataset ----------------------------------------------------------------------------


def test_the_browser_shows_question_turns_passages_and_responses(researcher, pilot):
    text = re.sub(r"\s+", " ", researcher.get(address(pilot)).text)

    assert keys_on(researcher.get(address(pilot))) == [
        "mill/1",
        "mill/2",
        "bridge",
        "without dialog",
    ]
    row = text[text.index(">mill/1<") : text.index(">mill/2<")]
    assert "And when did it close?" in row
    assert "Who built" not in row
    assert '<td class="r">3</td> <td class="r">1</td> <td class="r">2</td>' in row
    assert "3 passages" in text
    assert re.search(r"model-b</th><td class=\"r\">2</td>", text)


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
    assert '<td class="r">4</td>' in answer.text  # all of its responses, not the fitting ones


def test_a_dialog_shows_its_examples_and_the_way_back(researcher, pilot):
    answer = researcher.get(address(pilot), {"dialog": "d 1&2"})

    assert keys_on(answer) == ["mill/1", "mill/2"]
    assert "Only dialog <strong>d 1&amp;2</strong>" in answer.text
    assert "dialog=d+1%262" in researcher.get(address(pilot)).text


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
    text = researcher.get(address(pilot), {"q": "no such words"}).text

    assert "No example found" in text
    assert "Show all examples" in text


def test_many_examples_come_page_by_page_with_the_search_kept(researcher, tmp_path):
    import_rows(tmp_path / "a", examples=[example_row(f"e{n:02}") for n in range(30)])
    pilot = Dataset.objects.get()

    first = researcher.get(address(pilot), {"q": "question"})
    second = researcher.get(address(pilot), {"q": "question", "page": 2})

    assert keys_on(first) == [f"e{n:02}" for n in range(25)]
    assert keys_on(second) == [f"e{n:02}" for n in range(25, 30)]
    assert 'href="?q=question&amp;page=2"' in first.text
    assert "26 to 30 of 30 examples" in second.text


def test_htmx_gets_the_list_alone(researcher, pilot):
    answer = researcher.get(address(pilot), {"q": "bridge"}, headers={"HX-Request": "true"})

    assert answer.text.strip().startswith("{#") is False
    assert '<div id="example-list">' in answer.text
    assert "<html" not in answer.text
    assert keys_on(answer) == ["bridge"]


def test_only_admins_see_the_way_to_delete(adam, rosa, client_for, pilot):
    delete = reverse("evaluation:delete-dataset", args=[pilot.slug])

    assert delete in client_for(adam).get(address(pilot)).text
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
        assert "&lt;script&gt;alert(1)" in answer.text


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


def test_a_dataset_with_responses_leads_to_its_trade_offs(researcher, pilot, tmp_path):
    bare = import_rows(tmp_path / "b", "bare", examples=[example_row()]).dataset
    assert bare

    there = reverse("tradeoffs:tradeoff", args=[pilot.slug])
    assert f'href="{there}">Trade-offs</a>' in researcher.get(address(pilot)).text
    assert reverse("tradeoffs:tradeoff", args=[bare.slug]) not in researcher.get(address(bare)).text


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
