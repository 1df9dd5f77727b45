"""Trade-offs: saved_views. (Being built.)"""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest


@require_POST
@allowed(Role.RESEARCHER)
def save_view(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")


@require_POST
@allowed(Role.RESEARCHER)
def delete_view(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")
