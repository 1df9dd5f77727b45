"""Studies: a researcher's list of all, a rater's list of their own."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Study

STUDIES_PER_PAGE = 50


@require_safe
@allowed(Role.RESEARCHER)
def studies(request: SignedInRequest) -> HttpResponse:
    """List the studies with scheme, state and number of raters."""
    listed = Study.objects.select_related("dataset").prefetch_related("arms").order_by("-pk")
    page = Paginator(listed, STUDIES_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = page.object_list.annotate(n_raters=Count("raters"))  # type: ignore[attr-defined]
    return render(request, "annotation/studies.html", {"page": page})


@require_safe
@allowed(Role.RATER)
def my_studies(request: SignedInRequest) -> HttpResponse:
    """List the open studies that this rater takes part in."""
    mine = Study.objects.filter(raters__user=request.user, state=Study.State.OPEN)
    return render(request, "annotation/my_studies.html", {"studies": mine})
