"""Pages of datasets: the list, the examples of one dataset, and the facts about it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed, for_importers
from accounts.http import SignedInRequest, page_to_return_to, render_page_or_fragment
from accounts.listing import (
    Compared,
    ListFilter,
    Listing,
    Options,
    Sort,
    containing,
    has_any,
    n_of,
    said_of_archive,
)
from generation.evidence import with_n_shown
from generation.forms.datasets import DatasetFactsForm, ExampleFilter
from generation.models import Dataset, Entity, Example, Response
from generation.services.datasets import archive_dataset, describe_dataset

EXAMPLES_PER_PAGE = 15

_examples = Example.objects.of_benchmark()
_responses = Response.objects.of_benchmark()
_with_studies = Dataset.objects.filter(studies__isnull=False)
CONTENT: Options = {
    "responses": ("With responses", has_any(_responses, "dataset")),
    "graph": ("With a graph", has_any(Entity.objects.all(), "dataset")),
    "studies": ("With a study", Q(pk__in=_with_studies.values("pk"))),
}
DATASETS = Listing(
    "datasets",
    finds=containing("name", "description", "source"),
    sorts=(
        Sort("name", "Dataset", Lower("name"), Compared.TEXT),
        Sort("examples", "Examples", n_of(_examples, "dataset"), Compared.COUNT),
        Sort("responses", "Responses", n_of(_responses, "dataset"), Compared.COUNT),
        Sort("date", "Imported", "created_at", Compared.DATE),
    ),
    filters=(ListFilter("with", "Content", CONTENT),),
)


@require_safe
@allowed(Role.RESEARCHER)
def datasets(request: SignedInRequest) -> HttpResponse:
    """List the datasets with what they hold."""
    listed = DATASETS.read(Dataset.objects.all(), request)
    datasets = list(listed.rows)
    examples, responses = (
        dict(
            rows.filter(dataset__in=datasets)
            .order_by()
            .values_list("dataset")
            .annotate(n=Count("pk"))
        )
        for rows in (_examples, _responses)
    )
    rows = [(each, examples.get(each.pk, 0), responses.get(each.pk, 0)) for each in datasets]
    return render_page_or_fragment(
        request,
        page="generation/datasets.html",
        fragment="generation/_dataset_list.html",
        context={"listed": listed, "page": listed.page, "rows": rows},
    )


@require_safe
@allowed(Role.RESEARCHER)
def dataset(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the examples of a dataset, page by page, with a search and filters."""
    found = get_object_or_404(Dataset, slug=slug)
    form = ExampleFilter(found, request.GET)
    form.is_valid()  # if the setup was deleted, the other choices still count
    examples = _matching(found, form.cleaned_data).order_by("pk")
    page = Paginator(examples, EXAMPLES_PER_PAGE).get_page(request.GET.get("page"))
    setups = list(found.setups.of_benchmark().with_n_responses().order_by("name"))
    listed: QuerySet[Example] = page.object_list  # type: ignore[assignment]
    page.object_list = (
        with_n_shown(listed)
        .annotate(n_responses=Count("responses"))
        .prefetch_related("turns", "evidence")
    )
    return render_page_or_fragment(
        request,
        page="generation/dataset.html",
        fragment="generation/_example_list.html",
        context={
            "dataset": found,
            "form": form,
            "page": page,
            "n_passages": found.passages.count(),
            "setups": setups,
            "by_model": _by_model(setups),
            "n_ad_hoc": found.examples.filter(is_ad_hoc=True).count(),
            "n_entities": found.entities.count(),
        },
    )


class OfModel(NamedTuple):
    """A model at one temperature with the numbers of its setups and responses; "": not known."""

    model: str
    temperature: float | None
    n_setups: int
    n_responses: int


def _by_model(setups: Iterable[Any]) -> list[OfModel]:
    """Return the numbers of setups and responses by model and temperature, in that order."""
    found: dict[tuple[str, float | None], list[Any]] = defaultdict(list)
    for setup in setups:
        found[setup.model, setup.temperature].append(setup)
    return [
        OfModel(*key, len(own), sum(setup.n_responses for setup in own))
        for key, own in sorted(found.items(), key=lambda item: (item[0][0], item[0][1] or 0.0))
    ]


@require_http_methods(["GET", "POST"])
@for_importers
def describe(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show or store the facts about a dataset: what it is, its licence, source and language."""
    found = get_object_or_404(Dataset, slug=slug)
    form = DatasetFactsForm(request.POST or None, instance=found)
    if form.is_valid():
        describe_dataset(found, form.cleaned_data, request.user)
        messages.success(request, f"The description of {found.name} is saved.")
        return redirect("generation:dataset", slug)
    context = {"dataset": found, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "generation/describe.html", context, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def archive(request: SignedInRequest, slug: str) -> HttpResponse:
    """Put a dataset into the archive, or take it out of it."""
    found = get_object_or_404(Dataset, slug=slug)
    is_archived = request.POST.get("archived") == "yes"
    archive_dataset(found, is_archived, request.user)
    messages.success(request, said_of_archive(found.name, is_archived))
    return redirect(page_to_return_to(request))


def _matching(dataset: Dataset, choice: dict[str, str]) -> QuerySet[Example]:
    """Return the examples that a filter leaves. Ad-hoc questions are listed with their graph."""
    examples = Example.objects.of_benchmark().filter(dataset=dataset)
    if words := choice.get("q"):
        examples = examples.filter(
            containing("key", "golden_answer")(words) | Q(pk__in=_with_text(dataset, words))
        )
    if dialog := choice.get("dialog"):
        examples = examples.filter(dialog=dialog)
    if setup := choice.get("setup"):
        examples = examples.filter(
            pk__in=Response.objects.filter(setup=int(setup)).values("example")
        )
    return examples


def _with_text(dataset: Dataset, words: str) -> QuerySet[Example, int]:
    """Return the ids of examples with these words in a turn or in a response."""
    in_turns = dataset.examples.filter(containing("turns__text")(words)).values_list("pk")
    in_responses = dataset.examples.filter(containing("responses__text")(words)).values_list("pk")
    return in_turns.union(in_responses)  # type: ignore[return-value]
