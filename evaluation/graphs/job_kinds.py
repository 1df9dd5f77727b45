"""The kinds of jobs about knowledge graphs: pulls and constructions."""

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse

from accounts.models import User
from evaluation.graphs.construction.services.constructions import (
    construct,
    delete_construction,
    resume_construction,
)
from evaluation.graphs.services.graph_pull import pull_graph
from evaluation.jobs.kinds import JobKind, register
from evaluation.jobs.services import delete_job, resume_job
from evaluation.models import Job

NAMES_PER_PAGE = 100


def _pulled_names(job: Job, page: str | None) -> Mapping[str, Any]:
    return {"page": Paginator(job.steps.order_by("number"), NAMES_PER_PAGE).get_page(page)}


def _page_of_construction(job: Job) -> str:
    return reverse("constructions:construction", args=[job.construction_id])


def _resume_construction(job: Job, user: User | None) -> bool:
    if job.construction is None:
        return resume_job(job, user)
    return resume_construction(job.construction, user)


def _delete_construction(job: Job, user: User | None) -> None:
    if job.construction is None:
        delete_job(job, user)
    else:
        delete_construction(job.construction, user)


PULL = JobKind(
    key=Job.Kind.GRAPH_PULL,
    work=pull_graph,
    template="evaluation/graphs/_pull.html",
    found=_pulled_names,
    asks_others="Pulls",
    left="What it pulled stays",
)
CONSTRUCTION = JobKind(
    key=Job.Kind.CONSTRUCTION,
    work=construct,
    page=_page_of_construction,
    asks_others="Constructions",
    resume=_resume_construction,
    delete=_delete_construction,
)

register(PULL, CONSTRUCTION)
