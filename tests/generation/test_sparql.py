"""Pulling over the network: from a real Oxigraph, and from endpoints in trouble."""

import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest

from generation.retrieval import sparql
from generation.retrieval.endpoint_addresses import EndpointError
from generation.retrieval.sparql import Endpoint, EndpointPatience, TooMuch, Wikibase
from generation.retrieval.wikibase import Match, Shape
from tests.endpoint_server import (
    Reply,
    endpoint_server,
    forwards,
    gives,
    refuses,
    rows,
    sends_on,
)
from tests.wikidata_shape import interchange_rows, world

HASTY = EndpointPatience(
    query=0.4, n_tries=3, first_pause=0.01, longest_pause=2.0, between=0.0, most_bytes=100_000
)
QUERY = "SELECT ?a WHERE { ?a ?b ?c }"
EDGE = {"subject": "Q1", "property": "P1", "value": "Q2"}
ONE_ROW = gives(rows({"a": {"type": "uri", "value": "http://x"}}))


def endpoint(url, **more):
    return Endpoint(url, "Attest/0 (test)", allow_private=True, **{"patience": HASTY, **more})


def answers(n_rows, names=None, status=200, **headers):
    """Give so many rows, with headers that say what the endpoint has done to them."""
    prefix = {"property": "http://www.wikidata.org/prop/direct/"}
    row = {
        name: {
            "type": "uri",
            "value": f"{prefix.get(name, 'http://www.wikidata.org/entity/')}{qid}",
        }
        for name, qid in (names or {"a": "Q1"}).items()
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda query: Reply(rows(*[row] * n_rows), status, named)


def trouble(*plan, kind=EndpointError, **patience):
    """Return what is said about an endpoint that behaves so, and how often it was asked."""
    with endpoint_server(*plan) as server, pytest.raises(kind) as raised:
        endpoint(server.url, patience=HASTY._replace(**patience)).select(QUERY, ("a",))
    assert server.url in str(raised.value)
    return str(raised.value), len(server.asked)


# --- a real server --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph(oxigraph):
    assert oxigraph.n_triples >= 10_000
    patience = HASTY._replace(query=20.0, most_bytes=10_000_000)
    return Wikibase(endpoint(oxigraph.url, patience=patience), Shape())


def test_namesakes_are_found_by_label_and_alias_all_of_them(graph):
    assert graph.named(["Anne Hathaway", "Chinese", "Paris", "nobody"]) == {
        "Anne Hathaway": [Match("Q36301", "label"), Match("Q232478", "label")],
        "Chinese": [Match("Q7850", "label"), Match("Q6501380", "alias")],
        "Paris": [Match("Q90", "label"), Match("Q167646", "label")],
        "nobody": [],
    }


@pytest.mark.parametrize(
    ("name", "qid"),
    [
        ("Flannery O'Connor", "Q234579"),
        ("Shakespeare's wife", "Q232478"),
        ('Dwayne "The Rock" Johnson', "Q10738"),
        ("AC\\DC", "Q1000011"),
        ("back\\slash", "Q1000011"),
        ("Aristotle", "Q868"),
    ],
)
def test_names_with_apostrophes_quotes_and_backslashes_are_found(graph, name, qid):
    assert [match.qid for match in graph.named([name])[name]] == [qid]


@pytest.mark.parametrize(
    "name", ["spouse", "Anne Hathaway (Shakespeare)", "安妮·海瑟薇", "anne hathaway", '"@en . } #']
)
def test_properties_other_languages_and_other_spellings_are_no_namesakes(graph, name):
    assert graph.named([name]) == {name: []}


def test_more_names_than_one_query_takes_are_found_as_well(graph):
    names = [node.label for node in world()[-60:]] + ["Paris"] * 2

    found = graph.named(names)

    assert set(found) == set(names)
    assert all(found.values())


def test_entities_come_as_the_world_was_made(graph):
    """The rows that the world would have in an interchange file were made without any query."""
    made = {row["qid"]: row for row in interchange_rows(world())}
    wanted = [*list(made)[-40:], *list(made)[:120], "Q999999999", "Q1000010"]

    found = graph.described(wanted)

    assert set(found) == {qid for qid in wanted if qid in made}
    for qid, each in found.items():
        record, row = each.record, made[qid]
        triples = [
            {"relation": t.relation, "value": t.value}
            | ({"value_qid": t.value_qid} if t.value_qid else {})
            for t in record.triples
        ]
        assert triples == row["triples"]
        assert (record.label, record.type) == (row["label"], row["type"])
        assert list(record.aliases) == row["aliases"]
    assert found["Q232478"].left_out == {"identifiers and files": 1, "unknown values": 1}


def test_too_many_at_once_are_asked_for_in_halves(oxigraph):
    """The statements of ten people have 37,476 bytes, of five 18,777, of three 10,659."""
    people = [node.qid for node in world() if ("P31", "Q5") in node.statements][-10:]
    with endpoint_server(forwards(oxigraph.url)) as server:
        patience = HASTY._replace(most_bytes=16_000, query=5.0)
        found = Wikibase(endpoint(server.url, patience=patience), Shape()).described(people)

    assert set(found) == set(people)
    n_statements = sum("?kind" in asked.query for asked in server.asked)
    assert n_statements == 7  # 10; 5, 2, 3; 5, 2, 3


# --- endpoints in trouble ---------------------------------------------------------------------


def test_who_asks_says_so_and_asks_for_json():
    with endpoint_server(ONE_ROW) as server:
        [row] = endpoint(server.url).select(QUERY, ("a",))

    [asked] = server.asked
    assert row["a"].value == "http://x"
    assert asked.headers["user-agent"] == "Attest/0 (test)"
    assert "application/sparql-results+json" in asked.headers["accept"]
    assert asked.query == QUERY


def test_an_endpoint_that_is_down_is_asked_again_and_then_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/sparql"
    with pytest.raises(EndpointError) as raised:
        endpoint(url).select(QUERY, ("a",))

    assert f"{url}: no connection: " in str(raised.value)
    assert str(raised.value).endswith("refused (asked 3 times)")


def test_an_endpoint_whose_name_nobody_knows():
    with pytest.raises(EndpointError, match="no connection: "):
        endpoint("http://attest.invalid/sparql").select(QUERY, ("a",))


def test_a_slow_endpoint_is_not_waited_for_longer_than_said():
    began = time.monotonic()
    said, n_asked = trouble(gives(after=5.0), kind=TooMuch, query=0.1)

    assert "no whole answer within 0.1 s (asked 3 times)" in said
    assert (n_asked, time.monotonic() - began < 3) == (3, True)


def test_a_limit_is_waited_for_as_long_as_the_endpoint_says():
    with endpoint_server(refuses(429, Retry_After="1"), ONE_ROW) as server:
        assert endpoint(server.url).select(QUERY, ("a",))

    first, second = server.asked
    assert 1.0 <= second.at - first.at < 2.0


def test_a_limit_until_a_moment_is_waited_for_as_well():
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    with endpoint_server(refuses(429, Retry_After=until), ONE_ROW) as server:
        assert endpoint(server.url).select(QUERY, ("a",))

    first, second = server.asked
    assert 0.5 <= second.at - first.at <= 2.1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_what_may_pass_is_asked_for_again(status):
    with endpoint_server(refuses(status), refuses(status), ONE_ROW) as server:
        assert endpoint(server.url).select(QUERY, ("a",))
    assert len(server.asked) == 3


def test_a_limit_without_end_ends_the_query():
    said, n_asked = trouble(refuses(429, b"Too many requests", Retry_After="0"))

    assert 'it answered 429 Too Many Requests: "Too many requests" (asked 3 times)' in said
    assert n_asked == 3


def test_who_asks_to_wait_for_hours_is_asked_again_by_people():
    said, n_asked = trouble(refuses(429, Retry_After="3600"))

    assert said.endswith('it answered 429 Too Many Requests: "no"; it asks to wait 3,600 s')
    assert n_asked == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_does_not_pass_is_said_at_once(status):
    said, n_asked = trouble(refuses(status, b"MalformedQueryException: line 1"))

    assert f"it answered {status} " in said
    assert "MalformedQueryException: line 1" in said
    assert n_asked == 1


def test_an_answer_that_breaks_off_is_asked_for_again():
    said, n_asked = trouble(gives(b'{"results":', missing=50))

    assert "broke off after 11 of 61 bytes (asked 3 times)" in said
    assert n_asked == 3


def test_malformed_json_is_said_and_not_asked_for_again():
    said, n_asked = trouble(gives(b'{"results": {"bindings": [{]}}'))

    assert "at character 28" in said
    assert said.endswith("expected valid JSON")
    assert n_asked == 1


def test_a_page_in_place_of_an_answer():
    said, n_asked = trouble(gives(b"<!DOCTYPE html><title>Sign in</title>"))

    assert n_asked == 3  # servers under load send one
    assert 'found a page: "<!DOCTYPE html>' in said
    assert "Is this the address of an endpoint?" in said


def test_a_huge_answer_is_not_read_to_its_end():
    said, n_asked = trouble(gives(b" " * 10_000_000), kind=TooMuch, query=5.0)

    assert "found an answer of more than 0.0953674 MiB, expected a smaller one" in said
    assert n_asked == 1


@pytest.mark.parametrize(
    "plan",
    [
        refuses(500, b"java.util.concurrent.TimeoutException"),
        gives(b'{"results": {"bindings": [\nSPARQL-QUERY: java.util.concurrent.TimeoutException'),
        refuses(414),
        answers(1, status=206),
        answers(1, X_SQL_State="S1TAT"),
        answers(2, X_SPARQL_MaxRows="2"),
    ],
)
def test_queries_that_take_an_endpoint_too_long_are_told_from_other_trouble(plan):
    trouble(plan, kind=TooMuch)


@pytest.mark.parametrize(
    ("plan", "said", "n_asked"),
    [
        (answers(1, status=206), "it answered with a part of the rows", 3),
        (
            answers(1, X_SQL_State="S1TAT", X_SQL_Message="interrupted by result timeout"),
            'it answered with a part of the rows: "interrupted by result timeout"',
            3,
        ),
        # The same limit would cut it again.
        (answers(2, EDGE, X_SPARQL_MaxRows="2"), "2 rows, which is the most that it gives", 1),
    ],
)
def test_a_cut_answer_is_asked_for_in_halves_and_is_never_taken_for_whole(plan, said, n_asked):
    """The answer about both entities is cut, the answers about one are whole."""
    wholes = [answers(1, EDGE), answers(0)]
    with endpoint_server(plan, *wholes, plan) as server:
        graph = Wikibase(endpoint(server.url), Shape())

        found = graph.edges([("Q1", "Q2"), ("Q2", "Q1")])
        n_for_halves = len(server.asked)
        with pytest.raises(TooMuch) as raised:
            graph.edges([("Q1", "Q2")])  # there is nothing smaller to ask for

    assert [(edge.subject, edge.value) for edge in found] == [("Q1", "Q2")]
    assert n_for_halves == 3
    assert said in str(raised.value)
    assert len(server.asked) - n_for_halves == n_asked


def test_fewer_rows_than_the_most_are_whole():
    with endpoint_server(answers(2, X_SPARQL_MaxRows="3", X_SQL_State="00000")) as server:
        assert len(endpoint(server.url).select(QUERY, ("a",))) == 2


def test_a_redirect_on_the_same_endpoint_is_followed():
    with endpoint_server(ONE_ROW) as server:
        server.plan.insert(0, sends_on(server.url + "/"))
        assert endpoint(server.url).select(QUERY, ("a",))
    assert [asked.query for asked in server.asked] == [QUERY, QUERY]


def test_a_redirect_to_another_private_address_is_refused_whatever_was_allowed():
    with endpoint_server(ONE_ROW) as secret:
        said, n_asked = trouble_elsewhere(sends_on(secret.url))

    assert f"a local, private or reserved address (port {secret.server_port})" in said
    assert "an admin's permission (--allow-private)" in said
    assert (n_asked, secret.asked) == (1, [])


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/latest/meta-data", "http://[::1]:1/", "http://localhost:1/"],
)
def test_a_redirect_into_our_own_network_is_refused(url):
    said, _ = trouble_elsewhere(sends_on(url))

    assert "a local, private or reserved address" in said


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://me:x@host/"])
def test_a_redirect_to_anything_but_http_is_refused(url):
    trouble_elsewhere(sends_on(url))


def test_a_redirect_in_circles_ends():
    with endpoint_server(ONE_ROW) as server:
        server.plan[0] = sends_on(server.url)
        with pytest.raises(EndpointError, match="it answered 302"):
            endpoint(server.url).select(QUERY, ("a",))
    assert len(server.asked) == 4


def trouble_elsewhere(plan):
    with endpoint_server(plan) as server, pytest.raises(EndpointError) as raised:
        endpoint(server.url).select(QUERY, ("a",))
    return str(raised.value), len(server.asked)


def test_without_leave_this_machine_is_not_asked_at_all():
    with endpoint_server(ONE_ROW) as server:
        with pytest.raises(EndpointError, match="expected a public one"):
            Endpoint(server.url, "Attest", patience=HASTY)
        by_name = server.url.replace("127.0.0.1", "127.1")  # what no form can look up
        with pytest.raises(EndpointError, match=r"127\.1 is 127\.0\.0\.1"):
            Endpoint(by_name, "Attest", patience=HASTY).select(QUERY, ("a",))
    assert server.asked == []


def test_two_queries_keep_their_distance():
    with endpoint_server(ONE_ROW) as server:
        asking = endpoint(server.url, patience=HASTY._replace(between=0.2))
        for _ in range(3):
            asking.select(QUERY, ("a",))

    moments = [asked.at for asked in server.asked]
    assert all(later - earlier >= 0.2 for earlier, later in pairwise(moments))


def test_who_waits_gives_signs_of_life_and_can_be_stopped():
    class StopIt(Exception):
        pass

    signs = []

    def keep():
        signs.append(time.monotonic())
        if len(signs) > 2:
            raise StopIt

    patient = HASTY._replace(longest_pause=200.0)
    with endpoint_server(refuses(429, Retry_After="100")) as server:
        asking = endpoint(server.url, patience=patient, keep=keep)
        with pytest.raises(StopIt):
            asking.select(QUERY, ("a",))
    assert len(server.asked) == 1


def test_long_names_go_into_queries_of_their_own():
    batches = list(sparql._batches(["a" * 400] * 7 + ["语" * 300]))

    assert [len(batch) for batch in batches] == [5, 2, 1]
