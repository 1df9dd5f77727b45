"""Pulls that tests request and execute, and the entities that they find."""

from evaluation.graphs.services.graph_pull import PullPlan, request_pull
from evaluation.jobs.kinds import JOBS
from evaluation.models import Job
from generation.models import Entity
from generation.records import Where
from generation.retrieval.sparql import EndpointPatience

HASTY = EndpointPatience(query=5.0, n_tries=2, first_pause=0.01, longest_pause=1.0, between=0.0)
HERE = Where("hand-made", 1)


def asked_for(url, *names, dataset="painters", **more) -> Job:
    return request_pull(PullPlan(dataset, names, endpoint=url, allow_private=True, **more), None)


def worked(job: Job) -> Job:
    claim = JOBS.claim(job.pk)
    assert claim is not None
    JOBS.do(claim)
    job.refresh_from_db()
    return job


def pulled(url, *names, **more) -> Job:
    return worked(asked_for(url, *names, **more))


def found(job):
    """Return by name the qids that were found for it, each with whether it was new."""
    return {
        step.content["name"]: [(each["qid"], each["is_new"]) for each in step.content["found"]]
        for step in job.steps.all()
    }


def qids(dataset="painters"):
    return sorted(Entity.objects.filter(dataset__name=dataset).values_list("qid", flat=True))
