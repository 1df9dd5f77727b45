"""Views of trade-offs that researchers save to see them again."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.models import SavedView
from generation.models import Dataset


@transaction.atomic
def save_view(
    dataset: Dataset, name: str, address: str, user: User, *, replaces: bool = False
) -> SavedView | None:
    """Save a view by its name and return it; None if the name is taken and may not be replaced.

    Args:
        address: the part of the page's address after the ?.
        replaces: whether the view may replace another view of that name.
    """
    view, is_new = SavedView.objects.get_or_create(
        dataset=dataset, name=name, defaults={"address": address, "saved_by": user}
    )
    if is_new or view.address == address:
        return view
    if not replaces:
        return None
    view.address, view.saved_by, view.saved_at = address, user, timezone.now()
    view.save()
    return view


def delete_view(view: SavedView) -> None:
    """Delete a saved view, but nothing that it showed."""
    view.delete()
