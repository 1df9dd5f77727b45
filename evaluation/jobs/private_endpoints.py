"""Addresses of endpoints in our own network, which are shown only to admins."""

from collections.abc import Mapping
from typing import Any

from evaluation.models import Job

WORDS = "an endpoint in our own network"


def endpoint_for(choices: Mapping[str, Any], is_admin: bool) -> str:
    """Return the endpoint of a pull or a construction as this user may see it; "" for none."""
    return WORDS if _is_hidden(choices, is_admin) else str(choices.get("endpoint", ""))


def parameters_for(job: Job, is_admin: bool) -> dict[str, Any]:
    """Return the choices of a job as this user may see them."""
    is_hidden = _is_hidden(job.parameters, is_admin)
    return {**job.parameters, **({"endpoint": WORDS} if is_hidden else {})}


def error_for(job: Job, is_admin: bool) -> str:
    """Return why a job stopped, as this user may see it."""
    if not _is_hidden(job.parameters, is_admin):
        return job.error
    return job.error.replace(str(job.parameters["endpoint"]), WORDS)


def _is_hidden(choices: Mapping[str, Any], is_admin: bool) -> bool:
    is_private = choices.get("allow_private", False)
    return bool(choices.get("endpoint")) and is_private and not is_admin
