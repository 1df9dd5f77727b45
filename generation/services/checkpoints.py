"""Data about listed models that are stored or read when the models are used."""

from generation.backends.model_files import COMMIT, size_in_files
from generation.backends.registry import is_server
from generation.model_specs import ModelSpec
from generation.models import Checkpoint


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
