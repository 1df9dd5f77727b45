"""Responses with their setups, and numbers for their citations."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, OuterRef

from generation.importers.setups import AnySetup, origin_of, setup_content
from generation.models import Citation, Dataset, Response, ResponsePassage, Setup
from generation.records import ResponseRecord, SetupRecord
from generation.services.many_rows import insert_rows
from generation.services.record_keys import ids_by_key, missing, record_digest


def store_responses(dataset: Dataset, records: Sequence[ResponseRecord]) -> int:
    """Store responses, with setups that are new; return how many responses are new.

    Raises:
        IntegrityError: another process stored some of them, or a setup of the same name, at the
            same moment.
    """
    new = missing(Response, dataset, records)
    setups = store_setups(dataset, [record.setup for record in new])
    _note_origins(dataset, [record.setup for record in new])
    examples = dict(
        dataset.examples.filter(key__in={r.example for r in new}).values_list("key", "pk")
    )
    responses = Response.objects.bulk_create(
        Response(
            dataset=dataset,
            example_id=examples[record.example],
            setup_id=setups[record.setup.name],
            key=record.key,
            text=record.text,
            is_evidence_stated=record.evidence_shown is not None,
            graph_shown=record.graph_shown,
            removed=record.removed,
            meta=dict(record.meta),
            digest=record_digest(record),
        )
        for record in new
    )
    _note_sources(dataset, responses, new)
    shown = {key for record in new for key in record.evidence_shown or ()}
    passages = ids_by_key(dataset.passages.all(), shown)
    insert_rows(
        ResponsePassage,
        ("response_id", "passage_id", "position"),
        (
            (response.pk, passages[key], position)
            for response, record in zip(responses, new, strict=True)
            for position, key in enumerate(record.evidence_shown or ())
        ),
    )
    return len(new)


def _note_sources(
    dataset: Dataset, responses: Sequence[Response], records: Sequence[ResponseRecord]
) -> None:
    """Note from which responses the new ones were chosen; these may be new themselves."""
    sources = ids_by_key(dataset.responses.all(), {r.chosen_from for r in records if r.chosen_from})
    chosen = []
    for response, record in zip(responses, records, strict=True):
        if record.chosen_from:
            response.chosen_from_id = sources[record.chosen_from]
            chosen.append(response)
    Response.objects.bulk_update(chosen, ["chosen_from"], batch_size=500)


def store_setups(dataset: Dataset, records: Iterable[SetupRecord]) -> dict[str, int]:
    """Store setups that are new; return the id of each by its name.

    If another process stores a setup of the same name at the same moment, that one stays, whatever
    its content.
    """
    by_name = _first_by_name(records)
    known = set(dataset.setups.filter(name__in=by_name).values_list("name", flat=True))
    Setup.objects.bulk_create(
        (
            Setup(
                dataset=dataset,
                name=name,
                model=record.model,
                temperature=record.temperature,
                prompt=record.prompt,
                run=record.run,
                settings=dict(record.settings),
                made_with=dict(record.made_with),
            )
            for name, record in sorted(by_name.items())  # one order prevents deadlocks
            if name not in known
        ),
        ignore_conflicts=True,
    )
    return dict(dataset.setups.filter(name__in=by_name).values_list("name", "pk"))


def _first_by_name(records: Iterable[SetupRecord]) -> dict[str, SetupRecord]:
    by_name: dict[str, SetupRecord] = {}
    for record in records:
        by_name.setdefault(record.name, record)
    return by_name


def _note_origins(dataset: Dataset, records: Iterable[SetupRecord]) -> None:
    """Note what setups without any response are made with, as their first responses state it.

    Raises:
        IntegrityError: a setup has other content, because it was stored after the rows were
            checked.
    """
    by_name = _first_by_name(records)
    unused = ~Exists(Response.objects.filter(setup=OuterRef("pk")))
    stored = dataset.setups.select_for_update(no_key=True).filter(unused, name__in=by_name)
    changed = [setup for setup in stored if setup.made_with != by_name[setup.name].made_with]
    for setup in changed:
        setup.made_with = dict(by_name[setup.name].made_with)
    Setup.objects.bulk_update(changed, ["made_with"])
    for setup in dataset.setups.filter(name__in=by_name):
        if _says(setup) != _says(by_name[setup.name]):
            raise IntegrityError(f"setup {setup.name}: another one was stored meanwhile")


def _says(setup: AnySetup) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the content of a setup, and what it is made with."""
    return setup_content(setup), origin_of(setup)


def store_citations(
    dataset: Dataset, wanted: Collection[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """Create those citations (response key, number) that are missing; return the id of each."""
    keys = {key for key, _ in wanted}
    responses = dict(dataset.responses.filter(key__in=keys).values_list("key", "pk"))
    citations = Citation.objects.filter(response__dataset=dataset, response__key__in=keys)
    known = {
        (key, number): pk
        for key, number, pk in citations.values_list("response__key", "number", "pk")
    }
    missing = sorted(set(wanted) - set(known))
    new = Citation.objects.bulk_create(
        Citation(response_id=responses[key], number=number) for key, number in missing
    )
    return known | {which: citation.pk for which, citation in zip(missing, new, strict=True)}
