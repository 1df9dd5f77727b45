"""Pages of grids: the list, one grid with its plan and progress, and the actions on a grid."""

from functools import partial

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, page_to_return_to, render_page_or_fragment
from accounts.listing import said_of_archive
from generation.grids.grid_file import GridError, of_data
from generation.grids.grid_list import GRIDS, listed_grids
from generation.grids.plan import plan_of
from generation.grids.progress import grids_progress, setups_progress
from generation.models import Dataset, Example, Grid
from generation.services import grids as services
from generation.services.grids import OutgrownPlan
from generation.services.planning import send_grid
from generation.views.plan_first import plan_first


@require_safe
@allowed(Role.RESEARCHER)
def grids(request: SignedInRequest) -> HttpResponse:
    """List the grids of all datasets, each with its progress and the actions on it."""
    return _list(request, listed_grids(request.GET))


@require_safe
@allowed(Role.RESEARCHER)
def grids_of_dataset(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the grids of one dataset."""
    dataset = get_object_or_404(Dataset, slug=slug)
    return _list(request, listed_grids(request.GET).filter(dataset=dataset), dataset)


def _list(
    request: SignedInRequest, grids: QuerySet[Grid], dataset: Dataset | None = None
) -> HttpResponse:
    listed = (GRIDS.without("dataset") if dataset else GRIDS).read(grids, request)
    progress = grids_progress(listed.rows)
    return render_page_or_fragment(
        request,
        page="generation/grids/grids.html",
        fragment="generation/grids/_list.html",
        context={
            "listed": listed,
            "page": listed.page,
            "progress": progress,
            "is_going_on": any(each.grid.state in Grid.GOING_ON for each in progress),
            "has_examples": bool(progress) or _has_examples(dataset),
            "dataset": dataset,
        },
    )


def _has_examples(dataset: Dataset | None) -> bool:
    examples = Example.objects.filter(dataset=dataset) if dataset else Example.objects.all()
    return examples.exists()


@require_safe
@allowed(Role.RESEARCHER)
def grid(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one grid: its progress, its plan, its setups and its grid file."""
    rows = Grid.objects.select_related("dataset", "sample", "requested_by")
    grid = get_object_or_404(rows, pk=pk)
    [progress] = grids_progress([grid])
    context = {
        "grid": grid,
        "progress": progress,
        "plan": plan_of(grid),
        "setups": setups_progress(grid),
        "toml": of_data(grid.choices).as_toml(),
        "is_going_on": grid.state in Grid.GOING_ON,
    }
    return render(request, "generation/grids/grid.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def grid_file(request: SignedInRequest, pk: int) -> HttpResponse:
    """Download the grid file of a grid, also if it was made by a form."""
    grid = get_object_or_404(Grid, pk=pk)
    name = slugify(grid.title) or "grid"
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    text = of_data(grid.choices).as_toml()
    return HttpResponse(text, content_type="application/toml", headers=headers)


# --- actions on one grid --------------------------------------------------------------------


@require_POST
@allowed(Role.RESEARCHER)
def start_grid(request: SignedInRequest, pk: int) -> HttpResponse:
    """Start a planned grid."""
    grid = get_object_or_404(Grid, pk=pk)
    try:
        if services.start_grid(grid, request.user):
            _send(grid)
        else:
            messages.info(request, f"{grid.title} cannot be started: it is not a planned grid.")
    except OutgrownPlan as error:
        messages.warning(request, str(error))
        _send(grid)
    except GridError as error:
        messages.error(request, f"{error}.")
    return _back(request, grid)


@require_POST
@allowed(Role.RESEARCHER)
def retry_grid(request: SignedInRequest, pk: int) -> HttpResponse:
    """Make those calls of a grid again that gave no response."""
    grid = get_object_or_404(Grid, pk=pk)
    if page := plan_first(request, services.retry_asking(grid)):
        return page
    if services.retry_failed(grid, request.user):
        _send(grid)
    else:
        messages.info(request, f"No call of {grid.title} has failed.")
    return redirect("grids:grid", pk)


@require_POST
@allowed(Role.RESEARCHER)
def archive_grid(request: SignedInRequest, pk: int) -> HttpResponse:
    """Put a grid into the archive, or take it out of it."""
    grid = get_object_or_404(Grid, pk=pk)
    is_archived = request.POST.get("archived") == "yes"
    services.archive_grid(grid, is_archived, request.user)
    messages.success(request, said_of_archive(grid.title, is_archived))
    return _back(request, grid)


def _back(request: SignedInRequest, grid: Grid) -> HttpResponse:
    """Go back to the list or page whose button was pressed."""
    here = page_to_return_to(request)
    if here == reverse("home"):
        return redirect("grids:grid", grid.pk)
    return redirect(here)


def _send(grid: Grid) -> None:
    transaction.on_commit(partial(send_grid, grid))
