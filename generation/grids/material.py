"""The material of prompts: examples with their dialog and what is known for answering it."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from generation.models import Example, ExamplePassage, KGQuestion, Turn
from generation.records import TurnRecord


class PassageText(NamedTuple):
    """A passage that a prompt may show."""

    id: int
    key: str
    text: str


class AboutGraph(NamedTuple):
    """The known entities of a question about a knowledge graph: their qids, in order."""

    gold: tuple[str, ...]  # (): not known
    imported: tuple[str, ...] | None  # retrieved elsewhere; None: not known


class ExampleMaterial(NamedTuple):
    """One example to ask about."""

    id: int
    key: str
    dialog: str  # the dialog from which it was cut
    turns: tuple[TurnRecord, ...]
    golden: tuple[PassageText, ...]  # in the file's order
    about_graph: AboutGraph | None = None  # None: it asks about no knowledge graph


def materials(example_ids: Sequence[int]) -> list[ExampleMaterial]:
    """Return the examples in the order asked for, with four queries.

    Raises:
        LookupError: an example does not exist.
    """
    wanted = set(example_ids)
    turns: dict[int, list[TurnRecord]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=wanted).order_by("example", "index")
    for example, speaker, text, parent in rows.values_list(
        "example", "speaker", "text", "parent_index"
    ):
        turns[example].append(TurnRecord(speaker, text, parent))

    golden: dict[int, list[PassageText]] = defaultdict(list)
    shown = ExamplePassage.objects.filter(example__in=wanted, is_golden=True)
    shown = shown.order_by("example", "position")
    columns = ("example", "passage", "passage__key", "passage__text")
    for example, passage, key, text in shown.values_list(*columns):
        golden[example].append(PassageText(passage, key, text))

    about_graph = _about_graph(wanted)
    examples = Example.objects.filter(pk__in=wanted).values_list("pk", "key", "dialog")
    found = {
        pk: ExampleMaterial(
            pk, key, dialog, tuple(turns[pk]), tuple(golden[pk]), about_graph.get(pk)
        )
        for pk, key, dialog in examples
    }
    if missing := wanted - found.keys():
        raise LookupError(f"There is no example with the id {min(missing)}.")
    return [found[pk] for pk in example_ids]


def _about_graph(example_ids: Collection[int]) -> dict[int, AboutGraph]:
    """Return the known entities of those examples that ask about a knowledge graph."""
    known: dict[int, AboutGraph] = {}
    rows = KGQuestion.objects.filter(example__in=example_ids).order_by("entities__position")
    columns = ("example", "is_retrieved_known", "entities__qid", "entities__is_retrieved")
    for example, is_imported, qid, is_retrieved in rows.values_list(*columns):
        about = known.setdefault(example, AboutGraph((), () if is_imported else None))
        if is_retrieved:
            known[example] = about._replace(imported=(*(about.imported or ()), qid))
        elif qid is not None:  # None: the question has no entity at all
            known[example] = about._replace(gold=(*about.gold, qid))
    return known
