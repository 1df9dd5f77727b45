"""What is learnt of listed models when they are used."""

from generation.backends.model_files import COMMIT
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
