"""The result of every reader: records of a few kinds, which can be read repeatedly."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Self

from generation.importers.errors import DatasetError
from generation.importers.mapped.proposal import Look
from generation.importers.rater_codes import rater_code
from generation.importers.sources import Source
from generation.records import Problem, Record

# They are in the order of storing: each kind refers only to earlier ones.
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
    "adjudications",
    "scores",
)

MOST_IGNORED = 200  # names of unknown columns and keys that are remembered


class Material(ABC):
    """One dataset that is being imported: a context manager that closes the files it reads.

    Attributes:
        format: the key of its reader in `READERS`.
        kinds: the kinds of records it holds, in the order of `KINDS`.
        study: the content of study.json, or what the format fixes. None: there is neither.
        scheme: a scheme as scheme.json spells one. None: there is none.
        about: the content of dataset.json. None: there is none.
        ignored: files, columns and keys that are not read, each named once. Columns and keys
            are complete only after all kinds were read.
        n_left_out: data that are not imported, counted by name. They are complete only after all
            kinds were read.
        losses: data that are lost if the records are stored as they are, counted by name. The
            user has to accept them. They are complete only after all kinds were read.
        notes: other facts about the records, counted by name. They are complete only after all
            kinds were read.
        on_work: called now and then while a reader works for long without yielding a record. It
            may raise an error to stop the reader.
        look: the roles of its columns, for any table in which they may be changed.
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
        self.losses: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.on_work: Callable[[], None] = lambda: None
        self.look: Look | None = None
        self.rater_code: Callable[[str], str] = rater_code

    def prepare(self) -> None:
        """Do once what takes long before the first record. The code that stores records calls it.

        `records` is right without it.
        """
        return

    def scale_of(self, question: str) -> object:
        """Return the scale that a mapping states for a question of votes. None: it states none."""
        return self.look.mapping.scale_of(question) if self.look else None

    @abstractmethod
    def records(self, kind: str) -> Iterator[Record | Problem]:
        """Yield the records of one kind from the beginning, and the problems of bad rows."""

    @property
    @abstractmethod
    def bytes_total(self) -> int:
        """The number of stored bytes in one pass over all kinds, roughly."""

    def note_unknown(self, note: str) -> None:
        """Remember a column or key that is not read. Each is remembered once, up to a limit."""
        if len(self._unknown) < MOST_IGNORED and note not in self._unknown:
            self._unknown.add(note)
            self.ignored.append(note)

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes read by now, over all passes."""
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
    """A dataset that is one file, whatever other files are beside it.

    Attributes:
        one_file: a description of that file, for users who give another: 'one BEGIN TSV file'.
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
