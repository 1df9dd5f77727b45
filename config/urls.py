"""Every address of the site, by app; 403, 404 and 500 pages are templates of those names."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import include, path

from accounts.access import Role, allowed_to_all, roles_of
from accounts.http import SignedInRequest

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"

FIRST_PAGES = {
    Role.ADMIN: "generation:datasets",
    Role.RESEARCHER: "annotation:studies",
    Role.RATER: "annotation:my-studies",
}


@allowed_to_all
def home(request: SignedInRequest) -> HttpResponse:
    """Go to the page that somebody's highest role begins with."""
    roles = roles_of(request.user)
    for role, page in FIRST_PAGES.items():
        if role in roles:
            return redirect(page)
    raise PermissionDenied("Your account has no role yet. An admin can give it one.")


urlpatterns = [
    path("", home, name="home"),
    path("accounts/", include("accounts.urls")),
    path("api/", include("config.api")),
    # In this order: studies/mine/ is no study, and data/import/ is no dataset.
    path("studies/", include("annotation.urls")),
    path("", include("evaluation.urls")),
    path("data/", include("generation.urls")),
    path("grids/", include("generation.grid_urls")),
    path("tradeoffs/", include("evaluation.tradeoffs.urls")),
    path("graphs/", include("evaluation.graphs.urls")),
    path("constructions/", include("evaluation.graphs.construction.urls")),
]
