"""Which rows of an import are good: each once, fitting the scheme, referring to what is there."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple

from annotation.models import Flag, Rater, Study, Vote
from annotation.schemes import Scheme
from annotation.services.imported import rater_facts
from evaluation.models import AutoScore
from generation.importers.errors import excerpt
from generation.importers.records import (
    EntityRecord,
    ExampleRecord,
    FlagRecord,
    KGQuestionRecord,
    Problem,
    RaterRecord,
    Record,
    ResponseRecord,
    ScoreRecord,
    SetupRecord,
    VoteRecord,
)
from generation.importers.seen import SeenKeys, is_content
from generation.models import Dataset, Setup
from generation.services import digest, ids_by_key, in_lots, record_digest

Note = Callable[[Problem], None]
LARGEST_FLOAT = sys.float_info.max
LARGEST_EXACT = 2**53  # from here on a float does not hold every whole number


class RowChecks:
    """The checks of one pass over one import, batch by batch, in memory that does not grow.

    `dataset` and `study` are those that exist already: their rows may be referred to, and a row
    that is there with other content is a problem.
    """

    def __init__(self, dataset: Dataset | None, study: Study | None, scheme: Scheme) -> None:
        self._dataset = dataset
        self._study = study
        self._questions = {question.key: question for question in scheme.questions}
        self._seen = SeenKeys()

    def __enter__(self) -> "RowChecks":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._seen.__exit__(kind, error, trace)

    def good_rows(
        self, kind: str, records: Iterable[Record], note: Note
    ) -> tuple[list[Record], int]:
        """Return the good rows of a batch, and how many of them are stored already.

        What is wrong with the others is noted.
        """
        rows = list(records)
        keyed = {id(row): _key(row) for row in rows}
        seen = self._seen.contents(keyed.values())
        stored = self._stored(kind, rows)
        known = self._known_references(rows)
        parts = self._stored_parts(rows)

        good: list[Record] = []
        n_unchanged = 0
        fresh: dict[str, str] = {}
        for row in rows:
            key = keyed[id(row)]
            content = self._content(row)
            problem = self._misfit(row) or _unknown_reference(row, known)
            if not problem and (key in seen or key in fresh):
                problem = Problem(row.where, "", f"{_name(row)} a second time", "each once")
            is_change = key in stored and stored[key] != content
            if not problem and is_change and not isinstance(row, RaterRecord):
                found = f"{_name(row)}, which is stored with other content"
                problem = Problem(row.where, "", found, "the same content, or another id")
            problem = problem or _changed_part(row, parts)
            if problem:
                note(problem)
                continue
            good.append(row)
            n_unchanged += key in stored and not is_change
            fresh[key] = ""
            new_parts = {part.key: part.content for part in _parts(row)}
            parts |= new_parts
            fresh |= new_parts
        self._seen.add(fresh)
        return good, n_unchanged

    def _misfit(self, row: Record) -> Problem | None:
        """Return what is wrong with a vote's question or answer, or with an assumed score."""
        if isinstance(row, ScoreRecord) and row.is_assumed and row.score != 0:
            return Problem(row.where, "assumed", repr(row.score), "an assumed score is 0")
        if not isinstance(row, VoteRecord):
            return None
        question = self._questions.get(row.question)
        if question is None:
            expected = "one of " + ", ".join(self._questions)
            return Problem(row.where, "question", excerpt(row.question), expected)
        answer = question.scale.answer(row.answer)
        if answer is None:
            return Problem(row.where, "answer", excerpt(row.answer), question.scale.expected)
        if row.is_implied and (answer != 0 or not question.after):
            expected = "an implied vote is a no to a question that has gates ('after')"
            return Problem(row.where, "implied", f"{row.answer}, implied", expected)
        return None

    def _content(self, row: Record) -> str:
        """Return what tells a repeat of a stored row from a change."""
        match row:
            case VoteRecord():
                question = self._questions.get(row.question)
                answer = question.scale.answer(row.answer) if question else None
                return _vote_content(answer, row.is_implied, row.position, row.seconds, row.at)
            case FlagRecord():
                return row.reason
            case ScoreRecord():
                return repr((row.score, row.is_assumed, row.problem, row.n_truncated))
            case ExampleRecord() | ResponseRecord() | EntityRecord() | KGQuestionRecord():
                return record_digest(row)
        return ""  # a rater: see `_stored`

    def _stored(self, kind: str, rows: Sequence[Any]) -> dict[str, str]:
        """Return the content of those rows of the batch that are stored, by key."""
        dataset, study = self._dataset, self._study
        if dataset is None or not rows:
            return {}
        if kind in ("examples", "kg_questions"):
            examples = dataset.examples.filter(key__in=[row.key for row in rows])
            return {f"example\0{k}": d for k, d in examples.values_list("key", "digest")}
        if kind == "responses":
            responses = dataset.responses.filter(key__in=[row.key for row in rows])
            return {f"response\0{k}": d for k, d in responses.values_list("key", "digest")}
        if kind == "entities":
            entities = dataset.entities.filter(qid__in=[row.qid for row in rows])
            return {f"entity\0{k}": d for k, d in entities.values_list("qid", "digest")}
        responses_here = {row.response for row in rows} if kind != "raters" else set()
        if kind == "scores":
            scores = AutoScore.objects.filter(
                run__dataset=dataset,
                run__is_imported=True,
                target__response__key__in=responses_here,
            ).values_list(
                "target__response__key",
                "target__citation__number",
                "run__metric",
                "run__signature",
                "score",
                "is_assumed",
                "problem",
                "n_truncated",
            )
            return {_join("score", *key[:4]): repr(key[4:]) for key in scores}
        if study is None:
            return {}
        if kind == "votes":
            votes = Vote.objects.filter(
                arm__study=study, target__response__key__in=responses_here
            ).values_list(
                "arm__kind",
                "target__response__key",
                "target__citation__number",
                "question",
                "rater__code",
                *VOTE_CONTENT,
            )
            return {_join("vote", *key[:5]): _vote_content(*key[5:]) for key in votes}
        if kind == "flags":
            flags = Flag.objects.filter(arm__study=study, response__key__in=responses_here)
            columns = flags.values_list("arm__kind", "response__key", "rater__code", "reason")
            return {_join("flag", *key): reason for *key, reason in columns}
        raters = {r.code: r for r in study.raters.filter(code__in=[row.rater for row in rows])}
        return {
            _key(row): "" if _says_nothing_new(row, raters[row.rater]) else "something new"
            for row in rows
            if row.rater in raters
        }

    def _known_references(self, rows: Sequence[Record]) -> Collection[str]:
        """Return which of the keys that the batch refers to are in the file or stored."""
        wanted = {key for row in rows for _, key in _references(row)}
        known = set(self._seen.contents(wanted))
        if self._dataset is None or known == wanted:
            return known
        by_kind: dict[str, list[str]] = {"example": [], "response": [], "passage": []}
        for key in wanted - known:
            kind, name = key.split("\0", 1)
            by_kind[kind].append(name)
        for kind, names in by_kind.items():
            stored = ids_by_key(getattr(self._dataset, f"{kind}s").all(), names)
            known |= {f"{kind}\0{name}" for name in stored}
        return known

    def _stored_parts(self, rows: Sequence[Record]) -> dict[str, str | bytes]:
        """Return what is known about the passages and setups that the batch brings, by key."""
        keys = {part.key for row in rows for part in _parts(row)}
        known: dict[str, str | bytes] = {}
        if self._dataset is not None:
            for names in in_lots(key.split("\0", 1)[1] for key in keys):
                for passage in self._dataset.passages.filter(key__in=names):
                    content = digest([passage.text, passage.title, passage.url])
                    known[_join("passage", passage.key)] = content
                for setup in self._dataset.setups.filter(name__in=names):
                    known[_join("setup", setup.name)] = _setup_content(setup)
        return known | self._seen.contents(keys)


# What tells a repeat of a vote from a change, beside the answer; all of it is exported.
VOTE_CONTENT = ("answer", "is_implied", "position", "seconds", "at")


def _vote_content(
    answer: int | None,
    is_implied: bool,
    position: int | None,
    seconds: float | None,
    at: datetime | None,
) -> str:
    return repr((answer, is_implied, position, seconds, at and at.astimezone(UTC)))


def _says_nothing_new(record: RaterRecord, rater: Rater) -> bool:
    facts = rater_facts(record)
    return all(getattr(rater, name) == value for name, value in facts.items())


class _Part(NamedTuple):
    """A passage or a setup: it has a name of its own, and may come with many rows."""

    key: str
    content: str
    field: str
    name: str


def _parts(row: Record) -> list[_Part]:
    """Return the passages of an example, or the setup of a response."""
    match row:
        case ExampleRecord():
            return [
                _Part(_join("passage", p.key), digest([p.text, p.title, p.url]), "evidence", p.key)
                for p in row.evidence
            ]
        case ResponseRecord():
            content = _setup_content(row.setup)
            return [_Part(_join("setup", row.setup.name), content, "setup", row.setup.name)]
    return []


def _setup_content(setup: Setup | SetupRecord) -> str:
    settings = _with_plain_numbers(setup.settings)
    return digest([setup.model, setup.temperature, setup.prompt, setup.run, settings])


def _with_plain_numbers(value: Any) -> Any:
    """Return JSON with each number in one form: PostgreSQL gives 1e16 back as an integer."""
    if isinstance(value, Mapping):
        return {key: _with_plain_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(part) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if abs(value) < LARGEST_EXACT and value == int(value):
        return int(value)
    return f"{value:.17g}" if abs(value) <= LARGEST_FLOAT else str(value)


def _changed_part(row: Record, known: Mapping[str, str | bytes]) -> Problem | None:
    """Return the problem of a passage or setup whose name stands for something else already."""
    for part in _parts(row):
        found = known.get(part.key, part.content)
        is_same = (
            is_content(found, part.content) if isinstance(found, bytes) else found == part.content
        )
        if not is_same:
            said = f"{excerpt(part.name)} with other content than before"
            return Problem(row.where, part.field, said, "the same content wherever it is named")
    return None


def _references(row: Record) -> list[tuple[str, str]]:
    """Return what a row refers to: field → key."""
    match row:
        case ResponseRecord():
            shown = [("evidence_shown", f"passage\0{key}") for key in row.evidence_shown or ()]
            return [("example", f"example\0{row.example}"), *shown]
        case VoteRecord() | FlagRecord() | ScoreRecord():
            return [("response", f"response\0{row.response}")]
    return []


def _unknown_reference(row: Record, known: Collection[str]) -> Problem | None:
    """Return the problem of a row that refers to what is not there."""
    for field, key in _references(row):
        if key not in known:
            kind, name = key.split("\0", 1)
            expected = f"the id of {'an' if kind == 'example' else 'a'} {kind} of this dataset"
            return Problem(row.where, field, excerpt(name), expected)
    return None


def _join(*parts: object) -> str:
    return "\0".join("" if part is None else str(part) for part in parts)


def _key(row: Record) -> str:
    """Return what may be there once."""
    match row:
        case ExampleRecord() | KGQuestionRecord():
            return _join("example", row.key)
        case ResponseRecord():
            return _join("response", row.key)
        case EntityRecord():
            return _join("entity", row.qid)
        case RaterRecord():
            return _join("rater", row.rater)
        case VoteRecord():
            return _join("vote", row.arm, row.response, row.citation, row.question, row.rater)
        case FlagRecord():
            return _join("flag", row.arm, row.response, row.rater)
        case ScoreRecord():
            return _join("score", row.response, row.citation, row.metric, row.signature)


def _name(row: Record) -> str:
    """Return a row's identity as a person would say it."""
    match row:
        case ExampleRecord() | KGQuestionRecord():
            return f"example {excerpt(row.key)}"
        case ResponseRecord():
            return f"response {excerpt(row.key)}"
        case EntityRecord():
            return f"entity {excerpt(row.qid)}"
        case RaterRecord():
            return f"rater {excerpt(row.rater)}"
        case VoteRecord():
            of = f"on {row.question} of response {excerpt(row.response)}"
            return f"vote of {excerpt(row.rater)} {of}"
        case FlagRecord():
            return f"flag of {excerpt(row.rater)} on response {excerpt(row.response)}"
        case ScoreRecord():
            return f"{row.metric} score of response {excerpt(row.response)}"
