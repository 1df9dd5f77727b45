"""The rules of prompt search, followed by hand."""

import math

import pytest

from evaluation.measures.prompt_search import (
    MOST_DEMONSTRATIONS,
    Tried,
    compared,
    current,
    mean_squared_error,
    most_calls,
    next_demonstrations,
)


def searched(order, rater_scores, score):
    """Search as a job does: `score(shown, example)` is what the prompt gives."""
    tried: list[Tried] = []
    n_calls = 0
    while (shown := next_demonstrations(order, tried)) is not None:
        scores = {example: score(shown, example) for example in order if example not in shown}
        n_calls += len(scores)
        is_kept = not tried or compared(rater_scores, current(tried), scores).is_kept
        tried.append(Tried(shown, scores, is_kept))
    return tried, n_calls


def test_one_is_kept_when_it_lowers_the_error_over_the_rest():
    """Rater scores a 1, b 0, c 1. Without demonstrations everything gets .5.

    b is tried first: a and c get .75, errors .0625 and .0625, against .25 and .25: kept.
    a is next, over c alone: .75 again, no lower than .75: not kept. Then c, over a alone: 1: kept.
    """
    rater_scores = {"a": 1.0, "b": 0.0, "c": 1.0}
    given = {("b",): 0.75, ("b", "a"): 0.75, ("b", "c"): 1.0}

    tried, n_calls = searched("bac", rater_scores, lambda shown, _: given.get(shown, 0.5))

    assert [(prompt.demonstrations, prompt.is_kept) for prompt in tried] == [
        ((), True),
        (("b",), True),
        (("b", "a"), False),
        (("b", "c"), True),
    ]
    assert n_calls == 3 + 2 + 1 + 1
    assert current(tried).demonstrations == ("b", "c")


def test_the_errors_of_both_prompts_are_over_the_same_examples():
    """The new prompt shows b: a .9 and c .3 against 1 and 0, (.01 + .09) / 2 = .05.

    Before, a .5 and c .5: (.25 + .25) / 2 = .25; what b got then (error 1) plays no part.
    """
    before = Tried((), {"a": 0.5, "b": 1.0, "c": 0.5}, True)

    found = compared({"a": 1.0, "b": 0.0, "c": 0.0}, before, {"a": 0.9, "c": 0.3})

    assert [found.mse, found.mse_before] == pytest.approx([0.05, 0.25])
    assert (found.n_compared, found.is_kept) == (2, True)


def test_equal_errors_keep_the_shorter_prompt():
    before = Tried((), {"a": 0.5, "b": 0.5}, True)

    assert not compared({"a": 1.0, "b": 1.0}, before, {"b": 0.5}).is_kept


def test_what_could_not_be_read_is_compared_under_neither_prompt():
    """Only c has a score under both prompts: .5 before and .1 now, against 0: .25 and .01."""
    before = Tried((), {"a": None, "b": 1.0, "c": 0.5, "d": 1.0}, True)
    rater_scores = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}

    found = compared(rater_scores, before, {"a": 0.0, "b": None, "c": 0.1})

    assert [found.mse, found.mse_before] == pytest.approx([0.01, 0.25])
    assert (found.n_compared, found.n_failed, found.n_failed_before) == (1, 1, 1)
    assert found.is_kept


def test_a_prompt_that_fails_more_often_is_not_kept_however_low_its_error():
    before = Tried((), {"a": 0.5, "b": 0.5, "c": 0.5}, True)

    found = compared({"a": 1.0, "b": 1.0, "c": 1.0}, before, {"b": 1.0, "c": None})

    assert found.mse < found.mse_before
    assert not found.is_kept


def test_where_nothing_could_be_read_before_any_score_is_better():
    silent = Tried((), {"a": None, "b": None}, True)
    rater_scores = {"a": 1.0, "b": 1.0}

    found = compared(rater_scores, silent, {"b": 0.5})
    nothing = compared(rater_scores, silent, {"b": None})

    assert found.is_kept
    assert found.mse == pytest.approx(0.25)
    assert math.isnan(found.mse_before)
    assert not nothing.is_kept


def test_five_demonstrations_are_the_most():
    order = "abcdefgh"

    tried, _ = searched(order, dict.fromkeys(order, 1.0), lambda shown, _: len(shown) / 10)

    assert current(tried).demonstrations == tuple("abcde")
    assert len(tried) == 1 + MOST_DEMONSTRATIONS


def test_a_search_that_keeps_nothing_costs_the_square_of_its_examples():
    order = "abcdef"

    tried, n_calls = searched(order, dict.fromkeys(order, 1.0), lambda shown, _: 0.5)

    assert len(tried) == 7
    assert n_calls == most_calls(6) == 36


def test_a_demonstration_that_leaves_nothing_to_score_is_not_tried():
    assert next_demonstrations(["a"], [Tried((), {"a": 0.5}, True)]) is None
    assert next_demonstrations([], []) == ()


def test_without_pairs_there_is_no_error():
    assert math.isnan(mean_squared_error([]))
