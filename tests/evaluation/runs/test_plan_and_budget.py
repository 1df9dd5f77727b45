"""The plan of a judge is shown first, by command, page and API, and its budget is kept."""

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import AutoScore, MetricRun
from generation.backends import open_models
from generation.management.asking_command import SAY_YES
from generation.models import Checkpoint
from tests.evaluation.metric_runs import mill
from tests.language_model_server import Reply, says, stand_in

pytestmark = pytest.mark.once

N = 4  # responses; each is asked about three times


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A listed judge that costs 1 USD for a token of a prompt and 2 USD for one of a reply."""
    mill(tmp_path, N)
    open_models._connected.cache_clear()
    with stand_in() as running:
        running.otherwise = says("4")
        Checkpoint.objects.create(
            name="judge",
            backend="openai",
            location=running.url,
            served_name="org/judge",
            input_price=1e6,
            output_price=2e6,
        )
        yield running
    open_models._connected.cache_clear()


def run_metric(*more):
    out, err = io.StringIO(), io.StringIO()
    given = (
        "run_metric",
        "fluency",
        "--dataset=mill",
        "--model=judge",
        "--sample=0",
        "--controls=0",
    )
    try:
        call_command(*given, *more, stdout=out, stderr=err)
    except CommandError as error:
        return str(error), err.getvalue()
    return out.getvalue(), err.getvalue()


def n_words_and_marks(request):
    return len(re.findall(r"\w+|[^\w\s]", request.prompt))


def test_nothing_is_asked_before_a_yes_and_then_exactly_what_the_plan_says(server):
    said, shown = run_metric()

    assert said == SAY_YES
    assert server.requests == []
    assert not MetricRun.objects.exists()
    row = shown.splitlines()[1]

    run_metric("--yes")

    n_in = sum(map(n_words_and_marks, server.requests))
    assert len(server.requests) == 3 * N
    # A reply may have 16 tokens. 1 USD each for those of prompts, 2 USD for those of replies.
    cost = f"{n_in + 2 * 192:,.2f}"
    assert row.split()[-7:] == ["12", "0", f"{n_in:,}", "192", "—", cost, "USD"]
    assert AutoScore.objects.filter(score=4).count() == N


def test_a_plan_without_calls_asks_for_no_yes_and_knows_what_was_scored_before(server):
    run_metric("--yes")

    said, shown = run_metric("--threshold", "2")

    assert f"{N} of {N} responses scored, {N} reused" in said
    assert shown == ""
    assert len(server.requests) == 3 * N


@pytest.mark.parametrize(
    ("limit", "n_calls", "n_scored"),
    [
        # 7 calls are two responses, and one call for a third, which has no score yet.
        (("--most-calls", "7"), 7, 2),
        (("--most-calls", "12"), 12, 4),
        (("--most-cost", "1"), 0, 0),
        (("--most-tokens", "10"), 0, 0),
    ],
)
def test_a_run_stops_before_the_call_that_would_exceed_its_budget(server, limit, n_calls, n_scored):
    said, _ = run_metric("--yes", *limit)

    run = MetricRun.objects.get()
    assert len(server.requests) == run.n_calls == n_calls
    assert AutoScore.objects.filter(run=run, score=4).count() == n_scored
    if n_scored == N:
        assert run.state == MetricRun.State.DONE
        return
    assert run.state == MetricRun.State.FAILED
    assert said.startswith("The budget of this run is spent: the next call would exceed it.")

    run_metric("--yes", "--most-calls", "50")

    run.refresh_from_db()
    assert (run.state, AutoScore.objects.filter(run=run, score=4).count()) == ("done", N)


def test_what_was_spent_is_what_the_server_counted(server):
    body = b'{"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": 100, '
    server.otherwise = lambda request: Reply(body=body + b'"completion_tokens": 2}}')

    said, _ = run_metric("--yes")

    # 12 calls: 12 · 100 · 1 USD + 12 · 2 · 2 USD
    spent = "12 calls, 1,224 tokens (1,200 of prompts, 24 of replies), 1,248.00 USD"
    assert spent in said


def test_a_cost_needs_a_price_and_a_baseline_has_no_budget(server):
    Checkpoint.objects.update(input_price=None, output_price=None)

    assert run_metric("--most-cost", "1")[0].startswith("--most-cost: judge has no price here.")
    with pytest.raises(CommandError, match="--most-calls: Only a language model has a budget"):
        call_command("run_metric", "auto_ais", "--dataset=mill", "--most-calls=1")


def test_the_page_shows_the_plan_and_starts_what_was_seen(server, researcher):
    address = reverse("evaluation:start-run")
    choices = {
        "over": "dataset:mill",
        "metric": "fluency",
        "shown": "fluency",
        "model": "judge",
        "mode": "integer",
        "repeats": "3",
        "threshold": "3",
        "seed": "0",
        "controls": "0",
    }

    page = researcher.post(address, choices)

    assert page.status_code == 200
    assert not MetricRun.objects.exists()
    assert "Start: 12 calls at" in page.content.decode()
    assert page.context["fields"] == list(choices.items())
    # A plan with fewer calls is not this one.
    assert researcher.post(address, choices | {"seen_calls": "11"}).status_code == 200

    started = researcher.post(address, choices | {"seen_calls": "12"})

    run = MetricRun.objects.get()
    assert started.url == reverse("evaluation:run", args=[run.pk])


def test_the_api_answers_with_the_plan_until_it_is_confirmed(server, researcher):
    wanted = {"dataset": "mill", "metric": "fluency", "model": "judge", "most_calls": 7}
    wanted["controls"] = 0

    def asked(**more):
        return researcher.post(
            reverse("api:run-list"), wanted | more, content_type="application/json"
        )

    answer = asked()

    assert answer.status_code == 409
    assert answer.json()["plan"]["total"]["n_calls"] == 3 * N
    assert not MetricRun.objects.exists()
    assert asked(confirmed=True).status_code == 202
    assert MetricRun.objects.get().budget == {"most_calls": 7, "price": [1e6, 2e6]}
