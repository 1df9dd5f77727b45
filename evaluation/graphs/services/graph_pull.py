"""Entities pulled from a SPARQL endpoint into the graph of a dataset, name by name.

Each name is a step, and is stored in one transaction with the entities that it found. So no name
is lost and none is pulled twice when the endpoint or the worker fails. An entity that is in the
graph already is not changed.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count

from accounts.models import User
from evaluation.graphs.services.endpoint_choices import (
    AllowPrivate,
    EndpointAddress,
    Language,
    StartOfEntities,
    checked_endpoint,
)
from evaluation.jobs.services import JobError, JobHold, request_job
from evaluation.models import Job
from evaluation.runs.materials import user_questions
from generation.batches import lots
from generation.choices.declaration import Choice
from generation.importers.json_text import unstorable_character
from generation.limits import LONGEST_ENTITY_NAME
from generation.models import Alias, Dataset, Entity, KGQuestion, QuestionEntity
from generation.retrieval.endpoint_addresses import EndpointError
from generation.retrieval.entities import recogniser_for
from generation.retrieval.sparql import (
    ENTITIES_TOGETHER,
    NAMES_TOGETHER,
    PATIENCE,
    Endpoint,
    Wikibase,
)
from generation.retrieval.wikibase import (
    ENTITIES,
    LONGEST_QID,
    QID,
    WIKIDATA,
    Described,
    Match,
    Shape,
)
from generation.services.datasets import create_dataset
from generation.services.graphs import store_entities

MOST_NAMES = 5000
MOST_NAMESAKES = 50  # entities pulled for one name: those with the lowest numbers
GONE = "The dataset of this pull was deleted. Delete the pull too."
READ_TOGETHER = 2000
QUESTIONS_TOGETHER = 100  # questions that a model reads between two renewals of the lease
_ANY_QID = re.compile(r"<([A-Za-z0-9_.-]+)>")
# Kinds of mentions that spaCy's English models also find: times and amounts, which are no names.
NO_NAMES = {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"}


class PullPlan(NamedTuple):
    """Every choice of a pull."""

    dataset: str  # its name; a dataset that does not exist yet is created
    names: tuple[str, ...] = ()  # labels, aliases or qids, as Q42 or <E12>
    with_missing: Annotated[
        bool,
        Choice(
            "Entities that its questions list and that the graph lacks",
            help="The gold and retrieved entities of imported questions are looked up by qid.",
        ),
    ] = False
    with_mentions: Annotated[
        bool,
        Choice(
            "Names that spaCy finds in its questions and that the graph lacks",
            help="The installed spaCy model finds them in the text. They are looked up by name.",
        ),
    ] = False
    endpoint: EndpointAddress = WIKIDATA
    allow_private: AllowPrivate = False
    language: Language = "en"
    entities: StartOfEntities = ENTITIES


class PullStep(NamedTuple):
    """One name, and the entities that have it."""

    number: int
    name: str
    matches: tuple[Match, ...]

    @property
    def first_matches(self) -> tuple[Match, ...]:
        return self.matches[:MOST_NAMESAKES]


# --- asked for ------------------------------------------------------------------------------


def request_pull(plan: PullPlan, user: User | None) -> Job:
    """Return the pull of these choices: one that is not done is resumed, else a new one is made.

    Raises:
        JobError: there is nothing to pull, or a choice cannot be used. Nothing is stored.
    """
    plan = _checked(plan)
    dataset = dataset_named(plan.dataset)
    if dataset is None and (plan.with_missing or plan.with_mentions):
        raise JobError(
            "This dataset is new, so it has no questions to take names from. Type the names.",
            "names",
        )
    if dataset and plan.with_mentions and not has_model(dataset):
        raise JobError(
            "No spaCy model is installed here, so no names can be found in the questions. Type the "
            "names, or ask an admin to install a model.",
            "with_mentions",
        )
    n_missing = len(missing_qids(dataset)) if dataset and plan.with_missing else 0
    if not plan.names and not plan.with_mentions and not n_missing:
        found = (
            "no entity that questions list but the graph lacks" if plan.with_missing else "no name"
        )
        raise JobError(f"Found {found}; expected a name or a qid, one on each line.", "names")
    return _requested(plan, len(plan.names) + n_missing, user)


@transaction.atomic
def _requested(plan: PullPlan, n_total: int, user: User | None) -> Job:
    dataset = dataset_named(plan.dataset) or _made(plan.dataset, user)
    # The lock makes sure that two pulls requested at the same time get different names.
    if not Dataset.objects.select_for_update().filter(pk=dataset.pk).exists():
        raise JobError("Another user has just deleted this dataset.", "dataset")
    parameters = {
        **plan._asdict(),
        "dataset": dataset.pk,
        "names": list(plan.names),
        "dataset_name": dataset.name,
    }
    name = _name_for(dataset, parameters)
    return request_job(
        Job.Kind.GRAPH_PULL, name, parameters, n_total=n_total, dataset=dataset, user=user
    )


def _made(name: str, user: User | None) -> Dataset:
    """Return a new dataset, or the one that another process has just made with that name."""
    try:
        with transaction.atomic():
            return create_dataset(name, user)
    except IntegrityError:  # The name or the slug is taken.
        return dataset_named(name) or create_dataset(name, user)


def dataset_named(name: str) -> Dataset | None:
    """Return the dataset with this name, or else the one with this slug, or None."""
    if unstorable_character(name):
        return None
    named = Dataset.objects.filter(name=name).first()
    return named or Dataset.objects.filter(slug=name).first()


def missing_qids(dataset: Dataset) -> list[str]:
    """Return the qids of gold and retrieved entities that the graph lacks.

    They are in the order of the questions that list them.
    """
    asked = QuestionEntity.objects.filter(question__example__dataset=dataset)
    qids = asked.order_by("question__example", "is_retrieved", "position").values_list("qid")
    wanted = dict.fromkeys(qid for (qid,) in qids)
    there = set(dataset.entities.values_list("qid", flat=True)) if wanted else set()
    return [qid for qid in wanted if qid not in there]


def has_model(dataset: Dataset) -> bool:
    """Return whether a spaCy model finds names in questions, beside the graph's own labels."""
    return recogniser_for(dataset.pk).signature.startswith("spacy:")


def _checked(plan: PullPlan) -> PullPlan:
    names = tuple(dict.fromkeys(filter(None, (" ".join(name.split()) for name in plan.names))))
    if long := [name for name in names if len(name) > LONGEST_ENTITY_NAME]:
        found = f"{long[0][:60]}… has {len(long[0])} characters"
        raise JobError(f"{found}; expected at most {LONGEST_ENTITY_NAME} in a name.", "names")
    if len(names) > MOST_NAMES:
        found = f"Found {len(names):,} names"
        raise JobError(f"{found}; expected at most {MOST_NAMES:,} in one pull.", "names")
    for name in names:
        if found := unstorable_character(name):
            raise JobError(f"Found {found} in a name; expected text.", "names")
    dataset = plan.dataset.strip()
    if not dataset or len(dataset) > 100 or unstorable_character(dataset):
        raise JobError("Expected the name of a dataset, of up to 100 characters.", "dataset")
    endpoint = checked_endpoint(
        plan.endpoint, plan.entities, plan.language, allow_private=plan.allow_private
    )
    return plan._replace(names=names, dataset=dataset, endpoint=endpoint)


def _name_for(dataset: Dataset, parameters: Mapping[str, Any]) -> str:
    """Return the name of the newest pull of these choices that is not done, else a new name."""
    earlier = Job.objects.filter(dataset=dataset, kind=Job.Kind.GRAPH_PULL)
    for job in earlier.exclude(state=Job.State.DONE).order_by("-pk"):
        if {**job.parameters, "data": None} == {**parameters, "data": None}:
            return job.name
    stem = f"{dataset.name[:80]}, pull "
    taken = set(Job.objects.filter(name__startswith=stem).values_list("name", flat=True))
    return next(name for n in range(1, len(taken) + 2) if (name := f"{stem}{n}") not in taken)


# --- the pull itself ------------------------------------------------------------------------


def pull_graph(hold: JobHold) -> Mapping[str, Any]:
    """Pull the names of a claimed job that have no step yet.

    Raises:
        JobError: the endpoint cannot be used, or still fails after all attempts.
    """
    job, dataset = hold.job, hold.job.dataset
    if dataset is None:
        raise JobError(GONE)
    names = _names(hold, dataset)
    plan = job.parameters
    try:
        endpoint = Endpoint(
            plan["endpoint"],
            user_agent(),
            allow_private=plan["allow_private"],
            patience=PATIENCE,
            keep=hold.keep,
        )
        graph = Wikibase(endpoint, Shape(plan["language"], plan["entities"]))
        n_done = job.steps.count()
        numbered = list(enumerate(names, start=1))[n_done:]
        for steps, found in _asked(graph, dataset, numbered):
            for step in steps:
                hold.next_step()
                _store(hold, dataset, step, found)
    except EndpointError as error:
        raise JobError(str(error)) from error
    except Dataset.DoesNotExist as error:
        raise JobError(GONE) from error
    return {}


def user_agent() -> str:
    """Return the user agent. Owners of endpoints want a program, its version and a contact."""
    contact = " ".join(str(settings.CONTACT).split())
    about = f"{contact}; " if contact else ""
    return f"Attest/{settings.VERSION} ({about}knowledge-graph pull) SPARQLWrapper/2.0.0"


def _names(hold: JobHold, dataset: Dataset) -> list[str]:
    """Return all names of a pull: the requested ones, and names in questions that the graph lacks.

    They are determined once, when the pull begins, and stored with the job. So a worker that
    resumes the pull uses the same names.
    """
    parameters = hold.job.parameters
    data = parameters["data"]
    if "names" not in data:
        names = dict.fromkeys(parameters["names"])
        if parameters["with_missing"]:
            missing = missing_qids(dataset)
            names |= {qid if QID.fullmatch(qid) else f"<{qid}>": None for qid in missing}
        if parameters["with_mentions"]:
            names |= dict.fromkeys(_missing_mentions(hold, dataset))
        kept = list(names)[:MOST_NAMES]
        data = {"names": kept, "n_names_left": len(names) - len(kept)}
        hold.job.parameters = {**parameters, "data": data}
        hold.renew(parameters=hold.job.parameters, n_total=len(kept))
    found: list[str] = data["names"]
    return found


def _missing_mentions(hold: JobHold, dataset: Dataset) -> Iterator[str]:
    """Yield the names that a trained model finds in the questions but that the graph lacks."""
    recogniser = recogniser_for(dataset.pk)
    examples = KGQuestion.objects.filter(example__dataset=dataset).order_by("example")
    for some in lots(list(examples.values_list("example", flat=True)), QUESTIONS_TOGETHER):
        hold.keep()
        texts = list(user_questions(some).values())
        mentions = [each for found in recogniser.mentions(texts) for each in found]
        names = dict.fromkeys(
            mention.text for mention in mentions if mention.kind and mention.kind not in NO_NAMES
        )
        there = set(
            Alias.objects.filter(entity__dataset=dataset, name__in=names).values_list(
                "name", flat=True
            )
        )
        there |= set(dataset.entities.filter(label__in=names).values_list("label", flat=True))
        yield from (
            name for name in names if name not in there and len(name) <= LONGEST_ENTITY_NAME
        )


def _asked(
    graph: Wikibase, dataset: Dataset, numbered: Sequence[tuple[int, str]]
) -> Iterator[tuple[list[PullStep], Mapping[str, Described]]]:
    """Yield batches of names, each with those of their entities that the graph lacks."""
    for start in range(0, len(numbered), NAMES_TOGETHER):
        some = numbered[start : start + NAMES_TOGETHER]
        matches = graph.named([name for _, name in some if not _qid_in(name)])
        steps = [
            PullStep(n, name, tuple(matches.get(name, [Match(_qid_in(name), "qid")])))
            for n, name in some
        ]
        known = _known(dataset, {match.qid for step in steps for match in step.first_matches})
        waiting: list[PullStep] = []
        lacking: dict[str, None] = {}
        for step in steps:
            waiting.append(step)
            lacking |= {match.qid: None for match in step.first_matches if match.qid not in known}
            if len(lacking) >= ENTITIES_TOGETHER or step is steps[-1]:
                yield waiting, graph.described(list(lacking))
                known |= set(lacking)
                waiting, lacking = [], {}


def _qid_in(name: str) -> str:
    """Return the qid that a name contains, or "" if it is no qid.

    A qid of Wikidata may be written as it is, as in Q42, and any other in <…>.
    """
    if QID.fullmatch(name):
        return name
    named = _ANY_QID.fullmatch(name)
    return named[1] if named and len(named[1]) <= LONGEST_QID else ""


def _known(dataset: Dataset, qids: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for some in lots(sorted(set(qids)), READ_TOGETHER):
        found.update(dataset.entities.filter(qid__in=some).values_list("qid", flat=True))
    return found


@transaction.atomic
def _store(hold: JobHold, dataset: Dataset, step: PullStep, found: Mapping[str, Described]) -> None:
    """Store the entities of one name and its step, both or neither.

    Raises:
        JobError: the dataset was deleted.
        WorkStopped: as for `JobHold.keep`.
    """
    # The lock lets one pull at a time write to a graph.
    if not Dataset.objects.select_for_update().filter(pk=dataset.pk).first():
        raise JobError(GONE)
    hold.renew()  # Nothing is stored if this raises WorkStopped.
    qids = [match.qid for match in step.first_matches]
    known = _known(dataset, qids)
    new = [found[qid] for qid in qids if qid in found and qid not in known]
    store_entities(dataset, [each.record for each in new])
    content = _content(dataset, step, {each.record.qid for each in new})
    left_out: Counter[str] = Counter()
    for each in new:
        left_out.update(each.left_out)
    content["left_out"] = dict(left_out)
    hold.store(step.number, content)
    hold.note(totals=_added(hold.job.result.get("totals", {}), content))


def _content(dataset: Dataset, step: PullStep, new: Collection[str]) -> dict[str, Any]:
    """Return what a step stores: its entities, including those that were there already."""
    stored = Entity.objects.filter(
        dataset=dataset, qid__in=[match.qid for match in step.first_matches]
    )
    rows = stored.annotate(n=Count("triples")).values_list("qid", "label", "type", "n")
    by_qid = {qid: (label, type_, n) for qid, label, type_, n in rows}
    entities = []
    for match in step.first_matches:
        if match.qid in by_qid:
            label, type_, n_triples = by_qid[match.qid]
            entities.append(
                {
                    "qid": match.qid,
                    "label": label,
                    "type": type_,
                    "by": match.by,
                    "n_triples": n_triples,
                    "is_new": match.qid in new,
                }
            )
    return {
        "name": step.name,
        "found": entities,
        "n_new": len(new),
        "n_triples": sum(each["n_triples"] for each in entities if each["is_new"]),
        "n_namesakes_left": len(step.matches) - len(step.first_matches),
    }


def _added(totals: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sums over all steps so far, with this step added."""
    step = {
        "n_names": 1,
        "n_not_found": not content["found"],
        "n_new": content["n_new"],
        "n_triples": content["n_triples"],
        "n_there": len(content["found"]) - content["n_new"],
        "n_namesakes_left": content["n_namesakes_left"],
    }
    sums = {name: totals.get(name, 0) + int(number) for name, number in step.items()}
    left_out = Counter(totals.get("left_out", {})) + Counter(content["left_out"])
    return {**sums, "left_out": dict(left_out)}
