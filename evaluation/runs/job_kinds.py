"""The kinds of jobs that metric runs use: prompt searches and distillations."""

from collections.abc import Mapping
from typing import Any

from accounts.models import User
from evaluation.jobs.kinds import JobKind, register
from evaluation.jobs.services import delete_job
from evaluation.models import Job
from evaluation.runs.job_pages import line_of, tried_prompts
from evaluation.runs.services.distillation import distil, forget_files
from evaluation.runs.services.prompt_search import search_prompt
from generation.models import Checkpoint


def _tried_prompts(job: Job, page: str | None) -> Mapping[str, Any]:
    tried = tried_prompts(job)
    kept = [prompt for prompt in tried if prompt.is_kept]
    return {
        "tried": tried,
        "line": line_of([prompt.mse for prompt in kept]),
        "n_kept": max(0, len(kept) - 1),
    }


def _epochs(job: Job, page: str | None) -> Mapping[str, Any]:
    epochs = [step.content for step in job.steps.all()]
    listed = Checkpoint.objects.filter(name=job.name, backend="distilled").exists()
    return {
        "epochs": epochs,
        "line": line_of([epoch["held_out_mse"] for epoch in epochs]),
        "is_listed": listed,
    }


def _run_with_prompt(job: Job) -> Mapping[str, str]:
    return {"prompt": job.name, "model": job.parameters["model"]}


def _run_with_model(job: Job) -> Mapping[str, str]:
    return {"model": job.name}


def _delete_distillation(job: Job, user: User | None) -> None:
    pk = job.pk
    delete_job(job, user)
    forget_files(pk, job.name)


SEARCH = JobKind(
    key=Job.Kind.PROMPT_SEARCH,
    work=search_prompt,
    template="evaluation/runs/_search.html",
    found=_tried_prompts,
    run_choices=_run_with_prompt,
)
DISTILLATION = JobKind(
    key=Job.Kind.DISTILLATION,
    work=distil,
    template="evaluation/runs/_distillation.html",
    found=_epochs,
    run_choices=_run_with_model,
    delete=_delete_distillation,
)

register(SEARCH, DISTILLATION)
