"""The main metrics of a dataset, which researchers pin on its page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.runs.forms.main_metrics import MainMetricsForm
from evaluation.runs.services.main_metrics import PinError, pin_main_metrics
from generation.models import Dataset


@require_POST
@allowed(Role.RESEARCHER)
def pin(request: SignedInRequest, slug: str) -> HttpResponse:
    """Pin the chosen runs as the main metrics of a dataset, or take a pin away."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = MainMetricsForm(dataset, request.POST)
    problem = "" if form.is_valid() else "A run that you chose does not exist any more."
    if not problem:
        try:
            pin_main_metrics(dataset, form.chosen, request.user)
        except PinError as error:
            problem = str(error)
    if problem:
        messages.error(request, f"{problem} Nothing was changed.")
    else:
        messages.success(request, f"The main metrics of {dataset.name} are saved.")
    return redirect("generation:dataset", slug)
