"""Every address of the site, by app. The pages of 403, 404 and 500 are templates of these names."""

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
    """Redirect to the first page of the user's highest role."""
    roles = roles_of(request.user)
    for role, page in FIRST_PAGES.items():
        if role in roles:
            return redirect(page)
    raise PermissionDenied("Your account has no role yet. An admin can give it one.")


urlpatterns = [
    path("", home, name="home"),
    path("accounts/", include("accounts.urls")),
    path("api/", include("config.api")),
    # The order matters: studies/mine/ is not a study, and data/import/ is not a dataset.
    path("studies/", include("annotation.urls")),
    path("", include("evaluation.urls")),
    path("data/", include("generation.urls")),
    path("grids/", include("generation.grid_urls")),
    path("tradeoffs/", include("evaluation.tradeoffs.urls")),
    path("graphs/", include("evaluation.graphs.urls")),
    path("constructions/", include("evaluation.graphs.construction.urls")),
]
