"""The checks of an import's rows: each is unique, fits the scheme and refers to rows that exist."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from annotation.models import Flag, Rater, Study, Vote
from annotation.schemes import Scheme
from annotation.services.imported_votes import VOTE_CONTENT, rater_facts
from evaluation.exchange.changed_passages import passage_content, said_of_passage
from evaluation.exchange.chosen_responses import known_sources, source_of, unknown_source
from evaluation.exchange.implied_noes import ImpliedNoes
from evaluation.exchange.row_contents import answer_in, may_change, score_content, vote_content
from evaluation.exchange.row_names import joined, key_of, name_of
from evaluation.exchange.row_parts import parts_of, rank_part, said_of_change, setup_parts
from evaluation.models import Adjudication, AutoScore
from generation.importers.errors import excerpt
from generation.importers.rater_codes import NOMINAL
from generation.importers.seen_keys import SeenKeys, is_content
from generation.models import Dataset, GridChunk, Passage, Response
from generation.records import (
    AdjudicationRecord,
    CollectionPassageRecord,
    EntityRecord,
    ExampleRecord,
    FlagRecord,
    KGQuestionRecord,
    Problem,
    RankedPassageRecord,
    RaterRecord,
    Record,
    ResponseRecord,
    SampleRecord,
    ScoreRecord,
    VoteRecord,
)
from generation.sample_rows import sample_content, sample_problem, sample_record
from generation.services.rankings import stored_ranks
from generation.services.record_keys import digest, ids_by_key, in_lots, record_digest

Note = Callable[[Problem], None]


class GoodRows(NamedTuple):
    """The good rows of a batch.

    Attributes:
        n_unchanged: how many of them are stored already.
        n_repeated: how many others repeat a vote that an earlier row of a table has.
    """

    rows: list[Record]
    n_unchanged: int
    n_repeated: int


class RowChecks:
    """The checks of one pass over one import, batch by batch, in memory that does not grow.

    `dataset` and `study` are those that exist already. Rows may refer to their rows. A row that is
    stored already with other content is a problem.
    """

    def __init__(self, dataset: Dataset | None, study: Study | None, scheme: Scheme) -> None:
        self._dataset = dataset
        self._study = study
        self._questions = {question.key: question for question in scheme.questions}
        self._seen = SeenKeys()
        self._passages: dict[str, Passage] = {}  # stored passages that the batch names, by key

    def __enter__(self) -> "RowChecks":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._seen.__exit__(kind, error, trace)

    def good_rows(self, kind: str, records: Iterable[Record], note: Note) -> GoodRows:
        """Return the good rows of a batch.

        The problems of the other rows are passed to `note`.
        """
        rows = list(records)
        keyed = {id(row): key_of(row) for row in rows}
        self._passages = {}
        repeats = {id(row): _row_key(row, keyed[id(row)]) for row in rows if _may_repeat(row)}
        seen = self._seen.contents([*keyed.values(), *repeats.values()])
        stored = self._stored(kind, rows)
        known = self._known_references(rows)
        parts = self._stored_parts(rows)
        sources = known_sources(self._dataset, self._seen, rows)

        good: list[Record] = []
        n_unchanged = n_repeated = 0
        fresh: dict[str, str | bytes] = {}
        for row in rows:
            key = keyed[id(row)]
            content = self._content(row)
            problem = self._misfit(row) or _unknown_reference(row, known)
            problem = problem or unknown_source(row, sources)
            if not problem and (key in seen or key in fresh):
                earlier = fresh.get(key) or seen.get(key)
                is_there = any(repeats.get(id(row)) in there for there in (seen, fresh))
                if is_there and earlier == content:
                    n_repeated += 1
                    continue
                problem = self._row_again(row, earlier)
            is_change = key in stored and stored[key] != content
            if not problem and is_change and not may_change(row, stored[key]):
                problem = self._changed_row(row, stored[key])
            problem = problem or self._changed_part(row, parts)
            if problem:
                note(problem)
                continue
            good.append(row)
            n_unchanged += key in stored and not is_change
            # An example may name a passage of the collection as if the example brought it.
            has_content = isinstance(row, CollectionPassageRecord | VoteRecord)
            fresh[key] = content if has_content else source_of(row)
            if id(row) in repeats:
                fresh[repeats[id(row)]] = ""
            if isinstance(row, ResponseRecord):
                sources[row.key] = fresh[key]
            new_parts = {part.key: part.content for part in parts_of(row)}
            parts |= new_parts
            fresh |= new_parts
        self._seen.add(fresh)
        return GoodRows(good, n_unchanged, n_repeated)

    def lacking_noes(self, noes: ImpliedNoes, votes: Iterable[VoteRecord]) -> list[VoteRecord]:
        """Return the noes that good votes of a batch imply and that neither file nor study has.

        All votes of the file must have been checked before. Each no is returned once.
        """
        closing = [vote for vote in votes if noes.are_implied_by(vote)]
        checked = self._seen.contents(map(key_of, closing))
        good = [vote for vote in closing if checked.get(key_of(vote)) == self._content(vote)]
        implied = {key_of(no): no for no in noes.of(good)}
        there = self._seen.contents(implied).keys() | self._stored("votes", [*implied.values()])
        lacking = {key: no for key, no in implied.items() if key not in there}
        self._seen.add({key: self._content(no) for key, no in lacking.items()})
        return list(lacking.values())

    def _misfit(self, row: Record) -> Problem | None:
        """Return what is wrong with a question or an answer, an assumed score or a sample."""
        if isinstance(row, SampleRecord):
            return sample_problem(row)
        if isinstance(row, ScoreRecord) and row.is_assumed and row.score != 0:
            return Problem(row.where, "assumed", repr(row.score), "0, because the score is assumed")
        if not isinstance(row, VoteRecord | AdjudicationRecord):
            return None
        question = self._questions.get(row.question)
        if question is None:
            expected = "one of " + ", ".join(self._questions)
            field = row.columns[0] if isinstance(row, VoteRecord) else "question"
            return Problem(row.where, field, excerpt(row.question), expected)
        answer = question.scale.answer(row.answer)
        if isinstance(row, AdjudicationRecord):
            if answer is not None or not row.answer:
                return None
            expected = f"{question.scale.expected}, or nothing where it cannot be decided"
            return Problem(row.where, "answer", excerpt(row.answer), expected)
        if answer is None:
            return Problem(row.where, row.columns[1], excerpt(row.answer), question.scale.expected)
        if row.is_implied and (answer != 0 or not question.after):
            expected = "a no to a question with gates ('after'), because the vote is implied"
            return Problem(row.where, "implied", f"{row.answer}, implied", expected)
        return None

    def _row_again(self, row: Record, earlier: str | bytes | None) -> Problem:
        """Return the problem of a row that an earlier row of the file has."""
        said, expected = f"{name_of(row)} again", "each one once, and an earlier row has it"
        if isinstance(row, VoteRecord) and isinstance(earlier, bytes):
            before = answer_in(earlier)
            scale = self._questions[row.question].scale
            if before is not None and before != scale.answer(row.answer):
                said = f"{said}: {excerpt(row.answer)}"
                expected = f"{expected}, with {excerpt(scale.label(before))}"
        return Problem(row.where, "", said, expected)

    def _changed_row(self, row: Record, found: str | bytes) -> Problem:
        if isinstance(row, RankedPassageRecord):
            expected = f"rank {found!s}, as stored, or another name of the ranking"
            return Problem(row.where, "", f"{name_of(row)} with rank {row.rank}", expected)
        said, expected = f"{name_of(row)}, which is stored with other content", "the same content"
        if isinstance(row, CollectionPassageRecord) and isinstance(found, bytes):
            change, expected = said_of_passage(found, row, self._passages.get(row.key))
            said = f"{said}: {change}"
        return Problem(row.where, "", said, f"{expected}, or another id")

    def _changed_part(self, row: Record, known: Mapping[str, str | bytes]) -> Problem | None:
        """Return the problem of a part whose name already belongs to other content."""
        for part in parts_of(row):
            found = known.get(part.key, part.content)
            if found == part.content or (
                isinstance(found, bytes) and is_content(found, part.content)
            ):
                continue
            if isinstance(row, ExampleRecord) and isinstance(found, bytes):
                passage = next(p for p in row.evidence if p.key == part.name)
                change, expected = said_of_passage(found, passage, self._passages.get(part.name))
                said = f"{excerpt(part.name)} with other content than before: {change}"
                return Problem(row.where, part.field, said, expected)
            return Problem(row.where, part.field, *said_of_change(row, part))
        return None

    def _content(self, row: Record) -> str | bytes:
        """Return the content by which a repeat of a stored row is distinguished from a change."""
        match row:
            case VoteRecord():
                question = self._questions.get(row.question)
                answer = question.scale.answer(row.answer) if question else None
                said = vote_content(answer, row.is_implied, row.position, row.seconds, row.at)
                return said.encode()  # a message may name the answer of an earlier row
            case FlagRecord():
                return row.reason
            case AdjudicationRecord():
                question = self._questions.get(row.question)
                decided = question.scale.answer(row.answer) if question and row.answer else None
                return repr((decided, row.note))
            case ScoreRecord():
                return score_content(
                    row.score, row.is_assumed, row.problem, row.n_truncated, row.details
                )
            case CollectionPassageRecord():
                return passage_content(row)
            case ExampleRecord() | ResponseRecord() | EntityRecord() | KGQuestionRecord():
                return record_digest(row)
            case SampleRecord():
                return digest(sample_content(row))
            case RankedPassageRecord():
                return str(row.rank)
        return ""  # for a rater, `_stored` compares the facts

    def _stored(self, kind: str, rows: Sequence[Any]) -> Mapping[str, str | bytes]:
        """Return the content of those rows of the batch that are stored, by key."""
        dataset, study = self._dataset, self._study
        if dataset is None or not rows:
            return {}
        if kind in ("examples", "kg_questions"):
            examples = dataset.examples.filter(key__in=[row.key for row in rows])
            return {f"example\0{k}": d for k, d in examples.values_list("key", "digest")}
        if kind == "passages":
            return self._stored_passages(row.key for row in rows)
        if kind == "responses":
            responses = dataset.responses.filter(key__in=[row.key for row in rows])
            return {f"response\0{k}": d for k, d in responses.values_list("key", "digest")}
        if kind == "entities":
            entities = dataset.entities.filter(qid__in=[row.qid for row in rows])
            return {f"entity\0{k}": d for k, d in entities.values_list("qid", "digest")}
        if kind == "samples":
            samples = dataset.samples.filter(name__in=[row.name for row in rows])
            there = [sample_record(sample) for sample in samples]
            return {key_of(sample): digest(sample_content(sample)) for sample in there}
        if kind == "rankings":
            ranked = stored_ranks(dataset, rows)
            return {joined("ranked", *row[:3]): str(row[3]) for row in ranked}
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
                "details",
            )
            return {joined("score", *key[:4]): score_content(*key[4:]) for key in scores}
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
            return {joined("vote", *key[:5]): vote_content(*key[5:]).encode() for key in votes}
        if kind == "flags":
            flags = Flag.objects.filter(arm__study=study, response__key__in=responses_here)
            columns = flags.values_list("arm__kind", "response__key", "rater__code", "reason")
            return {joined("flag", *key): reason for *key, reason in columns}
        if kind == "adjudications":
            decisions = Adjudication.objects.filter(
                study=study, target__response__key__in=responses_here
            ).values_list(
                "target__response__key",
                "target__citation__number",
                "question",
                Coalesce("by__rater_code", "code"),
                "at",
                "answer",
                "note",
            )
            return {joined("adjudication", *key[:5]): repr(key[5:]) for key in decisions}
        raters = {r.code: r for r in study.raters.filter(code__in=[row.rater for row in rows])}
        return {
            key_of(row): "" if _says_nothing_new(row, raters[row.rater]) else "something new"
            for row in rows
            if row.rater in raters
        }

    def _known_references(self, rows: Sequence[Record]) -> Collection[str]:
        """Return those keys that the batch refers to and that are in the file or stored."""
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
        """Return the known content of the parts that the batch brings, by key."""
        parts = [part for row in rows for part in parts_of(row)]
        known: dict[str, str | bytes] = {}
        if self._dataset is not None:
            for names in in_lots(part.name for part in parts if part.field != "rank"):
                known |= self._stored_passages(names)
                known |= self._stored_setups(names)
            ranked = [row for row in rows if isinstance(row, RankedPassageRecord)]
            ranks = [rank_part(*row) for row in stored_ranks(self._dataset, ranked)]
            known |= {rank.key: rank.content for rank in ranks}
        return known | self._seen.contents(part.key for part in parts)

    def _stored_passages(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of those passages that the dataset has, by key."""
        if self._dataset is None:
            return {}
        passages = {p.key: p for p in self._dataset.passages.filter(key__in=list(names))}
        self._passages |= passages
        return {joined("passage", key): passage_content(p) for key, p in passages.items()}

    def _stored_setups(self, names: Iterable[str]) -> Mapping[str, str | bytes]:
        """Return the known parts of those setups that the dataset has, by key.

        What a setup was made with may still change until it has a response or a worker generates
        one.
        """
        if self._dataset is None:
            return {}
        chunks = GridChunk.objects.filter(state=GridChunk.State.RUNNING)
        is_answered = Exists(Response.objects.filter(setup=OuterRef("pk")))
        is_asked = Exists(chunks.filter(setup=OuterRef("pk")))
        setups: QuerySet[Any] = self._dataset.setups.filter(name__in=list(names))
        return {
            part.key: part.content
            for setup in setups.annotate(is_used=is_answered | is_asked)
            for part in setup_parts(setup)
            if setup.is_used or part.field == "setup"
        }


def _may_repeat(row: Record) -> bool:
    """Return whether a row is a vote in a table of one known rater: it may stand there twice."""
    return isinstance(row, VoteRecord) and row.item is not None and row.rater != NOMINAL


def _row_key(row: Record, key: str) -> str:
    """Return a key that two rows of a table share if they say the same beside a vote."""
    return joined("row", key, row.rest if isinstance(row, VoteRecord) else "")


def _says_nothing_new(record: RaterRecord, rater: Rater) -> bool:
    facts = rater_facts(record)
    return all(getattr(rater, name) == value for name, value in facts.items())


def _references(row: Record) -> list[tuple[str, str]]:
    """Return what a row refers to, as pairs of field and key."""
    match row:
        case ResponseRecord():
            shown = [("evidence_shown", f"passage\0{key}") for key in row.evidence_shown or ()]
            return [("example", f"example\0{row.example}"), *shown]
        case SampleRecord():
            return [
                (f"members[{number}].example", f"example\0{member.example}")
                for number, member in enumerate(row.members, start=1)
            ]
        case RankedPassageRecord():
            return [
                ("example", f"example\0{row.example}"),
                ("passage", f"passage\0{row.passage}"),
            ]
        case VoteRecord() | FlagRecord() | AdjudicationRecord() | ScoreRecord():
            return [("response", f"response\0{row.response}")]
    return []


def _unknown_reference(row: Record, known: Collection[str]) -> Problem | None:
    """Return the problem of a row that refers to something that does not exist."""
    for field, key in _references(row):
        if key not in known:
            kind, name = key.split("\0", 1)
            expected = f"the id of {'an' if kind == 'example' else 'a'} {kind} of this dataset"
            return Problem(row.where, field, excerpt(name), expected)
    return None
