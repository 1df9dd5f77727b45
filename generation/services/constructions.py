"""The actions of people on constructions: to review questions, make datasets, and delete."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from generation.batches import lots
from generation.importers.json_text import unstorable_character
from generation.limits import LONGEST_NAME
from generation.models import (
    ConstructedDataset,
    Construction,
    ConstructionCall,
    ConstructionEntry,
    Dataset,
)
from generation.models.constructions import SIMPLE_STYLE
from generation.records import (
    EntityRecord,
    EntityTriple,
    KGQuestionRecord,
    MinimumTripleRecord,
    Where,
)
from generation.services.calls import storable_text
from generation.services.construction_entries import (
    State,
    Verdict,
    minimum_of,
    usable_calls,
)
from generation.services.datasets import create_dataset
from generation.services.graphs import store_entities, store_kg_questions
from generation.services.record_keys import record_digest
from generation.text.compared_triples import compared
from generation.text.constructed_questions import LONGEST_QUESTION
from generation.text.flat_graph import Triple

STORED_TOGETHER = 500  # rows in one statement


class ConstructionError(Exception):
    """A change that is refused; the message says why, and `field` names the choice."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class StaleReviewError(ConstructionError):
    """Another reviewer has decided about the entry since it was looked at."""


class Review(NamedTuple):
    """A reviewer's decision about the question of an entry.

    If a question is empty or in the model's words, the model's question is kept.
    """

    verdict: str  # one of ConstructionEntry.Verdict
    reason: str = ""  # reason for a drop
    question: str = ""
    simple_question: str = ""
    taken_out: tuple[Triple, ...] = ()  # members removed from the minimum set


# --- reviews ----------------------------------------------------------------------------------


@transaction.atomic
def review_entry(
    entry: ConstructionEntry, review: Review, user: User | None, seen: str | None = None
) -> ConstructionEntry:
    """Keep, edit or drop the question of an entry; a later review replaces an earlier one.

    Args:
        seen: `review_state` of the entry that the reviewer looked at; None: accept the present one.

    Raises:
        StaleReviewError: the entry has another review than the one that was seen.
        ConstructionError: the entry has no question yet, or the review contradicts itself.
    """
    locked = ConstructionEntry.objects.select_for_update().get(pk=entry.pk)
    if locked.state != State.BUILT:
        raise ConstructionError("This entry has no question to look at yet.", "verdict")
    calls = usable_calls(locked.calls.all())
    review = _checked(locked, calls, review)
    if seen is not None and seen != review_state(locked):
        if review == _reviewed(locked):  # the same review was sent twice
            return locked
        raise StaleReviewError(_meanwhile(locked))
    locked.verdict, locked.reason = review.verdict, review.reason
    locked.edited_question = review.question
    locked.edited_simple_question = review.simple_question
    locked.taken_out = [list(triple) for triple in review.taken_out]
    is_open = review.verdict == Verdict.OPEN
    locked.reviewed_by = None if is_open else user
    locked.reviewed_at = None if is_open else timezone.now()
    locked.save()
    record_in_audit_trail(
        user,
        "construction.reviewed",
        locked.construction.name,
        entry=locked.number,
        **review._asdict() | {"verdict": review.verdict or "open"},
    )
    return locked


def review_state(entry: ConstructionEntry) -> str:
    """Return a digest that distinguishes one review of an entry from another."""
    at = entry.reviewed_at.isoformat() if entry.reviewed_at else ""
    return hashlib.sha256(json.dumps([at, *_reviewed(entry)]).encode()).hexdigest()[:16]


def _reviewed(entry: ConstructionEntry) -> Review:
    """Return the review that is stored for an entry."""
    return Review(
        entry.verdict,
        entry.reason,
        entry.edited_question,
        entry.edited_simple_question,
        tuple((qid, relation, value) for qid, relation, value in entry.taken_out),
    )


def _meanwhile(entry: ConstructionEntry) -> str:
    """Return a message about the present review, for a reviewer who looked at an earlier one."""
    who = entry.reviewed_by.username if entry.reviewed_by else "Another user"
    words = [each for each in (entry.edited_question, entry.edited_simple_question) if each]
    did = {Verdict.KEEP: "kept this question", Verdict.DROP: "dropped this question"}
    said = [f"{who} {did.get(Verdict(entry.verdict), 'made this question open')} at the same time"]
    said += [f"because: “{entry.reason}”"] if entry.reason else []
    said += [f"in the words “{'” and “'.join(words)}”" if words else "in the model’s words"]
    if n := len(entry.taken_out):
        said.append(f"without {n} member{'s' if n > 1 else ''} of the minimum set")
    return (
        f"{', '.join(said)}. Your decision is not stored. What you typed is still here: decide "
        "again to replace the other decision."
    )


def _checked(entry: ConstructionEntry, calls: Sequence[ConstructionCall], review: Review) -> Review:
    """Return a review without the parts that change nothing.

    Raises:
        ConstructionError: as in `review_entry`.
    """
    if review.verdict not in Verdict.values:
        raise ConstructionError(f"Found {review.verdict!r}; expected keep or drop.", "verdict")
    reason = _one_line(review.reason)
    if review.verdict == Verdict.DROP and not reason:
        raise ConstructionError(
            "The reason is missing. Say why this question is dropped.", "reason"
        )
    members = minimum_of(entry, calls, is_whole=True)
    stated = {compared(member.triple): member.triple for member in members}
    wanted = dict.fromkeys(map(compared, review.taken_out))
    if wrong := [form for form in wanted if form not in stated]:
        said = ", ".join(wrong[0])
        raise ConstructionError(
            f"Found {said}; expected a member of this minimum knowledge set.", "taken_out"
        )
    if members and len(wanted) == len(stated):
        raise ConstructionError(
            "The minimum knowledge set would be empty. Leave at least one member, or drop the "
            "question.",
            "taken_out",
        )
    questions = {call.round == SIMPLE_STYLE: call.question for call in calls}
    return Review(
        review.verdict,
        reason if review.verdict == Verdict.DROP else "",
        _words(review.question, questions[False], "question"),
        _words(review.simple_question, questions[True], "simple_question"),
        tuple(stated[form] for form in wanted),
    )


def _words(edited: str, own: str, field: str) -> str:
    """Return a reviewer's words in one line; "" if they are the model's own."""
    words = _one_line(edited)
    if len(words) > LONGEST_QUESTION:
        found = f"Found {len(words):,} characters"
        raise ConstructionError(f"{found}; expected at most {LONGEST_QUESTION:,}.", field)
    return "" if words == own else words


def _one_line(text: str) -> str:
    return " ".join(storable_text(text).split())


# --- datasets ---------------------------------------------------------------------------------


@transaction.atomic
def publish(construction: Construction, name: str, style: str, user: User | None) -> Dataset:
    """Make a dataset of the questions that are not dropped, or find the one that was made of them.

    Its graph consists of the sub-graphs of all their people, each once. The questions are in the
    order of the entries.

    Args:
        name: the name of the dataset.
        style: 'complex', the question of the last round, or 'simple'.

    Raises:
        ConstructionError: the construction is going on, there is nothing to publish, or another
            dataset has the name.
    """
    if style not in ConstructedDataset.Style.values:
        raise ConstructionError(f"Found {style!r}; expected complex or simple.", "style")
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or unstorable_character(name):
        raise ConstructionError(
            "The name is empty or too long. Expected 1 to 100 characters.", "name"
        )
    # If two calls publish the same at once, the second waits here and finds the first one's
    # dataset.
    locked = Construction.objects.select_for_update().get(pk=construction.pk)
    n_open = locked.entries.filter(state__in=(State.WAITING, State.WRITING)).count()
    if n_open:
        entries = "entry is" if n_open == 1 else "entries are"
        raise ConstructionError(
            f"{n_open:,} {entries} not built yet. Wait until the construction is done."
        )
    built = list(
        locked.entries.filter(state=State.BUILT)
        .exclude(verdict=ConstructionEntry.Verdict.DROP)
        .prefetch_related("calls")
    )
    if not built:
        raise ConstructionError(
            "Every question was dropped or failed, so there is no question for a dataset."
        )
    entities = entity_records(built)
    questions = [_question(locked, entry, style) for entry in built]
    there = Dataset.objects.filter(name=name).first()
    if there is not None:
        return _same(there, locked, style, entities, questions)
    return _made(locked, name, style, entities, questions, user)


def entity_records(entries: Iterable[ConstructionEntry]) -> list[EntityRecord]:
    """Return the people of entries, each once, in the order of first occurrence.

    A person who was looked up for several entries has everything that was ever found.
    """
    merged: dict[str, EntityRecord] = {}
    for graph in (graph for entry in entries for graph in entry.graphs or ()):
        record = EntityRecord(
            where=Where("construction", 0),
            qid=graph["qid"],
            label=graph["label"],
            type=graph["type"],
            aliases=tuple(graph["aliases"]),
            text="",
            triples=tuple(
                EntityTriple(each["relation"], each["value"], each["value_qid"])
                for each in graph["triples"]
            ),
        )
        earlier = merged.setdefault(record.qid, record)
        merged[record.qid] = earlier._replace(
            aliases=tuple(dict.fromkeys(earlier.aliases + record.aliases)),
            triples=tuple(dict.fromkeys(earlier.triples + record.triples)),
        )
    return list(merged.values())


def said_question(entry: ConstructionEntry, calls: Iterable[ConstructionCall], style: str) -> str:
    """Return the question of a built entry in a style: the reviewer's words or the model's."""
    of_style = {call.round == SIMPLE_STYLE: call.question for call in usable_calls(calls)}
    if style == ConstructedDataset.Style.SIMPLE:
        return entry.edited_simple_question or of_style[True]
    return entry.edited_question or of_style[False]


def _question(construction: Construction, entry: ConstructionEntry, style: str) -> KGQuestionRecord:
    calls = list(entry.calls.all())
    return KGQuestionRecord(
        where=Where("construction", entry.number),
        key=f"{slugify(construction.name) or 'construction'}-{entry.number}",
        question=said_question(entry, calls, style),
        entities=tuple(dict.fromkeys(graph["qid"] for graph in entry.graphs or ())),
        retrieved=None,
        minimum=tuple(MinimumTripleRecord(*member) for member in minimum_of(entry, calls)),
    )


def _made(
    construction: Construction,
    name: str,
    style: str,
    entities: Sequence[EntityRecord],
    questions: Sequence[KGQuestionRecord],
    user: User | None,
) -> Dataset:
    try:
        with transaction.atomic():
            dataset = create_dataset(name, user)
    except IntegrityError as error:
        raise ConstructionError(
            f"Another dataset is named {name}. Choose another name.", "name"
        ) from error
    for some in lots(entities, STORED_TOGETHER):
        store_entities(dataset, some, is_new=True)
    for lot in lots(questions, STORED_TOGETHER):
        store_kg_questions(dataset, lot)
    ConstructedDataset.objects.create(construction=construction, dataset=dataset, style=style)
    record_in_audit_trail(
        user,
        "construction.published",
        construction.name,
        dataset=name,
        style=style,
        n_questions=len(questions),
    )
    return dataset


def _same(
    there: Dataset,
    construction: Construction,
    style: str,
    entities: Sequence[EntityRecord],
    questions: Sequence[KGQuestionRecord],
) -> Dataset:
    """Return an existing dataset, if it is the one that would be made.

    Raises:
        ConstructionError: it is another one.
    """
    made_of = ConstructedDataset.objects.filter(dataset=there).first()
    if made_of is None or made_of.construction_id != construction.pk:
        raise ConstructionError(
            f"Another dataset is named {there.name}. Choose another name.", "name"
        )
    if made_of.style != style:
        raise ConstructionError(
            f"{there.name} has the questions in the {made_of.style} style. Choose another name.",
            "name",
        )
    stored = dict(there.examples.values_list("key", "digest"))
    people = dict(there.entities.values_list("qid", "digest"))  # more may have been pulled since
    wanted = {record.qid: record_digest(record) for record in entities}
    if stored != {each.key: record_digest(each) for each in questions} or not (
        wanted.items() <= people.items()
    ):
        raise ConstructionError(
            f"{there.name} was made of this construction before its questions were reviewed as "
            "they are now. Choose another name.",
            "name",
        )
    return there


@transaction.atomic
def delete(construction: Construction, user: User | None) -> None:
    """Delete a construction with its entries and calls.

    Raises:
        ConstructionError: a dataset was made of it.
    """
    locked = Construction.objects.select_for_update().filter(pk=construction.pk).first()
    if locked is None:
        return  # another process was faster
    made = list(locked.datasets.order_by("dataset__name").values_list("dataset__name", flat=True))
    if made:
        raise ConstructionError(
            f"{', '.join(made)} was made from {locked.name}. Delete "
            f"{'that dataset' if len(made) == 1 else 'those datasets'} first."
        )
    record_in_audit_trail(user, "construction.deleted", locked.name, construction=locked.pk)
    locked.delete()
