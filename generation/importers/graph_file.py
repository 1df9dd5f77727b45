"""One file of scattered triples, which is put in order on disk so that memory does not grow."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from generation.importers.disk_database import LARGE_CACHE, temporary_database
from generation.importers.errors import excerpt
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.records import EntityRecord, Problem, Record, Where

LONGEST_ENTITY = 1 << 23  # characters of the triples, or of the names, of one entity
_PROBLEMS = "CREATE TABLE problems (line INTEGER, field TEXT, found TEXT, expected TEXT)"


class GraphStore(ABC):
    """The triples of one file in a database of their own, with the problems of its rows.

    Attributes:
        n_left_out, notes: the same as in a material.
    """

    def __init__(self, file: str, tables: str) -> None:
        self._file = file
        self._db = temporary_database(LARGE_CACHE)
        for statement in (_PROBLEMS, *tables.split(";")):
            self._db.execute(statement)
        self.n_left_out = Counter[str]()
        self.notes = Counter[str]()
        self._n_read = Counter[str]()

    def close(self) -> None:
        """Close and delete the temporary file."""
        self._db.close()

    def note(self, problem: Problem) -> None:
        """Store a problem of the file."""
        row = (problem.where.line, *problem[1:])
        self._db.execute("INSERT INTO problems VALUES (?, ?, ?, ?)", row)

    def finish(self, on_work: Callable[[], None]) -> None:
        """Put everything in order, after the whole file was added."""
        self._put_in_order(on_work)
        self._n_read = self.n_left_out.copy()

    def records(self, on_work: Callable[[], None]) -> Iterator[EntityRecord | Problem]:
        """Yield the problems of the file, then the entities in the order in which they were met.

        They may be asked for again. The counts are those of the latest time.
        """
        self.n_left_out, self.notes = self._n_read.copy(), Counter()
        for line, *said in self._db.execute("SELECT * FROM problems ORDER BY rowid"):
            yield Problem(Where(self._file, line), *said)
        yield from self._entities(on_work)

    @abstractmethod
    def _put_in_order(self, on_work: Callable[[], None]) -> None: ...

    @abstractmethod
    def _entities(self, on_work: Callable[[], None]) -> Iterator[EntityRecord | Problem]: ...

    def _too_large(self, line: int, name: str) -> Problem:
        """Return the problem of an entity that is too large for memory."""
        found = f"{excerpt(name)} with more than {LONGEST_ENTITY:,} characters of triples or names"
        return Problem(Where(self._file, line), "", found, "smaller entities")


StoreT = TypeVar("StoreT", bound=GraphStore)


class GraphFile(FileMaterial, Generic[StoreT]):
    """A file that holds one graph. `prepare` puts it in order once, however often it is read."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.kinds = ("entities",)
        self._store: StoreT | None = None

    @abstractmethod
    def _new_store(self) -> StoreT: ...

    @abstractmethod
    def _fill(self, store: StoreT) -> Iterator[Problem]:
        """Add all triples of the file, and yield the problems of its rows."""

    def prepare(self) -> None:
        self._prepared()

    def _prepared(self) -> StoreT:
        if self._store is None:
            store = self._new_store()
            try:
                for problem in self._fill(store):
                    store.note(problem)
                store.finish(self.on_work)
            except BaseException:
                store.close()
                raise
            self._store = store
        return self._store

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind != "entities":
            return
        store = self._prepared()
        yield from store.records(self.on_work)
        self.n_left_out, self.notes = dict(+store.n_left_out), dict(+store.notes)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
        super().close()
