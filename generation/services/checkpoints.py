"""What is learnt of listed models when they are used, and what they may do then."""

from generation.backends.model_files import COMMIT
from generation.model_specs import ModelSpec
from generation.models import Checkpoint


def pin_revision(name: str, revision: str) -> bool:
    """Note the commit of a model from the hub that was loaded without one; return whether it was.

    From then on every worker loads that one. What lies in a folder is what it is, and a server
    says no commit.
    """
    if not COMMIT.fullmatch(revision):
        return False
    unpinned = Checkpoint.objects.filter(name=name, revision="")
    on_the_hub = unpinned.exclude(location__startswith="/").exclude(location__startswith="http")
    return bool(on_the_hub.update(revision=revision))


def with_leave(spec: ModelSpec) -> ModelSpec:
    """Return a model with the leave for its key that its listing has now; unlisted, as it is."""
    listed = Checkpoint.objects.filter(name=spec.name, location=spec.location).first()
    return spec._replace(key_over_http=listed.key_over_http) if listed else spec
