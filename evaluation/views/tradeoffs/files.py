"""Trade-offs: files. (Being built.)"""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest


@require_safe
@allowed(Role.RESEARCHER)
def figure(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")


@require_safe
@allowed(Role.RESEARCHER)
def table(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")


@require_safe
@allowed(Role.RESEARCHER)
def methods(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show it."""
    raise Http404("Not built yet.")
