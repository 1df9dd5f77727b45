"""Which knowledge graph a dataset has now: what is kept of one in memory is kept by this."""

import hashlib
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Max
from django.db.models.functions import Collate

from generation.models import Dataset, Entity
from generation.retrieval.dataset_index import BY_BYTES

KEPT_HASHES = 32  # per process; of a few bytes each


class GraphState(NamedTuple):
    """Which graph a dataset is now.

    Entities are only added, with all that is said about them, so their number and last id say
    which; the moment tells a dataset from an earlier one with the same number.
    """

    created_at: datetime
    n_entities: int
    last: int | None


def graph_state(dataset_id: int) -> GraphState:
    """Return the state of a dataset's graph; one query.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    rows = Dataset.objects.filter(pk=dataset_id)
    counted = rows.annotate(n=Count("entities"), last=Max("entities"))
    return GraphState(*counted.values_list("created_at", "n", "last").get())


def graph_hash(dataset_id: int) -> str:
    """Return 'graph:' with a hash of a dataset's entities, their names, triples and texts now.

    The same for the same graph in any database, whatever order it was imported in.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    return hash_of(dataset_id, graph_state(dataset_id))


@lru_cache(maxsize=KEPT_HASHES)
def hash_of(dataset_id: int, state: GraphState) -> str:
    """Return the hash of a graph whose state is known already."""
    content = hashlib.sha256()
    by_qid = Collate("qid", BY_BYTES[connection.vendor])
    digests = Entity.objects.filter(dataset=dataset_id).order_by(by_qid)
    for digest in digests.values_list("digest", flat=True).iterator(chunk_size=20_000):
        content.update(digest.encode() + b"\n")
    # Prompts that show texts are told apart from those over the same graph without any.
    if Entity.objects.filter(dataset=dataset_id).exclude(text="").exists():
        content.update(b"document texts are shown\n")
    return f"graph:{content.hexdigest()[:16]}"
