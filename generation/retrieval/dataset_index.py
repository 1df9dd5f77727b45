"""The passages of a dataset, ranked; the index is built once and kept on disk.

Passages are ordered by their keys, the same on every database, so that ties are too. An index lies
under a hash of what it was built from, and appears there whole or not at all: any number of
processes may build the same one, and each maps its files instead of reading them.
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

BY_BYTES = {"postgresql": "C", "sqlite": "BINARY"}  # the collation of each database
IDS = "passage-ids.npy"
OF = "of.txt"  # in an index: the state of the dataset that it was last opened for
ASKED = "asked"  # beside the indexes: somebody waits for one, since the time of this file
LONGEST_BUILD = timedelta(minutes=15)  # what takes longer may be asked for again
MANY_PASSAGES = 20_000  # an index of more takes longer than a page may: a worker builds it
UNFINISHED = "building-"  # how a folder's name begins until it is whole
KEPT_INDEXES = 4  # per process; mapped files, whose pages the system may take back


class Hit(NamedTuple):
    """A passage that was found."""

    passage: int  # its id
    score: float


class _State(NamedTuple):
    """Which collection a dataset is now.

    Passages are only added, so their number and last id say which; the moment tells a dataset
    from an earlier one with the same number.
    """

    created_at: datetime
    n_passages: int
    last: int | None

    def __str__(self) -> str:
        return f"{self.created_at.isoformat()} {self.n_passages} {self.last}"


class _Stored(NamedTuple):
    """An index as it lies on disk, for any choices."""

    collection: str  # the hash of its passages, in any database
    ids: NDArray[np.int64]  # (n_passages,): of the passage at each position
    by_id: NDArray[np.intp]  # (n_passages,): positions, in order of the ids
    ranking: PassageIndex


class DatasetIndex:
    """BM25 over the passages of one dataset; ties by their keys."""

    def __init__(self, stored: _Stored, bm25: Bm25) -> None:
        self._stored = stored
        self._index = stored.ranking.with_choices(bm25)
        # What a draw depends on, whatever ids the passages have in this database.
        self.collection = f"passages:{stored.collection[:16]}"
        # All that a ranking depends on: choices and passages.
        self.signature = f"{bm25.signature}|{self.collection}"

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._stored.ids)

    def ranked(self, query: str, k: int, without: Collection[int] = ()) -> list[Hit]:
        """Return the `k` best passages, best first; fewer only where there are fewer.

        Those that share no word with the query fill up, by key, with a score of 0.

        Args:
            without: ids of passages to leave out; those of other datasets change nothing.

        Raises:
            ValueError: `k` is negative.
        """
        hits = self._index.ranked(query, k, self._positions(without))
        return [Hit(int(self._stored.ids[place]), score) for place, score in hits]

    def random(self, key: str, seed: int, k: int, without: Collection[int] = ()) -> list[int]:
        """Return the ids of `k` passages drawn for the example of a key, none twice.

        The same for the same passages, key and seed; a longer draw begins with a shorter one.

        Args:
            without: ids of passages that are not drawn.

        Raises:
            ValueError: `k` is negative.
        """
        positions = draw(len(self), self._positions(without), k, seed, key)
        return [int(self._stored.ids[place]) for place in positions]

    def _positions(self, ids: Collection[int]) -> list[int]:
        """Return the positions of those ids that are passages here."""
        wanted = np.array(sorted(ids), np.int64)
        order = self._stored.by_id
        found = np.searchsorted(self._stored.ids, wanted, sorter=order)
        places = order[found[found < len(order)]]
        here = self._stored.ids[places] == wanted[found < len(order)]
        return [int(place) for place in places[here]]


def index_of(dataset_id: int, bm25: Bm25 = USUAL) -> DatasetIndex:
    """Return the index of a dataset's passages as they are now; built where there is none yet.

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
    """Return whether a page may use the index: it is there, or soon built of few passages.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    state = _state(dataset_id)
    return state.n_passages <= MANY_PASSAGES or _is_built(dataset_id, state)


def ask_for_index(dataset_id: int) -> bool:
    """Note that somebody waits for the index; return whether it is to be built.

    It is not where it is there, or was asked for within the last quarter of an hour.
    """
    if has_index(dataset_id) or is_index_asked_for(dataset_id):
        return False
    folder = _folder(Path(settings.MEDIA_ROOT), dataset_id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ASKED).write_text("")  # written anew: its time is now
    return True


def is_index_asked_for(dataset_id: int) -> bool:
    """Return whether the index was asked for lately, and nobody has finished with it."""
    try:
        asked_at = (_folder(Path(settings.MEDIA_ROOT), dataset_id) / ASKED).stat().st_mtime
    except FileNotFoundError:
        return False
    return timezone.now().timestamp() - asked_at < LONGEST_BUILD.total_seconds()


def build_index(dataset_id: int) -> None:
    """Build the index where there is none of the passages as they are now; nobody waits then.

    Raises:
        Dataset.DoesNotExist: there is no such dataset.
    """
    try:
        index_of(dataset_id)
    finally:
        (_folder(Path(settings.MEDIA_ROOT), dataset_id) / ASKED).unlink(missing_ok=True)


def delete_index(dataset_id: int) -> None:
    """Remove what is kept of a dataset's passages; who has it open can go on."""
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
        with suppress(FileNotFoundError):  # another process puts a newer one in its place
            if place.read_text() == str(state):
                return True
    return False


@lru_cache(maxsize=KEPT_INDEXES)
def _stored(root: Path, dataset_id: int, state: _State) -> _Stored:
    """Return a dataset's index; kept as long as its passages are as its state says."""
    folder = _folder(root, dataset_id)
    hashes = _Hashes()
    for _ in _passages(dataset_id, hashes):
        pass
    try:
        stored = _open(folder / hashes.stored, hashes.collection)
    except FileNotFoundError:
        stored = _build(folder, dataset_id)
    with suppress(FileNotFoundError):  # passages became more meanwhile, and their index is there
        (folder / hashes.stored / OF).write_text(str(state))
    return stored


class _Hashes:
    """Hashes of passages: of what is stored here, and of what is the same in any database."""

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
        """The hash of keys and texts, in order of the keys."""
        return self._passages.hexdigest()

    @property
    def stored(self) -> str:
        """The hash of these and of the ids, which an index holds."""
        return hashlib.sha256(self._ids.digest() + self._passages.digest()).hexdigest()


def _passages(dataset_id: int, hashes: _Hashes) -> Iterator[tuple[int, str]]:
    """Yield id and text of each passage, by key, and add them to the hashes."""
    by_key = Collate("key", BY_BYTES[connection.vendor])
    rows = Passage.objects.filter(dataset=dataset_id).order_by(by_key)
    for pk, key, text in rows.values_list("pk", "key", "text").iterator():
        hashes.add(pk, key, text)
        yield pk, text


def _open(folder: Path, collection: str) -> _Stored:
    ids = np.load(folder / IDS)
    return _Stored(collection, ids, np.argsort(ids), PassageIndex.load(folder))


def _build(folder: Path, dataset_id: int) -> _Stored:
    """Build and keep the index of the passages as they are now, in place of earlier ones."""
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
        # Opened before others see it: what is mapped stays, whoever removes the files.
        stored = _open(building, hashes.collection)
        with suppress(OSError):  # somebody was faster: theirs is the same
            building.rename(place)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    for other in folder.iterdir():
        if other != place and not _is_unfinished(other):
            shutil.rmtree(other, ignore_errors=True)  # of passages that have become more
    return stored


def _is_unfinished(folder: Path) -> bool:
    return folder.name.startswith(UNFINISHED)
