"""Workers, their beat and all of them are killed: all work is done once, and pages report it.

Work that computes long, or that waits for a server, holds up no other work.

Each kind of kill comes 20 times in all: over the queue in a folder, Redis and RabbitMQ, and by the
rounds of `make test-faults` on SQLite and PostgreSQL. Only the beat sends messages here.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from evaluation.backends.pair_model import OBVIOUSLY_NOT
from evaluation.exchange.uploads import request_import, request_storing
from evaluation.measures.entailment import AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.plan import RunPlan
from evaluation.runs.services import runs
from evaluation.runs.services.runs import request_metric_run
from generation.backends.openai_http import AT_ONCE
from generation.model_specs import ModelSpec
from generation.models import Checkpoint, Dataset, Import
from tests.evaluation.workers import (
    BROKERS,
    is_over,
    long_evidence,
    stored,
    waited,
)
from tests.language_model_server import says, stand_in
from tests.tiny_models import tiny_checkpoint
from tests.work.worker_group import HASTY, SILENT_AFTER_SECONDS, Group, group_of, group_on
from work.worker_health import watch

pytestmark = [pytest.mark.both(transaction=True), pytest.mark.faults]

N_EXAMPLES, N_SETUPS = 20, 40
# For each kind of kill: 10, and 20 on two databases.
N_KILLS = {"filesystem": 4, "redis": 3, "rabbitmq": 3}
ENDS_WITHIN_SECONDS = 120.0


@pytest.fixture
def many(tmp_path) -> Dataset:
    """800 responses with 24 sentences of evidence each."""
    return long_evidence(tmp_path / "material", N_EXAMPLES, N_SETUPS)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch, settings):
    monkeypatch.setattr(runs, "LARGEST_CHUNK", 10)
    settings.SILENT_AFTER_SECONDS = SILENT_AFTER_SECONDS


def asked_for(dataset: Dataset, window: int = 1, **choices: Any) -> MetricRun:
    plan = RunPlan(metric=AutoAisMetric(AutoAis(window=window)), **choices)
    return request_metric_run(dataset, plan, dataset.responses.all(), None)


def judge(url: str, name: str, **limits: int) -> ModelSpec:
    """List a model behind a server, and return it."""
    listed = Checkpoint.objects.create(
        name=name, backend="openai", location=url, served_name="judge", **limits
    )
    return listed.spec()


def n_scored(run: MetricRun) -> int:
    return AutoScore.objects.filter(run=run).count()


# --- the kinds of kill ----------------------------------------------------------------------


def idle_process(group: Group, many: Dataset, page: Callable[[MetricRun], str]) -> MetricRun:
    """Kill a process of either sort that waits for work; then there is some."""
    assert waited(lambda: len(group.computing) == len(group.quick) == 2, 60), group.log[-3000:]
    os.kill(random.choice([*group.computing, *group.quick]), signal.SIGKILL)
    return asked_for(many)


def busy_process(group: Group, many: Dataset, page: Callable[[MetricRun], str]) -> MetricRun:
    """Kill a process in the middle of its work."""
    run = scoring(group, many)
    os.kill(random.choice(group.computing), signal.SIGKILL)
    return run


def beat(group: Group, many: Dataset, page: Callable[[MetricRun], str]) -> MetricRun:
    """Kill the beat, then request work, which only the beat sends."""
    assert waited(lambda: len(group.beat) == 1, 60), group.log[-3000:]
    os.kill(group.beat[0], signal.SIGKILL)
    return asked_for(many)


def whole_group(group: Group, many: Dataset, page: Callable[[MetricRun], str]) -> MetricRun:
    """Kill everything; the page reports it, and the group is started again."""
    run = scoring(group, many)
    assert "No worker has answered" not in page(run)
    group.kill()
    said = waited(lambda: "No worker has answered since" in page(run), 10, every=0.2)
    assert said, "the page says nothing"
    group.start()
    return run


def scoring(group: Group, many: Dataset) -> MetricRun:
    """Return a run that has begun and is not over."""
    assert waited(lambda: len(group.computing) == 2, 60), group.log[-3000:]
    run = asked_for(many)
    begins = waited(lambda: n_scored(run) > 0, ENDS_WITHIN_SECONDS)
    assert begins, group.log[-3000:]
    return run


@pytest.mark.parametrize("broker", BROKERS)
def test_whatever_is_killed_all_work_ends_once(broker, many, tmp_path, client, rosa, capsys):
    client.force_login(rosa)
    watch._latest = 0.0

    def page(run: MetricRun) -> str:
        shown: bytes = client.get(reverse("evaluation:run", args=[run.pk])).content
        return shown.decode()

    kinds = [idle_process, busy_process, beat, whole_group] * N_KILLS[broker]
    random.Random(broker).shuffle(kinds)
    took: dict[str, list[float]] = {}
    with group_on(broker, tmp_path, **HASTY) as group:
        for kill in kinds:
            run = kill(group, many, page)
            before = stored(run)
            began = time.monotonic()
            ends = waited(partial(is_over, run), ENDS_WITHIN_SECONDS, every=0.1)
            assert ends, f"{kill.__name__}: {n_scored(run)} scored\n{group.log[-5000:]}"
            took.setdefault(kill.__name__, []).append(time.monotonic() - began)

            after = stored(run)
            assert run.state == MetricRun.State.DONE
            assert len(after) == N_EXAMPLES * N_SETUPS
            assert before.items() <= after.items(), "a score was made again"
            run.delete()

    with capsys.disabled():
        for name, seconds in sorted(took.items()):
            line = f"{connection.vendor} {broker} {name}: {len(seconds)} kills, all work ended"
            sys.stdout.write(f"\n{line} within {max(seconds):.1f} s")


@pytest.mark.parametrize("broker", ["filesystem"])
def test_busy_processes_raise_no_false_alarm(broker, many, tmp_path, client, rosa):
    """Three times as long as silence may last, as three minutes are to one."""
    client.force_login(rosa)
    watch._latest = 0.0
    with group_on(broker, tmp_path, **HASTY) as group:
        run = scoring(group, many)
        before = sorted([*group.computing, *group.quick, *group.beat])
        ends_at = time.monotonic() + 3 * SILENT_AFTER_SECONDS
        while time.monotonic() < ends_at:
            if is_over(run):
                run = asked_for(many)
                AutoScore.objects.exclude(run=run).delete()  # what was scored is asked again
            assert watch.silent_since() is None
            time.sleep(0.1)

        assert sorted([*group.computing, *group.quick, *group.beat]) == before


# Each makes four calls at once, and usually a model gets eight.
AT_ONE_SERVER = 8 // AT_ONCE  # chunks


def test_servers_that_hang_hold_their_own_work_only(many, tmp_path):
    with (
        stand_in() as first,
        stand_in() as second,
        stand_in() as quick,
        group_on("filesystem", tmp_path, **HASTY) as group,
    ):
        for server in (first, second):
            server.otherwise = says("Yes", after=120.0)
        quick.otherwise = says("Yes")
        quick.plan(OBVIOUSLY_NOT.hypothesis, says("No"))
        judges = [judge(each.url, f"judge-{n}") for n, each in enumerate((first, second, quick))]
        hanging = [asked_for(many, 0, spec=judge) for judge in judges[:2]]
        assert waited(lambda: bool(first.requests and second.requests), 60), group.log[-3000:]

        others = [asked_for(many, 0, spec=judges[2]), asked_for(many)]

        for run in others:
            assert waited(partial(is_over, run), ENDS_WITHIN_SECONDS), group.log[-3000:]
            assert (run.state, run.error) == (MetricRun.State.DONE, "")
        for run in hanging:
            at_work = run.chunks.filter(state=RunChunk.State.RUNNING)
            assert (is_over(run), at_work.count()) == (False, AT_ONE_SERVER)

        group.kill()
        lease_ends = timezone.now() + timedelta(seconds=2)  # ATTEST_CHUNK_LEASE_SECONDS, no more
        taken = RunChunk.objects.filter(state=RunChunk.State.RUNNING)
        assert taken.count() == 2 * AT_ONE_SERVER
        assert not taken.filter(lease_until__gt=lease_ends).exists()


def test_the_workers_of_two_machines_keep_the_limit_of_a_model_together(many, tmp_path):
    with (
        stand_in() as server,
        group_on("filesystem", tmp_path, **HASTY) as one,
        group_of(one.site, tmp_path / "other.log", HASTY) as other,
    ):
        server.otherwise = says("Yes", after=0.05)
        server.plan(OBVIOUSLY_NOT.hypothesis, says("No"))
        plan = RunPlan(
            metric=AutoAisMetric(AutoAis()), spec=judge(server.url, "judge", calls_at_once=AT_ONCE)
        )
        setups = many.setups.order_by("pk")[:4]
        judged = [
            request_metric_run(many, plan, many.responses.filter(setup=setup), None)
            for setup in setups
        ]

        for run in judged:
            assert waited(partial(is_over, run), ENDS_WITHIN_SECONDS), one.log + other.log
            assert (run.state, run.error) == (MetricRun.State.DONE, "")

        assert 1 < server.most_at_once <= AT_ONCE


# With such windows and the slow model below, each chunk takes far longer than an import.
N_WINDOW = 12
PATIENT = {"ATTEST_BEAT_SECONDS": "1", "ATTEST_CHUNK_LEASE_SECONDS": "60"}


def test_an_import_is_done_while_long_chunks_keep_all_heavy_processes(
    many, adam, tmp_path, settings, monkeypatch, capsys
):
    monkeypatch.setattr(runs, "MOST_CHUNKS", 2)
    monkeypatch.setattr(runs, "LARGEST_CHUNK", N_EXAMPLES * N_SETUPS // 2)
    settings.MEDIA_ROOT = tmp_path / "uploads"  # the group looks for uploads here
    folder = tiny_checkpoint(tmp_path / "slow", max_tokens=512, n_layers=12, hidden_size=384)
    slow = ModelSpec("transformers", "slow", str(folder))
    with group_on("filesystem", tmp_path, **PATIENT) as group:
        run = asked_for(many, N_WINDOW, spec=slow)
        begins = waited(lambda: len(claims_of(run)) == 2 and n_scored(run) > 0, 120)
        assert begins, group.log[-3000:]
        held = claims_of(run)
        upload = request_import(
            SimpleUploadedFile("many.jsonl", a_thousand_rows()), "Many", "", adam
        )

        sent_at = time.monotonic()
        group.site.send_import(upload)
        assert waited(lambda: Import.objects.get().state != Import.State.QUEUED, 60)
        seconds = time.monotonic() - sent_at
        assert waited(lambda: Import.objects.get().state == Import.State.CHECKED, 60)
        assert request_storing(Import.objects.get(), skip_bad=False)
        group.site.send_import(upload)
        assert waited(lambda: Import.objects.get().state == Import.State.DONE, 60)

        assert Dataset.objects.get(name="Many").examples.count() == 1000
        assert claims_of(run) == held, "a heavy process was free in the meantime"
    with capsys.disabled():
        sys.stdout.write(f"\n{connection.vendor}: the import began after {seconds:.2f} s")


def claims_of(run: MetricRun) -> dict[int, str]:
    """Return the tokens of the workers that are at the chunks of a run, by chunk."""
    at_work = run.chunks.filter(state=RunChunk.State.RUNNING)
    return dict(at_work.values_list("pk", "token"))


def a_thousand_rows() -> bytes:
    return b"".join(
        b'{"id": "%d", "turns": [{"speaker": "user", "text": "Why is that?"}]}\n' % number
        for number in range(1000)
    )


def test_a_real_minute_of_silence_is_said(many, tmp_path, client, rosa, settings):
    settings.SILENT_AFTER_SECONDS = 60.0
    client.force_login(rosa)
    watch._latest = 0.0
    with group_on("filesystem", tmp_path) as group:
        run = scoring(group, many)
        group.kill()
        killed_at = time.monotonic()
        said = waited(lambda: watch.silent_since() is not None, 90, every=0.5)

    assert said
    assert 50 <= time.monotonic() - killed_at <= 75
    page = client.get(reverse("evaluation:run", args=[run.pk])).content.decode()
    assert "No worker has answered since" in page
