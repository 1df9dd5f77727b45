"""A model's text is read strictly; the minimum knowledge set has only what the graphs state."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.text.citations import parse_citations
from generation.text.compared_triples import compared
from generation.text.constructed_questions import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    Member,
    UnreadableError,
    Written,
    first_members,
    is_cited,
    may_be_injected,
    minimum_set,
    next_triple,
    simple_question,
    written,
)
from generation.text.flat_graph import Triple

ARTEMISIA = (
    ("Q212657", "name", "Artemisia Gentileschi"),
    ("Q212657", "sex or gender", "female"),
    ("Q212657", "given name", "Artemisia"),
    ("Q212657", "place of birth", "Rome"),
    ("Q212657", "date_of_birth", "1596-07-08"),
    ("Q212657", "father", "Orazio Gentileschi"),
    ("Q212657", "topic's main category", "Category:Artemisia Gentileschi"),
    ("Q212657", "notable works", "Judith Slaying Holofernes"),
)
ORAZIO = (
    ("Q367360", "name", "Orazio Gentileschi"),
    ("Q367360", "occupation", "painter"),
    ("Q367360", "date_of_death", ""),
    ("Q367360", "genre", "portrait"),
)
GRAPHS = (ARTEMISIA, ORAZIO)
INJECTABLE = {
    ("Q212657", "place of birth", "Rome"),
    ("Q212657", "date_of_birth", "1596-07-08"),
    ("Q212657", "father", "Orazio Gentileschi"),
    ("Q212657", "notable works", "Judith Slaying Holofernes"),
    ("Q367360", "occupation", "painter"),
    ("Q367360", "genre", "portrait"),
}
# After table 8, with a wrong place, a repeated fact, a category and a person of neither graph.
ANSWER = (
    "Artemisia [qid: Q212657, name: Artemisia Gentileschi] was born in Rome "
    "[qid: Q212657, place of birth: Rome] on July 8 [Q212657, date of birth: 1596-07-08] to "
    "Orazio [Q212657, father:  Orazio Gentileschi] [qid: Q367360, name: Orazio Gentileschi, "
    "occupation: painter]. He died in Rome [Q367360, place of death: Rome]. She too was a painter "
    "[Q212657, occupation: painter]. Rome again [Q212657, place of birth: Rome] "
    "[Q212657, topic's main category: Category:Artemisia Gentileschi] [Q1, genre: portrait]."
)


# --- completions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "answer", "question"),
    [
        (" Ada was a writer.\n\nGenerated Question: Who was Ada?", "Ada was a writer.", None),
        ("Ada. Generated Question: Who was\nAda?\n\nInstruction: I want", "Ada.", None),
        ("Ada.\n\nGenerated Question: Who was Ada?\n\nsentence: Bob.", "Ada.", None),
        ("Ada.\nGenerated Question: Who was Ada?\nanswer: Bob", "Ada.", None),
        ("Generated Answer: Ada.\n\nGenerated Question: Who was Ada?", "Ada.", None),
        ("**Generated Answer:** Ada.\n\n**Generated Question:** Who was Ada?", "Ada.", None),
        ("Ada.\n\nQuestion: Who was Ada?", "Ada.", None),
        ("Ada.\n\nGenerated Question: Who was Ada?\nGenerated Question: And Bob?", "Ada.", None),
        ("My answer: Ada.\nGenerated Question: What is the answer: a or b?", "My answer: Ada.",
         "What is the answer: a or b?"),
    ],
)  # fmt: skip
def test_an_answer_and_its_question_are_read(completion, answer, question):
    assert written(completion) == Written(answer, question or "Who was Ada?")


@pytest.mark.parametrize(
    ("completion", "message"),
    [
        ("", "found no question; expected 'Generated Question:' behind 'Generated Answer:'"),
        ("Ada was a writer.", "found no question; expected 'Generated Question:'"),
        ("Ada.\n\nsentence: Bob.\nGenerated Question: Who?", "found 'sentence:' before any"),
        ("Generated Question: Who?", "found no answer; expected an answer before"),
        ("Generated Answer:\n\nGenerated Question: Who?", "found no answer"),
        ("Ada.\n\nGenerated Question: \n", "found an empty question"),
        ("Ada.\n\nGenerated Question:\nanswer: Who?", "found an empty question"),
        (f"{'a' * (LONGEST_ANSWER + 1)}\nGenerated Question: Who?", "found an answer of 20,001"),
        (f"A.\nGenerated Question: {'a' * (LONGEST_QUESTION + 1)}", "found a question of 2,001"),
    ],
)
def test_what_cannot_be_read_says_why(completion, message):
    with pytest.raises(UnreadableError) as error:
        written(completion)

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "completion",
    [
        " Who was Ada?\n",
        "question: Who was Ada?",  # 978 of BioKaLMA's 1,085 simple questions begin so
        "Generated Question: Who was\nAda?\n\nanswer: Bob",
    ],
)
def test_a_simple_question_is_read_without_its_label(completion):
    assert simple_question(completion) == "Who was Ada?"


@pytest.mark.parametrize("completion", ["", " \n", "question:", "answer: Who?", "a" * 2_001])
def test_no_simple_question(completion):
    with pytest.raises(UnreadableError):
        simple_question(completion)


# Without what opens a label: '# Generated Question:' has no answer before it.
letters = st.characters(whitelist_categories=["Lu", "Ll", "Nd", "Po"], blacklist_characters=":*#")
words = st.text(letters, min_size=1)


@given(words, words, st.sampled_from(["\n\n", "\n", " "]))
def test_what_a_model_writes_in_the_asked_form_comes_back(answer, question, between):
    completion = f" {answer}{between}Generated Question: {question}\n\nInstruction: I want to"

    read = written(completion)

    assert read == Written(answer, question)


@given(st.text() | st.lists(st.sampled_from(
    ["answer:", "Generated Question:", "Generated Answer:", "\n", " ", "*", "Who?", "sentence:"]
)).map("".join))  # fmt: skip
def test_any_completion_is_read_or_refused(completion):
    try:
        read = written(completion)
    except UnreadableError:
        return
    assert read.answer == read.answer.strip() != ""
    assert read.question == " ".join(read.question.split()) != ""


# --- knowledge ------------------------------------------------------------------------------


def test_round_1_brings_what_is_cited_and_stated_each_once_in_its_order():
    """The graphs state five different ones of what the brackets claim; one is a category."""
    assert first_members(ANSWER, GRAPHS) == (
        Member("Q212657", "place of birth", "Rome", 1),
        Member("Q212657", "date_of_birth", "1596-07-08", 1),  # the graph's spelling
        Member("Q212657", "father", "Orazio Gentileschi", 1),
        Member("Q367360", "occupation", "painter", 1),
    )


def test_a_name_that_round_1_cites_alone_is_no_member():
    answer = "Artemisia [Q212657, name: Artemisia Gentileschi] and Rome [Q212657, sport: none]."

    assert first_members(answer, GRAPHS) == ()
    assert not is_cited(answer, ("Q212657", "name", "Artemisia Gentileschi"), GRAPHS)


def test_a_triple_is_cited_or_not():
    assert is_cited(ANSWER, ("Q212657", "date of birth", "1596-07-08"), GRAPHS)
    assert not is_cited(ANSWER, ("Q367360", "genre", "portrait"), GRAPHS)  # cited for Q1


@pytest.mark.parametrize(
    ("relation", "value"),
    [
        ("name", "Ada"), ("qid", "Q1"), ("given name", "Ada"), ("Given_Name", "Ada"),
        ("surname", "Lovelace"), ("family name", "Lovelace"), ("instance of", "human"),
        ("sex or gender", "female"), ("topic's main category", "Category:Ada"),
        ("described by", " Category:Ada"), ("date of death", ""), ("date of death", " "),
    ],
)  # fmt: skip
def test_what_is_never_brought_in(relation, value):
    assert not may_be_injected(("Q1", relation, value))


def test_knowledge_may_be_brought_in():
    assert all(may_be_injected(triple) for triple in INJECTABLE)


def test_the_rounds_bring_in_all_that_may_be_and_then_none():
    used: list[Triple] = []
    while triple := next_triple(GRAPHS, used, 13, "entry-1", len(used) + 2):
        used.append(triple)

    assert set(used) == INJECTABLE
    assert len(used) == len(INJECTABLE)


def test_what_the_set_has_in_another_spelling_is_not_brought_in_again():
    used = [("Q212657", "date of birth", "1596-07-08")]
    drawn = {next_triple(GRAPHS, used, seed, "entry-1", 2) for seed in range(100)}

    assert drawn == INJECTABLE - {("Q212657", "date_of_birth", "1596-07-08")}


def test_a_draw_depends_on_seed_entry_and_round_alone():
    def drawn(graphs=GRAPHS, seed=13, key="entry-1", round=2):
        return next_triple(graphs, [], seed, key, round)

    turned = tuple(tuple(reversed(graph)) for graph in reversed(GRAPHS))
    assert drawn() == drawn() == drawn(turned)
    assert len({drawn(seed=seed) for seed in range(40)}) > 1
    assert len({drawn(key=f"entry-{number}") for number in range(40)}) > 1
    assert len({drawn(round=number) for number in range(2, 42)}) > 1


def round_call(round, triple=("", "", ""), answer="An answer."):
    qid, relation, value = triple
    return SimpleNamespace(round=round, answer=answer, qid=qid, relation=relation, value=value)


def test_the_set_keeps_the_round_that_each_member_came_in():
    genre, works = ORAZIO[3], ARTEMISIA[7]
    calls = [
        round_call(1, answer=ANSWER),
        round_call(2, genre),  # not cited by any answer, and in the set
        round_call(3, works, answer="She painted [Q212657, place of birth: Rome]."),
        round_call(7, answer="The simple style."),
    ]
    taken_out = [("Q212657", "date of birth", "1596-07-08"), genre]

    assert minimum_set(GRAPHS, calls) == (
        *first_members(ANSWER, GRAPHS),
        Member(*genre, 2),
        Member(*works, 3),
    )
    assert [member.relation for member in minimum_set(GRAPHS, calls, taken_out)] == [
        "place of birth", "father", "occupation", "notable works",
    ]  # fmt: skip


triples = st.tuples(
    st.sampled_from(["Q1", "Q2"]),
    st.sampled_from(["name", "occupation", "date_of_birth", "date of birth", "given name"]),
    st.sampled_from(["painter", "Re\u0301ne", "R\u00e9ne", "", " ", "Category:Ada", "a, b: c"]),
)
graphs = st.tuples(*[st.lists(triples).map(tuple)] * 2)


@given(graphs, st.lists(triples), st.integers(), st.text())
def test_a_draw_is_permitted_unused_and_of_the_graphs(both, used, seed, key):
    drawn = next_triple(both, used, seed, key, 2)

    left = {compared(each) for graph in both for each in graph if may_be_injected(each)}
    left -= set(map(compared, used))
    assert (drawn is None) == (not left)
    if drawn:
        assert compared(drawn) in left
        assert any(drawn in graph for graph in both)


@given(graphs, st.text() | st.lists(st.sampled_from(
    ["[Q1, occupation: painter]", "[qid: Q2, date of birth: a, b: c]", "[NA]", ". ", "[Q1]"]
)).map("".join))  # fmt: skip
def test_members_of_round_1_are_stated_cited_and_different(both, answer):
    members = first_members(answer, both)

    forms = [compared(member.triple) for member in members]
    assert len(forms) == len(set(forms)) <= len(parse_citations(answer).citations)
    assert all(any(member.triple in graph for graph in both) for member in members)
    assert all(is_cited(answer, member.triple, both) for member in members)
