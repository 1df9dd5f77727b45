"""The triples that a round may bring in, and the end of an answer that says 'question:'."""

import pytest

from generation.text.constructed_questions import Written, may_be_injected, next_triple, written


@pytest.mark.parametrize(
    ("relation", "value"),
    [
        ("Commons category", "Ada Lovelace"),
        ("commons_category", "Ada Lovelace"),
        ("occupation", "Q82594"),
        ("occupation", " Q82594 "),
        ("official website", "https://example.org/ada"),
        ("described at URL", "HTTP://example.org"),
        ("P1234", "Ada"),
    ],
)
def test_what_has_no_words_is_not_brought_in(relation, value):
    assert not may_be_injected(("Q7259", relation, value))


@pytest.mark.parametrize(
    ("relation", "value"),
    [
        ("occupation", "Q42 Club"),
        ("occupation", "Q0"),
        ("notable works", "On https://example.org and other pages"),
        ("part of", "P1234"),
        ("native label", "Ada"),
    ],
)
def test_what_only_looks_like_it_may_be(relation, value):
    assert may_be_injected(("Q7259", relation, value))


def test_a_graph_of_nothing_else_has_nothing_to_bring_in():
    ada = (("Q7259", "name", "Ada"), ("Q7259", "occupation", "Q82594"), ("Q7259", "P1", "x"))

    assert next_triple([ada], (), 0, "1", 2) is None


@pytest.mark.parametrize(
    ("completion", "answer", "question"),
    [
        (
            "Ada said in 1840:\nquestion: why?\nGenerated Question: Where?",
            "Ada said in 1840:\nquestion: why?",
            "Where?",
        ),
        ("Ada.\n**Generated Question:** Where?\nquestion: why?", "Ada.", "Where?"),
        # The model ran on with another entry: what comes behind that is not this one's.
        ("Ada.\nQuestion: Where?\nanswer: Bob.\nGenerated Question: Who?", "Ada.", "Where?"),
    ],
)
def test_the_whole_label_wins_over_a_line_that_begins_with_question(completion, answer, question):
    assert written(completion) == Written(answer, question)
