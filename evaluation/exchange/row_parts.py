"""The parts of an import's rows that have names of their own: passages, setups and ranks."""

from typing import NamedTuple

from evaluation.exchange.changed_passages import passage_content
from evaluation.exchange.row_names import joined
from generation.importers.errors import excerpt
from generation.importers.fields import NOTHING
from generation.importers.setups import origin_of, setup_content
from generation.models import Setup
from generation.records import (
    ExampleRecord,
    RankedPassageRecord,
    Record,
    ResponseRecord,
    SetupRecord,
)
from generation.services.record_keys import digest


class RowPart(NamedTuple):
    """A passage, a setup or a rank: it has a name of its own, and may come with many rows.

    What a setup was made with is a separate part. The rank of a passage is a part too: within the
    ranking for an example, each rank belongs to one passage.
    """

    key: str
    content: str | bytes
    field: str
    name: str


def parts_of(row: Record) -> list[RowPart]:
    """Return the passages of an example, the setup of a response, or the rank of a passage."""
    match row:
        case ExampleRecord():
            return [
                RowPart(f"passage\0{p.key}", passage_content(p), "evidence", p.key)
                for p in row.evidence
            ]
        case ResponseRecord():
            return setup_parts(row.setup)
        case RankedPassageRecord():
            return [rank_part(*row[1:])]
    return []


def setup_parts(setup: Setup | SetupRecord) -> list[RowPart]:
    """Return two parts of a setup: its own content, and what it was made with."""
    contents = {"setup": setup_content(setup), "setup.made_with": origin_of(setup)}
    return [
        RowPart(f"{field}\0{setup.name}", digest(content), field, setup.name)
        for field, content in contents.items()
    ]


def rank_part(ranking: str, example: str, passage: str, rank: int) -> RowPart:
    """Return the part of a rank; its content is the passage that has this rank."""
    return RowPart(joined("rank", ranking, example, rank), passage, "rank", str(rank))


def said_of_change(row: Record, part: RowPart) -> tuple[str, str]:
    """Return what was found and what was expected for a part that has changed."""
    if isinstance(row, RankedPassageRecord):
        of = f"of another passage for example {excerpt(row.example)}"
        return f"{row.rank}, which is the rank {of}", "each rank once"
    if part.field != "setup.made_with" or not isinstance(row, ResponseRecord):
        said = f"{excerpt(part.name)} with other content than before"
        return said, "the same content wherever it is named"
    expected = (
        f"what the other responses of {excerpt(part.name)} have, or another setup, because one "
        "setup holds only responses that were made in the same known way"
    )
    return excerpt(row.setup.made_with) if row.setup.made_with else NOTHING, expected
