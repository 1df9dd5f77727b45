"""Places at the servers of models, which limit the calls of a model at once, by all workers.

A piece of work makes up to `AT_ONCE` calls at once. So a limit of calls allows a number of pieces,
which are counted over all kinds of pieces when one is claimed.
"""

import random
from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from generation.backends.openai_http import AT_ONCE
from generation.backends.registry import is_server
from generation.model_specs import USUAL_CALLS_AT_ONCE
from generation.models import Checkpoint
from work.claims import QUEUED, SENT_TOGETHER, with_a_worker
from work.pieces import H, P, PieceKind, piece_kinds


class AsksModels(PieceKind[P, H]):
    """A kind of piece that may ask a model behind a server."""

    model_asked: Any  # the name of a piece's model, as an expression of its row

    def asking(self, name: str) -> QuerySet[P]:
        """Return the wanted pieces that ask the model of this name."""
        with_name: QuerySet[Any] = self.wanted().alias(asked=self.model_asked)
        return with_name.filter(asked=name)

    def lock(self, piece: P) -> None:
        """Let claims of pieces that ask the same listed model wait for each other."""
        if name := self._model_behind_server(piece):
            Checkpoint.objects.select_for_update(no_key=True).filter(name=name).first()

    def has_place(self, piece: P) -> bool:
        """Return whether the limit of a piece's model allows one more piece."""
        name = self._model_behind_server(piece)
        return not name or n_free_places(name) > 0

    def send_next(self, claim: P) -> None:
        """Send pieces of all work that waits for the same model, in a random order.

        The one that is claimed first gets the place that has become free. So no work waits until
        another is done.
        """
        name = self._model_behind_server(claim)
        n_free = n_free_places(name) if name else 0
        if n_free <= 0:
            return
        next_ones = [
            (kind, piece)
            for kind in _kinds()
            for piece in kind.first_of_each_work(kind.asking(name).filter(_may_begin(kind)), n_free)
        ]
        random.shuffle(next_ones)
        for kind, piece in next_ones:
            kind.send([piece])

    def _model_behind_server(self, piece: P) -> str:
        """Return the name of the model; "": the piece asks none, or one that computes here."""
        if not self.asks_server(piece):
            return ""
        asked = self.rows().filter(pk=piece.pk).values_list(self.model_asked, flat=True)
        return asked.first() or ""


def n_free_places(name: str) -> int:
    """Return how many more pieces may ask the model of this name now; below 0 for too many."""
    listed = Checkpoint.objects.filter(name=name).first()
    if listed and not is_server(listed.backend):
        return SENT_TOGETHER  # it computes here, and only its worker's queue limits it
    limit = listed.calls_at_once if listed else USUAL_CALLS_AT_ONCE
    n_places = limit // min(limit, AT_ONCE)
    return n_places - sum(kind.asking(name).filter(with_a_worker()).count() for kind in _kinds())


def _may_begin(kind: AsksModels[Any, Any]) -> Q:
    return Q(state=QUEUED, pk__in=kind.ready().values("pk"))


def _kinds() -> Iterator[AsksModels[Any, Any]]:
    return (kind for kind in piece_kinds() if isinstance(kind, AsksModels))
