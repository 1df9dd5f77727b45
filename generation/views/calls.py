"""Calls of a grid: the list of them, and one with its prompt and its result."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from generation.forms.grids import CallFilterForm
from generation.grids.prompts import n_demonstrating
from generation.models import Call, ExamplePassage, Grid, ResponsePassage
from generation.text.debris import debris_in
from generation.text.dialog_prompts import prompt_lines

CALLS_PER_PAGE = 50


@require_safe
@allowed(Role.RESEARCHER)
def calls(request: SignedInRequest, pk: int) -> HttpResponse:
    """List the calls of a grid, page by page: all, or those of a setup, failed ones, or debris."""
    grid = get_object_or_404(Grid.objects.select_related("dataset", "sample"), pk=pk)
    form = CallFilterForm(grid, request.GET)
    found = form.calls_left().select_related("example", "setup", "response")
    page = Paginator(found, CALLS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page_or_fragment(
        request,
        page="generation/grids/calls.html",
        fragment="generation/grids/_call_list.html",
        context={
            "grid": grid,
            "form": form,
            "page": page,
            "n_failed": grid.calls.filter(response=None).count(),
            "can_retry": grid.state == Grid.State.DONE,
        },
    )


@require_safe
@allowed(Role.RESEARCHER)
def call(request: SignedInRequest, pk: int, call_pk: int) -> HttpResponse:
    """Show one call: its prompt word by word, what the model said, and the response made of it."""
    grid = get_object_or_404(Grid.objects.select_related("dataset", "sample"), pk=pk)
    of_grid = Call.objects.filter(grid=grid)
    found = get_object_or_404(of_grid.select_related("example", "setup", "response"), pk=call_pk)
    same_setup = of_grid.filter(setup=found.setup_id).values_list("pk", flat=True)
    golden = ExamplePassage.objects.filter(example=found.example_id, is_golden=True)
    shown = ResponsePassage.objects.filter(response=found.response_id or 0)
    demonstrating = n_demonstrating(grid.dataset, found.setup) if found.prompt else 0
    context = {
        "grid": grid,
        "call": found,
        "lines": prompt_lines(found.prompt, demonstrating) if found.prompt else [],
        "debris": debris_in(found.response.text) if found.response and found.is_debris else None,
        "passages": shown.select_related("passage"),
        "golden": set(golden.values_list("passage", flat=True)),
        "previous": same_setup.filter(pk__lt=found.pk).order_by("-pk").first(),
        "next": same_setup.filter(pk__gt=found.pk).order_by("pk").first(),
    }
    return render(request, "generation/grids/call.html", context)
