"""Auto-AIS over published data by a real worker: by shared words, and by a real checkpoint."""

from pathlib import Path

import pytest
from django.db.models import Sum
from django.db.models.functions import Length

from annotation.models import Study
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.plan import RunPlan, responses_of_study
from evaluation.runs.progress import run_progress
from evaluation.runs.services.runs import request_metric_run
from generation.model_specs import ModelSpec
from generation.models import Response
from tests.evaluation.studies.test_agreement_report import assert_equals_scikit_learn
from tests.evaluation.workers import site_on, waited
from tests.makers import import_path
from tests.tiny_models import tiny_checkpoint

pytestmark = pytest.mark.once(transaction=True)

MTRAG = "data/mtrag_human_eval/mtrag_human_eval_part1.json"
CHECKPOINT = "models/entailment-minilm"
N_RESPONSES = 231
N_NOT_SHOWN_ANY = 12  # their contexts are empty in the file
N_FOR_MODEL = 2  # responses; all would take many minutes on two cores
ENDS_WITHIN_SECONDS = 300.0


@pytest.fixture
def mtrag(shared) -> Study:
    study = import_path(shared / MTRAG, "mtrag").study
    assert study
    return study


def scored(folder: Path, run: MetricRun) -> MetricRun:
    """Let a real worker score a run to its end, and return the run."""

    def is_over() -> bool:
        run.refresh_from_db()
        return run.state != MetricRun.State.RUNNING

    with site_on("filesystem", folder, lease_seconds=60) as site:
        site.send(run)
        with site.worker() as worker:
            assert waited(is_over, ENDS_WITHIN_SECONDS, every=0.2), worker.log[-3000:]
    assert (run.state, run.error) == (MetricRun.State.DONE, "")
    return run


def test_lexical_scores_all_of_mtrag_and_agrees_with_people_as_scikit_learn_says(mtrag, tmp_path):
    plan = RunPlan(evidence=mtrag.evidence_choice)

    run = scored(tmp_path, request_metric_run(mtrag.dataset, plan, responses_of_study(mtrag), None))

    (progress,) = run_progress(MetricRun.objects.filter(pk=run.pk))
    assert (progress.n_targets, progress.n_scored, progress.n_failed) == (N_RESPONSES,) * 2 + (0,)
    assert progress.n_assumed == N_NOT_SHOWN_ANY
    rows = AutoScore.objects.filter(run=run, is_assumed=False).select_related("target__response")
    assert not rows.exclude(score__range=(0, 1)).exists()
    for row in rows:  # the window that won is the passage's own text
        (window,) = row.windows
        shown = row.target.response.evidence_shown.get(pk=window["passage"])
        assert shown.text[window["start"] : window["end"]].strip()
        assert window["probability"] == row.score

    questions = [question["key"] for question in mtrag.scheme["questions"]]
    n_rows = assert_equals_scikit_learn(mtrag, tmp_path / "out", dict.fromkeys(questions, 2.5))
    assert n_rows == len(questions) * MetricRun.objects.count()


def test_a_checkpoint_scores_mtrag(mtrag, shared, tmp_path):
    found = shared / CHECKPOINT
    model = found if found.is_dir() else tiny_checkpoint(tmp_path / "tiny", max_tokens=512)
    plan = RunPlan(
        ModelSpec("transformers", model.name, str(model)), evidence=mtrag.evidence_choice
    )
    shown = Response.objects.annotate(n_characters=Sum(Length("evidence_shown__text")))
    shortest = shown.filter(n_characters__gt=0).order_by("n_characters", "pk")[:N_FOR_MODEL]
    responses = Response.objects.filter(pk__in=[response.pk for response in shortest])

    run = scored(tmp_path, request_metric_run(mtrag.dataset, plan, responses, None))

    rows = AutoScore.objects.filter(run=run)
    assert rows.filter(score__range=(0, 1)).count() == N_FOR_MODEL
    assert len(set(rows.values_list("score", flat=True))) == N_FOR_MODEL
    assert run.full_signature.startswith(f"auto_ais|{model.name}|v3|localized:2|whole|")
    assert run.revision
