"""Filters that write jobs on pages."""

from django import template

from evaluation.jobs.private_endpoints import endpoint_for, error_for
from evaluation.models import Job
from work.claims import GOING_ON

register = template.Library()
register.filter("endpoint_for", endpoint_for)
register.filter("error_for", error_for)


@register.filter
def goes_on(job: Job) -> bool:
    """Return whether a job is waiting for a worker or running."""
    return job.state in GOING_ON
