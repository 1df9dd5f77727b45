"""What every reader hands on: records of a few kinds, as often as they are asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Self

from generation.importers.errors import DatasetError
from generation.importers.mapped.proposal import Look
from generation.importers.rater_codes import rater_code
from generation.importers.sources import Source
from generation.records import Problem, Record

# In the order of storing: each kind refers to earlier ones only.
KINDS = (
    "entities",
    "passages",
    "examples",
    "kg_questions",
    "samples",
    "rankings",
    "responses",
    "raters",
    "votes",
    "flags",
    "scores",
)

MOST_IGNORED = 200  # names of unknown columns and keys that are remembered


class Material(ABC):
    """One dataset on its way in; a context manager that closes the files it reads.

    Attributes:
        format: the key of its reader in `READERS`.
        kinds: the kinds of records it holds, in the order of `KINDS`.
        study: what study.json says, or what the format fixes; None when there is neither.
        scheme: a scheme as scheme.json spells one; None when there is none.
        about: what dataset.json says; None when there is none.
        ignored: files, columns and keys that are not read, each named once. Columns and keys
            are complete only after all kinds were read.
        n_left_out: what is not imported although it is data, counted by name; complete only
            after all kinds were read.
        notes: what else is worth knowing of the records, counted by name; complete only after
            all kinds were read.
        on_work: called now and then while a reader works for long without handing on a record;
            may raise to stop it.
        look: what its columns are, where that may be changed: of any table.
        rater_code: makes a code of a rater's name in a foreign file.
    """

    format: ClassVar[str]

    def __init__(self, source: Source) -> None:
        self._source = source
        self._unknown: set[str] = set()
        self.kinds: tuple[str, ...] = ()
        self.study: dict[str, Any] | None = None
        self.scheme: dict[str, Any] | None = None
        self.about: dict[str, Any] | None = None
        self.ignored: list[str] = []
        self.n_left_out: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.on_work: Callable[[], None] = lambda: None
        self.look: Look | None = None
        self.rater_code: Callable[[str], str] = rater_code

    def prepare(self) -> None:
        """Do what takes long before the first record, once; what stores them calls it beforehand.

        `records` is right without it.
        """
        return

    @abstractmethod
    def records(self, kind: str) -> Iterator[Record | Problem]:
        """Yield the records of one kind from the beginning, and the problems of bad rows."""

    @property
    @abstractmethod
    def bytes_total(self) -> int:
        """Return the stored bytes of one pass over all kinds, about."""

    def note_unknown(self, note: str) -> None:
        """Remember a column or key that is not read, once, and not endlessly many."""
        if len(self._unknown) < MOST_IGNORED and note not in self._unknown:
            self._unknown.add(note)
            self.ignored.append(note)

    @property
    def bytes_read(self) -> int:
        """Return the stored bytes read by now, over all passes."""
        return self._source.bytes_read

    def close(self) -> None:
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class FileMaterial(Material):
    """A dataset that is one file, whatever lies beside it.

    Attributes:
        one_file: what that file is, for who gives another: 'one BEGIN TSV file'.
    """

    one_file: ClassVar[str]

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        name = source.only_data_file()
        if name is None:
            raise DatasetError(source.path.name, "no single file", self.one_file)
        self._file = name
        self.ignored = source.ignored + [other for other in source.sizes if other != name]

    @property
    def bytes_total(self) -> int:
        return self._source.sizes[self._file]
