"""The pages of jobs in every state that looks different, for the walk over all pages."""

from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.models import Job, JobStep, MetricRun
from generation.models import Checkpoint
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.runs.test_prompt_searches import ssa_study

SLICES = {
    "t=0, golden evidence": {"g-one": 5, "g-two": 4, "g-three": 1, "g-four": 5},
    "t=0.7, no evidence": {"w-one": 3, "w-two": 5, "w-three": 0, "w-four": 4},
}
PROMPT = "Instructions: Does B’s final reply make sense? ###"
ERRORS = [(0.1312, None, True), (0.0841, 0.1297, True), (0.0902, 0.0841, False)]
ERRORS += [(0.0521, 0.0833, True), (0.0511, 0.0529, True)]


def job_pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page, with rows such as a worker leaves them."""
    listed, search = reverse("evaluation:jobs"), reverse("evaluation:new-search")
    distillation = reverse("evaluation:new-distillation")
    yield "jobs, none", listed
    yield "new search, not possible", search
    yield "new distillation, not possible", distillation
    study = ssa_study(folder / "Sense", SLICES)
    teacher = _table_1(study)
    Checkpoint.objects.create(name="qwen2.5-7b", backend="language-model", location="/srv/qwen")
    Checkpoint.objects.create(name="minilm", location="/srv/minilm")
    for name in ("done", "running", "queued", "cancelled", "failed"):
        job = _search(study, name)
        yield f"search, {name}", reverse("evaluation:job", args=[job.pk])
    for name in ("done", "running"):
        job = _distillation(teacher, name)
        yield f"distillation, {name}", reverse("evaluation:job", args=[job.pk])
    yield "jobs", listed
    yield "new search", f"{search}?study={study.slug}"
    yield "new distillation", distillation
    yield "report, table 1", reverse("evaluation:study-metrics", args=[study.slug])


def _table_1(study: Study) -> MetricRun:
    """Make a language model's run whose prompt was built on one of the slices."""
    run = make_run(
        study.dataset,
        metric="sensible",
        signature="sensible|qwen2.5-7b|prompt:pilot-warm@1a2b3c4d|t>=:0.5|v:1",
        model_name="qwen2.5-7b",
        parameters=SsaPrompt("pilot-warm", PROMPT, [*SLICES][1], study.dataset.slug).parameters,
        is_yes_at_threshold=True,
    )
    run.backend = "language-model"
    run.save()
    scores = {"g-one": 0.9, "g-two": 0.4, "g-three": 0.2, "g-four": 1.0}
    make_scores(run, scores | {"w-one": 0.7, "w-two": 0.9, "w-three": 0.1, "w-four": 0.8})
    return run


def _search(study: Study, state: str) -> Job:
    n_steps = {"done": 5, "running": 3, "cancelled": 2, "failed": 1, "queued": 0}[state]
    job = Job.objects.create(
        kind=Job.Kind.PROMPT_SEARCH,
        name=f"pilot-warm-{state}",
        study=study,
        parameters={
            "metric": "sensible",
            "setup": "t=0.7, no evidence",
            "seed": 0,
            "model": "qwen2.5-7b",
            "precision": "fp32",
            "data": {"examples": [[0, key, 0.4] for key in SLICES["t=0.7, no evidence"]]}
            | {"n_unusable": 1},
        },
        state=Job.State.QUEUED,
        n_done=n_steps,
        n_total=5,
    )
    keys = ["", "w-one", "w-two", "w-three", "w-four"]
    for number, (mse, before, is_kept) in enumerate(ERRORS[:n_steps], start=1):
        shown = [key for key in keys[1:number] if key]
        JobStep.objects.create(
            job=job,
            number=number,
            content={
                "demonstrations": shown,
                "text": PROMPT + " Dialog: A: When did the mill close? ###" * 12,
                "problems": {"w-four": "no number in 0 to 1 in 3 replies, the last: 'maybe'"}
                if number == 2
                else {},
                "n_scored": 4 - len(shown),
                "n_failed": int(number == 2),
                "mse": mse,
                "mse_before": before,
                "is_kept": is_kept,
            },
        )
    return _in_state(job, state, {"prompt": job.name, "text": PROMPT * 9, "built_on": "t=0.7"})


def _distillation(teacher: MetricRun, state: str) -> Job:
    n_epochs = 3 if state == "done" else 1
    job = Job.objects.create(
        kind=Job.Kind.DISTILLATION,
        name=f"small-{state}",
        parameters={
            "run": teacher.pk,
            "run_signature": teacher.full_signature,
            "metric": "sensible",
            "base": "minilm",
            "epochs": 3,
            "learning_rate": 5e-5,
            "batch_size": 16,
            "seed": 0,
            "data": {"n_lessons": 9120, "n_held_out": 1012, "n_labelled": 400},
        },
        state=Job.State.QUEUED,
        n_done=n_epochs,
        n_total=3,
    )
    for number in range(1, n_epochs + 1):
        figures = {"loss": 0.7 / number, "held_out_loss": 0.75 / number}
        content = {"number": number, "held_out_mse": 0.09 / number, **figures}
        JobStep.objects.create(job=job, number=number, content=content)
    return _in_state(job, state, {"mse_of_mean": 0.11, "base_revision": "0f1e2d3c4b5a6978"})


def _in_state(job: Job, state: str, result: dict[str, object]) -> Job:
    """Bring a job into a state as its worker would."""
    result |= {"mse": 0.0511, "mse_first": 0.1187, "n_scored": 2, "n_calls": 13}
    job.state = state
    job.result = result
    job.error = "qwen2.5-7b: no such folder" if state == "failed" else ""
    job.lease_until = timezone.now() if state == "running" else None
    job.finished_at = None if state in ("running", "queued") else timezone.now()
    job.save()
    return job
