"""A construction made by hand, with entries in every state, for the tests of its pages."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from evaluation.models import Job
from generation.models import Construction, ConstructionCall, ConstructionEntry
from generation.models.constructions import SIMPLE_STYLE
from generation.retrieval.wikibase import ENTITIES
from tests.graph_material import triple

ANNE = {
    "qid": "Q1",
    "label": "Anne Hathaway",
    "type": "human",
    "aliases": ["Anne Shakespeare"],
    "triples": [
        {"value_qid": ""} | triple("spouse", "William Shakespeare", "Q3"),
        {"value_qid": ""} | triple("place of birth", "Shottery"),
        {"value_qid": ""} | triple("date of death", "1623"),
    ],
}
WILL = {
    "qid": "Q3",
    "label": "William Shakespeare",
    "type": "human",
    "aliases": [],
    "triples": [
        {"value_qid": ""} | triple("spouse", "Anne Hathaway", "Q1"),
        {"value_qid": ""} | triple("occupation", "playwright"),
    ],
}
PARAGRAPH = "Anne Hathaway married William Shakespeare in 1582."
ROUND_1 = "Anne Hathaway married Will [Q1, spouse: William Shakespeare] in Rome [Q1, place: Rome]."
ROUND_2 = f"{ROUND_1} She died in 1623 [Q1, date of death: 1623]."
ROUND_3 = f"{ROUND_2} He wrote."  # does not cite the triple that it was given
QUESTIONS = ("Whom did Anne marry?", "Whom did Anne marry, and when did she die?", "And he?")
SIMPLE = "Who was Anne's husband?"
PROBLEM = "found no question; expected 'Generated Question:' behind 'Generated Answer:'"


def make_construction(
    name: str = "Bards", user: User | None = None, state: str = Job.State.DONE, **job: Any
) -> Construction:
    """Make a construction without entries, and make its job."""
    construction = Construction.objects.create(
        name=name,
        parameters={
            "entries": "0f" * 32,
            "file": "entries.csv",
            "relations": {"spouse": {"properties": ["P26"], "inverse": ["P26"]}},
            "endpoint": "https://query.wikidata.org/sparql",
            "allow_private": False,
            "language": "en",
            "entities": ENTITIES,
            "model": "scripted",
            "precision": "fp32",
            "temperature": 0.1,
            "max_tokens": 700,
            "n_rounds": 3,
            "seed": 13,
        },
        requested_by=user,
    )
    ended = state not in (Job.State.QUEUED, Job.State.RUNNING)
    Job.objects.create(
        kind=Job.Kind.CONSTRUCTION,
        name=name,
        construction=construction,
        state=state,
        n_done=9 if state == Job.State.DONE else 5,
        n_total=9,
        lease_until=timezone.now() if state == Job.State.RUNNING else None,
        finished_at=timezone.now() if ended else None,
        parameters={"model": "scripted", "data": {}},
        **job,
    )
    return construction


def add_entry(construction: Construction, **more: Any) -> ConstructionEntry:
    """Add an entry after the others, in the state of waiting."""
    row = {
        "number": construction.entries.count() + 1,
        "paragraph": PARAGRAPH,
        "name_1": "Anne Hathaway",
        "relation": "spouse",
        "name_2": "William Shakespeare",
    }
    return ConstructionEntry.objects.create(construction=construction, **(row | more))


def add_left_out(construction: Construction, problem: str, detail: str = "") -> ConstructionEntry:
    return add_entry(construction, state="left_out", problem=problem, detail=detail)


def add_failed(construction: Construction) -> ConstructionEntry:
    """Add an entry whose first round could not be read."""
    entry = add_entry(construction, state="failed", graphs=[ANNE, WILL], detail=PROBLEM)
    for attempt in (1, 2):
        _call(entry, 1, attempt=attempt, problem=PROBLEM, completion="Sorry.")
    return entry


def add_built(construction: Construction, **more: Any) -> ConstructionEntry:
    """Add an entry with three rounds. The last does not cite its new triple. One attempt failed."""
    row = {"state": "built", "property": "P26", "graphs": [ANNE, WILL]}
    entry = add_entry(construction, **(row | more))
    _call(entry, 1, attempt=1, problem=PROBLEM, completion="Sorry, <b>no</b>.")
    _call(entry, 1, attempt=2, answer=ROUND_1, question=QUESTIONS[0])
    dies = {"qid": "Q1", "relation": "date of death", "value": "1623"}
    _call(entry, 2, answer=ROUND_2, question=QUESTIONS[1], **dies)
    writes = {"qid": "Q3", "relation": "occupation", "value": "playwright"}
    _call(entry, 3, answer=ROUND_3, question=QUESTIONS[2], **writes)
    _call(entry, SIMPLE_STYLE, question=SIMPLE)
    return entry


def _call(entry: ConstructionEntry, round: int, **more: Any) -> ConstructionCall:
    completion = f"{more.get('answer', '')} Generated Question: {more.get('question', '')}"
    row = {
        "attempt": 1,
        "prompt": f"The prompt of round {round}.",
        "completion": completion,
        "n_prompt_tokens": 10,
        "n_completion_tokens": 2,
        "seconds": 1.5,
    }
    return ConstructionCall.objects.create(entry=entry, round=round, **(row | more))
