"""Language models behind a server, tested with one on this machine that answers as it is told."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Thread

import pytest

from generation.backends import openai_http
from generation.backends.base import Completion, Decoding, Prompt, prompt_of_chat
from generation.backends.openai_http import MOST_SILENT, ServerPatience
from generation.model_specs import BackendError
from generation.text.chat_messages import Message
from tests.generation.backends.servers import GREEDY, SHORT, completed, opened
from tests.language_model_server import (
    Reply,
    cuts,
    gives,
    refuses,
    says,
)

HASTY = SHORT._replace(request=0.3)  # for tests that wait until it is over


def test_a_chat_is_asked_and_its_answer_read(server):
    server.otherwise = says(" Yes.", reason="length")
    model = opened(server)

    found = list(model.complete([Prompt("Is it?", system="Be brief.")], GREEDY))

    assert found == [Completion(" Yes.", is_cut=True, n_prompt_tokens=4, n_tokens=1)]
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "org/tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Is it?"},
        ],
        "max_tokens": 4,
        "temperature": 0.0,
    }
    assert model.signature == "openai|chat|127.0.0.1|org/tiny|v:1"
    assert (model.revision, model.files, model.device) == ("", {}, "server")


def test_a_chat_has_all_its_messages_and_a_server_that_continues_texts_refuses_it(server):
    chat = [Message("system", "s"), Message("user", "u"), Message("assistant", "a")]
    prompt = prompt_of_chat([*chat, Message("user", "v")])

    list(opened(server).complete([prompt], GREEDY))

    assert [tuple(each.values()) for each in server.requests[0].body["messages"]] == [
        *chat,
        ("user", "v"),
    ]
    with pytest.raises(BackendError, match="ends in /completions"):
        list(opened(server, location=f"{server.url}/completions").complete([prompt], GREEDY))


def test_every_choice_of_decoding_is_sent(server):
    decoding = Decoding(0.7, 0.9, 40, max_tokens=9, stop=("###", "\n"), seed=3, n_top=30)

    completed(server, decoding=decoding)

    sent = server.requests[0].body
    del sent["model"], sent["messages"]
    assert sent == {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "max_tokens": 9,
        "stop": ["###", "\n"],
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 20,  # the most that the protocol allows
    }


def test_an_address_that_ends_in_completions_has_texts_gone_on_with(server):
    server.otherwise = says("0.4", [{"0.4": -0.1, "0.2": -2.5}])
    model = opened(server, location=f"{server.url}/completions")

    [found] = model.complete([Prompt("Is it?", system="Be brief.")], Decoding(n_top=30))

    [request] = server.requests
    assert request.path == "/v1/completions"
    assert request.body["prompt"] == "Be brief.\n\nIs it?"
    assert request.body["logprobs"] == 5
    assert found.text == "0.4"
    assert found.tokens == (("0.4", -0.1, (("0.4", -0.1), ("0.2", -2.5))),)
    assert model.signature == "openai|completions|127.0.0.1|org/tiny|v:1"


def test_log_probabilities_are_read(server):
    top = [{"Yes": -0.25, " yes": -2.0}, {".": -0.5, "!": -1.0}]
    server.otherwise = says("Yes.", top)

    found = completed(server, decoding=Decoding(n_top=2))

    assert [token._asdict() for token in found.tokens] == [
        {"text": "Yes", "log_probability": -0.25, "top": (("Yes", -0.25), (" yes", -2.0))},
        {"text": ".", "log_probability": -0.5, "top": ((".", -0.5), ("!", -1.0))},
    ]


def test_a_server_that_wants_no_log_probabilities_is_asked_without(server):
    """Several find that out at the same time."""
    no, yes = refuses(400, "logprobs are not supported"), says("Yes", after=0.05)
    server.otherwise = lambda request: (no if "logprobs" in request.body else yes)(request)
    model = opened(server)

    found = list(model.complete([Prompt(f"Is it {n}?") for n in range(6)], Decoding(n_top=5)))
    list(model.complete([Prompt("Will it?")], Decoding(n_top=5)))

    assert [(each.text, each.tokens, each.problem) for each in found] == [("Yes", (), "")] * 6
    assert len(server.asked("Will it?")) == 1


def test_a_stop_string_that_the_server_leaves_is_cut_here(server):
    server.otherwise = says(" 0.4 ### Dialog", [{" 0.4": -0.1}, {" ###": -0.1}, {" Dialog": -1.0}])

    found = completed(server, decoding=Decoding(stop=("###",), n_top=1))

    assert found.text == " 0.4 "
    assert [token.text for token in found.tokens] == [" 0.4", " ###"]


def test_answers_come_in_the_order_of_the_prompts_a_few_at_once(server):
    prompts = [Prompt(f"number {n}.") for n in range(8)]
    for n in range(8):
        server.plan(f"number {n}.", says(f"answer {n}", after=0.1 if n % 2 == 0 else 0.0))

    found = list(opened(server).complete(prompts, GREEDY))

    assert [each.text for each in found] == [f"answer {n}" for n in range(8)]
    assert 2 <= server.most_at_once <= openai_http.AT_ONCE


def test_several_calls_at_once_ask_no_more_at_once_than_one(server):
    """And none of them waits for another to end: each is answered in its turn."""
    server.otherwise = says("Yes", after=0.02)
    model = opened(server)
    ended = {}

    def call(name: str, n: int) -> None:
        assert all(each.text for each in model.complete([Prompt(name)] * n, GREEDY))
        ended[name] = time.monotonic()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(call, ("long", "short", "another"), (40, 2, 2)))

    assert server.most_at_once == openai_http.AT_ONCE
    assert ended["long"] > max(ended["short"], ended["another"])


def test_what_nobody_waits_for_is_not_asked(server):
    server.otherwise = says("Yes", after=0.1)
    model = opened(server)
    left = model.complete([Prompt("left")] * 8, GREEDY)
    begins = Thread(target=next, args=(left,))
    begins.start()
    time.sleep(0.02)  # the first four have the places

    other = model.complete([Prompt("other")], GREEDY)
    begins.join()
    left.close()  # type: ignore[attr-defined]

    assert next(other).text == "Yes"
    assert len(server.asked("left")) <= 8


def test_an_empty_text_is_a_completion_like_any_other(server):
    """The metric decides how to handle it."""
    server.otherwise = says("")

    assert completed(server) == Completion("", n_prompt_tokens=2, n_tokens=1)


# --- trouble that passes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [
        refuses(429, "slow down", retry_after="0.02"),
        refuses(500),
        refuses(503),
        cuts,
        says("too late", after=0.5),
    ],
    ids=["429", "500", "503", "cut", "slow"],
)
def test_what_passes_is_asked_again(trouble, server):
    server.plan("Is it?", trouble, says("Yes"))

    [found] = opened(server, HASTY).complete([Prompt("Is it?")], GREEDY)

    assert (found.text, found.problem) == ("Yes", "")
    assert len(server.requests) == 2


def test_a_server_is_given_the_seconds_that_it_asks_for(server):
    server.plan("Is it?", refuses(429, retry_after="0.4"), says("Yes"))
    began = time.monotonic()

    assert completed(server).text == "Yes"
    assert time.monotonic() - began > 0.39


def test_a_date_to_wait_for_that_is_too_far_off_is_not_waited_for(server):
    tomorrow = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    server.plan("Is it?", refuses(429, retry_after=tomorrow), says("Yes"))

    assert completed(server).problem.startswith("the server answered 429")
    assert len(server.requests) == 1


def test_a_limit_is_waited_out_as_long_as_a_prompt_may_take(server):
    """More often than other trouble is asked about again."""
    server.plan("Is it?", *[refuses(429)] * 6, says("Yes"))

    assert completed(server).text == "Yes"


# --- trouble that stays -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "problem", "n_requests"),
    [
        (refuses(500), "the server answered 500 (Internal Server Error): no (asked 3 times)", 3),
        (
            refuses(429, "later", retry_after="3600"),
            "the server answered 429 (Too Many Requests): later",
            1,
        ),
        (refuses(400, "4096 tokens"), "the server answered 400 (Bad Request): 4096 tokens", 1),
        (
            lambda request: Reply(b"<html>not here</html>", 418),
            "the server answered 418 (I'm a Teapot)",
            1,
        ),
        (cuts, "the connection was cut before the answer was whole (asked 3 times)", 3),
        (says("late", after=0.5), "no answer within 0.3 s (asked 3 times)", 3),
        (gives(b"<html>"), "the server answered with something that is no JSON", 1),
        (gives(b""), "the server answered with something that is no JSON", 1),
        (gives(b"[" * 100_000), "the server answered with something that is no JSON", 1),
        (gives(b"[1]"), "the server answered with a list, expected an object", 1),
        (gives(b"{}"), "the server's answer has no choices", 1),
        (gives(b'{"choices": []}'), "the server's answer has no choices", 1),
        (gives(b'{"choices": ["Yes"]}'), "the server's answer has no choices", 1),
        (
            gives(b'{"error": {"message": "out of memory"}}'),
            "the server answered with an error: out of memory",
            1,
        ),
        (says(7), "the server answered with a number, expected a text", 1),
        (says(None), "the server answered with nothing, expected a text", 1),
        (
            says("Yes", reason="content_filter"),
            "the server's filter took its answer away",
            1,
        ),
    ],
)
def test_trouble_that_stays_is_a_problem_of_its_prompt_alone(
    behaviour, problem, n_requests, server
):
    server.plan("Is it?", behaviour)

    patience = HASTY if "0.3 s" in problem else SHORT
    found, other = opened(server, patience).complete([Prompt("Is it?"), Prompt("Was it?")], GREEDY)

    assert (found.text, found.problem) == ("", problem)
    assert (other.text, other.problem) == ("0.4", "")
    assert len(server.asked("Is it?")) == n_requests


def test_odd_log_probabilities_and_counts_do_not_spoil_a_text(server):
    choice = {"message": {"content": "Yes"}, "logprobs": {"content": [{"token": "Yes"}]}}
    usage = {"prompt_tokens": "many", "completion_tokens": None}
    server.otherwise = gives(json.dumps({"choices": [choice], "usage": usage}).encode())

    assert completed(server, decoding=Decoding(n_top=2)) == Completion("Yes")


def test_an_answer_that_never_ends_is_given_up(server, monkeypatch):
    monkeypatch.setattr(openai_http, "LARGEST_ANSWER", 1000)
    server.otherwise = says("Yes " * 1000)

    assert completed(server).problem == "the server's answer has more than 1000 bytes"


def test_who_waits_behind_a_server_in_trouble_is_not_asked_for_ever(server):
    """Two calls' worth of time at most: those begun late have their own."""
    server.otherwise = refuses(503)
    patience = ServerPatience(request=0.1, prompt=0.25, n_tries=99, first_pause=0.01)
    prompts = [Prompt(f"number {n}") for n in range(200)]
    began = time.monotonic()

    found = list(opened(server, patience).complete(prompts, GREEDY))

    assert time.monotonic() - began < 6
    assert all(each.problem for each in found)
    assert found[-1].problem.startswith("not asked: the server has been silent for ")


def test_a_server_that_hangs_is_given_up_after_its_first_calls(server):
    server.otherwise = says("late", after=0.5)
    prompts = [Prompt(f"number {n}") for n in range(200)]  # 50 times four, which take 12 s
    patience = ServerPatience(request=0.1, prompt=5.0, n_tries=2, first_pause=0.01)

    with pytest.raises(
        BackendError,
        match=r"4 calls in a row got no answer. The last: no answer within 0\.1 s "
        r"\(asked 2 times\)\. Check that the server works, then resume",
    ):
        list(opened(server, patience).complete(prompts, GREEDY))

    asked = {f"number {n}" for n in range(200) if server.asked(f"number {n}")}
    assert len(asked) <= 2 * MOST_SILENT


def test_one_answer_shows_that_a_server_is_there(server):
    hangs = [Prompt(f"hangs {n}") for n in range(MOST_SILENT - 1)]
    for prompt in hangs:
        server.plan(prompt.text, says("late", after=1.0))
    model = opened(server, ServerPatience(request=0.25, prompt=0.6, n_tries=1))

    for _ in range(2):
        silent = [next(model.complete([prompt], GREEDY)) for prompt in hangs]
        answered = next(model.complete([Prompt("Is it?")], GREEDY))

        assert all(each.problem == "no answer within 0.25 s" for each in silent)
        assert answered.text


def test_after_a_prompt_was_given_up_the_next_is_asked_once_until_one_is_answered(server):
    server.plan("first", refuses(500))
    server.plan("second", refuses(500))
    server.plan("third", says("Yes"))
    server.plan("fourth", refuses(500), says("Yes"))
    model = opened(server)

    found = [
        next(model.complete([Prompt(text)], GREEDY))
        for text in ("first", "second", "third", "fourth")
    ]

    assert [len(server.asked(text)) for text in ("first", "second", "third", "fourth")] == [
        3,
        1,
        1,
        2,
    ]
    assert [each.text for each in found] == ["", "", "Yes", "Yes"]
