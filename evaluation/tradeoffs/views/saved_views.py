"""The views of trade-offs that are saved by a name."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.models import SavedView
from evaluation.tradeoffs.forms.saved_views import SavedViewForm, known_pairs
from evaluation.tradeoffs.services import saved_views as services
from evaluation.tradeoffs.views.page import tradeoff_page
from generation.models import Dataset


@require_POST
@allowed(Role.RESEARCHER)
def save_view(request: SignedInRequest, slug: str) -> HttpResponse:
    """Save a view by its name, and show it; a view that is refused stays in the form as it was.

    A name that is taken is refused at first. Then the researcher may choose to replace that view.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    form = SavedViewForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        view = services.save_view(
            dataset, said["name"], said["address"], request.user, replaces=said["replaces"]
        )
        if view:
            messages.success(request, f"The view is saved as “{view.name}”.")
            here = reverse("tradeoffs:tradeoff", args=[slug])
            return redirect(f"{here}?{said['address']}" if said["address"] else here)
        form.add_error(
            "name",
            "There is another view with this name. Tick “Replace the view that has this name” "
            "to save "
            "this one in its place, or choose another name.",
        )
    choices = QueryDict(urlencode(known_pairs(request.POST.get("address", ""))))
    return tradeoff_page(request, dataset, choices, form, status=422)


@require_POST
@allowed(Role.RESEARCHER)
def delete_view(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a saved view, but nothing that it showed."""
    view = get_object_or_404(SavedView, dataset__slug=slug, pk=pk)
    services.delete_view(view)
    messages.success(request, f"The view “{view.name}” is deleted.")
    return redirect("tradeoffs:tradeoff", slug)
