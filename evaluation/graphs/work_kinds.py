"""The kinds of long work about knowledge graphs: pulls and constructions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse

from accounts.models import User
from evaluation.graphs.construction.pages import ConstructionProgress, progress_of_jobs
from evaluation.graphs.construction.services.constructions import (
    construct,
    delete_construction,
    resume_construction,
)
from evaluation.graphs.services.graph_pull import pull_graph
from evaluation.jobs.kinds import JobKind
from evaluation.jobs.services import JobHold, delete_job, resume_job
from evaluation.models import Job
from work.kinds import register_work
from work.pages import some_of

NAMES_PER_PAGE = 100


class GraphPullKind(JobKind):
    """Pulls of entities from a SPARQL endpoint."""

    key = "graph-pull"
    noun = "pull of a graph"
    job_kind = Job.Kind.GRAPH_PULL
    unit = "name"
    template = "evaluation/graphs/_pull.html"
    in_short = "Knowledge graph pulled into {dataset_name}"
    is_for_admins = True
    stays = (
        "The pulled entities stay in the graph. The record of names and what was found for them "
        "is deleted."
    )

    def work(self, hold: JobHold) -> Mapping[str, Any]:
        return pull_graph(hold)

    def page_content(self, job: Job, page: str | None) -> Mapping[str, Any]:
        return {"page": Paginator(job.steps.order_by("number"), NAMES_PER_PAGE).get_page(page)}


class ConstructionKind(JobKind):
    """Constructions of questions about a graph, from entries."""

    key = "construction"
    noun = "construction"
    job_kind = Job.Kind.CONSTRUCTION
    unit = "step"
    in_short = "Questions about a graph, constructed from entries"
    is_for_admins = True
    stays = "Its entries and calls are deleted too."
    card_template = "evaluation/graphs/construction/_progress.html"

    def work(self, hold: JobHold) -> Mapping[str, Any]:
        return construct(hold)

    def progress(self, pks: Sequence[int], user: User) -> Mapping[int, ConstructionProgress]:
        work = progress_of_jobs(some_of(self, pks, user)) if pks else []
        return {each.row.pk: each for each in work}

    def own_page(self, job: Job) -> str:
        return reverse("constructions:construction", args=[job.construction_id])

    def take_up(self, job: Job, user: User | None) -> bool:
        """Continue a construction; in one that is done, failed entries get one more attempt."""
        if job.construction is None:
            return resume_job(job, user)
        return resume_construction(job.construction, user)

    def delete(self, work: Job, user: User | None) -> None:
        if work.construction is None:
            delete_job(work, user)
        else:
            delete_construction(work.construction, user)


register_work(GraphPullKind(), ConstructionKind())
