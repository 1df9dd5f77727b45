"""The kinds of long work about metrics: runs, prompt searches and distillations."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from accounts.models import User
from evaluation.jobs.kinds import JobKind
from evaluation.jobs.services import JobHold, delete_job
from evaluation.models import AutoScore, Job, MetricRun, RunChunk
from evaluation.runs.job_pages import line_of, tried_prompts
from evaluation.runs.progress import RunProgress, progress_of_runs, title_of
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.distillation import distil, forget_files
from evaluation.runs.services.prompt_search import search_prompt
from evaluation.runs.services.runs import RunError, cancel_run, delete_run, resume_run
from generation.models import Checkpoint
from work.kinds import WorkKind, WorkRefused, register_work
from work.union_rows import n_of
from work.work_row import WorkRow


class MetricRunKind(WorkKind[MetricRun]):
    """Runs of auto-metrics that were asked for here."""

    key = "metric-run"
    noun = "metric run"
    model = MetricRun
    view = "evaluation:run"
    unit = "chunk"
    result = "score"
    goes_on_in = (MetricRun.State.RUNNING,)
    kept = "Its scores stay."
    card_template = "evaluation/runs/_run.html"
    stays = "Its scores are deleted too."
    columns: ClassVar = {
        "name": "metric",
        "n_done": n_of(RunChunk.objects.filter(state=RunChunk.State.DONE), "run"),
        "n_total": n_of(RunChunk.objects.all(), "run"),
        "n_missing": n_of(AutoScore.objects.filter(score=None), "run"),
        "details": Cast("parameters", TextField()),
    }

    def rows(self) -> QuerySet[MetricRun]:
        return MetricRun.objects.filter(is_imported=False)

    def titled(self, row: WorkRow, user: User) -> WorkRow:
        run = MetricRun(metric=row.name, parameters=json.loads(row.details))
        return row._replace(name=title_of(run))

    def progress(self, pks: Sequence[int], user: User) -> Mapping[int, RunProgress]:
        return progress_of_runs(pks)

    def cancel(self, work: MetricRun, user: User | None) -> bool:
        return cancel_run(work, user)

    def resume(self, work: MetricRun, user: User | None) -> bool:
        is_running = resume_run(work, user)
        if is_running:
            send_run(work)
        return is_running

    def delete(self, work: MetricRun, user: User | None) -> None:
        try:
            delete_run(work, user)
        except RunError as error:
            raise WorkRefused(str(error)) from error


class PromptSearchKind(JobKind):
    """Searches for a prompt that rates like people."""

    key = "prompt-search"
    noun = "prompt search"
    job_kind = Job.Kind.PROMPT_SEARCH
    unit = "prompt"
    template = "evaluation/runs/_search.html"
    in_short = "Prompt for {metric}, built on {setup}, tried on {model}"
    stays = "The prompt is no longer offered. Runs that were made with it keep its exact words."

    def work(self, hold: JobHold) -> Mapping[str, Any]:
        return search_prompt(hold)

    def page_content(self, job: Job, page: str | None) -> Mapping[str, Any]:
        tried = tried_prompts(job)
        kept = [prompt for prompt in tried if prompt.is_kept]
        return {
            "tried": tried,
            "line": line_of([prompt.mse for prompt in kept]),
            "n_kept": max(0, len(kept) - 1),
        }

    def run_choices(self, job: Job) -> Mapping[str, str]:
        return {"prompt": job.name, "model": job.parameters["model"]}


class DistillationKind(JobKind):
    """Small models that learn the scores of a large one."""

    key = "distillation"
    noun = "distillation"
    job_kind = Job.Kind.DISTILLATION
    unit = "epoch"
    template = "evaluation/runs/_distillation.html"
    in_short = "{metric} distilled from run {run} into {base}"
    stays = "The record of its epochs is deleted. If its model is listed, it stays listed."

    def work(self, hold: JobHold) -> Mapping[str, Any]:
        return distil(hold)

    def page_content(self, job: Job, page: str | None) -> Mapping[str, Any]:
        epochs = [step.content for step in job.steps.all()]
        listed = Checkpoint.objects.filter(name=job.name, backend="distilled").exists()
        return {
            "epochs": epochs,
            "line": line_of([epoch["held_out_mse"] for epoch in epochs]),
            "is_listed": listed,
        }

    def run_choices(self, job: Job) -> Mapping[str, str]:
        return {"model": job.name}

    def delete(self, work: Job, user: User | None) -> None:
        pk = work.pk
        delete_job(work, user)
        forget_files(pk, work.name)


register_work(MetricRunKind(), PromptSearchKind(), DistillationKind())
