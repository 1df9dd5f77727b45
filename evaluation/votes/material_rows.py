"""The rows of an export about its material: examples, passages, responses, graph and samples."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, F, Model, OuterRef, Prefetch, QuerySet

from generation.importers.setups import setup_name
from generation.models import (
    Alias,
    Dataset,
    Entity,
    Example,
    ExamplePassage,
    KGQuestion,
    Passage,
    Response,
    ResponsePassage,
    Sample,
    Setup,
)
from generation.records import SetupRecord
from generation.sample_rows import sample_record

CHUNK = 1000

Row = dict[str, Any]


def example_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the examples of a dataset with their turns and evidence, without graph questions."""
    evidence = Prefetch("evidence", ExamplePassage.objects.select_related("passage"))
    examples = Example.objects.filter(dataset=dataset, kg_question=None)
    for example in _in_chunks(examples.prefetch_related("turns", evidence)):
        turns = [
            {"speaker": turn.speaker, "text": turn.text, "parent": turn.parent_index}
            for turn in example.turns.all()
        ]
        row = {
            "id": example.key,
            "dialog": example.dialog,
            "golden_answer": example.golden_answer,
            "meta": example.meta,
        }
        yield _known(row) | {
            "turns": turns or None,  # null means that the dialog is not known
            "evidence": [
                _said(
                    {
                        "id": shown.passage.key,
                        "title": shown.passage.title,
                        "url": shown.passage.url,
                    }
                )
                | {"text": shown.passage.text, "golden": shown.is_golden}
                for shown in example.evidence.all()
            ],
        }


def further_passages(dataset: Dataset) -> QuerySet[Passage]:
    """Return the passages that no example names. The others are in the rows of examples."""
    return dataset.passages.filter(~Exists(ExamplePassage.objects.filter(passage=OuterRef("pk"))))


def passage_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the passages that no example names."""
    for passage in _in_chunks(further_passages(dataset)):
        row = {"id": passage.key, "title": passage.title, "url": passage.url}
        yield _said(row) | {"text": passage.text}


def response_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the responses of a dataset with their setups."""
    shown = Prefetch("shown", ResponsePassage.objects.select_related("passage"))
    responses = Response.objects.filter(dataset=dataset).select_related("example", "setup")
    responses = responses.annotate(source=F("chosen_from__key"))
    for response in _in_chunks(responses.prefetch_related(shown)):
        row = {
            "id": response.key,
            "example": response.example.key,
            "setup": _setup(response.setup),
            "graph_shown": response.graph_shown,
            "removed": response.removed,
            "chosen_from": response.source,
            "meta": response.meta,
        }
        if response.is_evidence_stated:
            row["evidence_shown"] = [shown.passage.key for shown in response.shown.all()]
        yield _known(row) | {"text": response.text}


def _setup(setup: Setup) -> str | Row:
    """Return a setup as an object, or only its name if nothing else is known about it."""
    if not setup.model:
        return setup.name
    row = {
        "model": setup.model,
        "temperature": setup.temperature,
        "prompt": setup.prompt,
        "run": setup.run,
    }
    settings: Row = setup.settings
    known = SetupRecord("", setup.model, setup.temperature, setup.prompt, setup.run, setup.settings)
    if setup.name != setup_name(known):
        row["name"] = setup.name
    return _said(row | {"made_with": setup.made_with}) | settings


def entity_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the entities of a graph with their triples."""
    aliases = Prefetch("aliases", Alias.objects.order_by("pk"))
    entities = Entity.objects.filter(dataset=dataset).prefetch_related(aliases, "triples")
    for entity in _in_chunks(entities):
        row = {
            "qid": entity.qid,
            "label": entity.label,
            "type": entity.type,
            "aliases": [alias.name for alias in entity.aliases.all()],
            "text": entity.text,
        }
        yield _said(row) | {
            "triples": [
                {"relation": triple.relation, "value": triple.value}
                | _said({"value_qid": triple.value_qid})
                for triple in entity.triples.all()
            ]
        }


def kg_question_rows(dataset: Dataset) -> Iterator[Row]:
    """Yield the questions about a graph."""
    questions = KGQuestion.objects.filter(example__dataset=dataset).select_related("example")
    for question in _in_chunks(questions.prefetch_related("entities", "minimum", "example__turns")):
        row: Row = {
            "id": question.example.key,
            "question": question.example.turns.all()[0].text,
            "entities": [e.qid for e in question.entities.all() if not e.is_retrieved],
        }
        if question.is_retrieved_known:
            row["retrieved"] = [e.qid for e in question.entities.all() if e.is_retrieved]
        if question.is_minimum_known:
            row["minimum"] = [
                [m.qid, m.relation, m.value, *([] if m.round is None else [m.round])]
                for m in question.minimum.all()
            ]
        if question.is_minimum_made_up:
            row["minimum_made_up"] = True
        if question.example.is_ad_hoc:
            row["ad_hoc"] = True
        yield row


def sample_row(sample: Sample) -> Row:
    """Return a sample with the decisions about its members, but not who made them."""
    record = sample_record(sample)
    return _said({"name": record.name, "n_examples": record.n_examples}) | {
        "parameters": record.parameters,
        "cascade": record.cascade,
        "members": [
            _said(member._asdict() | {"at": member.at and member.at.isoformat()})
            for member in record.members
        ],
    }


def _known(row: Row) -> Row:
    """Return a row without values that are not known. An empty text is a known value."""
    return {key: value for key, value in row.items() if value not in (None, {})}


def _said(row: Row) -> Row:
    """Return a row without values that are not known. Here an empty text means 'not known'."""
    return {key: value for key, value in row.items() if value not in (None, "", {})}


def _in_chunks(rows: QuerySet[Model]) -> Iterator[Any]:
    return rows.order_by("pk").iterator(chunk_size=CHUNK)
