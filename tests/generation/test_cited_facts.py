"""Citations of stored responses are parsed, numbered and filled in."""

import pytest

from generation.models import Citation, Response
from generation.services.citations import RESPONSES_AT_ONCE, store_cited_facts
from tests.makers import example_row, import_rows, response_row, statements, vote_row

pytestmark = pytest.mark.both

ROME = ["Q1", "place of birth", "Rome"]


def stored():
    return list(
        Citation.objects.order_by("response__key", "number").values_list(
            "response__key", "number", "qid", "relation", "value", "sentence"
        )
    )


def all_responses():
    return list(Response.objects.values_list("pk", flat=True))


def test_complete_citations_are_stored_with_what_they_claim(tmp_path):
    text = "Born in Rome [Q1, place of birth: Rome]. A painter [Q1] she was [Q1, sport: none]."
    import_rows(
        tmp_path,
        examples=[example_row()],
        responses=[response_row(text=text, graph_shown=[ROME]), response_row("r2")],
    )

    n_citations = store_cited_facts(all_responses())

    assert n_citations == 2  # the second has no relation: it takes a number, and no row
    assert stored() == [
        ("r1", 1, "Q1", "place of birth", "Rome", "Born in Rome."),
        ("r1", 3, "Q1", "sport", "none", "A painter she was."),
    ]


def test_a_name_is_stored_where_it_is_a_citation(tmp_path):
    """Alone, and where it is another than the shown text has and the store knows.

    No number of another citation hangs on that.
    """
    name = ["Q1", "name", "Ada Lovelace"]
    import_rows(
        tmp_path,
        examples=[example_row()],
        entities=[{"qid": "Q1", "label": "Ada Lovelace", "aliases": ["Ada King"], "triples": []}],
        responses=[
            response_row(key, text=text, graph_shown=[name, ROME])
            for key, text in (
                ("alone", "Ada was a woman [Q1, name: Ada King]."),
                ("beside", "So [Q1, name: Ada King, sport: x]. And [Q1, Ada Lovelace, sport: y]."),
                ("other", "So [Q1, name: Grace, sport: x]. And [Q1, Grace, sport: y]."),
            )
        ],
    )

    store_cited_facts(all_responses())

    assert [(key, number, *fact[1:3]) for key, number, *fact in stored()] == [
        ("alone", 1, "name", "Ada King"),
        ("beside", 1, "sport", "x"),
        ("beside", 2, "sport", "y"),
        ("other", 1, "sport", "x"),
        ("other", 2, "sport", "y"),
        ("other", 3, "name", "Grace"),  # the bare one is incomplete
    ]


def test_imported_citations_are_filled_and_those_not_in_the_text_stay_empty(tmp_path):
    import_rows(
        tmp_path,
        examples=[example_row()],
        responses=[response_row(text="Born in Rome [Q1, place of birth: Rome].")],
        votes=[vote_row(citation=1), vote_row(citation=2)],
    )
    before = dict(Citation.objects.values_list("number", "pk"))

    n_citations = store_cited_facts(all_responses())

    assert n_citations == 2
    assert dict(Citation.objects.values_list("number", "pk")) == before  # votes keep their rows
    assert stored() == [
        ("r1", 1, "Q1", "place of birth", "Rome", "Born in Rome."),
        ("r1", 2, "", "", "", ""),
    ]


def test_a_second_call_changes_nothing_and_writes_nothing(tmp_path):
    text = "Born in Rome [Q1, place of birth: Rome]."
    import_rows(tmp_path, examples=[example_row()], responses=[response_row(text=text)])
    store_cited_facts(all_responses())
    before = list(Citation.objects.values_list())

    again = statements(lambda: store_cited_facts(all_responses()))

    assert list(Citation.objects.values_list()) == before
    assert not [sql for sql in again if not sql.lstrip().startswith("SELECT")]
    assert store_cited_facts(all_responses()) == 1


def test_what_raters_may_have_judged_is_not_replaced(tmp_path):
    text = "Born in Rome [Q1, place of birth: Rome]."
    import_rows(tmp_path, examples=[example_row()], responses=[response_row(text=text)])
    store_cited_facts(all_responses())
    Citation.objects.update(sentence="As it was shown.")

    store_cited_facts(all_responses())

    assert [row[-1] for row in stored()] == ["As it was shown."]


def test_the_shown_graph_says_what_relations_are_known(tmp_path):
    text = "She wrote [Q1, notable works: Kirk, Spock: A Life]."
    shown = [["Q1", "notable works", "Kirk, Spock: A Life"]]
    import_rows(
        tmp_path,
        examples=[example_row()],
        responses=[response_row("r1", text=text, graph_shown=shown), response_row("r2", text=text)],
    )

    store_cited_facts(all_responses())

    assert [row[:5] for row in stored()] == [
        ("r1", 1, "Q1", "notable works", "Kirk, Spock: A Life"),
        ("r2", 1, "Q1", "notable works", "Kirk"),  # no graph at all: the plain rule
        ("r2", 2, "Q1", "Spock", "A Life"),
    ]


@pytest.mark.parametrize("more", [{}, {"graph_shown": []}], ids=["not said", "an empty graph"])
def test_without_a_shown_graph_the_datasets_own_is_known(tmp_path, more):
    text = "A mill [mill-1, Notable works: Kirk, Spock: A Life] it was."
    triples = [{"relation": "Notable works", "value": "Kirk, Spock: A Life"}]
    import_rows(
        tmp_path,
        examples=[example_row()],
        entities=[{"qid": "mill-1", "label": "Mill", "triples": triples}],
        responses=[response_row(text=text, **more)],
    )

    store_cited_facts(all_responses())

    assert [row[2:5] for row in stored()] == [("mill-1", "Notable works", "Kirk, Spock: A Life")]


def test_names_longer_than_a_graph_can_hold_are_not_stored(tmp_path):
    text = f"So [Q1, {'a' * 301}: x] [Q1, {'b' * 300}: y] [qid: {'c' * 101}, sport: z]."
    import_rows(tmp_path, examples=[example_row()], responses=[response_row(text=text)])

    store_cited_facts(all_responses())

    assert [(number, value) for _, number, _, _, value, _ in stored()] == [(2, "y")]


def test_only_these_responses_are_parsed_each_once(tmp_path):
    text = "Born in Rome [Q1, place of birth: Rome]."
    responses = [response_row(key, text=text) for key in ("r1", "r2")]
    import_rows(tmp_path, examples=[example_row()], responses=responses)
    (r2,) = Response.objects.filter(key="r2").values_list("pk", flat=True)

    assert store_cited_facts([r2, r2]) == 1
    assert [row[0] for row in stored()] == ["r2"]
    assert store_cited_facts([]) == 0


def test_statements_grow_with_the_batches_only(tmp_path):
    text = "Born in Rome [Q1, place of birth: Rome]."
    few = [response_row(f"r{n}", text=text) for n in range(3)]
    many = [response_row(f"s{n}", text=text) for n in range(100)]
    import_rows(tmp_path, examples=[example_row()], responses=[*few, *many])

    def cost(prefix):
        ids = list(Response.objects.filter(key__startswith=prefix).values_list("pk", flat=True))
        return len(statements(lambda: store_cited_facts(ids)))

    assert cost("r") == cost("s")
    assert RESPONSES_AT_ONCE > 100


def test_every_batch_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr("generation.services.citations.RESPONSES_AT_ONCE", 2)
    text = "Born in Rome [Q1, place of birth: Rome]."
    responses = [response_row(f"r{n}", text=text) for n in range(5)]
    import_rows(tmp_path, examples=[example_row()], responses=responses)

    assert store_cited_facts(all_responses()) == 5
    assert Citation.objects.exclude(qid="").count() == 5
