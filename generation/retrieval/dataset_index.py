"""The index of a dataset's passages: it ranks them, is built once and is stored on disk.

Passages are sorted by their keys, in the same order on every database, so that ties are the same
too. An index is stored under a hash of the passages that it was built from, and it appears there
only when it is whole. So any number of processes may build the same index, and each maps its files
instead of reading them.
"""

import hashlib
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.db import connection
from django.db.models import Count, Max
from django.db.models.functions import Collate
from django.utils import timezone
from numpy.typing import NDArray

from generation.models import Dataset, Passage
from generation.retrieval.bm25 import USUAL, Bm25, PassageIndex
from generation.retrieval.evidence_choice import draw
from generation.text.tokens import TOKENISER

BY_BYTES = {"postgresql": "C", "sqlite": "BINARY"}  # the collation of each database
IDS = "passage-ids.npy"
OF = "of.txt"  # file in an index: the state of the dataset when the index was last opened
ASKED = "asked"  # file beside the indexes: when an index was last asked for
LONGEST_BUILD = timedelta(minutes=15)  # after this time, an unfinished build may be asked for again
MANY_PASSAGES = 20_000  # a larger index takes too long for a page, so that a worker builds it
UNFINISHED = "building-"  # beginning of a folder's name until the folder is whole
KEPT_INDEXES = 4  # per process; their files are mapped, and the system may take back the pages


class Hit(NamedTuple):
    """A passage that was found."""

    passage: int  # the passage's id
    score: float


class _State(NamedTuple):
    """The state of a dataset's collection of passages.

    As a text it also names the tokeniser, so that an index of other words is built anew. Passages
    are only ever added, so their number and last id identify the collection. The time of creation
    distinguishes a dataset from an earlier one with the same id.
    """

    created_at: datetime
    n_passages: int
    last: int | None

    def __str__(self) -> str:
        return f"{self.created_at.isoformat()} {self.n_passages} {self.last} {TOKENISER}"


class _Stored(NamedTuple):
    """An index as it is stored on disk, for any choices of a ranking."""

    collection: str  # the hash of its passages, in any database
    ids: NDArray[np.int64]  # (n_passages,): id of the passage at each position
    by_id: NDArray[np.intp]  # (n_passages,): positions, in the order of the ids
    ranking: PassageIndex


class DatasetIndex:
    """BM25 over the passages of one dataset; ties are sorted by the passages' keys."""

    def __init__(self, stored: _Stored, bm25: Bm25) -> None:
        self._stored = stored
        self._index = stored.ranking.with_choices(bm25)
        # The part on which a draw depends, whatever ids the passages have in this database.
        self.collection = f"passages:{stored.collection[:16]}"
        # Everything on which a ranking depends: choices and passages.
        self.signature = f"{bm25.signature}|{self.collection}"

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._stored.ids)

    def knows(self, query: str) -> bool:
        """Return whether any passage shares a word with a query."""
        return self._index.knows(query)

    def ranked(self, query: str, k: int, without: Collection[int] = ()) -> list[Hit]:
        """Return the `k` best passages, best first; fewer only if the dataset has fewer.

        The result is filled up with passages that share no word with the query, by key, with a
        score of 0.

        Args:
            without: ids of passages to leave out; ids of other datasets change nothing.

        Raises:
            ValueError: `k` is negative.
        """
        hits = self._index.ranked(query, k, self._positions(without))
        return [Hit(int(self._stored.ids[place]), score) for place, score in hits]

    def random(self, key: str, seed: int, k: int, without: Collection[int] = ()) -> list[int]:
        """Return the ids of `k` passages drawn for the example with a key, none twice.

        The draw is the same for the same passages, key and seed. A longer draw begins with the
        shorter one.

        Args:
            without: ids of passages that are not drawn.

        Raises:
            ValueError: `k` is negative.
        """
        positions = draw(len(self), self._positions(without), k, seed, key)
        return [int(self._stored.ids[place]) for place in positions]

    def _positions(self, ids: Collection[int]) -> list[int]:
        """Return the positions of those ids that belong to passages of this index."""
        wanted = np.array(sorted(ids), np.int64)
        order = self._stored.by_id
        found = np.searchsorted(self._stored.ids, wanted, sorter=order)
        places = order[found[found < len(order)]]
        here = self._stored.ids[places] == wanted[found < len(order)]
        return [int(place) for place in places[here]]


def index_of(dataset_id: int, bm25: Bm25 = USUAL) -> DatasetIndex:
    """Return the index of a dataset's passages as they are now; build it if there is none yet.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    return DatasetIndex(_stored(Path(settings.MEDIA_ROOT), dataset_id, _state(dataset_id)), bm25)


def has_index(dataset_id: int) -> bool:
    """Return whether the passages of a dataset, as they are now, are indexed.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    return _is_built(dataset_id, _state(dataset_id))


def can_wait_for_index(dataset_id: int) -> bool:
    """Return whether a page may wait for the index: it exists, or the passages are few.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    state = _state(dataset_id)
    return state.n_passages <= MANY_PASSAGES or _is_built(dataset_id, state)


def ask_for_index(dataset_id: int) -> bool:
    """Note that an index is wanted, and return whether it should be built now.

    It should not be built if it exists, or if it was asked for within the last quarter of an hour.
    """
    if has_index(dataset_id) or is_index_asked_for(dataset_id):
        return False
    folder = _folder(Path(settings.MEDIA_ROOT), dataset_id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ASKED).write_text("")  # writing sets the file's time to now
    return True


def is_index_asked_for(dataset_id: int) -> bool:
    """Return whether the index was asked for lately, and no build has ended since then."""
    try:
        asked_at = (_folder(Path(settings.MEDIA_ROOT), dataset_id) / ASKED).stat().st_mtime
    except FileNotFoundError:
        return False
    return timezone.now().timestamp() - asked_at < LONGEST_BUILD.total_seconds()


def build_index(dataset_id: int) -> None:
    """Build the index of the passages as they are now, if there is none; clear the request for it.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    try:
        index_of(dataset_id)
    finally:
        (_folder(Path(settings.MEDIA_ROOT), dataset_id) / ASKED).unlink(missing_ok=True)


def delete_index(dataset_id: int) -> None:
    """Remove the stored indexes of a dataset; processes that have one open can go on."""
    shutil.rmtree(_folder(Path(settings.MEDIA_ROOT), dataset_id), ignore_errors=True)


def _folder(root: Path, dataset_id: int) -> Path:
    return root / "retrieval" / str(dataset_id)


def _state(dataset_id: int) -> _State:
    rows = Dataset.objects.filter(pk=dataset_id)
    counted = rows.annotate(n=Count("passages"), last=Max("passages"))
    return _State(*counted.values_list("created_at", "n", "last").get())


def _is_built(dataset_id: int, state: _State) -> bool:
    """Return whether there is an index that was opened for a state of a dataset."""
    for place in _folder(Path(settings.MEDIA_ROOT), dataset_id).glob(f"*/{OF}"):
        with suppress(FileNotFoundError):  # another process may be replacing this index
            if place.read_text() == str(state):
                return True
    return False


@lru_cache(maxsize=KEPT_INDEXES)
def _stored(root: Path, dataset_id: int, state: _State) -> _Stored:
    """Return a dataset's index, kept in memory as long as the dataset's state does not change."""
    folder = _folder(root, dataset_id)
    hashes = _Hashes()
    for _ in _passages(dataset_id, hashes):
        pass
    try:
        stored = _open(folder / hashes.stored, hashes.collection)
    except FileNotFoundError:
        stored = _build(folder, dataset_id)
    with suppress(FileNotFoundError):  # another process stored the index of more passages
        (folder / hashes.stored / OF).write_text(str(state))
    return stored


class _Hashes:
    """Two hashes of passages: one of the rows stored here, one that is the same in any database."""

    def __init__(self) -> None:
        self._ids, self._passages = hashlib.sha256(), hashlib.sha256()

    def add(self, pk: int, key: str, text: str) -> None:
        self._ids.update(b"%d " % pk)
        for part in (key, text):
            said = part.encode()
            self._passages.update(b"%d:" % len(said))
            self._passages.update(said)

    @property
    def collection(self) -> str:
        """The hash of keys and texts, in the order of the keys."""
        return self._passages.hexdigest()

    @property
    def stored(self) -> str:
        """The hash of keys, texts, ids and the name of the tokeniser: all that is in an index."""
        said = self._ids.digest() + self._passages.digest() + TOKENISER.encode()
        return hashlib.sha256(said).hexdigest()


def _passages(dataset_id: int, hashes: _Hashes) -> Iterator[tuple[int, str]]:
    """Yield id and text of each passage, in the order of the keys, and add them to the hashes."""
    by_key = Collate("key", BY_BYTES[connection.vendor])
    rows = Passage.objects.filter(dataset=dataset_id).order_by(by_key)
    for pk, key, text in rows.values_list("pk", "key", "text").iterator():
        hashes.add(pk, key, text)
        yield pk, text


def _open(folder: Path, collection: str) -> _Stored:
    ids = np.load(folder / IDS)
    return _Stored(collection, ids, np.argsort(ids), PassageIndex.load(folder))


def _build(folder: Path, dataset_id: int) -> _Stored:
    """Build and store the index of the passages as they are now, in place of earlier indexes."""
    hashes = _Hashes()
    ids: list[int] = []

    def texts() -> Iterator[str]:
        for pk, text in _passages(dataset_id, hashes):
            ids.append(pk)
            yield text

    index = PassageIndex(texts())
    place = folder / hashes.stored
    building = folder / f"{UNFINISHED}{token_hex(8)}"
    building.mkdir(parents=True)
    try:
        index.save(building)
        np.save(building / IDS, np.array(ids, np.int64))
        # Open the index before other processes see it: mapped files stay usable when they are
        # removed.
        stored = _open(building, hashes.collection)
        with suppress(OSError):  # another process stored the same index first
            building.rename(place)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    for other in folder.iterdir():
        if other != place and not _is_unfinished(other):
            shutil.rmtree(other, ignore_errors=True)  # index of an earlier, smaller set of passages
    return stored


def _is_unfinished(folder: Path) -> bool:
    return folder.name.startswith(UNFINISHED)
