"""Prompts about a knowledge graph: the paper's words, what fits, and reading them back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from generation.text.citations import parse_citations
from generation.text.dialog_prompts import BudgetError, prompt_lines
from generation.text.flat_graph import DOCUMENT_TEXT, flat_graph
from generation.text.graph_prompts import build_graph_prompt, said_about_graph, shown_graphs
from generation.text.graph_reading import ReadGraphPrompt, read_graph, read_graph_prompt
from generation.text.native_reading import read_prompt
from generation.text.prompts import prompt_text
from generation.text.tokens import count_tokens

ADA = (
    ("Q7259", "name", "Ada Lovelace"),
    ("Q7259", "place of birth", "London"),
    ("Q7259", "occupation", "mathematician"),
)
BYRON = (("Q5679", "name", "Lord Byron"), ("Q5679", "child", "Ada Lovelace"))
QUESTION = "Where was Ada Lovelace born?"
HEAD = prompt_text("cited_answer")


# --- the paper's words ----------------------------------------------------------------------


def test_a_prompt_is_instruction_demonstration_graphs_and_question():
    prompt = build_graph_prompt((*ADA, *BYRON), QUESTION)

    assert prompt.text == (
        f"{HEAD}\n\n"
        "Question: Considering the information:\n"
        "{name: Ada Lovelace, place of birth: London, occupation: mathematician, qid: Q7259}\n"
        "{name: Lord Byron, child: Ada Lovelace, qid: Q5679}\n"
        "Where was Ada Lovelace born?\n\n"
        "Answer:"
    )
    assert prompt.graph == (*ADA, *BYRON)


def test_the_demonstration_is_that_of_table_10():
    """By KaLMA: five brackets cite Q212657 or Q367360 …, and [NA] is in three sentences."""
    instruction, _, demonstration = HEAD.partition("\n\n")
    shown = demonstration.split("\n")[1:3]
    graphs = [read_graph(line) for line in shown]
    answer = demonstration.partition("\nAnswer: ")[2]

    assert instruction.startswith("Instruction: You answer the question based on your knowledge")
    assert [flat_graph(graph) for graph in graphs] == shown
    assert [(graph[0], len(graph)) for graph in graphs] == [
        (("Q367360", "name", "Orazio Gentileschi"), 12),  # 12 and 17 pairs before the qid
        (("Q212657", "name", "Artemisia Gentileschi"), 17),
    ]
    parsed = parse_citations(answer, {relation for graph in graphs for _, relation, _ in graph})
    facts = {triple for graph in graphs for triple in graph}
    assert [fact.number for fact in parsed.citations] == list(range(1, 12))  # 3 + 2 + 1 + 3 + 1 + 1
    assert all((fact.qid, fact.relation, fact.value) in facts for fact in parsed.citations)
    # A birthday and a movement that its graph does not hold are marked.
    assert len(parsed.na_sentences) == 3
    assert "born on July 8, 1596" in parsed.na_sentences[0]
    assert ("Q212657", "date of birth", "1593-07-08") not in facts


def test_without_sub_graphs_the_question_stands_alone():
    prompt = build_graph_prompt((), QUESTION)

    assert prompt.text.endswith(f"Considering the information:\n{QUESTION}\n\nAnswer:")
    assert prompt.graph == ()
    assert prompt.n_evidence_tokens == 0


def test_the_graph_of_a_prompt_is_what_it_says_word_by_word():
    graph = [("Q1", "name", "Old\nMill"), ("Q1", "closed  in", " 1971\t"), ("Q1", "burnt", " ")]

    prompt = build_graph_prompt(graph, "When\n did it\tclose?")

    assert prompt.graph == (("Q1", "name", "Old Mill"), ("Q1", "closed in", "1971"))
    assert "\n{name: Old Mill, closed in: 1971, qid: Q1}\nWhen did it close?\n\n" in prompt.text


def test_the_three_parts_add_up_to_the_whole():
    prompt = build_graph_prompt((*ADA, *BYRON), QUESTION)

    # 'Question : Considering the information :' six, six of the question, 'Answer :' two.
    assert prompt.n_dialog_tokens == 6 + 6 + 2
    # '{ name : Ada Lovelace , place of birth : London , occupation : mathematician , qid : Q7259 }'
    # and '{ name : Lord Byron , child : Ada Lovelace , qid : Q5679 }'.
    assert prompt.n_evidence_tokens == 20 + 15
    assert prompt.n_instruction_tokens == count_tokens(HEAD)
    assert prompt.n_tokens == count_tokens(prompt.text)


def test_the_lines_of_a_prompt_know_their_parts():
    lines = prompt_lines(build_graph_prompt((*ADA, *BYRON), QUESTION).text)

    assert [line.part for line in lines] == [
        "instructions",
        *["demonstration"] * 5,  # its opening line, two sub-graphs, question, answer
        "dialog",  # 'Question: Considering the information:'
        *["evidence"] * 2,
        *["dialog"] * 2,  # the question, 'Answer:'
    ]
    assert [line.text[:14] for line in lines[7:]] == [
        "{name: Ada Lov",
        "{name: Lord By",
        "Where was Ada ",
        "Answer:",
    ]


# --- what fits ------------------------------------------------------------------------------


def test_the_longest_sub_graph_loses_its_last_triple_first():
    whole = build_graph_prompt((*ADA, *BYRON), QUESTION)

    # ', occupation : mathematician' are four tokens.
    shorter = build_graph_prompt((*ADA, *BYRON), QUESTION, whole.n_tokens - 1)

    assert shorter.graph == (*ADA[:2], *BYRON)
    assert shorter.n_tokens == whole.n_tokens - 4
    assert shorter.n_triples_left_out == 1
    assert build_graph_prompt((*ADA, *BYRON), QUESTION, whole.n_tokens) == whole


def test_the_text_of_a_document_node_goes_first_and_as_a_whole():
    document = (*ADA[:2], ("Q7259", DOCUMENT_TEXT, "She wrote notes. They were long."))
    whole = build_graph_prompt(document, QUESTION)

    shorter = build_graph_prompt(document, QUESTION, whole.n_tokens - 1)

    assert (shorter.graph, shorter.n_triples_left_out) == (ADA[:2], 1)


def test_each_sub_graph_keeps_its_name_and_one_triple():
    least = build_graph_prompt((*ADA[:2], *BYRON), QUESTION)

    assert build_graph_prompt((*ADA, *BYRON), QUESTION, least.n_tokens).graph == least.graph
    with pytest.raises(BudgetError, match=r"tokens where all is left out that may be \(question"):
        build_graph_prompt((*ADA, *BYRON), QUESTION, least.n_tokens - 1)


@given(
    st.lists(
        st.tuples(st.sampled_from(["Q1", "Q2", "Q3"]), st.just("in"), st.text("ab ,:", min_size=1)),
        max_size=8,
    ),
    st.integers(0, 80),
)
def test_what_is_left_is_the_beginning_of_each_sub_graph_and_fits(graph, room):
    whole = build_graph_prompt(graph, QUESTION)
    budget = whole.n_tokens - whole.n_evidence_tokens + room
    try:
        prompt = build_graph_prompt(graph, QUESTION, budget)
    except BudgetError:
        return

    assert prompt.graph is not None
    assert whole.graph is not None
    assert prompt.n_tokens == count_tokens(prompt.text) <= budget
    assert prompt.n_triples_left_out == len(whole.graph) - len(prompt.graph)
    for kept, all_of_it in zip(shown_graphs(prompt.graph), shown_graphs(whole.graph), strict=True):
        assert kept == all_of_it[: len(kept)]


# --- reading it back ------------------------------------------------------------------------


def test_a_prompt_is_read_as_it_was_built():
    graph = (
        *ADA[:1],
        ("Q7259", "educated at", "University of California, Berkeley"),
        ("Q7259", "notable work", "Star Trek: The Next Generation"),
        ("Q7259", "motto", "[sic] {all} is: well"),
        ("Q7259", "work", "Kill, Baby: Kill"),
        *BYRON,
    )

    read = read_graph_prompt(build_graph_prompt(graph, QUESTION).text)

    assert read == ReadGraphPrompt((graph[:5], BYRON), QUESTION)


def test_names_of_relations_in_capitals_are_read_where_all_are():
    capitals = (("K1", "name", "Mill"), ("K1", "Closed", "1971"), ("K1", "Owner", "Abbey, Bec"))

    assert read_graph(flat_graph(capitals)) == capitals
    # Among others such a name is text of the value before it: nothing is lost, nothing made up.
    mixed = (*ADA, ("Q7259", "Commons category", "Ada Lovelace"))
    assert read_graph(flat_graph(mixed)) == (
        *ADA[:2],
        ("Q7259", "occupation", "mathematician, Commons category: Ada Lovelace"),
    )


def test_the_text_of_a_document_node_is_read_back_whole():
    """Prose has commas, small letters and colons as names of relations have them."""
    text = "It closed, note the year: 1971. Rivers, mills, and so on: all flooded."
    document = (*ADA, ("Q7259", DOCUMENT_TEXT, text))

    read = read_graph_prompt(build_graph_prompt((*document, *BYRON), QUESTION).text)

    assert read == ReadGraphPrompt((document, BYRON), QUESTION)


words = st.text("abAB ,:{}[]\n\t.", min_size=1).filter(str.strip)
relations = st.text("abc _", min_size=1).map(lambda name: f"r{name}")
graphs = st.lists(
    st.tuples(words, st.lists(st.tuples(relations, words), max_size=4)), max_size=3
).map(
    lambda entities: [
        triple
        for number, (name, said) in enumerate(entities, start=1)
        for triple in [(f"Q{number}", "name", name), *((f"Q{number}", *pair) for pair in said)]
    ]
)


@given(graphs, words)
@example([("Q1", "name", "A, b: c"), ("Q1", "r", ", d: e")], "{name: A, qid: Q1}\n\nAnswer:")
@example([("Q1", "name", ":, A : :")], ":")  # no name of a relation ends with a space
def test_nothing_of_a_prompt_is_lost_or_made_up(graph, question):
    prompt = build_graph_prompt(graph, question)

    read = read_graph_prompt(prompt.text)

    assert read is not None
    assert read.question == " ".join(question.split())
    again = build_graph_prompt([triple for each in read.graphs for triple in each], question)
    assert again.text == prompt.text


@given(graphs, words)
def test_triples_are_read_back_whatever_signs_their_values_hold(graph, question):
    """Values have no comma, small letter and then a colon, as if a triple began there."""
    plain = [(qid, r, value.replace(":", ":A").replace(", ", ",A")) for qid, r, value in graph]
    prompt = build_graph_prompt(plain, question)

    read = read_graph_prompt(prompt.text)

    assert read is not None
    assert read.graphs == shown_graphs(plain)


@given(st.text("Qa:,{} \n"))
def test_any_text_can_be_read(text):
    read_graph(text)
    read_graph_prompt(f"Instruction: x\nQuestion: Considering the information:\n{text}\n\nAnswer:")
    read_graph_prompt(text)


def test_prompts_for_dialogs_and_about_graphs_are_told_apart():
    assert read_graph_prompt("Instructions: x\nFact: y\n0 -1 0 Why? [eot]\n1 0 1") is None
    assert read_prompt(build_graph_prompt(ADA, QUESTION).text) is None


# --- completions ----------------------------------------------------------------------------


def test_an_answer_ends_where_a_model_asks_itself_the_next_question():
    said = " Ada [NA].\n\nShe was born [Q1, born: 1815].\n"

    assert said_about_graph(said) == "Ada [NA].\n\nShe was born [Q1, born: 1815]."
    assert said_about_graph(f"{said}\nQuestion: Considering …") == said_about_graph(said)
    assert said_about_graph("Yes.\n\nInstruction: You answer\nQuestion: x") == "Yes."
    assert said_about_graph("What is the Question: this.") == "What is the Question: this."
