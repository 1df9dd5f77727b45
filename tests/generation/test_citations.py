"""The meaning of the brackets in an answer (KaLMA, 3.3 and 4.2)."""

import json
import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generation.text.citations import parse_citations, relation_name, without_citations

GRAPH = ["occupation", "place of birth", "date_of_birth", "alma mater", "notable works", "child"]

# Pieces of brackets in any order, so that random texts meet the rules often.
pieces = [
    "[",
    "]",
    "Q1",
    "qid: ",
    "name: X",
    "NA",
    ", ",
    ": ",
    "occupation",
    "Born",
    ".",
    " ",
    "\n",
]
any_texts = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*pieces, "[NA]", "[Q1, sport: x]", "[sic]"])).map("".join),
)


def claims(text, relations=(), qids=()):
    answer = parse_citations(text, relations, qids)
    return [(c.qid, c.relation, c.value) for c in answer.citations]


# What one bracket holds


@pytest.mark.parametrize("relations", [(), GRAPH], ids=["unknown graph", "known graph"])
@pytest.mark.parametrize(
    ("bracket", "held"),
    [
        (
            "[Q212657, ethnic group: Italians, occupation: painter]",
            [("Q212657", "ethnic group", "Italians"), ("Q212657", "occupation", "painter")],
        ),
        ("[qid: Q1, date of birth: 1596-07-08]", [("Q1", "date of birth", "1596-07-08")]),
        ("[ Q1 , occupation: painter ]", [("Q1", "occupation", "painter")]),
        ("[Q1, Artemisia, occupation: painter]", [("Q1", "occupation", "painter")]),
        ("[Artemisia, Q1, occupation: painter]", [("Q1", "occupation", "painter")]),
        ("[Q1, name: Artemisia, occupation: painter]", [("Q1", "occupation", "painter")]),
        ("[name: Artemisia, occupation: painter, qid: Q1]", [("Q1", "occupation", "painter")]),
        (
            "[Q1, alma mater: University of California, Berkeley, occupation: writer]",
            [
                ("Q1", "alma mater", "University of California, Berkeley"),
                ("Q1", "occupation", "writer"),
            ],
        ),
        (
            "[Q1, notable works: Star Trek: The Next Generation]",
            [("Q1", "notable works", "Star Trek: The Next Generation")],
        ),
        (
            "[Q1, notable works: The Moon: a Planet, a World, and a Satellite, child: Ann]",
            [
                ("Q1", "notable works", "The Moon: a Planet, a World, and a Satellite"),
                ("Q1", "child", "Ann"),
            ],
        ),
        (
            "[Q1, award: Foo [bar], sport: x]",
            [("Q1", "award", "Foo [bar]"), ("Q1", "sport", "x")],
        ),
        (
            "[Q1, occupation: painter; sex: male]",
            [("Q1", "occupation", "painter"), ("Q1", "sex", "male")],
        ),
        (
            "[Q1, occupation: painter, nickname: Art]",
            [("Q1", "occupation", "painter"), ("Q1", "nickname", "Art")],
        ),
    ],
)
def test_a_bracket_holds_a_citation_for_each_relation(bracket, held, relations):
    assert claims(f"She lived {bracket}.", relations) == held


def test_known_relations_decide_where_a_value_ends():
    text = "[Q1, notable works: Kirk, Spock: A Life, Located in: Rome]"

    assert claims(text) == [
        ("Q1", "notable works", "Kirk"),
        ("Q1", "Spock", "A Life"),
        ("Q1", "Located in", "Rome"),
    ]
    assert claims(text, ["notable works", "Located in"]) == [
        ("Q1", "notable works", "Kirk, Spock: A Life"),
        ("Q1", "Located in", "Rome"),
    ]


def test_known_relations_may_hold_commas_signs_and_one_another():
    text = "[Q1, child: Ann, child, adopted: Ben, place (Q2): Rome]"

    assert claims(text, ["child", "child, adopted", "place (Q2)"]) == [
        ("Q1", "child", "Ann"),
        ("Q1", "child, adopted", "Ben"),
        ("Q1", "place (Q2)", "Rome"),
    ]


def test_relations_are_known_with_underscores_or_spaces():
    assert relation_name(" date_of  birth") == relation_name("date of birth") == "date of birth"
    assert claims("[Q1, Located_in:Rome]", ["Located in"]) == [("Q1", "Located_in", "Rome")]
    assert claims("[Q1, Located in:Rome]", ["Located_in"]) == [("Q1", "Located in", "Rome")]
    assert claims("[Q1, _Located_in_:Rome]", ["Located in"]) == [("Q1", "_Located_in_", "Rome")]


def test_letters_are_compared_and_kept_in_composed_form():
    assert claims("[Q1, E\u0301tat: cafe\u0301]", ["\u00c9tat"]) == [
        ("Q1", "\u00c9tat", "caf\u00e9")
    ]


def test_entities_of_other_graphs_are_cited_by_their_own_ids():
    assert claims("[mill-1, occupation: mill]", GRAPH, {"mill-1"}) == [
        ("mill-1", "occupation", "mill")
    ]
    assert claims("[qid: mill-1, Mill, occupation: mill]") == [("mill-1", "occupation", "mill")]
    assert claims("[mill-1, occupation: mill]") == []


def test_every_triple_of_published_graphs_is_read_as_it_was_cited(shared):
    questions = json.loads(
        (shared / "data/biokalma/complex_question_graph.json").read_text("utf-8")
    )
    graphs = [graph for _, graphs in questions for graph in graphs]

    n_cited = 0
    for graph in graphs:
        triples = {key: graph[key] for key in graph if key not in ("name", "qid") and graph[key]}
        inside = ", ".join(f"{relation}: {value}" for relation, value in triples.items())
        cited = [(graph["qid"], key, value.strip()) for key, value in triples.items()]
        for relations in ([], list(triples)):
            assert claims(f"[{graph['qid']}, {graph['name']}, {inside}]", relations) == cited
        n_cited += len(cited)
    assert n_cited > 10_000  # 68 values hold a comma, 8 a colon, 1 a bracket


# Names


@pytest.mark.parametrize("relations", [(), GRAPH], ids=["unknown graph", "known graph"])
@pytest.mark.parametrize(
    ("bracket", "cited", "names"),
    [
        ("[Q1, name: Ada]", [("Q1", "name", "Ada")], []),
        ("[name: Ada, qid: Q1]", [("Q1", "name", "Ada")], []),
        ("[Q1, Ada]", [("Q1", "", "")], []),  # it lacks the relation
        ("[Q1, Ada, name: Ada]", [("Q1", "name", "Ada")], []),
        ("[Q1, Ada, name: Ben]", [("Q1", "name", "Ben")], [("Q1", "", "Ada")]),
        ("[Q1, name: Ada, name: Ben]", [("Q1", "name", "Ada")], [("Q1", "name", "Ben")]),
        ("[Q1, name: Ada, child: Ann]", [("Q1", "child", "Ann")], [("Q1", "name", "Ada")]),
        ("[Q1, child: Ann, name: Ada]", [("Q1", "child", "Ann")], [("Q1", "name", "Ada")]),
        ("[Q1, Ada, child: Ann]", [("Q1", "child", "Ann")], [("Q1", "", "Ada")]),
        ("[Ada, Q1, child: Ann]", [("Q1", "child", "Ann")], [("Q1", "", "Ada")]),
        ("[Q1, Ada, name: Ada, child: Ann]", [("Q1", "child", "Ann")], [("Q1", "name", "Ada")]),
        ("[Q1, qid: Q1, child: Ann]", [("Q1", "child", "Ann")], []),
        ("[Q1, name: , child: Ann]", [("Q1", "child", "Ann")], []),
    ],
)
def test_a_name_alone_is_a_citation_and_beside_others_it_says_who_is_meant(
    bracket, cited, names, relations
):
    answer = parse_citations(f"She lived {bracket}.", relations)

    assert [(c.qid, c.relation, c.value) for c in answer.citations] == cited
    assert [(c.qid, c.relation, c.value) for c in answer.names] == names


def test_names_have_numbers_behind_all_citations():
    """A citation so has the same number as it has without the name beside it."""
    answer = parse_citations(
        "A [Q1, name: Ada, child: Ann]. B [Q2, Ben, child: Bob, sex: male]. C [Q3, name: Cid]."
    )

    assert [(c.number, c.value, c.sentence) for c in answer.citations] == [
        (1, "Ann", "A."), (2, "Bob", "B."), (3, "male", "B."), (4, "Cid", "C."),
    ]  # fmt: skip
    assert [(c.number, c.value, c.sentence) for c in answer.names] == [
        (5, "Ada", "A."),
        (6, "Ben", "B."),
    ]


# What is no whole citation


@pytest.mark.parametrize(
    ("bracket", "held"),
    [
        ("[Q1]", ("Q1", "", "")),
        ("[Q1, occupation]", ("Q1", "", "")),
        ("[Q1, Artemisia]", ("Q1", "", "")),
        ("[qid: Q1, name: ]", ("Q1", "", "")),
        ("[Q1, occupation: ]", ("Q1", "occupation", "")),
        ("[place of birth: Rome]", ("", "place of birth", "Rome")),
        ("[Artemisia, place of birth: Rome, occupation: painter]", ("", "place of birth", "Rome")),
        ("[NA, place of birth: Rome]", ("", "place of birth", "Rome")),
        ("[date of birth]", ("", "date of birth", "")),
        ("[; date of birth]", ("", "date of birth", "")),
    ],
)
def test_a_bracket_with_some_parts_is_one_incomplete_citation(bracket, held):
    answer = parse_citations(f"She lived {bracket}.", GRAPH)

    assert [(c.qid, c.relation, c.value) for c in answer.citations] == [held]
    assert [c.is_complete for c in answer.citations] == [False]
    assert (answer.na_sentences, answer.n_other_brackets) == ((), 0)


def test_a_relation_with_and_one_without_a_value_are_two_citations():
    answer = parse_citations("[Q1, occupation: painter, child: ]")

    assert [c.is_complete for c in answer.citations] == [True, False]


@pytest.mark.parametrize(
    "bracket", ["[1]", "[2, 3]", "[sic]", "[Note: see below]", "[]", "[Quebec]", "[na]", "[N/A]"]
)
def test_other_brackets_are_text_and_counted(bracket):
    answer = parse_citations(f"She lived {bracket}.", GRAPH)

    assert (answer.citations, answer.na_sentences, answer.n_other_brackets) == ((), (), 1)
    assert without_citations(f"She lived {bracket}.", GRAPH) == f"She lived {bracket}."


def test_a_relation_is_known_only_when_the_graph_has_it():
    assert parse_citations("[place of birth: Rome]").n_other_brackets == 1


def test_a_citation_inside_a_bracket_of_text_counts():
    assert claims("[see [Q1, occupation: painter]]") == [("Q1", "occupation", "painter")]


# Sentences and numbers


def test_citations_are_numbered_in_reading_order_with_the_sentence_of_each():
    answer = parse_citations(
        "Artemisia [Q1] was born in 1593 [NA] in Rome [Q1, place of birth: Rome, sex: female]. "
        "Her father was Orazio.[Q1, father: Orazio] [Q2, name: Orazio] [1] "
        "She died [NA][NA]."
    )

    first = "Artemisia was born in 1593 in Rome."
    second = "Her father was Orazio. [1]"
    assert [(c.number, c.qid, c.relation, c.sentence) for c in answer.citations] == [
        (1, "Q1", "", first),
        (2, "Q1", "place of birth", first),
        (3, "Q1", "sex", first),
        (4, "Q1", "father", second),
        (5, "Q2", "name", second),
    ]
    assert answer.na_sentences == (first, "She died.")
    assert answer.n_other_brackets == 1


def test_a_sentence_that_is_said_twice_lacks_knowledge_twice():
    answer = parse_citations("Nobody knows [NA]. She painted. Nobody knows [NA].\n[NA]")

    assert answer.na_sentences == ("Nobody knows.", "Nobody knows.")


def test_the_demonstration_of_the_paper():
    # KaLMA, table 10, shortened
    answer = parse_citations(
        "Artemisia Gentileschi was an Italian painter born on July 8, 1596 [NA] in Rome "
        "[Q212657, ethnic group: Italians, occupation: painter, place of birth: Rome]. "
        "He was born in Pisa and died in London [Q367360, place of death: London]. Orazio's "
        "influence on her development as a prominent Baroque [NA] painter can be seen in the use "
        "of chiaroscuro technique [NA]. He also taught her."
    )

    assert [(c.qid, c.value) for c in answer.citations] == [
        ("Q212657", "Italians"),
        ("Q212657", "painter"),
        ("Q212657", "Rome"),
        ("Q367360", "London"),
    ]
    assert answer.citations[3].sentence == "He was born in Pisa and died in London."
    assert answer.na_sentences == (
        "Artemisia Gentileschi was an Italian painter born on July 8, 1596 in Rome.",
        "Orazio's influence on her development as a prominent Baroque painter can be seen in the "
        "use of chiaroscuro technique.",
    )


def test_citations_on_a_line_of_their_own_belong_to_the_sentence_above():
    answer = parse_citations("She painted.\n\n[Q1, sport: a]\n[Q1, sport: b]\n[Q1, sport: c] Well.")

    assert [c.sentence for c in answer.citations] == ["She painted.", "She painted.", "Well."]


def test_a_citation_without_any_sentence_has_an_empty_one():
    assert [c.sentence for c in parse_citations("[Q1, sport: a]").citations] == [""]


def test_full_stops_inside_a_citation_end_no_sentence():
    answer = parse_citations("She wrote it [Q1, notable works: Who? Me. Part 2, sport: a]. Yes.")

    assert [c.sentence for c in answer.citations] == ["She wrote it."] * 2


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Born [NA] in Rome [Q1, sport: a], Italy [Q1].", "Born in Rome, Italy."),
        ("Born[NA]in Rome[Q1][NA]and bred [NA][NA]!", "Born in Rome and bred!"),
        ("(Born in Rome [NA]).", "(Born in Rome)."),
        ("One.[NA]\n\n  Two  [1] [NA]\nThree.", "One.\n\nTwo [1]\nThree."),
        ("[NA]", ""),
        ("", ""),
        ("An open [Q1, sport: a", "An open [Q1, sport: a"),
    ],
)
def test_text_without_citations_reads_as_if_there_had_been_none(text, bare):
    assert without_citations(text) == bare


@given(any_texts, st.sampled_from([(), GRAPH]))
def test_any_text_gives_numbers_from_1_and_sentences_without_citations(text, relations):
    assume("[NA[" not in text)  # what is left around the inner one reads like another
    answer = parse_citations(text, relations)

    assert [c.number for c in answer.citations] == list(range(1, len(answer.citations) + 1))
    for sentence in [*answer.na_sentences, *(c.sentence for c in answer.citations)]:
        assert "[NA]" not in sentence
        assert len(sentence.splitlines()) <= 1


@given(any_texts)
def test_text_without_brackets_only_loses_white_space(text):
    text = re.sub(r"[\[({<\u3010\uff3b\u3014\uff08]", "", text)

    assert without_citations(text).split() == text.split()
    assert parse_citations(text) == ((), (), 0, ())


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "[a", "[Q1, a: b]", "[Q1, ", ", a: b", "[[a]", ":", "[NA]. ", "[a\n", "(Q1, "),
        *(
            "\u3010",
            "\u3010a",
            "\u3010[a]",
            "\u3010Q1, a: b\u3011",
            "\uff08\u3010",
            "\uff08Q1, a\n",
        ),
    ],
)
def test_time_grows_with_the_length_not_with_its_square(piece):
    text = f"[Q1{piece * 30_000}]"

    started = time.perf_counter()
    parse_citations(text, GRAPH)

    assert time.perf_counter() - started < 5
