"""A new grid, by its form or by a file."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from generation.dataset_menus import datasets_with_examples
from generation.forms.grids import GridFileForm
from generation.forms.new_grid import (
    NO_EXAMPLES,
    NewGridForm,
    first_choices,
    refuse,
    with_fitting_prompts,
)
from generation.grids.cells import cells
from generation.grids.grid_file import GridError
from generation.grids.plan import examples_of
from generation.models import Grid
from generation.services.grids import GridChangeError, request_grid
from generation.services.planning import send_grid
from generation.views.opened_dataset import opened_dataset


class Size(NamedTuple):
    """The size of a grid before it is planned."""

    n_setups: int
    n_examples: int

    @property
    def n_calls(self) -> int:
        return self.n_setups * self.n_examples


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_grid(request: SignedInRequest) -> HttpResponse:
    """Show the form of a new grid and how many calls it would make, or have the grid planned."""
    if request.method != "POST":
        return _show_form(request, NewGridForm(_so_far(request)))
    form = NewGridForm(request.POST)
    if form.is_valid():
        try:
            chosen = form.cleaned_data
            return _planned(request_grid(chosen["dataset"], chosen["grid"], request.user))
        except GridError as error:
            refuse(form, error)
        except GridChangeError as error:
            form.add_error("name", str(error))
    return _show_form(request, form, status=422)


def _so_far(request: SignedInRequest) -> Mapping[str, Any]:
    """Return the values of the form: what was filled in, if htmx asks, or else the usual ones."""
    if "temperatures" not in request.GET:
        return first_choices(request.GET.dict(), request.user)
    has_other_examples = request.headers.get("HX-Trigger-Name") == "over"
    return with_fitting_prompts(request.GET) if has_other_examples else request.GET


def _show_form(request: SignedInRequest, form: NewGridForm, status: int = 200) -> HttpResponse:
    """Show the form, perhaps half-filled, with how many calls it would make."""
    size, problem = _size(form)
    if status == 200:  # errors are shown only after the form was sent
        form.forget_errors()
    context = {"form": form, "size": size, "problem": problem, "is_refused": status != 200}
    return render(request, "generation/grids/new_grid.html", context, status=status)


def _size(form: NewGridForm) -> tuple[Size | None, str]:
    """Return the size of the grid in a form, or what is wrong with it."""
    grid = form.grid_so_far()
    if grid is None:
        said = [str(error) for errors in form.errors.values() for error in errors]
        return None, " ".join(said[:1])
    chosen = form.cleaned_data
    try:
        n_setups = len(cells(grid))
    except GridError as error:
        return None, f"{error}."
    return Size(n_setups, len(examples_of(chosen["dataset"], chosen["sample"]))), ""


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_grid_from_file(request: SignedInRequest) -> HttpResponse:
    """Paste or upload a grid file, and have it planned."""
    if request.method != "POST":
        dataset = opened_dataset(request, datasets_with_examples(), NO_EXAMPLES)
        form = GridFileForm(initial={"dataset": dataset.slug if dataset else ""})
        return render(request, "generation/grids/new_from_file.html", {"form": form})
    form = GridFileForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            chosen = form.cleaned_data
            return _planned(request_grid(chosen["dataset"], chosen["grid"], request.user))
        except GridError as error:
            form.refuse(error)
        except GridChangeError as error:
            form.add_error(None, str(error))
    return render(request, "generation/grids/new_from_file.html", {"form": form}, status=422)


def _planned(grid: Grid) -> HttpResponse:
    transaction.on_commit(partial(send_grid, grid))
    return redirect("grids:grid", grid.pk)
