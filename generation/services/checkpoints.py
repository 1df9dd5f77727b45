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


def with_leave(spec: ModelSpec) -> ModelSpec:
    """Return a model with the permission for its key that its listing has now.

    A model that is not listed is returned unchanged. The permission is to send the key over plain
    HTTP.
    """
    listed = Checkpoint.objects.filter(name=spec.name, location=spec.location).first()
    return spec._replace(key_over_http=listed.key_over_http) if listed else spec
