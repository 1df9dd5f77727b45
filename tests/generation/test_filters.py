"""Each filter keeps one record and drops another; the cascade counts them in order."""

import pytest

from generation.filters import (
    DROP,
    FILTER_KEYS,
    Cascade,
    FilterMaterial,
    Filters,
    cascade_rows,
    filters_of,
)
from generation.records import TurnRecord

ANSWER = "In the winter of 1971."


def dialog(*texts, speakers=("user", "assistant")):
    """Turns in a row, the speakers by turns; the last text is the user question."""
    return tuple(
        TurnRecord(speakers[index % len(speakers)], text, index - 1)
        for index, text in enumerate(texts)
    )


def material(turns=None, answer=ANSWER, golden=("The mill closed in the winter of 1971.",)):
    turns = turns or dialog("Who built the mill?", "Monks.", "When did the mill close?")
    return FilterMaterial(turns, answer, golden)


def passes(key, shown, **choices):
    return Cascade(Filters(on=(key,), **choices)).passes(shown)


# --- one by one -----------------------------------------------------------------------------


def test_the_filters_run_in_the_papers_order():
    assert FILTER_KEYS == (
        "has-history",
        "odd-turns",
        "no-question-after-question",
        "long-answer",
        "short-evidence",
        "not-underspecified",
        "no-article",
        "exact-match",
    )


def test_has_history_drops_a_question_that_opens_its_dialog():
    assert passes("has-history", material(dialog("Who?", "Monks.", "When did it close?")))
    assert not passes("has-history", material(dialog("When did the mill close?")))


def test_odd_turns_drops_a_dialog_in_which_an_answer_is_missing():
    assert passes("odd-turns", material(dialog("Who?", "Monks.", "When did it close?")))
    assert not passes("odd-turns", material(dialog("Who?", "Monks.", "And?", "When?")))


def test_odd_turns_counts_the_line_that_leads_to_the_open_question():
    # 'When?' answers 'Monks.', which answers 'Who?'; the third turn is another branch.
    *before, last = dialog("Who?", "Monks.", "Nobody knows.", "When?")
    tree = (*before[:2], before[2]._replace(parent=0), last._replace(parent=1))

    assert passes("odd-turns", material(tree))
    assert not passes("odd-turns", material((*tree[:3], tree[3]._replace(parent=0))))


def test_no_question_after_question_drops_two_turns_of_the_user_in_a_row():
    answered = dialog("Who?", "Monks.", "When did it close?")
    unanswered = (*dialog("Who?", "Monks.", "Why?"), TurnRecord("user", "When?", 2))

    assert passes("no-question-after-question", material(answered))
    assert not passes("no-question-after-question", material(unanswered))


def test_a_question_that_answers_an_earlier_turn_of_a_tree_follows_no_question():
    turns = (
        *dialog("Who built the mill?", "Monks.", "Why?"),
        TurnRecord("user", "When did it close?", 1),  # answers 'Monks.', beside 'Why?'
    )

    assert passes("no-question-after-question", material(turns))


@pytest.mark.parametrize("answer", ["1971.", "", None])
def test_long_answer_drops_one_word_and_none(answer):
    assert passes("long-answer", material(answer="In 1971."))
    assert not passes("long-answer", material(answer=answer))


def test_short_evidence_keeps_299_tokens_and_drops_300():
    assert passes("short-evidence", material(golden=("word " * 299,)))
    assert not passes("short-evidence", material(golden=("word " * 300,)))
    # All golden passages count together.
    assert not passes("short-evidence", material(golden=("word " * 200, "word " * 100)))


def test_tokens_are_counted_by_the_tokenizer_that_is_named():
    shown = material(golden=("In 1971.",))  # 2 pieces; with its full stop 3

    by_space = {"tokenizer": "white-space", "max_evidence_tokens": 3}
    by_marks = {"tokenizer": "words-and-marks", "max_evidence_tokens": 3}

    assert passes("short-evidence", shown, **by_space)
    assert not passes("short-evidence", shown, **by_marks)


@pytest.mark.parametrize(
    ("question", "names_something"),
    [
        ("What happened in 2012?", True),  # a year
        ("What about in the US?", True),  # a name, not the pronoun
        ("What is one of the songs on the album?", True),
        ("Did he win any awards?", True),
        ("What else happened?", False),
        ("Tell us more.", False),
        ("Are there any other interesting aspects about this article?", False),
        ("What did she do after that?", False),
        ("Can you tell me what happened next?", False),
        ("WHAT ELSE?", False),
        ("Why?", False),
        ("?!", False),
        ("Mikä?", True),  # no list of ours knows its words
    ],
)
def test_not_underspecified_drops_a_question_that_names_nothing(question, names_something):
    shown = material(dialog("Who built the mill?", "Monks.", question))

    assert passes("not-underspecified", shown) == names_something


@pytest.mark.parametrize(
    ("question", "is_kept"),
    [
        ("Which particle did they find?", True),  # holds the letters, not the word
        ("What does the Article say about 1971?", False),
        ("Do these articles name the mill?", False),
    ],
)
def test_no_article_drops_a_question_about_an_article(question, is_kept):
    shown = material(dialog("Does the article name it?", "It does.", question))

    assert passes("no-article", shown) == is_kept


def test_exact_match_keeps_or_drops_answers_that_stand_in_the_evidence():
    matching = material(answer="in the  winter\nof 1971")  # white space is not looked at
    other_case = material(answer="In the winter of 1971")

    assert passes("exact-match", matching)
    assert not passes("exact-match", other_case)
    assert not passes("exact-match", matching, exact_match=DROP)
    assert passes("exact-match", other_case, exact_match=DROP)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("short-evidence", material(golden=())),
        ("exact-match", material(golden=())),
        ("exact-match", material(answer=None)),
    ],
)
def test_what_cannot_be_judged_is_kept_and_counted(key, shown):
    cascade = Cascade(Filters(on=(key,)))

    assert cascade.passes(shown)

    row = next(row for row in cascade_rows(cascade.counts()) if row.rule.key == key)
    assert not row.is_applicable
    assert (row.n_not_applicable, row.n_dropped, row.n_left) == (1, 0, 1)


# --- one behind the other -------------------------------------------------------------------


def test_a_cascade_counts_what_each_filter_drops_of_what_those_before_it_left():
    cascade = Cascade(Filters(on=("long-answer", "has-history", "exact-match")))
    alone = dialog("When did the mill close?")

    kept = [
        cascade.passes(material(alone, answer="1971.")),  # history comes first
        cascade.passes(material(answer="1971.")),
        cascade.passes(material(answer="in the winter of 1971")),
        cascade.passes(material(golden=())),
    ]

    rows = {row.rule.key: row for row in cascade_rows(cascade.counts())}
    assert kept == [False, False, True, True]
    assert list(rows) == list(FILTER_KEYS)
    assert (rows["has-history"].n_dropped, rows["has-history"].share) == (1, 3 / 4)
    assert (rows["long-answer"].n_dropped, rows["long-answer"].share) == (1, 2 / 4)
    assert (rows["exact-match"].n_dropped, rows["exact-match"].n_not_applicable) == (0, 1)
    assert rows["exact-match"].is_applicable  # it could judge one of two
    assert not rows["odd-turns"].is_on
    assert rows["odd-turns"].n_left == 3


def test_without_examples_there_is_no_share():
    rows = cascade_rows(Cascade(Filters(on=FILTER_KEYS)).counts())

    assert {row.share for row in rows} == {None}
    assert cascade_rows({}) == []


def test_choices_come_back_as_they_were_stored():
    chosen = Filters(
        on=("has-history", "exact-match"),
        max_evidence_tokens=50,
        tokenizer="words-and-marks",
        exact_match=DROP,
    )

    assert filters_of(chosen.parameters) == chosen
