"""Aggregates: setups whose responses were chosen, example by example, from those of a pool."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from generation.batches import lots
from generation.grids.cells import USUAL_PRECISION, decoding_of
from generation.importers.errors import quotation
from generation.importers.setups import origin_of, setup_content
from generation.models import RERANKED, Dataset, Example, Response, ResponsePassage, Setup
from generation.records import ResponseRecord, SetupRecord, Where
from generation.services.calls import response_key
from generation.services.record_keys import MOST_KEYS, digest, record_digest
from generation.services.responses import store_setups

IS_TIE = "is_tie"  # key in a response's meta: a second score decided between equals
CHOICE = "choice"  # key in a setup's settings: distinguishes choices that differ
KEPT = ("tokens",)  # parts of the chosen response's meta
_SAVED_TOGETHER = 500
_LOADED = ("backend", "signature", "revision", "files")  # parts of what a setup was made with


class AggregateError(Exception):
    """An aggregate that is refused; the message says why."""


class StoredAggregate(NamedTuple):
    """An aggregate that is stored, and how many responses were added to it."""

    setup: Setup
    n_added: int


class _Chosen(NamedTuple):
    """A response of the pool that was chosen for its example."""

    response: Response
    example: str  # the example's key
    shown: tuple[tuple[int, str], ...]  # passages in the order shown: id, key
    is_tie: bool


@transaction.atomic
def store_aggregate(
    dataset: Dataset,
    setup: SetupRecord,
    chosen: Mapping[int, int],
    ties: Collection[int] = (),
) -> StoredAggregate:
    """Store an aggregate, and return it.

    It is safe to call this twice, also at the same time: the same choice is the same setup, and
    examples that it lacks are added. If another response is chosen for an example that the stored
    aggregate has (because scores have changed or the pool has grown), the two are not mixed. The
    new choice becomes another setup, whose settings have, under `choice`, a digest of what was
    chosen. An example for which nothing is chosen any more keeps its earlier response.

    The responses have the text, evidence and graphs of those chosen, and the size of their prompts.

    Args:
        setup: its model, temperature and settings, with the names of the pool under `pool`. Its
            name is made here.
        chosen: ids of responses by ids of examples.
        ties: ids of the examples in which a second score decided between equals.

    Raises:
        AggregateError: the pool does not have one model, temperature and decoding; a chosen
            response is not one of the pool's to its example; or nothing is chosen.
    """
    lock(dataset)
    pool = checked_pool(dataset, setup.settings["pool"])
    if not chosen:
        raise AggregateError("No example has a response of the pool with the needed scores.")
    found = _chosen(dataset, {member.pk for member in pool}, chosen, frozenset(ties))
    record = _without_contradiction(dataset, setup, found)
    stored = store_setups(dataset, [record])
    aggregate = dataset.setups.get(pk=stored[record.name])
    there = set(aggregate.responses.values_list("example", flat=True))
    new = [each for each in found if each.response.example_id not in there]
    _store_responses(dataset, aggregate, record, new)
    return StoredAggregate(aggregate, len(new))


def lock(dataset: Dataset) -> None:
    """Lock the choice among a dataset's responses until this transaction ends; others wait."""
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)


def sources_of(aggregates: Iterable[Setup]) -> dict[int, dict[int, int | None]]:
    """Return, for each example of some aggregates, the response chosen, all as ids; one query."""
    found: dict[int, dict[int, int | None]] = {aggregate.pk: {} for aggregate in aggregates}
    rows = Response.objects.filter(setup__in=found)
    for setup, example, source in rows.values_list("setup", "example", "chosen_from"):
        found[setup][example] = source
    return found


def current_aggregate(aggregates: Iterable[Setup], chosen: Mapping[int, int]) -> Setup | None:
    """Return the aggregate that holds the present choice, of some that differ only in the choice.

    None of its examples has another choice now. It may lack new examples, and for some of its
    examples nothing may be chosen any more. Of several such aggregates, the one with most of the
    chosen examples is returned; of equals, the first by name. The result is None if each holds
    another choice, because scores have changed.

    Args:
        chosen: ids of responses by ids of examples.
    """
    there = sorted(aggregates, key=lambda aggregate: aggregate.name)
    sources = sources_of(there)
    known = {
        aggregate: len(sources[aggregate.pk].keys() & chosen.keys())
        for aggregate in there
        if not n_changed(sources[aggregate.pk], chosen)
    }
    return max(known, key=known.__getitem__, default=None)


def n_changed(sources: Mapping[int, int | None], chosen: Mapping[int, int]) -> int:
    """Return for how many examples of an aggregate another response is chosen now."""
    return sum(chosen.get(example, source) != source for example, source in sources.items())


def checked_pool(dataset: Dataset, names: Sequence[str]) -> list[Setup]:
    """Return the setups of a pool, in the order of the names given.

    Raises:
        AggregateError: a setup does not exist, is named twice, is an aggregate itself, or has no
            known model; or the setups differ in model, temperature or decoding, or were made with
            different models of one name.
    """
    by_name = {setup.name: setup for setup in dataset.setups.filter(name__in=names)}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise AggregateError(
            f"{dataset.name} has no setup {missing[0]!r}, so it cannot be in the pool."
        )
    if not names or len(by_name) < len(names):
        raise AggregateError("A pool needs at least one setup, and each setup only once.")
    pool = [by_name[name] for name in names]
    first = pool[0]
    if not first.model:
        raise AggregateError(
            f"The model of the setup “{first.name}” is not known, so the setup cannot be in a pool."
        )
    for setup in pool:
        if setup.prompt == RERANKED:
            raise AggregateError(
                f"“{setup.name}” was made from a pool itself, so it cannot be in a pool."
            )
        for part, value in what_makes(setup).items():
            if value != what_makes(first)[part]:
                usual = quotation(what_makes(first)[part])
                raise AggregateError(
                    f"A pool has one {part}: “{first.name}” has {usual}, “{setup.name}” has "
                    f"{quotation(value)}."
                )
        if not _is_one_model(first, setup):
            raise AggregateError(
                f"“{first.name}” and “{setup.name}” were made with different models named "
                f"{first.model}, so they cannot be in one pool."
            )
    return pool


def what_makes(setup: Setup) -> dict[str, Any]:
    """Return what the setups of a pool share: model, temperature, and all decoding but the seed."""
    decoding = decoding_of(setup)
    return {
        "model": setup.model,
        "precision": setup.settings.get("precision", USUAL_PRECISION),
        "temperature": setup.temperature,
        "top-p": decoding.top_p,
        "top-k": decoding.top_k,
        "number of new tokens": decoding.max_tokens,
    }


def _is_one_model(setup: Setup, other: Setup) -> bool:
    """Return whether two setups were made with the same model, as far as this is known of both."""
    here, there = origin_of(setup), origin_of(other)
    return all(here[name] == there[name] for name in _LOADED if name in here and name in there)


def _chosen(
    dataset: Dataset, pool: Collection[int], chosen: Mapping[int, int], ties: Collection[int]
) -> list[_Chosen]:
    """Return the chosen responses by keys of the examples; three queries for 10,000 examples."""
    responses: dict[int, Response] = {}
    examples: dict[int, str] = {}
    shown: dict[int, list[tuple[int, str]]] = {}
    for some in lots(sorted(set(chosen.values())), MOST_KEYS):
        responses |= dataset.responses.filter(setup__in=pool).in_bulk(some)
        rows = ResponsePassage.objects.filter(response__in=some).order_by("response", "position")
        for response, passage, key in rows.values_list("response", "passage", "passage__key"):
            shown.setdefault(response, []).append((passage, key))
    for some in lots(sorted(chosen), MOST_KEYS):
        found = Example.objects.filter(dataset=dataset, pk__in=some)
        examples |= found.values_list("pk", "key")
    for example, response in chosen.items():
        if response not in responses or responses[response].example_id != example:
            raise AggregateError(
                f"Response {response} is not a response of the pool to example {example}, so it "
                "cannot be chosen for it."
            )
    all_chosen = [
        _Chosen(
            responses[response],
            examples[example],
            tuple(shown.get(response, ())),
            example in ties,
        )
        for example, response in chosen.items()
    ]
    return sorted(all_chosen, key=lambda each: each.example)


def _without_contradiction(
    dataset: Dataset, setup: SetupRecord, chosen: Sequence[_Chosen]
) -> SetupRecord:
    """Return the setup under which to store a choice: one whose stored examples agree with it."""
    plain = _named(setup)
    wanted = setup_content(plain)
    chosen_now = {each.response.example_id: each.response.pk for each in chosen}
    alike = [
        candidate
        for candidate in dataset.setups.filter(model=setup.model, prompt=RERANKED)
        if _without_choice(candidate) == wanted
    ]
    if current := current_aggregate(alike, chosen_now):
        return plain._replace(name=current.name, settings=current.settings)
    if not alike:
        return plain
    said = [[each.example, each.response.key] for each in chosen]
    return _named(setup._replace(settings={**setup.settings, CHOICE: digest(said)[:8]}))


def _without_choice(aggregate: Setup) -> dict[str, Any]:
    content = setup_content(aggregate)
    content["settings"].pop(CHOICE, None)
    return content


def _named(setup: SetupRecord) -> SetupRecord:
    """Return the record of an aggregate, with a name that no other aggregate has."""
    temperature = None if setup.temperature is None else float(setup.temperature)
    record = setup._replace(
        name="", temperature=temperature, prompt=RERANKED, settings=dict(setup.settings)
    )
    said = digest(setup_content(record))[:8]
    function = f"{record.settings.get('function', 'chosen')} of {len(record.settings['pool'])}"
    parts = [record.model, *([] if temperature is None else [f"T {temperature!r}"])]
    return record._replace(name=" · ".join([*parts, RERANKED, f"{function} #{said}"]))


def _store_responses(
    dataset: Dataset, aggregate: Setup, setup: SetupRecord, chosen: Iterable[_Chosen]
) -> None:
    """Store the responses of an aggregate, with the evidence that was shown for them."""
    for some in lots(list(chosen), _SAVED_TOGETHER):
        responses = Response.objects.bulk_create(
            _response(dataset, aggregate, setup, each) for each in some
        )
        ResponsePassage.objects.bulk_create(
            (
                ResponsePassage(response=response, passage_id=passage, position=position)
                for response, each in zip(responses, some, strict=True)
                for position, (passage, _) in enumerate(each.shown)
            ),
            batch_size=_SAVED_TOGETHER,
        )


def _response(dataset: Dataset, aggregate: Setup, setup: SetupRecord, chosen: _Chosen) -> Response:
    """Return the row of a chosen response, with the digest that its export has."""
    source = chosen.response
    keys = tuple(key for _, key in chosen.shown)
    record = ResponseRecord(
        where=Where("", 0),
        key=response_key(chosen.example, aggregate.name),
        example=chosen.example,
        setup=setup,
        text=source.text,
        evidence_shown=keys if source.is_evidence_stated else None,
        graph_shown=source.graph_shown,
        removed=source.removed,
        meta=_meta(chosen),
        chosen_from=source.key,
    )
    return Response(
        dataset=dataset,
        example_id=source.example_id,
        setup=aggregate,
        key=record.key,
        text=record.text,
        is_evidence_stated=source.is_evidence_stated,
        graph_shown=source.graph_shown,
        removed=source.removed,
        chosen_from=source,
        meta=record.meta,
        digest=record_digest(record),
    )


def _meta(chosen: _Chosen) -> dict[str, Any]:
    source = chosen.response.meta
    kept = {name: source[name] for name in KEPT if name in source}
    return kept | {IS_TIE: True} if chosen.is_tie else kept
