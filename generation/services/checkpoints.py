"""Data about listed models that are stored or read when the models are used."""

from typing import Any

from accounts.models import User
from accounts.services import record
from generation.backends.model_files import COMMIT, size_in_files
from generation.backends.registry import is_server
from generation.model_specs import ModelSpec
from generation.models import Checkpoint
from generation.server_addresses import server_address


def list_model(name: str, actor: User | None, **described: Any) -> Checkpoint:
    """List a model that was checked.

    Raises:
        IntegrityError: there is a model with this name.
    """
    checkpoint = Checkpoint.objects.create(name=name, added_by=actor, **described)
    record(actor, "checkpoint.added", name, **described)
    return checkpoint


def list_server_model(spec: ModelSpec) -> None:
    """List a model behind a server that a command asks, unless it is listed already."""
    if not Checkpoint.objects.filter(name=spec.name).exists():
        list_model(
            spec.name,
            None,
            backend=spec.backend,
            location=spec.location,
            is_chat=server_address(spec.location)[1] == "chat",
            served_name=spec.served_name,
            key_variable=spec.key_variable,
            key_over_http=spec.key_over_http,
        )


def pin_revision(name: str, revision: str) -> bool:
    """Store the commit of a hub model that was loaded without one; return whether it was stored.

    From then on every worker loads that commit. A folder has no commits, and a server reports none.
    """
    if not COMMIT.fullmatch(revision):
        return False
    unpinned = Checkpoint.objects.filter(name=name, revision="")
    on_the_hub = unpinned.exclude(location__startswith="/").exclude(location__startswith="http")
    return bool(on_the_hub.update(revision=revision))


def known_size(spec: ModelSpec, revision: str) -> int | None:
    """Return the number of parameters of a model that was opened; None: not known.

    A size that was read from files for the first time is stored, if the model is listed.

    Args:
        revision: the revision of the model as it was opened.
    """
    listed = Checkpoint.objects.filter(name=spec.name, location=spec.location).first()
    if listed and listed.n_parameters:
        return listed.n_parameters
    found = None if is_server(spec.backend) else size_in_files(spec.location, revision)
    if listed and found:
        Checkpoint.objects.filter(pk=listed.pk).update(n_parameters=found)
    return found


def as_listed_now(spec: ModelSpec) -> ModelSpec:
    """Return a model with what admins may change of its listing, as it is now.

    This is the permission to send its key over plain HTTP, and the limit of calls at once. A model
    that is not listed is returned unchanged.
    """
    listed = Checkpoint.objects.filter(name=spec.name, location=spec.location).first()
    if listed is None:
        return spec
    return spec._replace(key_over_http=listed.key_over_http, calls_at_once=listed.calls_at_once)
