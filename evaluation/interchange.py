"""Import: from a file's records, checked row by row, to all three apps' rows.

One pass does both: good rows are stored, bad rows are collected, and the whole import is one
transaction that is rolled back when there were bad rows and nobody asked to skip them. A dry run
is the same pass without storing.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study
from annotation.schemes import (
    Scheme,
    SchemeError,
    built_in_schemes,
    guess_scheme,
    load_scheme,
    matching_scheme,
)
from annotation.services.imported import (
    create_imported_study,
    store_flags,
    store_raters,
    store_votes,
)
from annotation.study_file import StudyFacts, StudyFileError, read_study_facts
from evaluation.row_checks import RowChecks
from evaluation.services.scores import store_scores
from generation.importers import KINDS, Material
from generation.importers.errors import DatasetError
from generation.importers.fields import LONGEST_NAME
from generation.importers.records import (
    CollectionPassageRecord,
    ExampleRecord,
    Problem,
    Record,
    ResponseRecord,
    VoteRecord,
)
from generation.models import Dataset
from generation.services.datasets import create_dataset, store_examples, store_passages
from generation.services.graphs import store_entities, store_kg_questions
from generation.services.responses import store_responses

logger = logging.getLogger(__name__)

IN_AUDIT_TRAIL = "dataset.imported"  # with the dataset's name; written with the rows
NEEDS_STUDY = frozenset({"raters", "votes", "flags"})
BATCH = 2000
MAX_PROBLEMS_SHOWN = 200
MAX_QUESTIONS = 200
MAX_ANSWERS = 1000  # different answers to one question that a survey tells apart
N_PREVIEWED = 5
LONGEST_PREVIEW = 120  # characters of a cell

Progress = Callable[[int, float], None]  # rows read, share of the bytes


class Plan(NamedTuple):
    """What an import will add to: datasets and studies that exist, or names for new ones."""

    name: str
    dataset: Dataset | None
    study_name: str | None  # None: the file brings nothing that belongs to a study
    study: Study | None
    facts: StudyFacts
    scheme_data: Mapping[str, Any]
    scheme: Scheme
    scheme_origin: str


class Outcome(NamedTuple):
    """What an import did, or in a dry run would do."""

    dataset: Dataset | None
    study: Study | None
    counts: dict[str, dict[str, int]]  # kind → {"new", "unchanged", "bad"}, raters also {"changed"}
    n_problems: int
    problems: list[Problem]  # the first of them
    preview: dict[str, list[dict[str, str]]]
    scheme_origin: str
    answers: dict[str, str]  # question → what may be answered
    ignored: list[str]
    left_out: dict[str, int]
    notes: dict[str, int]  # what else the reader says of the rows, counted by name

    @property
    def n_examples(self) -> int:
        """How many examples are new."""
        counts = (self.counts.get(kind, {}) for kind in ("examples", "kg_questions"))
        return sum(count.get("new", 0) for count in counts)


class BadRows(DatasetError):
    """Rows that cannot be read, in an import that does not skip them; nothing was stored."""

    def __init__(self, outcome: Outcome) -> None:
        first = outcome.problems[0]
        more = f" ({outcome.n_problems - 1:,} more problems)" if outcome.n_problems > 1 else ""
        where = f"{first.where}, {first.field}" if first.field else str(first.where)
        super().__init__(where, first.found, first.expected + more)
        self.outcome = outcome


def plan_import(
    material: Material,
    name: str,
    study_name: str | None = None,
    on_progress: Progress = lambda n_rows, share: None,
) -> Plan:
    """Return what to add the material to, and which scheme its votes are read against.

    Without a scheme that is known, it takes one more pass over the votes to find one.

    Raises:
        DatasetError: a study of that name belongs elsewhere, or the scheme cannot be used.
    """
    name = _name(name, "dataset")
    dataset = Dataset.objects.filter(name=name).first()
    if not NEEDS_STUDY & set(material.kinds):
        return Plan(name, dataset, None, None, StudyFacts(), {}, Scheme("", "", (), ()), "")
    try:
        facts = read_study_facts(material.study or {})
    except StudyFileError as error:
        raise DatasetError(f"study.json, {error}") from error
    study_name = _name(study_name or facts.name or name, "study")
    study = Study.objects.select_related("dataset").filter(name=study_name).first()
    if study and (study.dataset != dataset or not study.is_imported):
        found = f"a study {study_name!r} of dataset {study.dataset.name!r}"
        raise DatasetError("study", found, f"an imported study of {name!r}, or a new name")
    for key in ("raters_per_unit", "evidence_choice", "seed"):
        if study and key in (material.study or {}) and getattr(facts, key) != getattr(study, key):
            expected = f"{getattr(study, key)}, as study {study_name!r} has it"
            raise DatasetError(f"study.json, {key}", str(getattr(facts, key)), expected)
    scheme_data, origin = _scheme_for(material, study, facts, study_name, on_progress)
    try:
        scheme = load_scheme(scheme_data)
    except SchemeError as error:
        raise DatasetError(f"scheme.json, {error}") from error
    return Plan(name, dataset, study_name, study, facts, scheme_data, scheme, origin)


def _name(name: str, what: str) -> str:
    """Return a dataset's or a study's name without blanks around it.

    Raises:
        DatasetError: it has none, or one that the database cannot store.
    """
    stripped = name.strip()
    if not 0 < len(stripped) <= LONGEST_NAME:
        found = f"a name of {len(stripped)} characters"
        raise DatasetError(what, found, f"1 to {LONGEST_NAME} characters")
    return stripped


def _scheme_for(
    material: Material,
    study: Study | None,
    facts: StudyFacts,
    study_name: str,
    on_progress: Progress,
) -> tuple[Mapping[str, Any], str]:
    """Return the scheme's data and where it came from."""
    if study:
        if material.scheme and material.scheme != study.scheme:
            found = "another scheme than that of the study it adds to"
            raise DatasetError("scheme.json", found, "the same scheme, or another --study")
        return study.scheme, f"the scheme of study {study.name}"
    if material.scheme:
        return material.scheme, "scheme.json" if material.format == "interchange" else "the format"
    if named := built_in_schemes().get(facts.scheme):
        return named, f"the built-in scheme {facts.scheme}, as the file says"
    answers = _survey(material, on_progress)
    if not answers:
        raise DatasetError("votes", "none", "one vote at least, or the questions in scheme.json")
    built_in = matching_scheme(answers)
    if built_in:
        return built_in, f"the built-in scheme {built_in['key']}, whose questions these are"
    return guess_scheme(study_name, answers), "made from the questions and answers found"


def _survey(material: Material, on_progress: Progress) -> dict[str, Counter[str]]:
    """Return how often each question was answered in which words.

    Raises:
        DatasetError: too many questions, or nothing but bad rows; the first of them says why.
    """
    answers: dict[str, Counter[str]] = {}
    first_problem: Problem | None = None
    for n_rows, record in enumerate(material.records("votes")):
        if n_rows % BATCH == 0:
            on_progress(n_rows, 0.0)
        if isinstance(record, VoteRecord):
            counts = answers.setdefault(record.question, Counter())
            word = record.answer.strip()
            if word in counts or len(counts) < MAX_ANSWERS:
                counts[word] += 1
            if len(answers) > MAX_QUESTIONS:
                found = f"more than {MAX_QUESTIONS} different questions"
                raise DatasetError(str(record.where), found, "question keys in that column")
        elif isinstance(record, Problem):
            first_problem = first_problem or record
    if first_problem and not answers:
        raise DatasetError(str(first_problem))
    return answers


def import_dataset(
    material: Material,
    plan: Plan,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
    requested_by: User | None = None,
    on_progress: Progress = lambda n_rows, share: None,
    on_problem: Callable[[Problem], None] = lambda problem: None,
    before_commit: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Import all of the material, or nothing; importing it again changes nothing.

    Args:
        on_progress: called after each batch, and while the reader works without handing on a row;
            may raise to stop the import.
        on_problem: called for each bad row.
        before_commit: called last inside the transaction; may raise to undo it.

    Raises:
        BadRows: there were bad rows, and neither `dry_run` nor `skip_bad`; nothing was stored.
        DatasetError: another import stored the same rows meanwhile; nothing was stored.
    """
    tally = _Tally(on_problem)
    if dry_run:
        _go_through(material, plan, tally, on_progress, lambda kind, good: None)
        return tally.outcome(material, plan, plan.dataset, plan.study)
    try:
        with transaction.atomic():
            dataset, study = _places(plan, requested_by)

            def store(kind: str, good: Sequence[Record]) -> int | None:
                if tally.n_problems and not skip_bad:
                    return None  # it will be rolled back: only go on looking for problems
                return _store(kind, good, dataset, study, plan.scheme)

            _go_through(material, plan, tally, on_progress, store)
            if tally.n_problems and not skip_bad:
                raise BadRows(tally.outcome(material, plan, None, None))
            outcome = tally.outcome(material, plan, dataset, study)
            record_in_audit_trail(requested_by, IN_AUDIT_TRAIL, plan.name)
            before_commit(outcome)
    except IntegrityError as error:
        logger.warning("import into %s broke a constraint", plan.name, exc_info=True)
        found = "rows that another import has stored meanwhile"
        raise DatasetError(plan.name, found, "one import at a time: try again") from error
    return outcome


class _Tally:
    """What one pass has met so far."""

    def __init__(self, on_problem: Callable[[Problem], None]) -> None:
        self._on_problem = on_problem
        self.n_problems = 0
        self.problems: list[Problem] = []
        self.counts: dict[str, dict[str, int]] = {}
        self.preview: dict[str, list[dict[str, str]]] = {}

    def note(self, problem: Problem) -> None:
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS_SHOWN:
            self.problems.append(problem)
        self._on_problem(problem)

    def outcome(
        self, material: Material, plan: Plan, dataset: Dataset | None, study: Study | None
    ) -> Outcome:
        return Outcome(
            dataset=dataset,
            study=study,
            counts=self.counts,
            n_problems=self.n_problems,
            problems=self._problems_by_line(),
            preview=self.preview,
            scheme_origin=plan.scheme_origin,
            answers={q.key: q.scale.expected for q in plan.scheme.questions},
            ignored=list(material.ignored),
            left_out=dict(material.n_left_out),
            notes=dict(material.notes),
        )

    def _problems_by_line(self) -> list[Problem]:
        """Return the problems by file and line; a batch has its unreadable rows first."""
        files = list(dict.fromkeys(problem.where.file for problem in self.problems))
        return sorted(self.problems, key=lambda p: (files.index(p.where.file), p.where.line))


def _places(plan: Plan, requested_by: User | None) -> tuple[Dataset, Study | None]:
    """Return the dataset and the study that an import adds to, made where they are new."""
    dataset = plan.dataset or create_dataset(plan.name, requested_by)
    if plan.study or not plan.study_name:
        return dataset, plan.study
    return dataset, create_imported_study(plan.study_name, dataset, plan.scheme_data, plan.facts)


def _go_through(
    material: Material,
    plan: Plan,
    tally: _Tally,
    on_progress: Progress,
    store: Callable[[str, Sequence[Record]], int | None],
) -> None:
    """Check every row and hand the good ones on, batch by batch.

    `store` gets the kind and the good rows and returns how many are new; None when it did not
    store them.
    """
    bytes_before, n_rows = material.bytes_read, 0

    def report() -> None:
        share = (material.bytes_read - bytes_before) / max(1, material.bytes_total)
        on_progress(n_rows, min(1.0, share))

    material.on_work = report
    with RowChecks(plan.dataset, plan.study, plan.scheme) as checks:
        for kind in (kind for kind in KINDS if kind in material.kinds):
            count = tally.counts[kind] = {"new": 0, "unchanged": 0, "bad": 0}
            shown = tally.preview[kind] = []
            for batch in _batches(material.records(kind)):
                good, unchanged = checks.good_rows(kind, _readable(batch, tally.note), tally.note)
                new = store(kind, good)
                new = len(good) - unchanged if new is None else new
                count["new"] += new
                if n_changed := len(good) - unchanged - new:  # raters: facts are added later
                    count["changed"] = count.get("changed", 0) + n_changed
                count["unchanged"] += unchanged
                unread = {row.where for row in batch if isinstance(row, Problem)}
                n_records = sum(not isinstance(row, Problem) for row in batch)
                count["bad"] += len(unread) + n_records - len(good)
                shown += map(_preview, good[: N_PREVIEWED - len(shown)])
                n_rows += len(batch)
                report()


def _batches(rows: Iterable[Record | Problem]) -> Iterator[list[Record | Problem]]:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        yield batch


def _readable(
    batch: Iterable[Record | Problem], note: Callable[[Problem], None]
) -> Iterator[Record]:
    """Yield the records of a batch; its problems are noted."""
    for row in batch:
        if isinstance(row, Problem):
            note(row)
        else:
            yield row


def _store(
    kind: str, records: Sequence[Any], dataset: Dataset, study: Study | None, scheme: Scheme
) -> int:
    """Store one batch of one kind; return how many rows are new."""
    match kind, study:
        case "entities", _:
            return store_entities(dataset, records)
        case "passages", _:
            return store_passages(dataset, records)
        case "examples", _:
            return store_examples(dataset, records)
        case "kg_questions", _:
            return store_kg_questions(dataset, records)
        case "responses", _:
            return store_responses(dataset, records)
        case "scores", _:
            return store_scores(dataset, records)
        case "raters", Study():
            return store_raters(study, records)
        case "votes", Study():
            return store_votes(study, scheme, records)
        case "flags", Study():
            return store_flags(study, records)
    raise ValueError(f"{kind!r} records without a study; expected one of {KINDS}")


def _preview(record: Record) -> dict[str, str]:
    """Return a record as a person checks it: is everything in the right column?"""
    columns: dict[str, object] = {"line": f"{record.where.line:,}"}
    match record:
        case CollectionPassageRecord():
            columns |= {"id": record.key, "title": record.title or None, "text": record.text}
        case ExampleRecord():
            golden = [passage for passage in record.evidence if passage.is_golden]
            columns |= {
                "id": record.key,
                "turns": len(record.turns),
                "last user question": record.turns[-1].text if record.turns else None,
                "golden answer": record.golden_answer,
                "golden passage": golden[0].title or golden[0].text if golden else None,
            }
        case ResponseRecord():
            columns |= {
                "id": record.key,
                "example": record.example,
                "setup": record.setup.name,
                "text": record.text,
            }
        case VoteRecord():
            columns |= {
                "response": record.response,
                "rater": record.rater,
                "question": record.question,
                "answer": record.answer,
                "arm": record.arm,
            }
        case _:
            names = ("qid", "label", "id", "key", "question", "rater", "response", "metric")
            values = {name: getattr(record, name, None) for name in (*names, "score", "reason")}
            columns |= {name: value for name, value in values.items() if value is not None}
    return {
        name: "—" if value is None else _shortened(str(value)) for name, value in columns.items()
    }


def _shortened(text: str) -> str:
    """Return the beginning of a text on one line, also of one without blanks."""
    line = " ".join(text[: 10 * LONGEST_PREVIEW].split())
    return line if len(line) <= LONGEST_PREVIEW else f"{line[: LONGEST_PREVIEW - 2]} …"
