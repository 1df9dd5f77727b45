"""Requests that servers of language models refuse, and facts that they are not sent."""

import json
import logging
from typing import Any

import pytest

from generation.backends.base import Decoding, Prompt
from generation.backends.openai_http import OpenAILanguageModel
from generation.model_specs import BackendError, ModelSpec
from generation.server_addresses import check_key
from tests.generation.backends.servers import GREEDY, KEY, completed, opened
from tests.language_model_server import (
    Reply,
    cuts,
    gives,
    quotes_the_key,
    refuses,
    says,
    stand_in,
)

# --- what a server does not take ----------------------------------------------------------------


def refusing(name: str, said: str) -> Any:
    """Return what a server does that does not know a setting."""
    no, yes = refuses(400, said), says("Yes", [{"Yes": -0.1}])
    return lambda request: (no if name in request.body else yes)(request)


@pytest.mark.parametrize(
    ("name", "said", "instead"),
    [
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            {"max_completion_tokens": 4},
        ),
        ("seed", "Unrecognized request argument supplied: seed", {}),
        ("stop", "Unsupported parameter: 'stop' is not supported with this model.", {}),
    ],
)
def test_what_changes_no_completion_is_said_otherwise_from_then_on(name, said, instead, server):
    server.otherwise = refusing(name, said)
    model = opened(server)
    decoding = Decoding(temperature=0.5, max_tokens=4, stop=("###",), seed=1)

    found = list(model.complete([Prompt(f"Is it {n}?") for n in range(6)], decoding))
    [later] = model.complete([Prompt("Will it?")], decoding)

    assert [each.text for each in [*found, later]] == ["Yes"] * 7
    [request] = server.asked("Will it?")
    assert name not in request.body
    assert instead.items() <= request.body.items()
    assert request.body["temperature"] == 0.5


def test_fewer_likely_tokens_are_asked_for_before_none_are(server):
    said = "Invalid 'top_logprobs': expected a value <= 5, but got 20 instead."
    no, yes = refuses(400, said), says("Yes", [{"Yes": -0.1}])
    server.otherwise = lambda request: (no if request.body["top_logprobs"] > 5 else yes)(request)

    found = completed(server, decoding=Decoding(n_top=20))

    assert [request.body["top_logprobs"] for request in server.requests] == [20, 5]
    assert [token.text for token in found.tokens] == ["Yes"]


@pytest.mark.parametrize(
    ("name", "said", "decoding"),
    [
        (
            "temperature 0",
            "Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported.",
            GREEDY,
        ),
        ("top_p 0.9", "top_p is not supported", GREEDY._replace(top_p=0.9)),
        (
            "top_k 40",
            "Unrecognized request argument supplied: top_k",
            Decoding(temperature=0.7, top_k=40),
        ),
    ],
)
def test_what_changes_completions_is_not_left_out(name, said, decoding, server):
    server.otherwise = refuses(400, said)

    with pytest.raises(BackendError) as caught:
        completed(server, decoding=decoding)

    assert str(caught.value).startswith(f"{server.url}: the server answered 400 (Bad Request): ")
    assert str(caught.value).endswith(f"The work needs {name}. Choose a model that takes it")
    assert "\n" not in str(caught.value)


def test_a_prompt_that_is_too_long_says_nothing_about_settings(server):
    """Servers name the limit then too."""
    said = "'max_tokens' or 'max_completion_tokens' is too large: 4. The context is 4096 tokens."
    server.plan("Is it?", refuses(400, said))
    model = opened(server)

    found, other = model.complete([Prompt("Is it?"), Prompt("Was it?")], GREEDY)

    assert said in found.problem
    assert other.text == "0.4"
    assert all("max_tokens" in request.body for request in server.requests)


# --- no prompt can be answered ------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_and_a_missing_model_stop_it_all(status, server):
    server.otherwise = refuses(status, "no such model")
    model = opened(server)

    with pytest.raises(BackendError) as caught:
        list(model.complete([Prompt("Is it?"), *[Prompt("Was it?")] * 20], GREEDY))

    said = str(caught.value)
    assert f"the server answered {status}" in said
    assert ("no such model" in said) == (status == 404)
    assert "\n" not in said


@pytest.mark.parametrize("status", [403, 404, 307])
def test_after_a_completion_a_refusal_is_about_its_prompt(status, server):
    """Gateways answer 403 to what they find indecent."""
    server.plan("rude", refuses(status, location="/elsewhere"))
    model = opened(server)
    assert next(model.complete([Prompt("Is it?")], GREEDY)).text == "0.4"

    rude, other = model.complete([Prompt("rude"), Prompt("Was it?")], GREEDY)

    assert rude.problem.startswith(f"the server answered {status}")
    assert (other.text, other.problem) == ("0.4", "")


def test_a_key_that_is_refused_later_stops_it_all(server):
    server.plan("late", refuses(401))
    model = opened(server)
    assert next(model.complete([Prompt("Is it?")], GREEDY)).text == "0.4"

    with pytest.raises(BackendError, match="401"):
        list(model.complete([Prompt("late")], GREEDY))


def test_a_key_and_prompts_go_nowhere_else(server, key):
    with stand_in() as other:
        server.otherwise = refuses(307, location=f"{other.url}/chat/completions")
        model = opened(server, key_variable="ATTEST_TEST_KEY")

        with pytest.raises(BackendError, match=r"307 .* it sends elsewhere, which is not followed"):
            list(model.complete([Prompt("Is it?")], GREEDY))

        assert other.requests == []


def test_nothing_that_is_meant_for_another_server_is_sent(server, key, monkeypatch):
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY", "API_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "of-another-server")
    headers = "X-Secret: of-another-server\nAuthorization: of-another-server"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"{headers}\nUser-Agent: of-another-server")
    models: list[Any] = []

    def noted(request: Any) -> Reply:
        models.append(request)
        return Reply(b'{"object": "list", "data": []}')

    server.models = noted
    list(opened(server, key_variable="ATTEST_TEST_KEY").complete([Prompt("Is it?")], GREEDY))

    [asked] = server.requests
    assert len(models) == 1
    assert "of-another-server" not in str([asked, *models])
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers.keys() == {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "x-stainless-raw-response",  # 'stream'
    }


def test_a_key_that_is_not_taken_is_found_out_before_anything_is_asked(server, key):
    server.models = refuses(401, f"Incorrect API key provided: {KEY}")

    with pytest.raises(BackendError, match="to the key in ATTEST_TEST_KEY"):
        opened(server, key_variable="ATTEST_TEST_KEY")


def test_a_server_without_a_list_of_models_will_do(server):
    for behaviour in (refuses(404), refuses(500), cuts):
        server.models = behaviour
        assert completed(server).text == "0.4"


def test_nobody_there_is_said_at_once():
    with stand_in() as gone:
        pass

    with pytest.raises(BackendError, match="the server cannot be reached"):
        opened(gone)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"location": "localhost:8000"}, "Found localhost:8000; expected a server's address"),
        ({"location": "ftp://host/v1"}, "expected a server's address"),
        ({"location": "http://host:port/v1"}, "expected a server's address"),
        ({"location": ""}, "expected a server's address"),
        ({"location": "http://me:secret@host/v1"}, "expected one without. Put a key"),
        ({"location": "http://host/v1?key=secret"}, "expected one without. Put a key"),
        ({"served_name": ""}, "no name of the model"),
        ({"key_variable": "NOT_SET_ANYWHERE"}, "no environment variable NOT_SET_ANYWHERE"),
        ({"key_variable": "ODD_KEY"}, "in the environment variable ODD_KEY; "),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(spec, said, server, monkeypatch):
    monkeypatch.setenv("ODD_KEY", "sécret\nsecret")

    with pytest.raises(BackendError) as caught:
        opened(server, **spec)

    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


# --- the key ------------------------------------------------------------------------------------


def test_a_key_comes_from_the_environment_and_a_placeholder_where_none_is_named(
    server, key, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "of somebody else")
    prompt = [Prompt("Is it?")]
    list(opened(server).complete(prompt, GREEDY))
    list(opened(server, key_variable="ATTEST_TEST_KEY").complete(prompt, GREEDY))

    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer none", f"Bearer {KEY}"]


def test_the_key_is_in_no_text_that_leaves_the_backend(server, key, caplog):
    """The server quotes the key: in an error, in an answer, or in part."""
    caplog.set_level(logging.DEBUG)
    server.plan("in an error", quotes_the_key)
    server.plan("in a refusal", refuses(403, f"{KEY} may not"))
    server.plan("as an answer", says(f"the key is {KEY}."))
    server.plan("as nonsense", gives(json.dumps({"error": f"Bearer {KEY}"}).encode()))
    server.plan("in part", refuses(500, "wrong key sk-Nob******42"))
    model = opened(server, key_variable="ATTEST_TEST_KEY")
    told = ["in an error", "as an answer", "as nonsense", "in part"]

    with pytest.raises(BackendError) as caught:
        list(model.complete([Prompt("in a refusal")], GREEDY))
    found = list(model.complete([Prompt(text) for text in told], GREEDY))
    found += model.complete([Prompt("in a refusal")], GREEDY)

    assert found[0].problem == "the server answered 400 (Bad Request): cannot work with …"
    assert found[1].text == "the key is …."
    said = [*map(repr, found), repr(caught.value), model.signature, caplog.text]
    assert not [text for text in said if KEY in text or "Nob" in text]


@pytest.mark.parametrize(
    "location",
    ["https://models.example.org/v1", "http://127.0.0.2:8000/v1", "http://[::1]/v1"],
)
def test_a_key_goes_where_nobody_on_the_way_can_read_it(location):
    check_key(ModelSpec("openai", location=location, key_variable="ATTEST_TEST_KEY"))


@pytest.mark.parametrize(
    "location",
    [
        "http://models.example.org/v1",
        "http://192.168.1.5:8000/v1",
        "http://localhost.example.org/v1",
        "HTTP://10.0.0.1/v1/completions",
    ],
)
def test_a_key_goes_over_plain_http_by_an_admin_s_leave_alone(location, key):
    spec = ModelSpec("openai", location=location, served_name="m", key_variable="ATTEST_TEST_KEY")

    with pytest.raises(BackendError) as caught:
        OpenAILanguageModel(spec)

    assert f"{location}: the key in ATTEST_TEST_KEY" in str(caught.value)
    assert KEY not in str(caught.value)
    check_key(spec._replace(key_over_http=True))
    check_key(spec._replace(key_variable=""))  # there is none to read


def test_a_key_that_is_a_short_word_leaves_completions_alone(server, monkeypatch):
    monkeypatch.setenv("ATTEST_TEST_KEY", "Yes")
    server.otherwise = says("Yes it is")
    model = opened(server, key_variable="ATTEST_TEST_KEY")

    assert next(model.complete([Prompt("Is it?")], GREEDY)).text == "Yes it is"


def test_a_signature_is_short_and_names_no_folder(server):
    names = ["/home/somebody/models/tiny", "x" * 150, "/other/models/tiny"]

    signatures = [opened(server, served_name=name).signature for name in names]

    assert len(set(signatures)) == 3
    assert all(len(signature) < 80 for signature in signatures)
    assert signatures[0].startswith("openai|chat|127.0.0.1|tiny~")
    assert "somebody" not in signatures[0]
