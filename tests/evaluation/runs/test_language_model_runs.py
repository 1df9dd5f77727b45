"""Runs that ask a language model behind a server, whatever the server does."""

import threading
from functools import partial

import pytest

from evaluation.backends.registry import BACKENDS, open_backend
from evaluation.metrics.registry import metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.materials import unscored
from evaluation.runs.plan import spec_of
from evaluation.runs.scoring import RunScorer
from evaluation.runs.services.runs import retry_failed
from generation.backends import open_models
from generation.backends.openai_http import AT_ONCE, OpenAILanguageModel, ServerPatience
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import problems_of, rows_of
from tests.language_model_server import (
    Reply,
    cuts,
    gives,
    quotes_the_key,
    refuses,
    says,
    stand_in,
    transformers_serve,
)
from tests.tiny_language_models import CHAT, tiny_causal

pytestmark = pytest.mark.once

SHORT = ServerPatience(request=0.6, prompt=3.0, n_tries=2, first_pause=0.01, longest_pause=0.02)
KEY = "sk-of-nobody-in-particular"


@pytest.fixture
def server(monkeypatch):
    """A stand-in whose patience is short, and whose key is known."""
    impatient = partial(OpenAILanguageModel, patience=SHORT)
    monkeypatch.setitem(BACKENDS, "openai", BACKENDS["openai"]._replace(open=impatient))
    monkeypatch.setenv("ATTEST_TEST_KEY", KEY)
    open_models._connected.cache_clear()
    with stand_in() as running:
        yield running
    open_models._connected.cache_clear()


def asked_for(dataset, url, metric="sensible", **spec) -> MetricRun:
    named = {"model_name": "tiny", "served_name": "org/tiny"} | spec
    return requested(
        dataset, metric=metric_of(metric, {}), backend="openai", model_location=url, **named
    )


def test_whatever_a_server_does_a_run_ends_and_retrying_mends_it(tmp_path, server):
    """Each response has its own trouble: r<n> closed in <1970 + n>."""
    trouble = {
        "r1": (says("0.4", after=0.9), "no answer within 0.6 s (asked 2 times)"),
        "r2": (refuses(429, retry_after="600"), "the server answered 429 (Too Many Requests): no"),
        "r3": (refuses(500), "the server answered 500 (Internal Server Error): no"),
        "r4": (cuts, "the connection was cut before the answer was whole"),
        "r5": (gives(b"<html>"), "the server answered with something that is no JSON"),
        "r6": (gives(b'{"choices": []}'), "the server's answer has no choices"),
        "r7": (says(""), "no number in 0 to 1 in 3 replies, the last: ''"),
        "r8": (quotes_the_key, "the server answered 400 (Bad Request): cannot work with …"),
        "r9": (says("very sensible"), "no number in 0 to 1 in 3 replies"),
    }
    for key, (behaviour, _) in trouble.items():
        server.plan(f"closed in 197{key[1:]}", behaviour)
    dataset = mill(tmp_path, 12)

    run = work(asked_for(dataset, server.url, key_variable="ATTEST_TEST_KEY"))

    assert (run.state, run.error) == (MetricRun.State.DONE, "")
    problems = problems_of(run)
    assert problems.keys() == trouble.keys()
    for key, (_, problem) in trouble.items():
        assert problems[key].startswith(problem.split(" (asked")[0]), key
    assert {key: row.score for key, row in rows_of(run).items() if not row.problem} == {
        "r0": 0.4,
        "r10": 0.4,
        "r11": 0.4,
    }

    for key in trouble:
        server.plan(f"closed in 197{key[1:]}", says(" 0.8 ###"))
    assert retry_failed(run, None) == len(trouble)
    work(run)

    assert run.state == MetricRun.State.DONE
    rows = rows_of(run)
    assert len(rows) == 12
    assert {rows[key].score for key in trouble} == {0.8}
    assert problems_of(run) == {}


def test_a_key_and_an_address_are_nowhere_but_where_they_belong(tmp_path, server):
    server.otherwise = quotes_the_key
    run = work(asked_for(mill(tmp_path, 2), server.url, key_variable="ATTEST_TEST_KEY"))
    server.otherwise = lambda request: Reply(b"", 404)
    other = work(asked_for(mill(tmp_path, 2, "other"), server.url, key_variable="ATTEST_TEST_KEY"))

    assert other.state == MetricRun.State.FAILED
    assert "answered 404 (Not Found); expected a model 'org/tiny' there" in other.error
    assert server.url not in other.error
    runs = MetricRun.objects.values()
    assert KEY not in str(list(runs)) + str(list(AutoScore.objects.values()))
    assert run.backend_signature == "openai|chat|127.0.0.1|org/tiny|v:1"
    assert run.device == "server"


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_fails_the_run_in_one_line(status, tmp_path, server):
    server.models = refuses(status)

    run = work(asked_for(mill(tmp_path, 6), server.url))

    assert run.state == MetricRun.State.FAILED
    assert f"the server answered {status}" in run.error
    assert "\n" not in run.error
    assert not AutoScore.objects.filter(run=run).exists()


def test_a_judge_behind_a_server_scores_by_its_words(tmp_path, server):
    server.otherwise = says("No.")
    server.plan("Claim: A man is playing a guitar.", says("Yes"))
    server.plan("It closed in 1971.", says("Yes, it does."))
    server.plan("It closed in 1972.", says("Who knows"))
    dataset = mill(tmp_path, 3)

    run = work(asked_for(dataset, server.url, "auto_ais"))

    rows = rows_of(run)
    assert run.backend_signature.startswith("judge|text|v:2|prompt@")
    assert run.backend_signature.endswith("|openai|chat|127.0.0.1|org/tiny|v:1")
    assert [rows[key].score for key in ("r0", "r1", "r2")] == [0.0, 1.0, None]
    assert problems_of(run) == {"r2": "the model's reply is neither Yes nor No: 'Who knows'"}


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Yield the address and the name of a tiny model that `transformers serve` serves."""
    made = tmp_path_factory.mktemp("served")
    model = tiny_causal(made / "tiny", always="0.4", chat_template=CHAT, context=4096)
    with transformers_serve(model, made / "home") as url:
        yield url, str(model)


def test_a_run_over_a_real_server(tmp_path, served):
    """Messages and texts alike, and another model than the one it has."""
    url, model = served
    dataset = mill(tmp_path, 6)

    chat = work(asked_for(dataset, url, served_name=model))
    texts = work(
        asked_for(dataset, f"{url}/completions", served_name=model, model_name="tiny texts")
    )
    missing = work(asked_for(dataset, url, served_name="org/missing", model_name="missing"))

    assert (chat.state, chat.error, problems_of(chat)) == (MetricRun.State.DONE, "", {})
    assert [row.score for row in rows_of(chat).values()] == [0.4] * 6
    assert {row.details["replies"][0] for row in rows_of(chat).values()} == {"0.4"}
    assert [row.score for row in rows_of(texts).values()] == [0.4] * 6
    # It has one model only, and says so of each prompt.
    said = set(problems_of(missing).values())
    assert len(problems_of(missing)) == 6
    assert all(text.startswith("the server answered 400 (Bad Request): ") for text in said)


def test_a_slow_server_is_still_asked_several_prompts_at_once(tmp_path, server):
    run = asked_for(mill(tmp_path, 8), server.url)
    scorer = RunScorer(run, open_backend(spec_of(run)), lambda: None)
    scorer._pace.note_call(1, 90.0)  # one answer took a minute and a half
    scorer._pace.note_batch(1, 90.0)
    together = threading.Barrier(AT_ONCE)

    def when_all_are_there(request):
        together.wait(timeout=SHORT.request)  # else a 500
        return says("0.4")(request)

    server.otherwise = when_all_are_there
    targets = list(run.chunks.order_by("number").values_list("targets", flat=True))
    waiting = unscored(run, [target for some in targets for target in some])
    rows = [row for batch in scorer.batches(waiting) for row in batch]

    assert [row.problem for row in rows] == [""] * 8
    assert server.most_at_once == AT_ONCE == 4
