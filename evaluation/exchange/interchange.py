"""Import: the records of a file are checked row by row and stored in the tables of all three apps.

One pass does both: good rows are stored and bad rows are collected. The whole import is one
transaction, which is rolled back when there were bad rows and the user did not ask to skip them. A
dry run is the same pass without storing. If a reader has to sort rows, it does so before the
transaction, so that others can write meanwhile.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.closed_gates import given_behind_closed_gates
from annotation.models import Study, Vote
from annotation.services.imported_votes import (
    create_imported_study,
    leave_out_implied,
    store_assumed,
    store_flags,
    store_raters,
    store_votes,
)
from evaluation.exchange.drawn_dialogs import check_drawn_dialogs
from evaluation.exchange.first_examples import FirstExamples
from evaluation.exchange.given_votes import GivenVotes
from evaluation.exchange.implied_noes import ImpliedNoes, implied_noes
from evaluation.exchange.import_plan import ImportPlan, Progress
from evaluation.exchange.possible_reports import Contents, uses_of
from evaluation.exchange.row_checks import RowChecks
from evaluation.exchange.row_previews import preview
from evaluation.reports.cache import IMPORTED
from evaluation.runs.services.imported_scores import store_scores
from evaluation.studies.services.adjudication import store_adjudications
from generation.importers import KINDS, Material
from generation.importers.errors import DatasetError
from generation.importers.rater_codes import rater_code
from generation.models import Dataset
from generation.records import (
    Problem,
    Record,
    VoteRecord,
)
from generation.services.datasets import (
    create_dataset,
    fill_in_facts,
    store_examples,
    store_passages,
)
from generation.services.graphs import store_entities, store_kg_questions
from generation.services.many_rows import plan_statements_anew
from generation.services.rankings import store_rankings
from generation.services.responses import store_responses
from generation.services.samples import store_samples

logger = logging.getLogger(__name__)

OF_A_PART = 100  # bytes that a text, a list or a field takes besides its characters, about

BATCH = 2000
MOST_OF_A_BATCH = 1 << 23  # bytes of memory that the rows of a batch take, about
MAX_PROBLEMS_SHOWN = 200
N_PREVIEWED = 5
REPEATED = "votes that repeat a vote of an earlier row; each is stored once"
BEHIND_CLOSED_GATES = "answers behind a gate that the same rater closed; they are kept as given"


class ImportOutcome(NamedTuple):
    """The outcome of an import, or of a dry run."""

    dataset: Dataset | None
    study: Study | None
    # kind → {"new", "unchanged", "bad"}; raters and votes also {"changed"}, votes also {"implied"}
    counts: dict[str, dict[str, int]]
    n_problems: int
    problems: list[Problem]  # the first problems only
    preview: dict[str, list[dict[str, str]]]
    examples: list[dict[str, Any]]  # the first examples, as raters will see them
    uses: list[tuple[str, str]]  # each use, and what the data lack for it
    scheme_origin: str
    answers: dict[str, str]  # question → allowed answers
    ignored: list[str]
    left_out: dict[str, int]
    losses: dict[str, int]  # what is lost, which the user has to accept → how many
    notes: dict[str, int]  # other notes of the reader about rows → how many

    @property
    def n_examples(self) -> int:
        """The number of new examples."""
        counts = (self.counts.get(kind, {}) for kind in ("examples", "kg_questions"))
        return sum(count.get("new", 0) for count in counts)


class BadRows(DatasetError):
    """Rows that cannot be read, in an import that does not skip them; nothing was stored."""

    def __init__(self, outcome: ImportOutcome) -> None:
        first = outcome.problems[0]
        more = f" ({outcome.n_problems - 1:,} more problems)" if outcome.n_problems > 1 else ""
        where = f"{first.where}, {first.field}" if first.field else str(first.where)
        super().__init__(where, first.found, first.expected + more)
        self.outcome = outcome


class LossesNotAccepted(DatasetError):
    """Something of a file would be lost, and the user has not accepted it; nothing was stored."""

    def __init__(self, outcome: ImportOutcome) -> None:
        super().__init__("; ".join(f"{what}: {n:,}" for what, n in outcome.losses.items()))
        self.outcome = outcome


def import_dataset(
    material: Material,
    plan: ImportPlan,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
    accept: bool = False,
    without_implied: bool = False,
    language: str = "",
    requested_by: User | None = None,
    on_progress: Progress = lambda n_rows, share: None,
    on_problem: Callable[[Problem], None] = lambda problem: None,
    before_commit: Callable[[ImportOutcome], None] = lambda outcome: None,
) -> ImportOutcome:
    """Import all of the material, or nothing; importing it again changes nothing.

    Args:
        accept: whether the losses of the material are accepted.
        without_implied: whether only the votes of the file are stored, without the noes that they
            imply; see `evaluation.exchange.implied_noes`.
        language: the language of the texts, where neither dataset nor material says it.
        on_progress: called after each batch, and while the reader works without returning a row;
            may raise to stop the import.
        on_problem: called for each bad row.
        before_commit: called last inside the transaction; may raise to undo it.

    Raises:
        BadRows: there were bad rows, and neither `dry_run` nor `skip_bad`; nothing was stored.
        LossesNotAccepted: something would be lost, and neither `dry_run` nor `accept`; nothing was
            stored.
        DatasetError: another import stored the same rows meanwhile, or the probabilities of
            study.json do not fit the dialogs; nothing was stored.
    """
    tally = _Tally(on_problem)
    progress = _Report(material, on_progress)
    material.on_work = progress.tell
    stored = {*plan.study.raters.values_list("code", flat=True)} if plan.study else set()
    material.rater_code = partial(rater_code, hashed=_keyed_hash, stored=stored)
    material.prepare()
    noes = implied_noes(plan, without_implied=without_implied)
    if dry_run:
        _go_through(material, plan, noes, tally, progress, lambda kind, good: None)
        return tally.outcome(material, plan, plan.dataset, plan.study)
    try:
        with transaction.atomic():
            plan_statements_anew()
            dataset, study = _places(plan, requested_by)
            fill_in_facts(dataset, {"language": language})

            def store(kind: str, good: Sequence[Record]) -> int | None:
                if tally.n_problems and not skip_bad:
                    return None  # the import will be rolled back and only looks for more problems
                return _store(kind, good, dataset, study, plan)

            _go_through(material, plan, noes, tally, progress, store)
            if tally.n_problems and not skip_bad:
                raise BadRows(tally.outcome(material, plan, None, None))
            if material.losses and not accept:
                raise LossesNotAccepted(tally.outcome(material, plan, None, None))
            if study:
                check_drawn_dialogs(study)
                store_assumed(study)
                if without_implied or plan.is_without_implied:
                    leave_out_implied(study)
            outcome = tally.outcome(material, plan, dataset, study)
            outcome = outcome._replace(notes=outcome.notes | _behind_closed_gates(study, plan))
            record_in_audit_trail(requested_by, IMPORTED, plan.name)
            before_commit(outcome)
    except IntegrityError as error:
        logger.warning("import into %s broke a constraint", plan.name, exc_info=True)
        found = "rows that another import stored at the same time"
        raise DatasetError(
            plan.name, found, "one import at a time. Import the file again"
        ) from error
    return outcome


def _keyed_hash(name: str) -> str:
    """Return digits made from a rater's name, which need this site's secret to compute."""
    return salted_hmac("attest.rater", name).hexdigest()


def _behind_closed_gates(study: Study | None, plan: ImportPlan) -> dict[str, int]:
    """Return how many answers of a study are behind a gate that the same rater closed."""
    if study is None:
        return {}
    votes = Vote.objects.filter(arm__study=study)
    n = sum(some.count() for some in given_behind_closed_gates(votes, plan.scheme))
    return {BEHIND_CLOSED_GATES: n} if n else {}


class _Tally:
    """The counts, problems and previews that one pass has collected so far."""

    def __init__(self, on_problem: Callable[[Problem], None]) -> None:
        self._on_problem = on_problem
        self.n_problems = 0
        self.problems: list[Problem] = []
        self.counts: dict[str, dict[str, int]] = {}
        self.preview: dict[str, list[dict[str, str]]] = {}
        self.first = FirstExamples()
        self.contents = Contents()
        self.notes: Counter[str] = Counter()  # what checks, and no reader, counted

    def note(self, problem: Problem) -> None:
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS_SHOWN:
            self.problems.append(problem)
        self._on_problem(problem)

    def outcome(
        self, material: Material, plan: ImportPlan, dataset: Dataset | None, study: Study | None
    ) -> ImportOutcome:
        return ImportOutcome(
            dataset=dataset,
            study=study,
            counts=self.counts,
            n_problems=self.n_problems,
            problems=self._problems_by_line(),
            preview=self.preview,
            examples=self.first.as_list(),
            uses=uses_of(self.contents),
            scheme_origin=plan.scheme_origin,
            answers={q.key: q.scale.expected for q in plan.scheme.questions},
            ignored=list(material.ignored),
            left_out=dict(material.n_left_out),
            losses=dict(material.losses),
            notes=dict(Counter(material.notes) + self.notes),
        )

    def _problems_by_line(self) -> list[Problem]:
        """Return the problems by file and line; within a batch, unreadable rows are noted first."""
        files = list(dict.fromkeys(problem.where.file for problem in self.problems))
        return sorted(self.problems, key=lambda p: (files.index(p.where.file), p.where.line))


class _Report:
    """A reporter of an import's progress, after each batch and while its reader works for long."""

    def __init__(self, material: Material, on_progress: Progress) -> None:
        self._material = material
        self._bytes_before = material.bytes_read
        self._on_progress = on_progress
        self.n_rows = 0

    def tell(self) -> None:
        n_bytes = self._material.bytes_read - self._bytes_before
        self._on_progress(self.n_rows, min(1.0, n_bytes / max(1, self._material.bytes_total)))


def _places(plan: ImportPlan, requested_by: User | None) -> tuple[Dataset, Study | None]:
    """Return the dataset and the study that an import adds to; new ones are created."""
    dataset = plan.dataset or create_dataset(plan.name, requested_by)
    fill_in_facts(dataset, plan.about)
    if plan.study or not plan.study_name:
        return dataset, plan.study
    return dataset, create_imported_study(plan.study_name, dataset, plan.scheme_data, plan.facts)


def _go_through(
    material: Material,
    plan: ImportPlan,
    noes: ImpliedNoes,
    tally: _Tally,
    progress: _Report,
    store: Callable[[str, Sequence[Record]], int | None],
) -> None:
    """Check every row and pass the good ones to `store`, batch by batch.

    `store` gets the kind and the good rows. It returns how many are new, or None when it did not
    store them.
    """
    given = GivenVotes(plan.scheme)
    with RowChecks(plan.dataset, plan.study, plan.scheme) as checks:
        for kind in (kind for kind in KINDS if kind in material.kinds):
            count = tally.counts[kind] = {"new": 0, "unchanged": 0, "bad": 0}
            shown = tally.preview[kind] = []
            for batch in _batches(given.among(material.records(kind))):
                good, unchanged, repeated = checks.good_rows(
                    kind, _readable(batch, tally.note), tally.note
                )
                new = store(kind, good)
                new = len(good) - unchanged if new is None else new
                count["new"] += new
                if n_changed := len(good) - unchanged - new:  # raters: facts are added later
                    count["changed"] = count.get("changed", 0) + n_changed
                count["unchanged"] += unchanged
                unread = {row.where for row in batch if isinstance(row, Problem)}
                n_records = sum(not isinstance(row, Problem) for row in batch)
                count["bad"] += len(unread) + n_records - len(good) - repeated
                tally.notes[REPEATED] += repeated
                tally.first.note(good)
                tally.contents.note(good)
                shown += map(preview, good[: N_PREVIEWED - len(shown)])
                progress.n_rows += len(batch)
                progress.tell()
            if kind == "votes" and noes:
                # A second pass, because a later row may have the answer that a no would fill in.
                for batch in _batches(GivenVotes(plan.scheme).among(material.records(kind))):
                    votes = (row for row in batch if isinstance(row, VoteRecord))
                    if lacking := checks.lacking_noes(noes, votes):
                        store(kind, lacking)
                        count["implied"] = count.get("implied", 0) + len(lacking)
                    progress.tell()
    tally.notes = +(tally.notes + given.notes)


def _batches(rows: Iterable[Record | Problem]) -> Iterator[list[Record | Problem]]:
    """Yield rows in batches; a batch has fewer rows when they are large."""
    batch: list[Record | Problem] = []
    n_bytes = 0
    for row in rows:
        batch.append(row)
        n_bytes += weight(row)
        if len(batch) == BATCH or n_bytes >= MOST_OF_A_BATCH:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def weight(part: Any) -> int:
    """Return about how many bytes of memory a record takes: small files may need very much."""
    if isinstance(part, str):
        return OF_A_PART + len(part)
    if isinstance(part, tuple | list):
        return OF_A_PART + sum(map(weight, part))
    if isinstance(part, Mapping):
        return OF_A_PART + sum(map(weight, part)) + sum(map(weight, part.values()))
    return 0


def _readable(
    batch: Iterable[Record | Problem], note: Callable[[Problem], None]
) -> Iterator[Record]:
    """Yield the records of a batch; its problems are passed to `note`."""
    for row in batch:
        if isinstance(row, Problem):
            note(row)
        else:
            yield row


def _store(
    kind: str, records: Sequence[Any], dataset: Dataset, study: Study | None, plan: ImportPlan
) -> int:
    """Store one batch of one kind; return how many rows are new."""
    match kind, study:
        case "entities", _:
            return store_entities(dataset, records, is_new=plan.dataset is None)
        case "passages", _:
            return store_passages(dataset, records)
        case "examples", _:
            return store_examples(dataset, records)
        case "kg_questions", _:
            return store_kg_questions(dataset, records)
        case "samples", _:
            return store_samples(dataset, records)
        case "rankings", _:
            return store_rankings(dataset, records)
        case "responses", _:
            return store_responses(dataset, records)
        case "scores", _:
            return store_scores(dataset, records)
        case "raters", Study():
            return store_raters(study, records)
        case "votes", Study():
            return store_votes(study, plan.scheme, records)
        case "flags", Study():
            return store_flags(study, records)
        case "adjudications", Study():
            return store_adjudications(study, plan.scheme, records)
    raise ValueError(f"{kind!r} records without a study; expected one of {KINDS}")
