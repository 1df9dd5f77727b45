"""The extractive model on questions about a knowledge graph: it cites what it is shown."""

from hypothesis import given
from hypothesis import strategies as st

from generation.backends.base import Decoding, Prompt
from generation.backends.registry import open_language_model
from generation.model_specs import ModelSpec
from generation.text.citations import parse_citations
from generation.text.flat_graph import DOCUMENT_TEXT
from generation.text.graph_prompts import STOPS, build_graph_prompt

GREEDY = Decoding(max_tokens=500, stop=STOPS)
MODEL = open_language_model(ModelSpec("extractive", "extractive"))
ADA = (
    ("Q7259", "name", "Ada Lovelace"),
    ("Q7259", "sex or gender", "female"),
    ("Q7259", "occupation", "mathematician"),
    ("Q7259", "place of birth", "London"),
    ("Q7259", "father", "Lord Byron"),
    ("Q7259", "date_of_birth", "1815-12-10"),
)
BYRON = (
    ("Q5679", "name", "Lord Byron"),
    ("Q5679", "occupation", "poet"),
    ("Q5679", "child", "Ada Lovelace"),
)


def answer(graph, question, decoding=GREEDY):
    prompt = build_graph_prompt(graph, question)
    [completion] = MODEL.complete([Prompt(prompt.text)], decoding)
    return completion.text


def cited(graph, text):
    parsed = parse_citations(text, {triple[1] for triple in graph}, {triple[0] for triple in graph})
    return [(fact.qid, fact.relation, fact.value) for fact in parsed.citations]


def test_what_the_question_asks_comes_first_and_housekeeping_last():
    """'Where' asks for a place and 'born' for a birth: that of the place shares two words."""
    assert answer(ADA, "Where was Ada Lovelace born?") == (
        "Ada Lovelace's place of birth is London and date of birth is 1815-12-10 "
        "[Q7259, place of birth: London, date_of_birth: 1815-12-10]. "
        "Ada Lovelace's occupation is mathematician and father is Lord Byron "
        "[Q7259, occupation: mathematician, father: Lord Byron]. "
        "Ada Lovelace's sex or gender is female [Q7259, sex or gender: female]."
    )


def test_entities_take_turns_until_four_sentences_are_said():
    """Both have a word of the question, 'Lord' 'Byron' and 'Ada'; each has a sentence per round."""
    said = answer((*ADA, *BYRON), "Who were Ada and Lord Byron?")

    assert said == (
        "Ada Lovelace's father is Lord Byron and occupation is mathematician "
        "[Q7259, father: Lord Byron, occupation: mathematician]. "
        "Ada Lovelace's place of birth is London and date of birth is 1815-12-10 "
        "[Q7259, place of birth: London, date_of_birth: 1815-12-10]. "
        "Ada Lovelace's sex or gender is female [Q7259, sex or gender: female]. "
        "Lord Byron's child is Ada Lovelace and occupation is poet "
        "[Q5679, child: Ada Lovelace, occupation: poet]."
    )


def test_what_the_graph_does_not_say_is_marked():
    said = answer(ADA, "What was Ada Lovelace's occupation, and which analytical engine was hers?")

    assert said.endswith(". Nothing here says more about analytical engine was hers [NA].")
    parsed = parse_citations(said, {triple[1] for triple in ADA})
    assert len(parsed.na_sentences) == 1


def test_without_a_graph_all_there_is_to_say_is_that_nothing_says_it():
    assert answer((), "Where was Ada born?") == "Nothing here says more about Ada born [NA]."
    assert answer((), "Was Ada rich, or poor?") == (
        "Nothing here says more about Ada rich and poor [NA]."
    )
    assert answer((), "What else?") == "Nothing here answers that [NA]."


def test_values_with_commas_colons_and_brackets_are_cited_word_by_word():
    graph = (
        ("Q1", "name", "Ann O'Hara"),
        ("Q1", "educated at", "University of California, Berkeley"),
        ("Q1", "notable work", "Star Trek: The Next Generation"),
        ("Q1", "work", "Kill, Baby: Kill"),
        ("Q1", "motto", "[sic] and [so on]"),
    )

    said = answer(graph, "Who is Ann O'Hara?")

    assert sorted(cited(graph, said)) == sorted(graph[1:])


def test_a_value_that_its_citation_would_lose_is_not_cited():
    """'a]' ends the bracket; a comma at the end of a value is read as one between citations."""
    graph = (("Q1", "name", "X"), ("Q1", "mark", "a] b"), ("Q1", "sign", "b,"), ("Q1", "in", "c"))

    assert cited(graph, answer(graph, "Who is X?")) == [("Q1", "in", "c")]


def test_eight_citations_at_most_and_the_demonstration_is_no_graph():
    graph = [("Q1", "name", "X"), *(("Q1", f"relation {n}", f"value {n}") for n in range(20))]

    said = answer(graph, "Who is X?")

    assert cited(graph, said) == [tuple(triple) for triple in graph[1:9]]
    assert "Gentileschi" not in said


def test_the_text_of_a_document_node_is_read_and_not_cited():
    """'kept' and 'notes' are in the text alone, 'engine' is nowhere."""
    document = (*ADA[:4], ("Q7259", DOCUMENT_TEXT, "She kept notes, many: all are lost."))

    said = answer(document, "Where was Ada Lovelace born, and who kept notes about an engine?")

    assert said == (
        "Ada Lovelace's place of birth is London and occupation is mathematician "
        "[Q7259, place of birth: London, occupation: mathematician]. "
        "Ada Lovelace's sex or gender is female [Q7259, sex or gender: female]. "
        "Nothing here says more about engine [NA]."
    )


def test_categories_and_instances_come_last():
    graph = (
        ("Q1", "instance of", "human"),
        ("Q1", "topic", "Category:X"),
        ("Q1", "in", "c"),
    )

    assert cited(graph, answer(graph, "Is X a human?")) == [
        ("Q1", "in", "c"),
        ("Q1", "instance of", "human"),  # 'human' is asked for
        ("Q1", "topic", "Category:X"),
    ]


def test_with_a_temperature_the_seed_decides_which_triples_come_first():
    graph = [("Q1", "name", "X"), *(("Q1", f"relation {n}", f"value {n}") for n in range(20))]

    def drawn(seed, **more):
        decoding = GREEDY._replace(temperature=1.0, seed=seed, **more)
        return cited(graph, answer(graph, "Who is X?", decoding))

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(5)}) > 1
    assert drawn(1, top_k=1) == [tuple(triple) for triple in graph[1:9]]
    assert set(drawn(2)) <= set(graph)


texts = st.text("abAB ,:;[]{}.'", min_size=1).filter(str.strip)
relations = st.text("abc _", min_size=1).map(lambda name: f"r{name}")


@given(
    st.lists(st.tuples(texts, st.lists(st.tuples(relations, texts), max_size=5)), max_size=3),
    texts,
    st.sampled_from([0.0, 0.8]),
)
def test_everything_cited_is_in_the_graph_whatever_it_holds(entities, question, temperature):
    """Values have no comma, small letter and then a colon, as if a triple began there."""
    graph = [
        triple
        for number, (name, said) in enumerate(entities, start=1)
        for triple in [
            (f"Q{number}", "name", name.replace(":", "")),
            *((f"Q{number}", relation, value.replace(":", "")) for relation, value in said),
        ]
    ]
    prompt = build_graph_prompt(graph, question)

    said = answer(graph, question, GREEDY._replace(temperature=temperature))

    assert said
    assert set(cited(graph, said)) <= set(prompt.graph or ())
