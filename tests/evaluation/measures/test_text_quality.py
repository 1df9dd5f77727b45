"""G-Eval's prompts, the score in a reply, and its mean weighted by probabilities."""

import pytest

from evaluation.measures.text_quality import TokenOdds, parse_score, prompt, weigh


def token(text, *odds):
    return TokenOdds(text, odds or ((text, 1.0),))


def weighed_of(tokens, metric="coherence"):
    weighed = weigh(tokens, "".join(each.text for each in tokens), metric)
    assert not isinstance(weighed, str), weighed
    return weighed


def test_consistency_sees_the_knowledge_and_the_others_do_not():
    asked = {
        metric: prompt(metric, "Who was she?", "A painter.", "{qid: Q1}")
        for metric in ("coherence", "consistency", "fluency", "relevance")
    }

    assert asked["consistency"].endswith(
        "Question: Who was she?\n\nKnowledge: {qid: Q1}\n\nAnswer: A painter.\n\nScore:"
    )
    for metric in ("coherence", "fluency", "relevance"):
        assert asked[metric].endswith("Question: Who was she?\n\nAnswer: A painter.\n\nScore:")
        assert f"{metric.title()} (1-5) - " in asked[metric]


def test_a_text_that_looks_like_a_field_stays_text():
    asked = prompt("fluency", "What is {answer}?", "It is {question}.")

    assert "Question: What is {answer}?\n\nAnswer: It is {question}.\n" in asked


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4", 4),
        (" 5\n", 5),
        ("Score: 4", 4),
        ("4/5", 4),
        ("4.", 4),
        ("**4**", 4),
        ("3 out of 5", 3),
        ("Coherence (1-5): 4", 4),
        ("**Coherence**: 4/5.", 4),
        ("**Score:** 4", 4),
        ("The score is 4.", 4),
        ("coherence score = 2", 2),
        ("Rating 3", 3),
        ("Answer:\n\n5", 5),
        ("Score (out of 5): 4", 4),
        ("Rating (1 = worst, 5 = best): 4", 4),
        ("GRADE: 4", 4),
        ("- Coherence: **4**", 4),
        ("My final score is “4”.", 4),
        ("\ufeff4", 4),
        ("Downgrade: 4", None),
        ("7", None),
        ("0", None),
        ("10/5", None),  # not the 5 after it
        ("4/10", None),
        ("4.5", None),
        ("4,5", None),
        ("-3", None),
        ("4%", None),
        ("4-5", None),  # a range
        ("Q4", None),
        ("Score4", None),
        ("four", None),
        ("", None),
        (" \n", None),
        ("\u0664", None),  # a digit of another script
        # Another number than the first one may be meant, or another than the last.
        ("1. Read the question: done. Score: 4", None),
        ("The 3 sentences are coherent. Score: 5", None),
        ("On a 5-point scale: 2", None),
        ("On a scale of 1 to 5: 2", None),
        ("I rate its coherence on a scale of 1", None),
        ("Score (after step 3): 4", None),
        ("Score: 4 or 5", None),
        ("Score: 4\nScore: 2", None),
        ("Fluency: 4", None),  # not what was asked
    ],
)
def test_a_reply_is_one_score_from_1_to_5_under_its_name_or_nothing(reply, score):
    assert parse_score(reply, "coherence") == score


def test_labels_are_weighted_by_their_probabilities_and_the_rest_is_counted():
    # 4: .6 + .1, 5: .2; .1 on nothing that is a label, of which .05 is named.
    odds = (("4", 0.6), (" 4", 0.1), ("5", 0.2), ("four", 0.05))

    weighed = weighed_of([token("Score"), token(":"), token(" "), token("4", *odds)])

    assert weighed.mean == pytest.approx((4 * 0.7 + 5 * 0.2) / 0.9)  # 4.22
    assert weighed.probabilities == pytest.approx({1: 0, 2: 0, 3: 0, 4: 0.7, 5: 0.2})
    assert weighed.discarded_mass == pytest.approx(0.1)


def test_the_score_s_own_token_is_looked_at_and_not_the_range_before_it():
    texts = ["Score", " (", "1", "-", "5", "):"]

    weighed = weighed_of([*map(token, texts), token(" 3", (" 3", 0.8))])

    assert weighed.probabilities[3] == 0.8


def test_tokens_may_have_other_white_space_than_their_reply_and_an_end_of_their_own():
    tokens = [token("▁Score:"), token("▁4", ("▁4", 0.6), ("▁2", 0.2)), token("<end_1>")]

    weighed = weigh(tokens, "Score: 4", "fluency")

    assert not isinstance(weighed, str)
    assert weighed.mean == pytest.approx((4 * 0.6 + 2 * 0.2) / 0.8)  # 3.5


@pytest.mark.parametrize("form", ["{}.", ":{}", " **{}**"])
def test_beside_a_digit_with_marks_labels_with_the_same_marks_count(form):
    # 4 with .6 and 5 with .2; '5' alone and '4,' are other forms, and 0.2 in all is discarded.
    odds = ((form.format(4), 0.6), (form.format(5), 0.2), ("5", 0.1), ("4,", 0.05))

    weighed = weighed_of([token("Score " if form[0] == ":" else " "), token(form.format(4), *odds)])

    assert weighed.mean == pytest.approx((4 * 0.6 + 5 * 0.2) / 0.8)  # 4.25
    assert weighed.discarded_mass == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("tokens", "reply", "why"),
    [
        ([], "4", "gave no log-probabilities"),
        ([token("no"), token(" idea")], "4", "gave no log-probabilities"),
        ([token("3")], "4", "gave no log-probabilities"),  # they are another text's
        ([token("4", ("4", 0.0))], "4", "gave no log-probabilities"),
        ([token("score:4")], "score:4", "shares a token with other text"),
        ([token("4/5")], "4/5", "shares a token with other text"),
    ],
)
def test_without_a_token_of_the_score_nothing_is_weighed_and_the_reason_is_said(tokens, reply, why):
    assert why in weigh(tokens, reply, "coherence")
