"""The kinds of long work, as people see them: their words, who may, and what can be done with them.

From one object come the rows of the page of all work, its buttons, and the resource of the API.
Each kind is registered by the module `work_kinds` of the app or room of its subject.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.module_loading import autodiscover_modules

from accounts.access import Role, roles_of
from accounts.models import User
from work.claims import GOING_ON
from work.models import CountedPiece
from work.union_rows import no_time, number, text
from work.work_row import WorkRow

W = TypeVar("W", bound=Model)


class WorkRefused(Exception):
    """A change of long work that is refused. The message says why."""


class WorkKind(Generic[W]):
    """One kind of long work."""

    key: str  # its part of an address, such as 'metric-run'
    noun: str
    model: type[W]
    view: str  # the name of the page of one piece of work
    unit = ""  # the word for one of the things that `n_done` counts
    result = ""  # the word for one result that work may lack, though it is done
    goes_on_in: tuple[str, ...] = GOING_ON
    decided_in: tuple[str, ...] = ()  # the states in which a person has to decide how it goes on
    is_for_admins = False  # whether only admins may change it
    can_resume = True
    kept = "What it has found stays."  # what stays when one is cancelled, as a sentence
    stays = ""  # what stays when one is deleted, as a sentence
    card_template = "work/_card.html"
    columns: ClassVar[Mapping[str, Any]] = {}  # columns that differ from the usual ones

    def rows(self) -> QuerySet[W]:
        """Return the work of this kind that is listed."""
        return self.model._default_manager.all()

    def news(self) -> QuerySet[W]:
        """Return the work that home lists."""
        return self.rows()

    def on_dataset(self, slug: str) -> QuerySet[W]:
        """Return the listed work on a dataset."""
        return self.rows().filter(dataset__slug=slug)

    def all_columns(self) -> dict[str, Any]:
        """Return the columns of a listed row, as names of fields or expressions."""
        usual = {
            "name": "name",
            "dataset": "dataset__name",
            "slug": "dataset__slug",
            "ended_at": "finished_at",
            "n_done": "n_done",
            "n_total": "n_total",
            "n_missing": number(),
            "details": text(),
            "taken_at": no_time(),
            "n_done_before": number(),
        }
        if issubclass(self.model, CountedPiece):
            usual |= {name: name for name in ("taken_at", "n_done_before")}
        return usual | dict(self.columns)

    def titled(self, row: WorkRow, user: User) -> WorkRow:
        """Return a row with its title, and with its error as this user may see it."""
        return row

    def url(self, row: WorkRow) -> str:
        """Return the address of the page of one piece of work."""
        return reverse(self.view, args=[row.pk])

    def progress(self, pks: Sequence[int], user: User) -> Mapping[int, Any]:
        """Return how work goes by its id, with a `card`, as `card_template` needs it.

        Nothing, as here, means that the columns of a list are enough.
        """
        return {}

    # --- who may ----------------------------------------------------------------------------

    def may_see(self, user: User) -> bool:
        return Role.RESEARCHER in roles_of(user)

    def may_change(self, user: User) -> bool:
        is_allowed = not self.is_for_admins or Role.ADMIN in roles_of(user)
        return is_allowed and self.may_see(user)

    # --- what can be done with it -----------------------------------------------------------

    def cancel(self, work: W, user: User | None) -> bool:
        """Stop work that goes on; return whether it did. What it has found is kept."""
        raise NotImplementedError

    def resume(self, work: W, user: User | None) -> bool:
        """Continue work that was cancelled or failed, and send it; return whether it was."""
        raise NotImplementedError

    def delete(self, work: W, user: User | None) -> None:
        """Delete work that has ended.

        Raises:
            WorkRefused: it goes on, or something else needs it.
        """
        raise NotImplementedError


_registered: dict[str, WorkKind[Any]] = {}


def register_work(*kinds: WorkKind[Any]) -> None:
    """Register kinds, so that their work is listed and can be changed."""
    _registered.update({kind.key: kind for kind in kinds})


@cache
def _discovered() -> Mapping[str, WorkKind[Any]]:
    autodiscover_modules("work_kinds")
    return _registered


def work_kinds() -> Mapping[str, WorkKind[Any]]:
    """Return all kinds by key. Their modules are imported at the first call."""
    return _discovered()


def kind_named(key: str, user: User) -> WorkKind[Any]:
    """Return the kind of that key.

    Raises:
        Http404: there is no such kind.
        PermissionDenied: this user may not see work of this kind.
    """
    kind = work_kinds().get(key)
    if kind is None:
        raise Http404("There is no such kind of work.")
    if not kind.may_see(user):
        raise PermissionDenied(f"You may not see any {kind.noun} on this site.")
    return kind


def changeable(key: str, pk: int, user: User) -> tuple[WorkKind[Any], Model]:
    """Return work that this user may change, with its kind.

    Raises:
        Http404: there is no such work.
        PermissionDenied: only admins may change work of this kind.
    """
    kind = kind_named(key, user)
    work: Model = get_object_or_404(kind.rows(), pk=pk)
    if not kind.may_change(user):
        raise PermissionDenied(f"Only admins may change a {kind.noun}.")
    return kind, work


def kinds_for(user: User) -> dict[str, WorkKind[Any]]:
    """Return the kinds whose work a user may see, by key."""
    return {key: kind for key, kind in work_kinds().items() if kind.may_see(user)}
