"""Long work of every kind in one list: what goes on, what has ended, and what a filter leaves.

This module only reads, with the same few statements whatever the number of kinds and rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, Q, QuerySet, When

from accounts.models import User
from work.cards import Card, speed
from work.kinds import WorkKind
from work.models import CountedPiece
from work.union_rows import comes_first, first, number, part, text, union
from work.work_row import CANCELLED, DONE, FAILED, WorkRow

Kinds = Mapping[str, WorkKind[Any]]

SHOWN = 8  # rows of each list on home, at most
PER_PAGE = 25
HAS_FAILED = Q(state=FAILED) | Q(state=DONE, n_without__gt=0)


class ListedWork(NamedTuple):
    """A row with its kind, and what this reader may do with it."""

    row: WorkRow
    kind: WorkKind[Any]
    url: str
    may_change: bool

    @property
    def goes_on(self) -> bool:
        return self.row.state in self.kind.goes_on_in

    @property
    def card(self) -> Card:
        row, kind = self.row, self.kind
        return Card(
            kind=kind,
            pk=row.pk,
            name=row.name,
            state=row.outcome,
            url=self.url,
            goes_on=self.goes_on,
            n_done=row.n_done,
            n_total=row.n_total if kind.unit else 0,
            unit=kind.unit,
            seen=str(row.n_done),
            is_at_most=not row.has_ended,
            may_change=self.may_change,
            may_delete=self.may_change and row.has_ended,
            ended_at=row.ended_at,
            rate=speed(row.per_second, kind.unit) if issubclass(kind.model, CountedPiece) else "",
            seconds_left=row.seconds_left,
        )


class LongWork(NamedTuple):
    """The work that goes on, newest first, and the ended work, failures first. Both are cut."""

    going_on: list[ListedWork]
    ended: list[ListedWork]
    is_going_on_cut: bool
    is_ended_cut: bool


class WorkFilter(NamedTuple):
    """The part of all work that a reader wants to see. Empty texts filter nothing."""

    kind: str = ""
    state: str = ""  # one of `STATES`
    only_of: int | None = None  # the id of the user who asked for it
    dataset: str = ""  # its slug

    def leaves(self, kind: WorkKind[Any]) -> QuerySet[Any]:
        """Return the rows of one kind that are left."""
        rows = kind.on_dataset(self.dataset) if self.dataset else kind.rows()
        if self.state:
            rows = rows.filter(state__in=STATES[self.state](kind))
        return rows.filter(requested_by=self.only_of) if self.only_of else rows


GOES_ON, TO_DECIDE = "going-on", "to-decide"
# The states of a kind that a filter leaves, by the word in the address.
STATES: Mapping[str, Any] = {
    GOES_ON: lambda kind: kind.goes_on_in,
    TO_DECIDE: lambda kind: kind.decided_in,
    FAILED: lambda kind: (FAILED,),
    CANCELLED: lambda kind: (CANCELLED,),
    DONE: lambda kind: (DONE,),
}


Key = tuple[str, int, datetime]  # key of its kind, its number, the time when it was asked for
GroupedKey = tuple[str, int, datetime, int]  # the same, and the place of its group in `GROUPS`
GROUPS = ("Needs you", "Running", "Finished")


def newest_first(kinds: Kinds, wanted: WorkFilter) -> QuerySet[Any, Key]:
    """Return the keys of the work that a filter leaves, newest first."""
    return _keys(kinds, wanted).order_by("-row_began_at", "-row_pk")


def in_groups(kinds: Kinds, wanted: WorkFilter) -> QuerySet[Any, GroupedKey]:
    """Return the keys of the work that a filter leaves, by group, each group newest first."""
    return _keys(kinds, wanted, group=_group).order_by("row_group", "-row_began_at", "-row_pk")


def _keys(
    kinds: Kinds, wanted: WorkFilter, **columns: Callable[[WorkKind[Any]], Any]
) -> QuerySet[Any, Any]:
    begin, *others = (
        part(
            wanted.leaves(kind),
            kind=text(key),
            pk="pk",
            began_at="created_at",
            **{name: column(kind) for name, column in columns.items()},
        )
        for key, kind in kinds.items()
        if wanted.kind in ("", key)
    )
    return begin.union(*others, all=True)


def _group(kind: WorkKind[Any]) -> Case:
    """Return a column with the place of a row's group in `GROUPS`."""
    states = (kind.decided_in, kind.goes_on_in)
    places = [When(state__in=of, then=number(place)) for place, of in enumerate(states) if of]
    return Case(*places, default=number(len(states)))


def listed(keys: Iterable[Key], kinds: Kinds, user: User) -> list[ListedWork]:
    """Return the work of these keys, in their order, with one statement."""
    places = {(key, pk): place for place, (key, pk, _) in enumerate(keys)}
    parts = [
        _row_part(key, kind, kind.rows().filter(pk__in=[pk for k, pk in places if k == key]))
        for key, kind in kinds.items()
    ]
    rows = [WorkRow(*row) for row in union(parts)] if places else []
    rows.sort(key=lambda row: places[row.kind, row.pk])
    return _listed(rows, kinds, user)


def cards(keys: Sequence[Key], kinds: Kinds, user: User) -> list[Any]:
    """Return how the work of these keys goes, in their order, each with its `card`.

    This takes one statement, and those of the kinds whose cards show more than a list does.
    """
    shown = dict[tuple[str, int], Any]()
    for name, kind in kinds.items():
        pks = [pk for key, pk, _ in keys if key == name]
        shown |= {(name, pk): each for pk, each in kind.progress(pks, user).items()}
    others = listed([key for key in keys if key[:2] not in shown], kinds, user)
    shown |= {(each.kind.key, each.row.pk): each for each in others}
    return [shown[key, pk] for key, pk, _ in keys if (key, pk) in shown]


def progress_of(kind: WorkKind[Any], pk: int, user: User) -> Any:
    """Return how one piece of work goes, with its `card`; None: there is none."""
    return kind.progress([pk], user).get(pk) or one_of(kind, pk, user)


def one_of(kind: WorkKind[Any], pk: int, user: User) -> ListedWork | None:
    """Return one piece of work as it is listed; None: there is none."""
    return next(iter(some_of(kind, [pk], user)), None)


def some_of(kind: WorkKind[Any], pks: Sequence[int], user: User) -> list[ListedWork]:
    """Return some work of one kind as it is listed, in any order."""
    rows = union([_row_part(kind.key, kind, kind.rows().filter(pk__in=pks))])
    return _listed((WorkRow(*row) for row in rows), {kind.key: kind}, user)


def recent_work(kinds: Kinds, since: datetime, user: User) -> LongWork:
    """Return the work that goes on, and the work that has ended since a moment."""
    parts = [each for key, kind in kinds.items() for each in _recent(key, kind, since)]
    found = _listed((WorkRow(*row) for row in union(parts)), kinds, user)
    going_on = [each for each in found if each.goes_on]
    ended = [each for each in found if not each.goes_on]
    going_on.sort(key=lambda each: each.row.began_at, reverse=True)
    ended.sort(key=lambda each: each.row.ended_at or each.row.began_at, reverse=True)
    ended.sort(key=lambda each: not each.row.has_failed)
    return LongWork(going_on[:SHOWN], ended[:SHOWN], len(going_on) > SHOWN, len(ended) > SHOWN)


class OwnWork(NamedTuple):
    """The number of pieces of a user's work that go on, and of those that failed lately."""

    n_going_on: int
    n_failed: int


def own_work(kinds: Kinds, since: datetime, user: User) -> OwnWork:
    """Count a user's own work, with one statement."""
    parts = []
    for kind in kinds.values():
        mine = kind.rows().filter(requested_by=user)
        parts.append(part(mine.filter(state__in=kind.goes_on_in), pk="pk", state=text(GOES_ON)))
        failed = mine.filter(Q(**{f"{kind.all_columns()['ended_at']}__gt": since}), state=FAILED)
        parts.append(part(failed, pk="pk", state=text(FAILED)))
    states = [state for _, state in union(parts)]
    return OwnWork(states.count(GOES_ON), states.count(FAILED))


def _recent(key: str, kind: WorkKind[Any], since: datetime) -> list[QuerySet[Any, Any]]:
    """Return one kind's newest rows that go on, and those that ended, failures first."""
    columns = kind.all_columns()
    ended_at = columns["ended_at"]
    going_on = kind.news().filter(state__in=kind.goes_on_in).order_by("-pk")
    ended = (
        kind.news()
        .filter(Q(**{f"{ended_at}__gt": since}), state__in=[DONE, FAILED, CANCELLED])
        .annotate(n_without=columns["n_missing"])
        .order_by(comes_first(HAS_FAILED), f"-{ended_at}", "-pk")
    )
    return [_row_part(key, kind, first(rows, SHOWN + 1)) for rows in (going_on, ended)]


def _row_part(key: str, kind: WorkKind[Any], rows: QuerySet[Any]) -> QuerySet[Any, Any]:
    columns = kind.all_columns()
    return part(
        rows,
        kind=text(key),
        pk="pk",
        name=columns["name"],
        dataset=columns["dataset"],
        slug=columns["slug"],
        state="state",
        n_missing=columns["n_missing"],
        began_at="created_at",
        ended_at=columns["ended_at"],
        n_done=columns["n_done"],
        n_total=columns["n_total"],
        error="error",
        details=columns["details"],
        requested_by="requested_by",
        taken_at=columns["taken_at"],
        n_done_before=columns["n_done_before"],
    )


def _listed(rows: Iterable[WorkRow], kinds: Kinds, user: User) -> list[ListedWork]:
    may_change = {key for key, kind in kinds.items() if kind.may_change(user)}
    found = []
    for row in rows:
        kind = kinds[row.kind]
        shown = kind.titled(row._replace(dataset=row.dataset or "", slug=row.slug or ""), user)
        found.append(ListedWork(shown, kind, kind.url(shown), row.kind in may_change))
    return found
