"""The scheme QUALITY: the paper's words, and the evidence that is shown with each question."""

import pytest

from annotation.schemes import built_in_schemes, load_scheme


def test_quality_is_rated_from_1_to_5_with_words_at_both_ends():
    for question in load_scheme(built_in_schemes()["QUALITY"]).questions:
        assert question.scale.kind == "ordinal"
        assert question.scale.values == (1, 2, 3, 4, 5)
        assert question.ends
        assert all(question.ends)


def test_quality_shows_people_what_its_metrics_see():
    """KaLMA 4.1: citations are taken out, and only consistency's prompt has the knowledge."""
    scheme = load_scheme(built_in_schemes()["QUALITY"])

    assert scheme.citations == "removed"
    assert [q.key for q in scheme.questions if q.with_evidence] == ["consistency"]
    others = [load_scheme(data) for key, data in built_in_schemes().items() if key != "QUALITY"]
    assert not any(other.has_evidence_by_question for other in others)
    assert {other.citations for other in others} == {"shown"}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (
            "coherence",
            [
                "well-structured and well-organized",
                "should not just be a heap of related information, but should build from sentence "
                "to sentence to a coherent body of information about a topic",
            ],
        ),
        (
            "consistency",
            [
                "consistent with the given knowledge",
                "should also be self-consistent, without any contradiction to itself",
                "does not mention is no fault",  # our reading
            ],
        ),
        (
            "fluency",
            [
                "written in fluent language",
                "appropriate vocabulary, grammar, and sentence structures that enable readers or "
                "listeners to comprehend the content effortlessly",
            ],
        ),
        (
            "relevance",
            [
                "relevant to the question",
                "without providing any irrelevant information",
            ],
        ),
    ],
)
def test_quality_asks_in_the_words_of_the_paper_s_tables(key, words):
    """KaLMA, tables 11 to 14: what a language model is asked, people are asked."""
    question = load_scheme(built_in_schemes()["QUALITY"]).question(key)

    assert question
    for said in words:
        assert said in f"{question.wording} {question.help}"


def test_an_addition_is_no_fault_of_consistency():
    """Our reading of KaLMA 5.1: only what contradicts the knowledge or itself is."""
    consistency = load_scheme(built_in_schemes()["QUALITY"]).question("consistency")

    assert consistency
    best, *worst = consistency.examples
    assert (best.answer, "no fault" in best.reason) == ("5", True)
    assert [example.answer for example in worst] == ["1", "1"]
    assert all("contradict" in example.reason for example in worst)
