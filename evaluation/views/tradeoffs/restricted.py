"""Trade-offs: restricted. (Being built.)"""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest


@require_safe
@allowed(Role.RESEARCHER)
def restricted(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")


@require_POST
@allowed(Role.RESEARCHER)
def start_restricted(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")


@require_safe
@allowed(Role.RESEARCHER)
def download_restricted(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")
