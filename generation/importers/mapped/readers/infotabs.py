"""InfoTabS: claims about tables of Wikipedia, each with the votes of about five workers.

A claim is a response. Its table is the example and, if a file of tables is given too, the evidence
shown. A row is one worker's vote. Workers wrote the claims as well, so the setup is `crowd`. The
lists of a claim may name a worker twice: then the second vote is of another rater (`VW3#2`).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import listed
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source, plain_name
from generation.importers.tables import tsv_rows
from generation.records import Problem

LABELS = ("entailed", "neutral", "contradicted")  # labels of the codes 0, 1 and 2
_COLUMNS = ("table_id", "hypothesis", "other_human_labels", "other_worker_id")
_ALSO = ("first_human_label", "majoritylabel")

Tables = dict[str, Any]  # table id → {attribute: [values]}


def files(source: Source) -> tuple[str, ...]:
    """Return the first file of votes and the files of tables. Empty: there are no such votes."""
    names = source.data_files()
    votes = [name for name in names if _has_votes(source, name)]
    tables = [name for name in names if plain_name(name).endswith(".json")]
    return (votes[0], *tables) if votes else ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each vote. Its line is that of its claim."""
    tables = _tables(source, names[1:])
    for claim in tsv_rows(source, names[0], _COLUMNS, lambda column: None):
        if isinstance(claim, Problem):
            yield claim
            continue
        row = Row(claim.where, claim.values, is_csv=True, max_nesting=source.limits.max_nesting)
        table_id, votes = row.key("table_id"), _votes(row)
        evidence = {"evidence": _evidence(row, tables, table_id)} if tables else {}
        if row.problems:
            yield from row.problems
            continue
        for worker, label in votes or [("", "")]:  # a claim without votes gets a row as well
            yield Row(
                row.where,
                {
                    "table_id": table_id,
                    "claim": f"{table_id}-{row.where.line}",
                    "hypothesis": row.values.get("hypothesis"),
                    **evidence,
                    "worker": worker,
                    "vote": label,
                    **{name: row.values.get(name) for name in _ALSO},
                },
            )


def _has_votes(source: Source, name: str) -> bool:
    header = source.head(name, 1 << 10).partition(b"\n")[0].decode("utf-8", "replace")
    return {*_COLUMNS} <= {column.strip() for column in header.split("\t")}


def _votes(row: Row) -> list[tuple[str, str]]:
    """Return worker and label of each vote on a claim."""
    codes = row.required_list("other_human_labels", "votes")
    workers = listed(row, "other_worker_id")
    if row.problems:
        return []
    if wrong := [code for code in codes if type(code) is not int or not 0 <= code < len(LABELS)]:
        row.refuse("other_human_labels", excerpt(wrong[0]), "0, 1 or 2")
    elif workers is None or not all(isinstance(worker, str) for worker in workers):
        row.refuse("other_worker_id", excerpt(row.values.get("other_worker_id")), "a list of ids")
    elif len(workers) != len(codes):
        row.refuse(
            "other_worker_id", f"{len(workers):,} workers", f"{len(codes):,}, one for each vote"
        )
    if row.problems or workers is None:
        return []
    n_votes: Counter[str] = Counter()
    votes = []
    for worker, code in zip(workers, codes, strict=True):
        n_votes[worker] += 1
        rater = worker if n_votes[worker] == 1 else f"{worker}#{n_votes[worker]}"
        votes.append((rater, LABELS[code]))
    return votes


def _tables(source: Source, names: tuple[str, ...]) -> Tables:
    """Return the tables of files. A file has many tables, or is one table with the file's name."""
    tables: Tables = {}
    for name in names:
        found = source.whole_json(name)
        if isinstance(found, dict):
            is_one = isinstance(found.get("title"), list)
            tables |= {name.partition(".")[0]: found} if is_one else found
    return tables


def _evidence(row: Row, tables: Tables, table_id: str) -> list[dict[str, str]]:
    """Return a table as a passage: `attribute: value; value` in each line."""
    table = tables.get(table_id)
    if not isinstance(table, dict):
        row.refuse("table_id", excerpt(table_id), "the id of a table that was uploaded too")
        return []
    lines = {
        attribute: "; ".join(value.strip() for value in values)
        for attribute, values in table.items()
        if isinstance(values, list) and all(isinstance(value, str) for value in values)
    }
    title = lines.pop("title", "")
    return [{"title": title, "text": "\n".join(map(": ".join, lines.items()))}]
