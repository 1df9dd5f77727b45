"""The datasets that forms offer, and the one on which a form opens."""

from django.db.models import QuerySet

from accounts.listing import has_any, on_offer
from accounts.models import Archivable, User
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


def why_not_offered(kind: str, key: str, there: Archivable | None, lacks: str) -> str:
    """Return why a form does not offer what an address names.

    Args:
        kind: "dataset", "sample" or "study".
        key: what the address calls it.
        there: what has this key; of a sample, its dataset.
        lacks: what a dataset that the form cannot work with has, such as "no responses".
    """
    if there and there.is_archived:
        return f"{there} is archived. Restore it on its own page, or choose another {kind}."
    return f"{there} has {lacks}." if there and kind == "dataset" else f"There is no {kind} {key}."
