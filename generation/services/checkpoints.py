"""Data about listed models that are stored or read when the models are used."""

from generation.backends.model_files import COMMIT
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


def as_listed_now(spec: ModelSpec) -> ModelSpec:
    """Return a model with what admins may change of its listing, as it is now.

    This is the permission to send its key over plain HTTP, and the limit of calls at once. A model
    that is not listed is returned unchanged.
    """
    listed = Checkpoint.objects.filter(name=spec.name, location=spec.location).first()
    if listed is None:
        return spec
    return spec._replace(key_over_http=listed.key_over_http, calls_at_once=listed.calls_at_once)
