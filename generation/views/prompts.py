"""The page of an example's prompts. It marks the parts of each prompt."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from generation.forms.prompts import PromptPreviewForm
from generation.grids.previews import asks_about_graph, previews, shown_passages
from generation.models import Example
from generation.text.dialog_prompts import prompt_lines


@require_safe
@allowed(Role.RESEARCHER)
def first_prompts(request: SignedInRequest, slug: str) -> HttpResponse:
    """Lead to the prompts of a dataset's first example; without one, to the dataset."""
    examples = Example.objects.of_benchmark().filter(dataset__slug=slug).order_by("pk")
    first = examples.values_list("pk", flat=True).first()
    if first is None:
        return redirect("generation:dataset", slug)
    return redirect("generation:prompts", slug, first)


@require_safe
@allowed(Role.RESEARCHER)
def prompts(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show one prompt of an example word by word, and the sizes of the prompts of all types."""
    example = get_object_or_404(
        Example.objects.select_related("dataset"), pk=pk, dataset__slug=slug
    )
    about_graph = asks_about_graph(example)
    usual = PromptPreviewForm.USUAL_ABOUT_GRAPH if about_graph else PromptPreviewForm.USUAL
    form = PromptPreviewForm(usual | request.GET.dict())
    rows = previews(example, form.choices()) if form.is_valid() else []
    shown = next((row for row in rows if row.type.key == form.cleaned_data["type"]), None)
    prompt = shown.made.prompt if shown else None
    return render_page_or_fragment(
        request,
        page="generation/prompts.html",
        fragment="generation/_prompts.html",
        context={
            "example": example,
            "form": form,
            "rows": rows,
            "shown": shown,
            "lines": prompt_lines(prompt.text, prompt.n_demonstrating) if prompt else [],
            "passages": shown_passages(example, shown.made) if shown else [],
        },
        status=200 if form.is_valid() else 422,
    )
