"""The state of a dataset's knowledge graph, by which data about the graph is kept in memory."""

import hashlib
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Max
from django.db.models.functions import Collate

from generation.models import Dataset, Entity
from generation.retrieval.dataset_index import BY_BYTES

KEPT_HASHES = 32  # per process; a few bytes each


class GraphState(NamedTuple):
    """The state of a dataset's graph.

    Entities are only ever added, with all their triples, so their number and last id identify the
    graph. The time of creation distinguishes a dataset from an earlier one with the same id.
    """

    created_at: datetime
    n_entities: int
    last: int | None


def graph_state(dataset_id: int) -> GraphState:
    """Return the state of a dataset's graph, with one query.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    rows = Dataset.objects.filter(pk=dataset_id)
    counted = rows.annotate(n=Count("entities"), last=Max("entities"))
    return GraphState(*counted.values_list("created_at", "n", "last").get())


def graph_hash(dataset_id: int) -> str:
    """Return 'graph:' with a hash of a dataset's entities, their names, triples and texts now.

    The hash is the same for the same graph in any database, in whatever order it was imported.

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
    # Prompts that show texts get another hash than prompts over the same graph without texts.
    if Entity.objects.filter(dataset=dataset_id).exclude(text="").exists():
        content.update(b"document texts are shown\n")
    return f"graph:{content.hexdigest()[:16]}"
