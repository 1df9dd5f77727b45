"""Pages of knowledge graphs: all graphs, the entities of a graph, an entity with its neighbours."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from accounts.listing import Compared, ListFilter, Listing, Options, Sort, containing, has_any, n_of
from evaluation.graphs.forms.graphs import EntityFilter
from evaluation.graphs.pages.graph import GraphCounts, counts_of, entity_page
from generation.models import Alias, Dataset, Entity, KGQuestion, Response, Triple

ENTITIES_PER_PAGE = 50

_questions = KGQuestion.objects.of_benchmark()
_answers = Response.objects.of_benchmark().filter(graph_shown__isnull=False)
CONTENT: Options = {
    "questions": ("With questions", has_any(_questions, "example__dataset")),
    "answers": ("With answers", has_any(_answers, "dataset")),
}
GRAPHS = Listing(
    "graphs",
    finds=containing("name", "description", "source"),
    sorts=(
        Sort("name", "Dataset", Lower("name"), Compared.TEXT),
        Sort("entities", "Entities", n_of(Entity.objects.all(), "dataset"), Compared.COUNT),
        Sort("triples", "Triples", n_of(Triple.objects.all(), "subject__dataset"), Compared.COUNT),
        Sort("questions", "Questions", n_of(_questions, "example__dataset"), Compared.COUNT),
        Sort("answers", "Answers", n_of(_answers, "dataset"), Compared.COUNT),
        Sort("date", "Created", "created_at", Compared.DATE),
    ),
    filters=(ListFilter("with", "Content", CONTENT),),
)


@require_safe
@allowed(Role.RESEARCHER)
def graphs(request: SignedInRequest) -> HttpResponse:
    """List the datasets that have a graph, with what each graph contains."""
    with_graph = Dataset.objects.filter(has_any(Entity.objects.all(), "dataset"))
    listed = GRAPHS.read(with_graph, request)
    page = listed.page
    counts = counts_of([dataset.pk for dataset in page.object_list])
    rows = [(dataset, counts[dataset.pk]) for dataset in page.object_list]
    return render_page_or_fragment(
        request,
        page="evaluation/graphs/list.html",
        fragment="evaluation/graphs/_graph_list.html",
        context={"listed": listed, "page": page, "rows": rows},
    )


@require_safe
@allowed(Role.RESEARCHER)
def graph(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the entities of a graph page by page, with a search and a filter."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = EntityFilter(dataset, request.GET)
    form.is_valid()  # If the type no longer exists, the search still applies.
    entities = _matching(dataset, form.cleaned_data).order_by("label", "qid")
    page = Paginator(entities, ENTITIES_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = list(page.object_list.prefetch_related("aliases"))  # type: ignore[attr-defined]
    is_page = not request.htmx or request.htmx.history_restore_request
    context: dict[str, Any] = {
        "dataset": dataset,
        "form": form,
        "page": page,
        "n_triples": _triples_of(page.object_list),
        "counts": counts_of([dataset.pk])[dataset.pk] if is_page else GraphCounts(),
    }
    return render_page_or_fragment(
        request,
        page="evaluation/graphs/graph.html",
        fragment="evaluation/graphs/_entity_list.html",
        context=context,
    )


@require_safe
@allowed(Role.RESEARCHER)
def entity(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show one entity with its one-hop graph, as a picture and as a table."""
    found = get_object_or_404(Entity.objects.select_related("dataset"), dataset__slug=slug, pk=pk)
    context = {"dataset": found.dataset, "entity": found, "page": entity_page(found)}
    return render(request, "evaluation/graphs/entity.html", context)


def _matching(dataset: Dataset, choice: dict[str, str]) -> QuerySet[Entity]:
    """Return the entities that a filter leaves.

    Words are searched anywhere in labels and aliases. This reads all names of the graph, which
    takes some hundredths of a second for 50,000 entities. An id must match from its beginning.
    """
    entities = Entity.objects.filter(dataset=dataset)
    if words := " ".join(choice.get("q", "").split()):
        named = Alias.objects.filter(containing("name")(words), entity__dataset=dataset)
        entities = entities.filter(
            containing("label")(words)
            | Q(qid__istartswith=words)
            | Q(pk__in=named.values("entity"))
        )
    if kind := choice.get("type"):
        entities = entities.filter(type=kind)
    return entities


def _triples_of(entities: list[Entity]) -> dict[int, int]:
    """Return how many triples each entity is the subject of."""
    triples = Triple.objects.filter(subject__in=entities).order_by()
    return dict(triples.values_list("subject").annotate(n=Count("pk")))
