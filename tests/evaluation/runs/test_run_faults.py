"""Runs whose workers are killed, whose messages are lost or come twice: one score each, once."""

import pytest

from evaluation.measures.entailment import AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.plan import RunPlan
from evaluation.runs.progress import run_progress
from evaluation.runs.services import runs
from evaluation.runs.services.runs import request_metric_run
from generation.models import Dataset
from tests.evaluation.workers import (
    BROKERS,
    is_over,
    killed_while_scoring,
    long_evidence,
    site_on,
    stored,
    waited,
)

pytestmark = [pytest.mark.both(transaction=True), pytest.mark.faults]

N_EXAMPLES, N_SETUPS = 100, 50  # 5,000 responses
KILLS = 10
ENDS_WITHIN_SECONDS = 120.0


@pytest.fixture
def many(tmp_path) -> Dataset:
    """5,000 responses to 100 dialogs, with 24 sentences of evidence each."""
    return long_evidence(tmp_path / "material", N_EXAMPLES, N_SETUPS)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Make chunks small, so that a run outlasts ten kills although each chunk takes no time."""
    monkeypatch.setattr(runs, "LARGEST_CHUNK", 25)


def asked_for(dataset: Dataset) -> MetricRun:
    plan = RunPlan(metric=AutoAisMetric(AutoAis(window=1)))
    return request_metric_run(dataset, plan, dataset.responses.all(), None)


def assert_scored_once(run: MetricRun) -> None:
    """One score for each response, no failure, nothing left."""
    rows = AutoScore.objects.filter(run=run)
    assert run.state == MetricRun.State.DONE
    assert rows.count() == N_EXAMPLES * N_SETUPS
    assert rows.values("target__response").distinct().count() == N_EXAMPLES * N_SETUPS
    assert not rows.filter(score=None).exists()
    assert not run.chunks.exclude(state=RunChunk.State.DONE).exists()
    (progress,) = run_progress(MetricRun.objects.filter(pk=run.pk))
    assert (progress.state, progress.share) == ("done", 1.0)


@pytest.mark.parametrize("broker", BROKERS)
def test_ten_kills_lose_nothing_and_double_nothing(broker, many, tmp_path):
    run = asked_for(many)
    with site_on(broker, tmp_path) as site:
        site.send(run)
        seen = killed_while_scoring(site, run, KILLS, seed=1)
        with site.worker() as worker:
            ends = waited(lambda: is_over(run), ENDS_WITHIN_SECONDS, every=0.2)
            assert ends, worker.log[-3000:]

    assert_scored_once(run)
    assert seen.items() <= stored(run).items()


@pytest.mark.parametrize("broker", BROKERS)
def test_a_wiped_broker_a_kill_and_every_message_twice_still_end_well(broker, many, tmp_path):
    run = asked_for(many)
    with site_on(broker, tmp_path) as site:
        site.send(run, times=2)
        seen = killed_while_scoring(site, run, 1, seed=2)
        site.purge()
        with site.worker("one") as one, site.worker("other") as other:
            ends = waited(lambda: is_over(run), ENDS_WITHIN_SECONDS, every=0.2)
            assert ends, one.log[-3000:] + other.log[-3000:]

    assert_scored_once(run)
    assert seen.items() <= stored(run).items()
