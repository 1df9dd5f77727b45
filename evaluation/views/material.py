"""One example, one response, with all that people and metrics said; deleting a dataset."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Study
from evaluation.forms import DeleteDatasetForm
from evaluation.judgements import judgements, scores
from evaluation.services import delete_dataset as delete
from generation.models import Dataset, Example, Response


@require_safe
@allowed(Role.RESEARCHER)
def example(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show a dialog with its evidence and every response to it."""
    found = get_object_or_404(
        Example.objects.select_related("dataset").prefetch_related("turns", "evidence__passage"),
        dataset__slug=slug,
        pk=pk,
    )
    responses = list(found.responses.select_related("setup").order_by("setup__name", "key"))
    said, scored = judgements(responses), scores(responses)
    neighbours = Example.objects.filter(dataset=found.dataset_id)
    context = {
        "example": found,
        "rows": [
            {"response": r, "judgements": said.get(r.pk, []), "scores": scored.get(r.pk, [])}
            for r in responses
        ],
        "previous": neighbours.filter(pk__lt=found.pk).order_by("-pk").first(),
        "next": neighbours.filter(pk__gt=found.pk).order_by("pk").first(),
    }
    return render(request, "evaluation/example.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def response(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show one response: dialog, evidence, setup, every vote and every score."""
    found = get_object_or_404(
        Response.objects.select_related("example", "setup", "dataset").prefetch_related(
            "example__turns", "example__evidence__passage", "shown__passage"
        ),
        dataset__slug=slug,
        pk=pk,
    )
    others = found.example.responses.select_related("setup").exclude(pk=found.pk)
    context = {
        "response": found,
        "golden": [shown for shown in found.example.evidence.all() if shown.is_golden],
        "judgements": judgements([found]).get(found.pk, []),
        "scores": scores([found]).get(found.pk, []),
        "others": others.order_by("setup__name", "key"),
    }
    return render(request, "evaluation/response.html", context)


@require_http_methods(["GET", "POST"])
@allowed(Role.ADMIN)
def delete_dataset(request: SignedInRequest, slug: str) -> HttpResponse:
    """Delete a dataset and all that hangs on it, once its name was typed."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = DeleteDatasetForm(dataset, request.POST or None)
    if form.is_valid():
        delete(dataset, request.user)
        messages.success(request, f"Deleted {dataset.name}.")
        return redirect("generation:datasets")
    context = {
        "dataset": dataset,
        "form": form,
        "n_examples": dataset.examples.count(),
        "n_responses": dataset.responses.count(),
        "studies": Study.objects.filter(dataset=dataset),
    }
    status = 422 if form.is_bound else 200
    return render(request, "evaluation/delete_dataset.html", context, status=status)
