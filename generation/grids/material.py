"""What prompts are made from: examples with their dialog and their golden passages."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from generation.importers.records import TurnRecord
from generation.models import Example, ExamplePassage, Turn


class PassageText(NamedTuple):
    """A passage that a prompt may show."""

    id: int
    key: str
    text: str


class ExampleMaterial(NamedTuple):
    """One example to ask about."""

    id: int
    key: str
    dialog: str  # the conversation that it was cut from
    turns: tuple[TurnRecord, ...]
    golden: tuple[PassageText, ...]  # in the file's order


def materials(example_ids: Sequence[int]) -> list[ExampleMaterial]:
    """Return the examples in the order asked, with three queries.

    Raises:
        LookupError: there is no such example.
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

    examples = Example.objects.filter(pk__in=wanted).values_list("pk", "key", "dialog")
    found = {
        pk: ExampleMaterial(pk, key, dialog, tuple(turns[pk]), tuple(golden[pk]))
        for pk, key, dialog in examples
    }
    if missing := wanted - found.keys():
        raise LookupError(f"no example with the id {min(missing)}")
    return [found[pk] for pk in example_ids]
