"""Queries for graphs of Wikidata's shape, and how their answers are read. No server is asked."""

import pytest

from generation.importers.json_text import JSONTrouble
from generation.records import EntityTriple
from generation.retrieval.sparql_results import Term, rows_of
from generation.retrieval.wikibase import (
    Edge,
    Match,
    Shape,
    described,
    edges_of,
    edges_query,
    labels_query,
    literal,
    matches_of,
    names_query,
    statements_query,
)
from tests.endpoint_server import rows

SHAPE = Shape()
WD, PROPERTY = "http://www.wikidata.org/entity/", "http://www.wikidata.org/entity/"


def item(qid):
    return Term("uri", WD + qid)


def text(value, language="en"):
    return Term("literal", value, language=language)


def statement(qid, pid, value, relation=None, label=None, kind="WikibaseItem"):
    row = {"entity": item(qid), "property": item(pid), "value": value}
    row["kind"] = Term("uri", f"http://wikiba.se/ontology#{kind}")
    if relation:
        row["relation"] = relation
    if label:
        row["label"] = label
    return row


def only(labels, statements, shape=SHAPE):
    [found] = described(labels, statements, shape, "http://host/sparql").values()
    return found


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Flannery O'Connor", '"Flannery O\'Connor"@en'),
        ('The "Rock"', '"The \\"Rock\\""@en'),
        ("AC\\DC", '"AC\\\\DC"@en'),
        ("two\nlines\r\tand", '"two\\nlines\\r\\tand"@en'),
        ("\x00\x07", '"\\u0000\\u0007"@en'),
        ('"} INSERT DATA {', '"\\"} INSERT DATA {"@en'),
        ("安妮·海瑟薇", '"安妮·海瑟薇"@en'),
    ],
)
def test_nothing_in_a_name_ends_its_text_in_a_query(name, written):
    assert literal(name, "en") == written
    assert written in names_query([name], SHAPE)


def test_names_are_asked_for_in_the_language_and_in_that_of_all():
    assert '{ "Rom"@de "Rom"@mul }' in names_query(["Rom"], Shape("de"))
    assert 'LANG(?alias) IN ("de", "mul")' in labels_query(["Q1"], Shape("de"))


def test_no_query_asks_a_service_that_one_endpoint_alone_has():
    for query in (names_query(["a"], SHAPE), statements_query(["Q1"], SHAPE)):
        assert "SERVICE" not in query
        assert "wikibase:directClaim" in query


@pytest.mark.parametrize("qid", ["Q1> ?p ?o", "", "Q1 Q2", "Q1/../x"])
def test_what_is_no_name_of_an_entity_comes_into_no_query(qid):
    with pytest.raises(ValueError, match="expected the name of an entity"):
        statements_query([qid], SHAPE)


def test_namesakes_come_in_the_order_of_their_numbers_a_label_before_an_alias():
    def row(name, qid, how):
        return {"name": text(name), "entity": item(qid), "how": Term("literal", how)}

    found = [
        row("Rome", "Q220", "alias"),
        row("Rome", "Q1000", "label"),
        row("Rome", "Q220", "label"),
        row("Rome", "Q99", "alias"),
        row("another", "Q1", "label"),
        {**row("Rome", "Q5", "label"), "entity": Term("uri", "http://elsewhere/Q5")},
    ]

    assert matches_of(found, ["Rome", "nobody"], SHAPE) == {
        "Rome": [Match("Q99", "alias"), Match("Q220", "label"), Match("Q1000", "label")],
        "nobody": [],
    }


def test_edges_are_asked_for_pair_by_pair():
    query = edges_query([("Q1", "Q2"), ("Q2", "Q1")], SHAPE)

    assert f"VALUES (?subject ?value) {{ (<{WD}Q1> <{WD}Q2>) (<{WD}Q2> <{WD}Q1>) }}" in query
    assert "wikibase:directClaim" in query
    assert "SERVICE" not in query
    with pytest.raises(ValueError, match="expected the name of an entity"):
        edges_query([("Q1", "Q2> ?p ?o")], SHAPE)


def test_edges_are_there_once_in_the_order_of_their_numbers():
    found = [
        {"subject": item(subject), "property": item(pid), "value": item(value)}
        for subject, pid, value in (
            ("Q10", "P26", "Q9"),
            ("Q9", "P1066", "Q10"),
            ("Q9", "P26", "Q10"),
            ("Q10", "P26", "Q9"),
        )
    ]

    assert edges_of(found, SHAPE) == [
        Edge("Q9", "P26", "Q10"),
        Edge("Q9", "P1066", "Q10"),
        Edge("Q10", "P26", "Q9"),
    ]


def test_an_entity_is_read_as_it_will_be_stored():
    labels = [
        {"entity": item("Q868"), "label": text("Aristotle")},
        {"entity": item("Q868"), "alias": text("The Stagirite")},
        {"entity": item("Q868"), "alias": text("Aristoteles", "mul")},
        {"entity": item("Q868"), "alias": text("Aristoteles")},
    ]
    date = Term("literal", "-0384-01-01T00:00:00Z", "http://www.w3.org/2001/XMLSchema#dateTime")
    said = [
        statement("Q868", "P569", date, text("date of birth"), kind="Time"),
        statement("Q868", "P31", item("Q5"), text("instance of"), text("human")),
        statement("Q868", "P31", item("Q901"), text("instance of"), text("scientist")),
        statement("Q868", "P19", item("Q44"), text("place of birth")),
        statement("Q868", "P9999", text("12"), kind="String"),
        statement("Q868", "P856", Term("uri", "http://a.b/"), text("official website"), kind="Url"),
    ]

    found = only(labels, said)

    assert found.record[1:6] == (
        "Q868",
        "Aristotle",
        "human",
        ("Aristoteles", "The Stagirite"),
        "",
    )
    assert found.record.triples == (
        EntityTriple("place of birth", "Q44", "Q44"),  # a value without a label
        EntityTriple("instance of", "human", "Q5"),
        EntityTriple("instance of", "scientist", "Q901"),
        EntityTriple("date of birth", "-0384-01-01", ""),
        EntityTriple("official website", "http://a.b/", ""),
        EntityTriple("P9999", "12", ""),  # a property without a label
    )
    assert found.left_out == {}


def test_what_is_no_knowledge_is_left_out_and_counted():
    said = [
        statement("Q1", "P214", text("123"), text("VIAF ID"), kind="ExternalId"),
        statement("Q1", "P18", Term("uri", "http://c/x.jpg"), text("image"), kind="CommonsMedia"),
        statement("Q1", "P25", Term("bnode", "b0"), text("mother")),
        statement("Q1", "P22", Term("uri", "http://w/.well-known/genid/0"), text("father")),
        statement("Q1", "P31", item("Q5"), text("i" * 301), text("human")),
    ]
    labels = [{"entity": item("Q1"), "alias": text("a" * 501)}]

    found = only(labels, said)

    assert found.record.triples == found.record.aliases == ()
    assert found.left_out == {
        "identifiers and files": 2,
        "unknown values": 2,
        "names too long": 2,
    }


def test_names_have_no_white_space_around_them_and_none_is_there_twice():
    labels = [{"entity": item("Q1"), "label": text(" Rome\n")}]
    labels += [
        {"entity": item("Q1"), "alias": text(name)} for name in ("Roma", " Roma", "Rome", " ")
    ]
    said = [
        statement("Q1", "P17", item("Q38"), text(" country "), text("Italy ")),
        statement("Q1", "P36", item("Q2"), text(" "), text("")),
    ]

    record = only(labels, said).record

    assert (record.label, record.aliases) == ("Rome", ("Roma",))
    assert record.triples == (
        EntityTriple("country", "Italy", "Q38"),
        EntityTriple("P36", "Q2", "Q2"),  # names without a letter are none
    )


def test_the_same_value_twice_is_one_triple_and_empty_values_are_left_out_and_counted():
    found = only(
        [],
        [
            statement("Q1", "P1", text("12", ""), text("height"), kind="Quantity"),
            statement(
                "Q1", "P1", Term("literal", "12", "http://d"), text("height"), kind="Quantity"
            ),
            statement("Q1", "P2", text(""), text("motto"), kind="String"),
            statement("Q1", "P2", text(" "), text("motto"), kind="String"),
        ],
    )

    assert found.record.triples == (EntityTriple("height", "12", ""),)
    assert found.left_out == {"empty values": 2}


def test_the_wanted_language_goes_before_that_of_all_in_whatever_order_rows_come():
    said = [
        statement("Q1", "P31", item("Q5"), relation, label)
        for relation in (text("any", "mul"), text("instance of"))
        for label in (text("human"), text("homo", "mul"))
    ]
    labels = [
        {"entity": item("Q1"), "label": text(t, lang)} for t, lang in (("A", "mul"), ("B", "en"))
    ]

    assert only(labels, said) == only(labels[::-1], said[::-1])
    assert only(labels, said).record.label == "B"
    assert only(labels, said).record.triples == (EntityTriple("instance of", "human", "Q5"),)


def test_an_entity_that_has_statements_and_no_label_is_called_by_its_qid():
    found = only([], [statement("Q1", "P31", item("Q5"), text("instance of"), text("human"))])

    assert (found.record.label, found.record.type) == ("Q1", "human")


def test_an_entity_of_which_nothing_is_said_is_not_there():
    assert described([], [], SHAPE, "http://host") == {}


# --- answers in JSON ------------------------------------------------------------------------


def test_rows_of_an_answer_are_read_with_language_and_datatype():
    body = rows(
        {"a": {"type": "literal", "value": "x", "xml:lang": "en"}},
        {"a": {"type": "typed-literal", "value": "1", "datatype": "http://d"}},
        {"a": {"type": "bnode", "value": "b0"}},
    )

    assert [row["a"] for row in rows_of(body, ("a",))] == [
        Term("literal", "x", "", "en"),
        Term("literal", "1", "http://d"),
        Term("bnode", "b0"),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"results": {"bindings": [', "expected valid JSON"),
        (b"", "expected valid JSON"),
        (b"\xff\xfe", "not UTF-8, at byte 1; expected JSON"),
        (b"<html><body>Sign in</body></html>", "found a page: .*Is this the address"),
        (b'{"boolean": true}', 'found {"boolean": true}; expected results of a SELECT'),
        (b'{"results": {"bindings": {}}}', "expected results of a SELECT"),
        (b"[]", "expected results of a SELECT"),
        (b'{"results": {"bindings": [1]}}', r"at results.bindings\[0\]; expected an object"),
        (rows({"b": {"type": "uri", "value": "x"}}), r"no \?a at results.bindings\[0\]"),
        (rows({"a": {"type": "uri"}}), r"at results.bindings\[0\].a; expected {'type'"),
        (rows({"a": {"type": "triple", "value": "x"}}), r"at results.bindings\[0\].a"),
        (b'{"results": {"bindings": [{"a": 1}]}}', r"at results.bindings\[0\].a"),
        (rows({"a": {"type": "literal", "value": "\0"}}), "NUL"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_whatever_is_no_answer_says_where_what_and_what_was_expected(body, said):
    with pytest.raises(JSONTrouble, match=said):
        rows_of(body, ("a",))
