"""The job that constructs questions about a graph from entries (KaLMA, 2.2).

Entries are looked up first. Then the model writes about them, round by round. Each entry that was
looked up and each call of the model is stored at once, in a transaction of its own. So nothing is
lost and nothing is done twice when the endpoint, the model or the worker fails.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Q

from accounts.models import User
from evaluation.graphs.construction.services.rounds import write_questions
from evaluation.graphs.services.endpoint_choices import (
    AllowPrivate,
    EndpointAddress,
    Language,
    StartOfEntities,
    checked_endpoint,
)
from evaluation.graphs.services.graph_pull import user_agent
from evaluation.jobs.services import (
    JobError,
    JobHold,
    delete_job,
    repeat_job,
    request_job,
    resume_job,
)
from evaluation.models import Job
from generation.batches import lots
from generation.choices.declaration import Choice
from generation.grids.cells import spec_named
from generation.grids.grid_file import HIGHEST_TEMPERATURE, PRECISIONS, GridError, Precision
from generation.importers.entries import EntryRecord, is_complete_name
from generation.importers.json_text import unstorable_character
from generation.limits import LARGEST_SEED, LONGEST_NAME
from generation.models import Construction, ConstructionCall, ConstructionEntry
from generation.models.constructions import LAST_ROUND
from generation.retrieval.disambiguation import EntityPair, Named, Unsettled, pairs_between, settled
from generation.retrieval.endpoint_addresses import EndpointError
from generation.retrieval.relations import Relation, relation_called
from generation.retrieval.sparql import PAIRS_TOGETHER, PATIENCE, Endpoint, Wikibase
from generation.retrieval.wikibase import ENTITIES, WIKIDATA, Described, Edge, Shape
from generation.services.construction_entries import (
    LeftOutEntry,
    Problem,
    State,
    leave_out,
    open_noted,
    reopen_failed,
    store_entries,
    store_people_graphs,
)
from generation.services.constructions import ConstructionError, delete

ENTRIES_TOGETHER = 10  # entries that are looked up by the same queries
GONE = "This construction was deleted. Delete its job too."


class ConstructionPlan(NamedTuple):
    """Every choice of a construction."""

    name: str
    entries: tuple[EntryRecord, ...]
    entries_hash: str  # SHA-256 of the file of entries
    file: str  # the name of that file
    relations: Mapping[str, Relation]  # spelling → relation, for every known spelling
    model: str  # name of a listed model, or of one that is always available
    endpoint: EndpointAddress = WIKIDATA
    allow_private: AllowPrivate = False
    language: Language = "en"
    entities: StartOfEntities = ENTITIES
    precision: Annotated[
        Precision,
        Choice(
            "Precision",
            {precision: precision for precision in PRECISIONS},
            help="Precision of a model that runs here.",
        ),
    ] = "fp32"
    temperature: Annotated[
        float,
        Choice(
            "Temperature",
            help="With 0, the model always takes the most likely token. KaLMA’s code has 0.1.",
            low=0,
            high=HIGHEST_TEMPERATURE,
        ),
    ] = 0.1
    max_tokens: int = 700  # tokens of one completion, at most
    n_rounds: Annotated[
        int,
        Choice(
            "Rounds",
            help="The first round annotates the paragraph. Each later round brings in a triple.",
            low=1,
            high=LAST_ROUND,
        ),
    ] = LAST_ROUND
    seed: Annotated[
        int,
        Choice(
            "Seed",
            help="Seed of the choice of triples that are brought in.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 13


# --- asked for ------------------------------------------------------------------------------


def left_out_at_once(record: EntryRecord, relations: Mapping[str, Relation]) -> LeftOutEntry | None:
    """Return why an entry is left out without being looked up, or None if it must be looked up."""
    names = (record.name_1, record.name_2)
    if short := [name for name in names if not is_complete_name(name)]:
        said = " and ".join(f"“{name}”" for name in short)
        expected = "two words or more, each with a letter"
        return LeftOutEntry(Problem.INCOMPLETE_NAME, f"found {said}; expected {expected}")
    if relation_called(record.relation, relations) is None:
        found_relation = f"found the relation “{record.relation}”"
        expected = "one whose properties are known"
        return LeftOutEntry(Problem.UNKNOWN_RELATION, f"{found_relation}; expected {expected}")
    return None


def request_construction(plan: ConstructionPlan, user: User | None) -> Job:
    """Return the job of the construction of these choices, which is made if it does not exist.

    An existing construction is resumed, as by `resume_construction`.

    Raises:
        JobError: a choice cannot be used, or another construction has the name.
    """
    plan = _checked(plan)
    return _requested(plan, user)


@transaction.atomic
def _requested(plan: ConstructionPlan, user: User | None) -> Job:
    parameters = _parameters(plan)
    construction, is_new = Construction.objects.get_or_create(
        name=plan.name, defaults={"parameters": parameters, "requested_by": user}
    )
    locked = Construction.objects.select_for_update().get(pk=construction.pk)
    if different := _different(locked.parameters, parameters):
        raise JobError(
            f"A construction named {plan.name} has other choices ({', '.join(different)}). Choose "
            "another name, or delete that construction.",
            "name",
        )
    if is_new:
        looked_at = [(record, left_out_at_once(record, plan.relations)) for record in plan.entries]
        store_entries(locked, looked_at)
    elif job := Job.objects.filter(construction=locked).first():
        resume_construction(locked, user)
        job.refresh_from_db()
        return job
    spec = spec_named(plan.model, plan.precision)
    return request_job(
        Job.Kind.CONSTRUCTION,
        plan.name,
        # The model and the endpoint decide how long the job may take.
        {
            "model": plan.model,
            "backend": spec.backend,
            "endpoint": plan.endpoint,
            "allow_private": plan.allow_private,
        },
        n_total=_progress(locked).n_total,
        construction=locked,
        user=user,
    )


@transaction.atomic
def resume_construction(construction: Construction, user: User | None) -> bool:
    """Resume a construction. Pages, API and command all do it with this function.

    If it was cancelled or failed, it continues as if it had never stopped, with the same outcome.
    If it is done, each entry that failed gets one more attempt.

    Returns:
        Whether there is anything to do.
    """
    locked = Construction.objects.select_for_update().get(pk=construction.pk)
    job = Job.objects.select_for_update().get(construction=locked)
    if job.state == Job.State.DONE and reopen_failed(locked):
        return repeat_job(job, _progress(locked).n_total, user)
    return resume_job(job, user)


@transaction.atomic
def delete_construction(construction: Construction, user: User | None) -> None:
    """Delete a construction with its job, entries and calls.

    Raises:
        JobError: it is queued or running, or a dataset was made from it.
    """
    locked = Construction.objects.select_for_update().filter(pk=construction.pk)
    if job := Job.objects.filter(construction=locked.first()).first():
        delete_job(job, user)
    try:
        delete(construction, user)
    except ConstructionError as error:
        raise JobError(str(error)) from error


def _parameters(plan: ConstructionPlan) -> dict[str, Any]:
    """Return every choice that changes the outcome, and the name of the file.

    Relations have the spellings of the entries.
    """
    spelt = dict.fromkeys(record.relation for record in plan.entries)
    known = {name: relation_called(name, plan.relations) for name in spelt}
    kept = plan._asdict() | {
        "entries": plan.entries_hash,
        "relations": {
            name: {"properties": list(each.properties), "inverse": list(each.inverse)}
            for name, each in known.items()
            if each is not None
        },
    }
    return {key: value for key, value in kept.items() if key not in ("name", "entries_hash")}


def _different(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the choices that differ. The name of the file changes nothing."""
    return [name for name in now if name != "file" and earlier.get(name) != now[name]]


def _checked(plan: ConstructionPlan) -> ConstructionPlan:
    name = " ".join(plan.name.split())
    if not name or len(name) > LONGEST_NAME or unstorable_character(name):
        raise JobError(f"Expected a name of up to {LONGEST_NAME} characters.", "name")
    if not plan.entries:
        raise JobError("Found no entries; expected one or more.", "entries")
    try:
        spec_named(plan.model, plan.precision)
    except GridError as error:
        raise JobError(str(error), "model" if "name" in error.where else "precision") from error
    endpoint = checked_endpoint(
        plan.endpoint, plan.entities, plan.language, allow_private=plan.allow_private
    )
    return plan._replace(name=name, endpoint=endpoint)


# --- the construction itself ------------------------------------------------------------------


class Progress(NamedTuple):
    """The progress of a construction: entries looked up plus calls that could be read."""

    n_done: int
    n_total: int  # an upper bound: entries may be left out, and rounds may lack a new triple


def _progress(construction: Construction) -> Progress:
    looked_at = construction.entries.exclude(
        problem__in=(Problem.INCOMPLETE_NAME, Problem.UNKNOWN_RELATION)
    )
    counted = looked_at.aggregate(
        n=Count("pk"),
        n_waiting=Count("pk", filter=Q(state=State.WAITING)),
        n_left_out=Count("pk", filter=Q(state=State.LEFT_OUT)),
    )
    calls = ConstructionCall.objects.filter(entry__construction=construction, problem="")
    per_entry = construction.parameters["n_rounds"] + 1
    return Progress(
        n_done=counted["n"] - counted["n_waiting"] + calls.count(),
        n_total=counted["n"] + (counted["n"] - counted["n_left_out"]) * per_entry,
    )


def _note_progress(hold: JobHold, construction: Construction) -> None:
    progress = _progress(construction)
    hold.renew(**progress._asdict())
    hold.job.n_done = progress.n_done


def construct(hold: JobHold) -> Mapping[str, Any]:
    """Carry out the remaining work of a claimed construction.

    Raises:
        JobError: the endpoint or the model cannot be used, or still fails after all attempts.
        BackendError: the model cannot be opened, or is not the one that made earlier calls.
    """
    construction = hold.job.construction
    if construction is None:
        raise JobError(GONE)
    _note_progress(hold, construction)
    try:
        _look_up(hold, construction)
        _note_progress(hold, construction)
        if construction.entries.filter(state=State.WRITING).exists():
            parameters = construction.parameters
            spec = spec_named(parameters["model"], parameters["precision"])
            # Only admins may see the location of a model's server or files. `JobHold.fail` needs it
            # to remove it from messages.
            hold.job.parameters = {**hold.job.parameters, "location": spec.location}
            model = open_noted(construction, spec)
            hold.renew()  # Loading the model may have taken long.
            write_questions(hold, construction, spec, model)
    except (EndpointError, GridError) as error:
        raise JobError(str(error)) from error
    except Construction.DoesNotExist as error:
        raise JobError(GONE) from error
    by_state = construction.entries.values_list("state").annotate(n=Count("pk")).order_by()
    return {"n_entries": dict(by_state)}


def _look_up(hold: JobHold, construction: Construction) -> None:
    """Look up the waiting entries: names, the edges between them, and the sub-graphs of pairs."""
    waiting = list(construction.entries.filter(state=State.WAITING))
    if not waiting:
        return
    parameters = construction.parameters
    endpoint = Endpoint(
        parameters["endpoint"],
        user_agent(),
        allow_private=parameters["allow_private"],
        patience=PATIENCE,
        keep=hold.keep,
    )
    graph = Wikibase(endpoint, Shape(parameters["language"], parameters["entities"]))
    for some in lots(waiting, ENTRIES_TOGETHER):
        hold.next_step()
        _look_up_some(hold, graph, some, parameters["relations"])


def _look_up_some(
    hold: JobHold,
    graph: Wikibase,
    entries: list[ConstructionEntry],
    relations: Mapping[str, Mapping[str, list[str]]],
) -> None:
    matches = graph.named([name for entry in entries for name in (entry.name_1, entry.name_2)])
    named = {
        entry.pk: (
            Named(entry.name_1, matches[entry.name_1]),
            Named(entry.name_2, matches[entry.name_2]),
        )
        for entry in entries
    }
    edges = _edges(graph, list(named.values()))
    outcomes = {}
    for entry in entries:
        said = relations[entry.relation]
        relation = Relation(entry.relation, tuple(said["properties"]), tuple(said["inverse"]))
        outcomes[entry.pk] = settled(*named[entry.pk], edges, relation)
    pairs = [each for each in outcomes.values() if not isinstance(each, Unsettled)]
    people = graph.described([qid for pair in pairs for qid in pair[:2]])
    unsaid: list[str] = []
    for entry in entries:
        outcome = outcomes[entry.pk]
        lacking = [] if isinstance(outcome, Unsettled) else _lacking(outcome, people)
        # The entry keeps waiting, because copies of an endpoint's graph may differ for a while.
        if lacking:
            unsaid += lacking
            continue
        with transaction.atomic():
            # Nothing is stored if this raises WorkStopped.
            hold.advance(n_done=hold.job.n_done + 1)
            if isinstance(outcome, Unsettled):
                leave_out(entry, LeftOutEntry(Problem(outcome.why.value), outcome.detail))
            else:
                both = [people[qid] for qid in outcome[:2]]
                n_left = [name.n_not_looked_at for name in named[entry.pk]]
                store_people_graphs(entry, outcome.property, both, n_left)
        hold.job.n_done += 1
    if unsaid:
        raise JobError(
            f"The endpoint found {', '.join(dict.fromkeys(unsaid))} by name, but then "
            "returned nothing about it; expected its label. Its entry still waits. Resume the "
            "construction later."
        )


def _edges(graph: Wikibase, named: list[tuple[Named, Named]]) -> list[Edge]:
    """Return the edges between the candidates of each entry, by few queries.

    Entries with few namesakes are asked about together, pair by pair.
    """
    edges: list[Edge] = []
    few: list[tuple[str, str]] = []
    for one, other in named:
        pairs = pairs_between(one, other)
        if len(pairs) <= PAIRS_TOGETHER:
            few += pairs
        else:
            edges += graph.edges_among(one.candidates, other.candidates)
    return edges + graph.edges(few)


def _lacking(pair: EntityPair, people: Mapping[str, Described]) -> list[str]:
    return [qid for qid in pair[:2] if qid not in people]
