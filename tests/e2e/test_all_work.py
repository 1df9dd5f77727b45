"""Three kinds of work on one page: one is cancelled, the worker is killed, and all of it ends."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluation.measures.entailment import AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.plan import RunPlan
from evaluation.runs.services import runs
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.sample_choices import SampleChoices
from generation.services.samples import request_sample
from tests.annotation.makers import researcher
from tests.evaluation.workers import is_over, long_evidence, site_on, waited
from tests.generation import grid_runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults]

N_RESPONSES = 20 * 30
SECONDS = 60.0


def test_work_is_cancelled_and_resumed_and_outlives_its_worker(
    page, sign_in, tmp_path, monkeypatch
):
    monkeypatch.setattr(runs, "LARGEST_CHUNK", 10)
    dataset = long_evidence(tmp_path / "material", 20, 30)
    plan = RunPlan(metric=AutoAisMetric(AutoAis(window=1)))
    run = runs.request_metric_run(dataset, plan, dataset.responses.all(), None)
    sample = request_sample(dataset, SampleChoices(name="some"), None)
    grid_runs.started(grid_runs.valley(tmp_path / "valley"), name="grid")
    sign_in(researcher())
    page.goto(reverse("work:all"))
    grid_card = page.get_by_role("article", name="grid")
    sample_card = page.get_by_role("article", name="some")
    run_card = page.get_by_role("article", name="Auto-AIS")

    page.get_by_role("button", name="Cancel grid").click()
    expect(grid_card).to_contain_text("cancelled")

    with site_on("filesystem", tmp_path) as site:
        with site.worker() as first:
            begins = waited(lambda: AutoScore.objects.filter(run=run).exists(), SECONDS)
            assert begins, first.log[-3000:]
        assert not is_over(run)
        before = set(AutoScore.objects.filter(run=run).values_list("pk", flat=True))
        with site.worker("second") as second:
            assert waited(lambda: is_over(run), SECONDS), second.log[-3000:]
            expect(run_card).to_contain_text("done")
            expect(sample_card).to_contain_text("done")
            expect(grid_card).to_contain_text("cancelled")
            page.get_by_role("button", name="Resume grid").click()
            expect(grid_card).to_contain_text("done", timeout=SECONDS * 1000)

    sample.refresh_from_db()
    run.refresh_from_db()
    assert (run.state, sample.state) == (MetricRun.State.DONE, "done")
    scores = AutoScore.objects.filter(run=run)
    assert scores.count() == N_RESPONSES
    assert before <= set(scores.values_list("pk", flat=True))
    assert not RUN_CHUNKS.unfinished(run).exists()
