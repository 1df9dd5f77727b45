"""Entries of a construction and the calls for them: what the job of a construction writes.

A construction that is resumed writes nothing twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from generation.backends.base import LanguageModel
from generation.backends.problems import storable
from generation.backends.registry import open_language_model
from generation.batches import lots
from generation.importers.entries import EntryRecord
from generation.model_specs import BackendError, ModelSpec
from generation.models import (
    SIMPLE_STYLE,
    Construction,
    ConstructionCall,
    ConstructionEntry,
)
from generation.retrieval.wikibase import Described
from generation.services.calls import storable_text
from generation.services.checkpoints import pin_revision
from generation.services.model_provenance import provenance_text, what_it_is
from generation.text.constructed_questions import Member, minimum_set
from generation.text.flat_graph import Triple
from generation.text.graph_prompts import NAME, Graph

STORED_TOGETHER = 500  # entries in one statement
State, Problem, Verdict = (
    ConstructionEntry.State,
    ConstructionEntry.Problem,
    ConstructionEntry.Verdict,
)


class LeftOutEntry(NamedTuple):
    """The reason why an entry is left out: the problem, what was found and what was expected."""

    problem: ConstructionEntry.Problem
    detail: str


class EntryRound(NamedTuple):
    """A round of one entry, with the prompt for the model."""

    entry: ConstructionEntry
    round: int  # 1 to LAST_ROUND, or SIMPLE_STYLE
    attempt: int  # 1 for the first
    prompt: str
    triple: Triple | None = None  # triple that the round adds


class Said(NamedTuple):
    """The reply of a model in a round; if there is a problem, it has no answer and no question."""

    completion: str = ""
    answer: str = ""
    question: str = ""
    problem: str = ""
    is_refused: bool = False  # whether the model gave no text, and will give none for this prompt
    n_prompt_tokens: int = 0
    n_completion_tokens: int = 0
    seconds: float | None = None


# --- reading ----------------------------------------------------------------------------------


def graphs_of(entry: ConstructionEntry) -> list[Graph]:
    """Return the sub-graphs of the two people, each with its name first; none if not found."""
    return [
        (
            (graph["qid"], NAME, graph["label"]),
            *((graph["qid"], each["relation"], each["value"]) for each in graph["triples"]),
        )
        for graph in entry.graphs or ()
    ]


def usable_calls(calls: Iterable[ConstructionCall]) -> list[ConstructionCall]:
    """Return the calls that could be read, by round; the simple style comes last."""
    return sorted((each for each in calls if not each.problem), key=lambda call: call.round)


def minimum_of(
    entry: ConstructionEntry, calls: Iterable[ConstructionCall], *, is_whole: bool = False
) -> tuple[Member, ...]:
    """Return the minimum knowledge set of an entry's question.

    Args:
        calls: the calls of the entry.
        is_whole: whether to include the triples that a reviewer removed.
    """
    taken_out = () if is_whole else [(qid, name, value) for qid, name, value in entry.taken_out]
    rounds = [call for call in usable_calls(calls) if call.round != SIMPLE_STYLE]
    return minimum_set(graphs_of(entry), rounds, taken_out)


# --- writing ----------------------------------------------------------------------------------


def store_entries(
    construction: Construction, entries: Sequence[tuple[EntryRecord, LeftOutEntry | None]]
) -> None:
    """Store the entries of a file in its order; some of them are left out from the beginning."""
    rows = [
        ConstructionEntry(
            construction=construction,
            number=number,
            paragraph=record.paragraph,
            name_1=record.name_1,
            relation=record.relation,
            name_2=record.name_2,
            state=State.LEFT_OUT if why else State.WAITING,
            problem=why.problem if why else Problem.NONE,
            detail=why.detail if why else "",
        )
        for number, (record, why) in enumerate(entries, start=1)
    ]
    for some in lots(rows, STORED_TOGETHER):
        ConstructionEntry.objects.bulk_create(some)


def leave_out(entry: ConstructionEntry, why: LeftOutEntry) -> None:
    """Leave out an entry that waits."""
    _waiting(entry).update(
        state=State.LEFT_OUT, problem=why.problem, detail=storable_text(why.detail)
    )


def store_people_graphs(
    entry: ConstructionEntry,
    property_: str,
    people: Sequence[Described],
    n_not_looked_at: Sequence[int],
) -> None:
    """Store the sub-graphs of both people of an entry that waits, that of name 1 first.

    Args:
        n_not_looked_at: for each person, the number of further entities with the same name.
    """
    graphs = [
        {
            "qid": record.qid,
            "label": record.label,
            "type": record.type,
            "aliases": list(record.aliases),
            "triples": [triple._asdict() for triple in record.triples],
            "n_not_looked_at": n_left,
        }
        for record, n_left in zip(
            (person.record for person in people), n_not_looked_at, strict=True
        )
    ]
    _waiting(entry).update(state=State.WRITING, property=property_, graphs=graphs)


def _waiting(entry: ConstructionEntry) -> Any:
    return ConstructionEntry.objects.filter(pk=entry.pk, state=State.WAITING)


@transaction.atomic
def store_call(asked: EntryRound, said: Said) -> ConstructionCall:
    """Store a call of a round; one for the simple style completes its entry, unless it failed."""
    qid, relation, value = asked.triple or ("", "", "")
    call = ConstructionCall.objects.create(
        entry=asked.entry,
        round=asked.round,
        attempt=asked.attempt,
        qid=qid,
        relation=relation,
        value=value,
        prompt=asked.prompt,
        completion=storable_text(said.completion),
        answer=storable_text(said.answer),
        question=storable_text(said.question),
        problem=storable(said.problem),
        n_prompt_tokens=said.n_prompt_tokens,
        n_completion_tokens=said.n_completion_tokens,
        seconds=said.seconds,
    )
    if asked.round == SIMPLE_STYLE and not said.problem:
        _writing(asked.entry.pk).update(state=State.BUILT, detail="")
    return call


def fail_entry(entry: ConstructionEntry, detail: str) -> None:
    """Mark an entry as failed; `reopen_failed` gives it another attempt."""
    _writing(entry.pk).update(state=State.FAILED, detail=storable(storable_text(detail)))


def reopen_failed(construction: Construction) -> int:
    """Let each failed entry have one more attempt; return how many there are."""
    failed = construction.entries.filter(state=State.FAILED)
    return failed.update(state=State.WRITING, detail="")


def _writing(entry_id: int) -> Any:
    return ConstructionEntry.objects.filter(pk=entry_id, state=State.WRITING)


def open_noted(construction: Construction, spec: ModelSpec) -> LanguageModel:
    """Open the model of a construction, and store what its questions are made with.

    Raises:
        BackendError: the model cannot be used, or earlier calls were made with something else.
    """
    # For a name on the hub, this is the newest commit at the time of the first call.
    noted = construction.made_with.get("revision", "")
    model = open_language_model(spec._replace(revision=spec.revision or noted))
    made_with = what_it_is(spec, model)
    if _note(construction, made_with):
        pin_revision(spec.name, model.revision)
    return model


@transaction.atomic
def _note(construction: Construction, made_with: Mapping[str, Any]) -> bool:
    """Store what calls are made with; return whether they are the first.

    Raises:
        BackendError: there are earlier calls, which were made with something else.
    """
    locked = Construction.objects.select_for_update(no_key=True).get(pk=construction.pk)
    has_calls = ConstructionCall.objects.filter(entry__construction=locked).exists()
    earlier = locked.made_with if has_calls else {}
    if earlier and (was := provenance_text(earlier)) != (now := provenance_text(dict(made_with))):
        raise BackendError(
            f"{construction.name}: its calls so far were made with {was}, but the model here is "
            f"now {now}. Put the earlier model back and resume, or start a construction with "
            "another name."
        )
    if not earlier:
        locked.made_with = dict(made_with)
        locked.save(update_fields=["made_with"])
    construction.made_with = locked.made_with
    return not earlier
