"""Made-up minimum sets, for experiments over questions that have none."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from generation.models import Dataset, Triple
from generation.services.made_up_minimum import MadeUpError, make_up_minimum, usual_copy

MOST_ROWS = 50_000  # entities and triples that are copied while the researcher waits for the page


@require_POST
@allowed(Role.RESEARCHER)
def make_up(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make the dataset with made-up minimum sets, or show the one that was made from this one."""
    dataset = get_object_or_404(Dataset, slug=slug)
    if there := usual_copy(dataset):
        messages.info(
            request, f"{there} already exists. It was made on {there.created_at:%-d %b %Y}."
        )
        return redirect("graphs:experiments", there.slug)
    if _n_rows(dataset) > MOST_ROWS:
        messages.error(
            request,
            f"Nothing was made: the graph has more than {MOST_ROWS:,} entities and triples, which "
            f"takes long. Use the command 'manage.py make_up_minimum {dataset.slug}' instead.",
        )
        return redirect("graphs:experiments", slug)
    try:
        made = make_up_minimum(dataset, user=request.user)
    except MadeUpError as error:
        if made_meanwhile := usual_copy(dataset):  # A second click has made it.
            return redirect("graphs:experiments", made_meanwhile.slug)
        messages.error(request, f"Nothing was made: {error}.")
        return redirect("graphs:experiments", slug)
    return redirect("graphs:experiments", made.slug)


def _n_rows(dataset: Dataset) -> int:
    """Return how many entities and triples a graph has.

    Each count stops at `MOST_ROWS` + 1, so a sum above `MOST_ROWS` only means too many.
    """
    n_entities = dataset.entities.order_by()[: MOST_ROWS + 1].count()
    triples = Triple.objects.filter(subject__dataset=dataset).order_by()
    return n_entities + triples[: MOST_ROWS + 1].count()
