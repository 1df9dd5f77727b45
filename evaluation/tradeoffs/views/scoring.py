"""One button starts the runs that both axes of the figure need."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, page_to_return_to
from evaluation.models import MetricRun
from evaluation.runs.progress import title_of
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.run_calls import runs_asking
from evaluation.runs.services.runs import RunError
from evaluation.tradeoffs.scorers import SIDES, usual_plan
from evaluation.tradeoffs.services.scoring import request_scores
from generation.models import Dataset
from generation.views.plan_first import plan_first


@require_POST
@allowed(Role.RESEARCHER)
def score(request: SignedInRequest, slug: str) -> HttpResponse:
    """Have the responses of a dataset scored for both axes, or for those that the form names."""
    dataset = get_object_or_404(Dataset, slug=slug)
    named = request.POST.getlist("side")
    plans = [usual_plan(dataset, side) for side in SIDES if not named or side in named]
    if page := plan_first(request, runs_asking(dataset, plans, dataset.responses.of_benchmark())):
        return page
    try:
        runs = request_scores(dataset, plans, request.user)
    except RunError as error:
        messages.error(request, f"Nothing was started. {error}")
        return redirect(page_to_return_to(request))
    for run in runs:
        send_run(run)
    going_on = [title_of(run) for run in runs if run.state == MetricRun.State.RUNNING]
    if going_on:
        said = " and ".join(going_on)
        messages.success(request, f"Started: {said}. This page shows the scores as they come.")
    else:
        messages.info(request, "All responses have these scores already.")
    return redirect("tradeoffs:tradeoff", slug)
