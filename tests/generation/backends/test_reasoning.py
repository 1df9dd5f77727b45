"""The reasoning of a model is no part of its answer, and its tokens count all the same."""

import json
import time

import pytest

from generation.backends.base import Completion, Token
from generation.backends.reasoning import answer_of, opens_reasoning
from tests.generation.backends.servers import GREEDY, completed
from tests.language_model_server import gives

RAN_OUT = "ran out of tokens while thinking: raise the limit (now 4)"
THOUGHT = "It may be 2."


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>It may be 2.</think>4", "4", THOUGHT),
        ("\n<think>\nIt may be 2.\n</think>\n\n4\n", "4", THOUGHT),
        ("It may be 2.</think>4", "4", THOUGHT),  # the prompt has opened it
        ("<THINKING>It may be 2.</THINKING> 4", "4", THOUGHT),
        ("[THINK]It may be 2.[/THINK]4", "4", THOUGHT),
        ("◁think▷It may be 2.◁/think▷4", "4", THOUGHT),
        ("<think></think>\n\n4", "4", ""),
        ("<think>It may</think>4<think>be 2.</think>", "4", "It may\n\nbe 2."),
        ("<think>a <think> b</think>4", "4", "a  b"),
        (
            "<|channel|>analysis<|message|>It may be 2.<|end|><|start|>assistant"
            "<|channel|>final<|message|>4",
            "4",
            THOUGHT,
        ),
        (" 4 ", " 4 ", ""),
        ("4 <think>", "4 <think>", ""),  # an answer that names a mark
    ],
)
def test_the_answer_is_what_stands_outside_of_reasoning(text, answer, reasoning):
    found = answer_of(Completion(text), 16)

    assert (found.text, found.reasoning, found.problem) == (answer, reasoning, "")


@pytest.mark.parametrize(
    ("text", "is_cut", "problem"),
    [
        ("<think>It may", True, RAN_OUT),
        ("<think>It may</think>\n", True, RAN_OUT),
        ("<think>", True, RAN_OUT),
        ("<|channel|>analysis<|message|>It may", True, RAN_OUT),
        ("<think>It may", False, "a stop string ended the reply while the model was thinking"),
    ],
)
def test_reasoning_without_an_answer_is_a_problem(text, is_cut, problem):
    found = answer_of(Completion(text, is_cut=is_cut, n_tokens=4), 4)

    assert (found.text, found.problem, found.n_tokens) == ("", problem, 4)


@pytest.mark.parametrize(
    ("prompt", "mark"),
    [("Is it?\n<assistant><think>\n", "<think>"), ("Is <think> a tag?", ""), ("Is it?", "")],
)
def test_a_prompt_may_open_the_reasoning(prompt, mark):
    assert opens_reasoning(prompt) == mark


def test_a_stop_string_in_reasoning_ends_nothing():
    found = answer_of(Completion("<think>1 ### 2</think>0.8 ### Dialog:"), 16, stop=("###",))

    assert (found.text, found.reasoning) == ("0.8 ", "1 ### 2")


def test_the_tokens_of_an_answer_are_those_after_its_reasoning():
    texts = ["<think>", "No", "</", "think>", "Yes", ".", " And"]
    whole = Completion("".join(texts), tokens=tuple(Token(text, -0.1) for text in texts))

    found = answer_of(whole, 16, stop=(" And",))

    assert [token.text for token in found.tokens] == ["Yes", "."]


def test_marks_without_end_take_no_time():
    began = time.monotonic()

    for bomb in ("<think>" * 300_000, "</think>" * 300_000, "<|channel|>final" * 100_000):
        answer_of(Completion(bomb), 16)

    assert time.monotonic() - began < 10  # a second on one core; hours if it were quadratic


# --- from servers -------------------------------------------------------------------------------


def answered(server, message, reason="stop"):
    usage = {"prompt_tokens": 5, "completion_tokens": 4}
    choice = {"message": message, "finish_reason": reason}
    server.otherwise = gives(json.dumps({"choices": [choice], "usage": usage}).encode())
    return completed(server, decoding=GREEDY)  # the limit is 4 tokens


PARTS = [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": "4"}]
NESTED = [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, PARTS[1]]


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        ({"content": "4", "reasoning_content": THOUGHT}, THOUGHT),
        ({"content": "4", "reasoning": THOUGHT, "reasoning_content": THOUGHT}, THOUGHT),
        ({"content": "<think>It may be 2.</think>4"}, THOUGHT),
        ({"content": [{"type": "text", "text": "4"}]}, ""),
        ({"content": PARTS}, THOUGHT),
        ({"content": NESTED}, THOUGHT),
    ],
)
def test_a_server_s_reasoning_and_parts_are_read(message, reasoning, server):
    found = answered(server, message)

    expected = Completion("4", n_prompt_tokens=5, n_tokens=4, reasoning=reasoning)
    assert found == expected
    assert THOUGHT in found.whole or not reasoning


@pytest.mark.parametrize(
    ("message", "reason", "problem"),
    [
        ({"content": None, "reasoning": THOUGHT}, "length", RAN_OUT),
        ({"content": "", "reasoning_content": THOUGHT}, "length", RAN_OUT),
        ({"content": ""}, "length", RAN_OUT),  # a server that keeps its reasoning
        ({"content": "<think>It may"}, "length", RAN_OUT),
        (
            {"content": None, "reasoning": THOUGHT},
            "stop",
            "the server answered with reasoning alone, expected a text",
        ),
        ({"content": None}, "stop", "the server answered with nothing, expected a text"),
        ({"content": None, "refusal": "No."}, "stop", "the model refused: No."),
        (
            {"content": [{"type": "image_url"}]},
            "stop",
            "the server answered with a part 'image_url', expected a text",
        ),
        ({"content": ["4"]}, "stop", "the server answered with a text in a list, expected parts"),
    ],
)
def test_an_answer_without_a_text_has_a_reason_and_its_tokens_count(
    message, reason, problem, server
):
    found = answered(server, message, reason)

    assert (found.text, found.problem) == ("", problem)
    assert (found.n_prompt_tokens, found.n_tokens) == (5, 4)
