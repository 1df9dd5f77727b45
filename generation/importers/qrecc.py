"""QReCC: one JSON list of questions in conversations, with or without a file of passages.

From https://github.com/apple/ml-qrecc (qrecc_train.json or qrecc_test.json), whose `Context` has
the earlier rewrites and answers. Our readings:

- User turns are the rewrites (`qrecc`), or the questions as they were asked (`qrecc-as-asked`). For
  the latter, a rewrite in the context is replaced by its question if its record is known. A
  question without a rewrite is used as it was asked.
- Empty answers are left out of the context. So each earlier turn has one text of the user's, the
  first text is the user's, and no two answers follow each other (`who_spoke`). The records of
  earlier turns tell which of these turns have an answer. If a record is missing (records of a
  conversation are stored together, so it is not in the file) and several readings are possible, the
  one in which the most questions and the fewest answers end with '?' is taken, and the example's
  `meta` has `speakers: guessed`. If no reading is possible (too many texts, or too few), a text is
  the user's if it is the first, if an earlier record has it as its rewrite or question, or if it
  ends with '?' and is no record's answer. That is guessed, too.
- An empty answer means that the question has none: no golden answer, not an empty one.
- The passages are a second file in the same folder or zip: JSON lines of `id`, `contents` or
  `text`, `url`?, `title`?, as in QReCC's own collection. `PassageJoin` tells which passages belong
  to a question; `Answer_URL` may name several pages with blanks between. A single passage is
  golden. Of several, the one with the highest token recall of the answer is taken as golden (ties:
  the first), and the example's `meta` has `golden: guessed`. Without an answer, the golden one is
  not known: `golden: unknown`. The others are only in the collection.
- An id that is longer than a key may be (addresses may be long) is cut, with a hash at its end.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import NOTHING, Row
from generation.importers.json_items import json_items
from generation.importers.material import Material
from generation.importers.passage_join import (
    FoundPassage,
    PassageJoin,
    QuestionToJoin,
    page_of_part,
)
from generation.importers.short_keys import short_key
from generation.importers.sources import Source, plain_name
from generation.importers.speakers import KnownTurn, Speakers, who_spoke
from generation.importers.tables import json_rows
from generation.records import (
    CollectionPassageRecord,
    ExampleRecord,
    PassageRecord,
    Problem,
    Record,
    TurnRecord,
    Where,
)
from generation.text.tokens import token_recall

FIELDS = frozenset(
    {
        "Context",
        "Question",
        "Rewrite",
        "Answer",
        "Answer_URL",
        "Conversation_no",
        "Turn_no",
        "Conversation_source",
    }
)
PASSAGE_FIELDS = frozenset({"id", "contents", "text", "url", "title"})
GUESSED, UNKNOWN = "guessed", "unknown"  # values of `golden` and `speakers` in an example's meta
GOLDEN, GOLDEN_GUESSED, GOLDEN_UNKNOWN, GOLDEN_NONE, SPEAKERS_GUESSED = NOTES = (
    "questions with a golden passage",
    "of them guessed among several passages",
    "questions with several passages and no answer to guess by",
    "questions without a passage",
    "questions with guessed speakers before them",
)
LARGEST_NUMBER = 1_000_000_000
LONGEST_ADDRESS = 10_000
MOST_PASSAGES = 1_000  # passages of one question, among which the golden one is guessed
MOST_TURNS = 200  # turns of one conversation; each turn looks through those before it
_WORK = 500  # rows between two signs of work
_HEAD_BYTES = 1 << 20
_NAMES = tuple(
    re.compile(rb'"%s"\s*:' % name)
    for name in (b"Context", b"Rewrite", b"Answer_URL", b"Conversation_no")
)
Good = TypeVar("Good")


class QreccEntry(NamedTuple):
    """One entry of the file that was checked."""

    where: Where
    conversation: int
    turn: int  # counts from 1
    context: tuple[str, ...]
    question: str
    rewrite: str  # empty: there is none
    answer: str  # empty: the question has none
    answer_url: str
    meta: Mapping[str, Any]

    @property
    def key(self) -> str:
        return f"{self.conversation}_{self.turn}"

    @property
    def user_turn(self) -> str:
        return self.rewrite if self.rewrite.strip() else self.question

    @property
    def joined_by(self) -> QuestionToJoin:
        return QuestionToJoin(self.key, tuple(self.answer_url.split()))


class QreccMaterial(Material):
    """The published file, read one entry at a time. User turns are the rewrites."""

    format = "qrecc"
    is_as_asked: ClassVar[bool] = False

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._file = _question_file(source)
        self._passage_file = _passage_file(source)
        self._join: PassageJoin | None = None
        self.kinds = ("passages", "examples") if self._passage_file else ("examples",)
        used = {self._file, self._passage_file}
        self.ignored = source.ignored + [name for name in source.sizes if name not in used]

    @property
    def bytes_total(self) -> int:
        n_bytes = self._source.sizes[self._file]
        if self._passage_file:  # the join reads both files once more
            n_bytes = 2 * (n_bytes + self._source.sizes[self._passage_file])
        return n_bytes

    def records(self, kind: str) -> Iterator[Record | Problem]:
        if kind == "passages":
            for found in self._passages():
                yield found.record if isinstance(found, FoundPassage) else found
        elif kind == "examples":
            yield from self._examples()

    def close(self) -> None:
        if self._join is not None:
            self._join.close()
            self._join = None
        super().close()

    def _examples(self) -> Iterator[Record | Problem]:
        join = self._joined()
        counts: Counter[str] = Counter()
        conversation = -1
        earlier: dict[int, QreccEntry] = {}  # turn → entry of the present conversation
        for asked in self._asked():
            if isinstance(asked, Problem):
                yield asked
                continue
            if asked.conversation != conversation:
                conversation, earlier = asked.conversation, {}
            if len(earlier) == MOST_TURNS:
                expected = f"at most {MOST_TURNS:,} turns of one conversation"
                yield Problem(asked.where, "Turn_no", f"{asked.turn:,}", expected)
                continue
            example = self._example(asked, earlier, join)
            counts.update(_noted(example, join))
            yield example
            earlier[asked.turn] = asked
        self.notes = {note: counts[note] for note in NOTES if note in counts}

    def _example(
        self, asked: QreccEntry, earlier: Mapping[int, QreccEntry], join: PassageJoin | None
    ) -> ExampleRecord:
        spoken = _who_spoke(asked, earlier)
        turns = _context_turns(asked, earlier, spoken.is_users, self.is_as_asked)
        turns.append(("user", asked.question if self.is_as_asked else asked.user_turn))
        golden, how = (None, "") if join is None else _golden(asked, join)
        meta = dict(asked.meta) | {
            "answer_url": asked.answer_url,
            "question": asked.question,
            "rewrite": asked.rewrite,
        }
        if how:
            meta["golden"] = how
        if not spoken.is_certain:
            meta["speakers"] = GUESSED
        return ExampleRecord(
            where=asked.where,
            key=asked.key,
            dialog=str(asked.conversation),
            turns=tuple(
                TurnRecord(speaker, text, index - 1) for index, (speaker, text) in enumerate(turns)
            ),
            golden_answer=asked.answer or None,
            evidence=() if golden is None else (golden,),
            meta=meta,
        )

    def _asked(self) -> Iterator[QreccEntry | Problem]:
        for row in json_items(self._source, self._file):
            if isinstance(row, Problem):
                yield row
                continue
            asked = _checked(row)
            if row.problems:
                yield from row.problems
            else:
                yield asked

    def _passages(self) -> Iterator[FoundPassage | Problem]:
        if self._passage_file is None:
            return
        for row in json_rows(self._source, self._passage_file):
            if isinstance(row, Problem):
                yield row
                continue
            for key in row.unknown(PASSAGE_FIELDS):
                self.note_unknown(f"{self._passage_file}: key {key!r:.100}")
            found = _passage(row)
            if row.problems:
                yield from row.problems
            else:
                yield found

    def _joined(self) -> PassageJoin | None:
        """Return the passages by question. They are joined when they are first asked for."""
        if self._join is None and self._passage_file:
            join = PassageJoin()
            try:
                join.want(asked.joined_by for asked in self._working(self._asked()))
                join.offer(self._working(self._passages()))
            except BaseException:
                join.close()
                raise
            self._join = join
        return self._join

    def _working(self, rows: Iterable[Good | Problem]) -> Iterator[Good]:
        """Yield the good rows, and report work now and then, as no record is yielded meanwhile."""
        for number, row in enumerate(rows):
            if number % _WORK == 0:
                self.on_work()
            if not isinstance(row, Problem):
                yield row


class QreccAsAskedMaterial(QreccMaterial):
    """The same file. User turns are the questions as they were asked."""

    format = "qrecc-as-asked"
    is_as_asked = True


def recognises(source: Source) -> bool:
    """Return whether there is a JSON list with the fields of QReCC."""
    return bool(_question_files(source))


def _question_files(source: Source) -> list[str]:
    names = list(source.sizes)
    if len(names) > 1:
        names = [name for name in names if plain_name(name).endswith(".json")]
    return [
        name
        for name in names
        if source.head(name, 64).lstrip().startswith(b"[")
        and source.mentions(name, _NAMES, _HEAD_BYTES)
    ]


def _question_file(source: Source) -> str:
    names = _question_files(source)
    if len(names) == 1:
        return names[0]
    where = " and ".join(names) or source.path.name
    found = f"{len(names)} files of questions" if names else "no QReCC file"
    expected = "one (train and test: each by itself, as a dataset of its own)"
    raise DatasetError(where, found, expected if names else "one JSON list as QReCC publishes it")


def _passage_file(source: Source) -> str | None:
    names = [name for name in source.sizes if plain_name(name).endswith(".jsonl")]
    if len(names) > 1:
        raise DatasetError(" and ".join(names), f"{len(names)} files of passages", "one file")
    return names[0] if names else None


def _checked(row: Row) -> QreccEntry:
    answer = row.text("Answer", "")
    source = row.text("Conversation_source", "")
    return QreccEntry(
        where=row.where,
        conversation=_number(row, "Conversation_no", 0),
        turn=_number(row, "Turn_no", 1),
        context=_context(row),
        question=row.filled_text("Question"),
        rewrite=row.text("Rewrite", ""),
        answer=answer if answer.strip() else "",
        answer_url=row.text("Answer_URL", ""),
        meta=row.unknown(FIELDS) | {"conversation_source": source},
    )


def _number(row: Row, name: str, lowest: int) -> int:
    if row.values.get(name) is None:
        row.refuse(name, NOTHING, f"a whole number from {lowest}")
    return row.whole(name, lowest, LARGEST_NUMBER) or 0


def _context(row: Row) -> tuple[str, ...]:
    items = row.required_list("Context", "texts")
    for number, item in enumerate(items, start=1):
        if not isinstance(item, str):
            row.refuse(f"Context[{number}]", excerpt(item), "text")
    return tuple(items)


def _context_turns(
    asked: QreccEntry,
    earlier: Mapping[int, QreccEntry],
    is_users: Iterable[bool],
    is_as_asked: bool,
) -> list[tuple[str, str]]:
    """Return (speaker, text) of the turns before a question. Blank texts are no turns."""
    turns = []
    n_questions = 0
    for is_user, text in zip(is_users, asked.context, strict=True):
        n_questions += is_user
        before = earlier.get(n_questions)
        if is_as_asked and is_user and before and text.strip() == before.rewrite.strip():
            text = before.question
        if text.strip():
            turns.append(("user" if is_user else "assistant", text))
    return turns


def _who_spoke(asked: QreccEntry, earlier: Mapping[int, QreccEntry]) -> Speakers:
    """Return the speakers of the texts of the context."""
    known = {
        turn: KnownTurn({a.rewrite.strip(), a.question.strip()}, a.answer.strip())
        for turn, a in earlier.items()
    }
    spoken = who_spoke(asked.context, asked.turn - 1, known)
    if spoken is not None:
        return spoken
    questions = {text for turn in known.values() for text in turn.questions}
    answers = {turn.answer for turn in known.values()}
    is_users = [
        index == 0 or _is_question(text.strip(), questions, answers)
        for index, text in enumerate(asked.context)
    ]
    return Speakers(is_users, is_certain=not is_users)


def _is_question(text: str, questions: Collection[str], answers: Collection[str]) -> bool:
    return text in questions or (text not in answers and text.endswith("?"))


def _golden(asked: QreccEntry, join: PassageJoin) -> tuple[PassageRecord | None, str]:
    """Return a question's golden passage, if it has one, and the value of `golden` in `meta`."""
    best: CollectionPassageRecord | None = None
    highest = -1.0
    n_passages = 0
    for passage in join.passages_of(asked.joined_by):
        n_passages += 1
        if n_passages > MOST_PASSAGES:
            return None, UNKNOWN
        recall = token_recall(asked.answer, passage.text)
        if recall > highest or best is None:
            best, highest = passage, recall
    if best is None or (n_passages > 1 and math.isnan(highest)):
        return None, UNKNOWN if n_passages else ""
    golden = PassageRecord(best.key, best.text, best.title, best.url, True)
    return golden, GUESSED if n_passages > 1 else ""


def _noted(example: ExampleRecord, join: PassageJoin | None) -> Iterator[str]:
    """Yield the notes for which an example counts.

    Without a file of passages, there are no notes about passages.
    """
    how = example.meta.get("golden")
    if example.evidence:
        yield GOLDEN
        if how == GUESSED:
            yield GOLDEN_GUESSED
    elif join is not None:
        yield GOLDEN_UNKNOWN if how == UNKNOWN else GOLDEN_NONE
    if example.meta.get("speakers") == GUESSED:
        yield SPEAKERS_GUESSED


def _passage(row: Row) -> FoundPassage:
    id = row.key("id", longest=LONGEST_ADDRESS)
    page = page_of_part(id) if id.startswith(("http://", "https://")) else ""
    record = CollectionPassageRecord(
        where=row.where,
        key=short_key(id),
        text=row.filled_text("contents" if row.values.get("text") is None else "text"),
        title=row.text("title", ""),
        url=row.text("url", page),
    )
    return FoundPassage(id, record)
