"""The differences between the data behind a manifest and an export, by name where possible."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from annotation.schemes import load_scheme
from evaluation.exchange.export_content import ExportContent
from evaluation.votes.digests import (
    BETWEEN_PARTS,
    FileDigest,
    Row,
    changed_row,
    item_of,
)

VOTES = "votes.csv"
MOST_NAMED = 20  # items of a file that are named, at most
STUDY_FILES = {"study.json", "scheme.json", "raters.csv", VOTES, "flags.csv", "adjudications.csv"}
_OF_VOTE = ("rater", "question", "citation")  # what tells the votes of an item apart


def data_differences(
    before: Mapping[str, FileDigest],
    now: Mapping[str, FileDigest],
    export: ExportContent,
    original: ExportContent | None = None,
) -> list[str]:
    """Return what differs in the data, file by file.

    Args:
        before: the digests in the manifest.
        now: the digests of the export.
        export: the export that the reports are made again from.
        original: the export that belongs to the manifest, if a bundle holds it.
    """
    is_of_study = "study.json" in before  # the export of a study has its dataset as well
    found: list[str] = []
    for name in sorted({*before, *now}):
        if name not in now:
            found.append(f"{name}: the export does not have this file")
        elif name not in before and (is_of_study or name not in STUDY_FILES):
            found.append(f"{name}: the export has this file, but the data of the manifest do not")
        elif name in before and before[name].sha256 != now[name].sha256:
            found += _of_file(name, before[name], now[name], export, original)
    return found


def _of_file(
    name: str,
    before: FileDigest,
    now: FileDigest,
    export: ExportContent,
    original: ExportContent | None,
) -> list[str]:
    differing = sorted(
        item
        for item in {*before.items, *now.items}
        if before.items.get(item) != now.items.get(item)
    )
    named = differing[:MOST_NAMED]
    if name == VOTES:
        found = list(_of_votes(named, before, export, original))
    else:
        found = [_of_item(name, item, before, now) for item in named]
    if more := len(differing) - len(named):
        found.append(f"{name}: {more:,} more items differ")
    return found


def _of_item(name: str, item: str, before: FileDigest, now: FileDigest) -> str:
    what = f"{name}: {item}" if item else name
    if item not in before.items:
        return f"{what} is new"
    return f"{what} {'differs' if item in now.items else 'is missing'}"


def _of_votes(
    items: Sequence[str],
    before: FileDigest,
    export: ExportContent,
    original: ExportContent | None,
) -> Iterator[str]:
    """Yield the votes that differ: each one if that can be told, else the response and the arm."""
    answers = _answers(export)
    now = _rows_by_item(items, export)
    were = _rows_by_item(items, original) if original else {}
    for item in items:
        rows = now.get(item, [])
        if original:
            yield from _pairs(item, were.get(item, []), rows)
        elif changed := changed_row(before.items.get(item, 0), rows, answers):
            was, row = changed
            yield _of_vote(item, row or was or {}, was, row)
        else:
            arm, _, response = item.partition(BETWEEN_PARTS)
            yield f"{VOTES}: votes on response {response} in the {arm} arm differ"


def _answers(export: ExportContent) -> dict[str, Sequence[str]]:
    """Return the answers that each question of the exported scheme allows."""
    return {
        question.key: question.scale.labels
        for data in export.rows("scheme.json")
        for question in load_scheme(data).questions
    }


def _rows_by_item(items: Iterable[str], export: ExportContent) -> dict[str, list[Row]]:
    wanted = set(items)
    found: dict[str, list[Row]] = defaultdict(list)
    for row in export.rows(VOTES):
        if (item := item_of(VOTES, row)) in wanted:
            found[item].append(row)
    return found


def _pairs(item: str, were: Iterable[Row], are: Iterable[Row]) -> Iterator[str]:
    """Yield the votes on a response that differ between two files."""
    old = {_key(row): row for row in were}
    new = {_key(row): row for row in are}
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if was != now:
            yield _of_vote(item, now or was or {}, was, now)


def _key(row: Row) -> tuple[str, ...]:
    return tuple(row.get(name) or "" for name in _OF_VOTE)


def _of_vote(item: str, vote: Row, was: Row | None, now: Row | None) -> str:
    arm, _, response = item.partition(BETWEEN_PARTS)
    citation = f", citation {vote['citation']}" if vote.get("citation") else ""
    where = (
        f"response {response}{citation}, question {vote.get('question')}, rater "
        f"{vote.get('rater')}, {arm} arm"
    )
    if was is None or now is None:
        said = "new" if was is None else "missing"
        return f"{where}: the vote {vote.get('answer')} is {said}"
    if was.get("answer") != now.get("answer"):
        return f"{where}: was {was.get('answer')}, is {now.get('answer')}"
    others = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    return f"{where}: {', '.join(others)} differs"
