"""The pages of trade-offs: the list of datasets, and the figure of one with its table."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.tradeoffs.axis_trust import axis_trust
from evaluation.tradeoffs.chart_view import FIGURES
from evaluation.tradeoffs.figure_choice import ZOOM
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.saved_views import SavedViewForm
from evaluation.tradeoffs.forms.tradeoff import TradeoffForm
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from evaluation.tradeoffs.pages.figure_addresses import figure_pairs, own_pairs, whole_pairs
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.pages.tradeoff import figure_page
from evaluation.tradeoffs.readiness import missing_sides, offered_datasets, running_runs
from evaluation.tradeoffs.reports.axes_choices import responses_address
from evaluation.tradeoffs.reports.tradeoff import TradeoffRow
from evaluation.tradeoffs.thin_axes import thin_axes
from generation.models import Dataset


@require_safe
@allowed(Role.RESEARCHER)
def tradeoffs(request: SignedInRequest) -> HttpResponse:
    """List the datasets that have responses, with what their axes still need."""
    return render(request, "evaluation/tradeoffs/list.html", {"offered": offered_datasets()})


@require_safe
@allowed(Role.RESEARCHER)
def tradeoff(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the figure and its table with the choices of the address, or what they still need."""
    return tradeoff_page(request, get_object_or_404(Dataset, slug=slug), request.GET)


def tradeoff_page(
    request: SignedInRequest,
    dataset: Dataset,
    choices: QueryDict,
    save_form: SavedViewForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page with some choices, in the form that an address has.

    Args:
        save_form: a form with a name that was refused; None: an empty form.
    """
    axes_form = AxesForm(choices, dataset=dataset)
    axes = axes_form.chosen
    running = running_runs(dataset, axes)
    context: dict[str, Any] = {
        "dataset": dataset,
        "axes_form": axes_form,
        "axes": axes,
        "address": axes_form.address,
        "choices": choices,
        "running": running,
        "has_responses": dataset.responses.of_benchmark().exists(),
        "missing": missing_sides(axes_form.axes, running),
        "title": "Attribution against sensibleness",
        "saved_views": list(dataset.saved_views.select_related("saved_by")),
    }
    if axes and context["has_responses"]:
        material = cached_material(dataset, axes)
        context |= _drawn(axes_form, TradeoffForm(choices, material=material), material)
        address = context["query"].removeprefix("?")
        saved = {view.address: view.name for view in context["saved_views"]}
        context["is_saved"] = address in saved
        context["title"] = saved.get(address, context["choice"].figure.title)
        context["save_form"] = save_form or SavedViewForm(initial={"address": address})
    answer = render_page_or_fragment(
        request,
        page="evaluation/tradeoffs/tradeoff.html",
        fragment="evaluation/tradeoffs/_tradeoff.html",
        context=context,
        status=status,
    )
    if request.htmx and "query" in context:
        here = reverse("tradeoffs:tradeoff", args=[dataset.slug])
        answer["HX-Push-Url"] = here + context["query"]
    return answer


def _drawn(axes_form: AxesForm, form: TradeoffForm, material: TradeoffMaterial) -> dict[str, Any]:
    """Return what the page shows when there is something to draw."""

    def responses(row: TradeoffRow) -> str:
        return responses_address(material.dataset, row.of.setup_id, axes_form.axes_said)

    choice, axes_pairs = form.choice, axes_form.axes_said.items()
    page = figure_page(material, choice, axes_form.axes, responses)
    as_it_is = [*axes_pairs, *figure_pairs(choice)]
    own = own_pairs(material, choice)
    return {
        "form": form,
        "choice": choice,
        "view": choice.view,
        "zoom": [(form[name], getattr(choice.view, name)) for name in ZOOM],
        "page": page,
        "thin_axes": thin_axes(material, axes_form.axes, by_score=choice.view.by_score),
        "trust": axis_trust(material, axes_form.axes, axes_form.unfit),
        "methods": methods_paragraph(material, choice.view, page.figure, page.lines.recalls),
        "own_pairs": own,
        "query": query_string([*as_it_is, *own]),
        "whole_query": query_string([*as_it_is, *whole_pairs(material, choice)]),
        "tabs": [
            (figure, query_string([*axes_pairs, *figure_pairs(choice, figure.number)]))
            for figure in FIGURES.values()
        ],
        "figure_pairs": as_it_is,
        "figure_query": query_string(as_it_is),
    }
