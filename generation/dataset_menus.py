"""The datasets that forms offer, and the one on which a form opens."""

from django.db.models import QuerySet

from accounts.listing import has_any, on_offer
from accounts.models import User
from generation.models import Dataset, Example, Grid, Import, Response


def datasets_with_examples() -> QuerySet[Dataset]:
    """Return the datasets that models can be asked about."""
    return Dataset.objects.filter(has_any(Example.objects.of_benchmark(), "dataset"))


def datasets_with_responses() -> QuerySet[Dataset]:
    """Return the datasets that can be rated and scored."""
    return Dataset.objects.filter(has_any(Response.objects.of_benchmark(), "dataset"))


def usual_dataset(datasets: QuerySet[Dataset], user: User) -> Dataset | None:
    """Return the dataset that a person last imported or asked models about, or else the newest.

    Args:
        datasets: those that the form can work with. Archived ones are left out.
    """
    offered = datasets.filter(on_offer())
    own = [
        used.objects.filter(requested_by=user, dataset__in=offered)
        .order_by("-created_at")
        .values_list("created_at", "dataset")
        .first()
        for used in (Import, Grid)
    ]
    last = max(filter(None, own), default=None)
    return offered.get(pk=last[1]) if last else offered.order_by("-pk").first()


def why_not_offered(kind: str, key: str, lacks: str) -> str:
    """Return why a form does not offer what an address names.

    Args:
        kind: "dataset", "sample" or "study".
        key: what the address calls it.
        lacks: what a dataset that the form cannot work with has, such as "no responses".
    """
    there = Dataset.objects.filter(slug=key).first() if kind == "dataset" else None
    return f"{there} has {lacks}." if there else f"There is no {kind} {key}."
