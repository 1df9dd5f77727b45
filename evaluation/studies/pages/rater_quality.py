"""The table of all raters of a study: its order, and the heads that sort it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accounts.http import query_string
from accounts.listing import SortHead
from evaluation.studies.rater_quality.reasons import TOO_FEW
from evaluation.studies.rater_quality.reports import RaterRow


class QualitySort(NamedTuple):
    """One order of the raters. With `-` in front of its key, an address turns it round."""

    title: str
    of: Callable[[RaterRow], float | None]  # raters for whom it is None come last
    is_most_first: bool = False


# Keys are those of the addresses. The usual order of each has first whom one would look at.
SORTS: Mapping[str, QualitySort] = {
    "responses": QualitySort("Responses", lambda row: row.n, True),
    "agreement": QualitySort("Agreement, %", lambda row: row.with_others.agreement.value),
    "run": QualitySort("Longest streak", lambda row: row.longest_run, True),
    "time": QualitySort("Time", lambda row: row.pace.median_seconds),
    "fast": QualitySort("Read too fast, %", lambda row: row.pace.fast_share, True),
    "gold": QualitySort("Gold, %", lambda row: row.gold_score),
    "round": QualitySort("Round, %", lambda row: row.qualification),
    "flags": QualitySort("Flags", lambda row: row.n_flags, True),
    "skips": QualitySort("Skips", lambda row: row.n_skips, True),
}


def stands_out(row: RaterRow) -> bool:
    """Return whether a test marks a rater."""
    return bool(row.reasons)


def sorted_rows(rows: Sequence[RaterRow], asked: str) -> list[RaterRow]:
    """Return raters in the order that an address asks for; by default who stands out is first."""
    sort = SORTS.get(asked.removeprefix("-"))
    if sort is None:
        return sorted(rows, key=lambda row: (not stands_out(row), row.stands_out == TOO_FEW))
    known = [(figure, row) for row in rows if (figure := sort.of(row)) is not None]
    known.sort(key=lambda each: each[0], reverse=_is_descending(sort, asked))
    return [*(row for _, row in known), *(row for row in rows if sort.of(row) is None)]


def sort_heads(path: str, asked: str) -> dict[str, SortHead]:
    """Return the head of each column that sorts, with the address that sorts by it."""
    heads = {}
    for key, sort in SORTS.items():
        is_here = asked.removeprefix("-") == key
        turned = f"-{key}" if asked == key else key
        direction = ("descending" if _is_descending(sort, asked) else "ascending") * is_here
        heads[key] = SortHead(sort.title, f"{path}{query_string({'sort': turned})}", direction)
    return heads


def _is_descending(sort: QualitySort, asked: str) -> bool:
    return sort.is_most_first is not asked.startswith("-")
