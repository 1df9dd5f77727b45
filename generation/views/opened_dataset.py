"""The dataset on which the page of a form opens."""

from django.contrib import messages
from django.db.models import QuerySet

from accounts.http import SignedInRequest
from accounts.listing import on_offer
from generation.dataset_menus import usual_dataset, why_not_offered
from generation.models import Dataset


def opened_dataset(
    request: SignedInRequest, offered: QuerySet[Dataset], lacks: str
) -> Dataset | None:
    """Return the dataset that an address names, or the usual one if it names none.

    If the form does not offer that dataset, the page says why, and nothing is chosen.

    Args:
        offered: the datasets that the form can work with.
        lacks: what the other datasets have, such as "no responses".
    """
    slug = request.GET.get("dataset", "")
    if not slug:
        return usual_dataset(offered, request.user)
    named = offered.filter(on_offer(), slug=slug).first()
    if named is None:
        there = Dataset.objects.filter(slug=slug).first()
        messages.error(request, why_not_offered("dataset", slug, there, lacks))
    return named
