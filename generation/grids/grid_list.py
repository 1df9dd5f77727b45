"""The list of grids: its search, sorts, filters and tabs."""

from collections.abc import Mapping

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from accounts.listing import (
    Compared,
    ListFilter,
    Listing,
    Options,
    Sort,
    containing,
    has_any,
    n_of,
)
from generation.models import Call, Dataset, Grid
from generation.models.grids import ASKS_ONE_QUESTION

STATE = Grid.State
ASKED = "asked"  # the name of a filter in the address
HAS_FAILED = Q(state=STATE.FAILED) | Q(state=STATE.DONE, has_failed_calls=True)
STATES: Options = {
    "planned": ("Planned", Q(state__in=(STATE.PLANNING, STATE.PLANNED))),
    "running": ("Running", Q(state=STATE.RUNNING)),
    "cancelled": ("Cancelled", Q(state=STATE.CANCELLED)),
    "failed": ("Failed", HAS_FAILED),
    "done": ("Done", Q(state=STATE.DONE) & ~HAS_FAILED),
}


def with_failures(grids: QuerySet[Grid]) -> QuerySet[Grid]:
    """Return grids with `has_failed_calls`: whether one of their calls has failed."""
    failed = Call.objects.filter(grid=OuterRef("pk"), response=None)
    return grids.annotate(has_failed_calls=Exists(failed))


def listed_grids(address: Mapping[str, str]) -> QuerySet[Grid]:
    """Return the grids of the list. Those about a single question are there only on request."""
    grids = with_failures(Grid.objects.select_related("dataset", "sample", "requested_by"))
    return grids if ASKED in address else grids.exclude(ASKS_ONE_QUESTION)


def _datasets() -> Options:
    with_grids = Dataset.objects.filter(has_any(Grid.objects.all(), "dataset"))
    named = with_grids.values_list("pk", "slug", "name")
    return {slug: (name, Q(dataset=pk)) for pk, slug, name in named}


GRIDS = Listing(
    "grids",
    finds=containing("name", "dataset__name", "sample__name"),
    sorts=(
        Sort("date", "Date", "created_at", Compared.DATE),
        Sort("name", "Grid", Lower("name"), Compared.TEXT),
        Sort("dataset", "Dataset", Lower("dataset__name"), Compared.TEXT),
        Sort("calls", "Calls", n_of(Call.objects.all(), "grid"), Compared.COUNT),
    ),
    filters=(
        ListFilter("dataset", "Dataset", _datasets),
        ListFilter(ASKED, "Planned grid", {"one": ("Single questions", ASKS_ONE_QUESTION)}),
    ),
    tabs=STATES,
    per_page=20,
)
