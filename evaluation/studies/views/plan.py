"""The page of a plan: how many dialogs, raters and arms a study needs."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.registry import CannotReport
from evaluation.studies.figures.plan import plan_chart
from evaluation.studies.forms.plan import PlanChoicesForm
from evaluation.studies.pages.plan import plan_page
from evaluation.studies.reports.plan import PLAN
from generation.choices.declaration import ChoiceError, unusual
from generation.models import Dataset, Response


@require_safe
@allowed(Role.RESEARCHER)
def plan(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what studies of different sizes would give, with the choices of the address."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = PlanChoicesForm(request.GET, dataset)
    context: dict[str, Any] = {"dataset": dataset, "form": form, "plots": {}}
    try:
        choices = PLAN.chosen(dataset, form.given)
        report = PLAN.make(dataset, choices)
    except (ChoiceError, CannotReport) as error:
        context["problem"] = str(error)
    else:
        has_responses = Response.objects.of_benchmark().filter(dataset=dataset).exists()
        page = plan_page(report, choices, can_plan=has_responses)
        form.tell(page.assumptions)
        context |= {
            "choices": choices,
            "report": report,
            "page": page,
            "has_responses": has_responses,
            "address": query_string(unusual(choices)),
        }
        if spec := plan_chart(report.rows):
            context["plots"] = {"charts": {"plan": spec}, "themes": page_themes()}
    return render_page_or_fragment(
        request,
        page="evaluation/studies/plan.html",
        fragment="evaluation/studies/_plan.html",
        context=context,
    )
