"""Lists of studies: all of them for researchers, their own for raters."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Rater, Study
from annotation.own_work import half_answered, own_studies, own_units, submitted_units
from annotation.schemes import load_scheme

STUDIES_PER_PAGE = 50
UNITS_PER_PAGE = 20


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
    """List the studies that this rater takes part in, and the units that they have in hand."""
    mine = own_studies(request.user)
    context = {
        "in_hand": half_answered(request.user),
        "open": [study for study in mine if not study.is_finished],
        "finished": [study for study in mine if study.is_finished],
    }
    return render(request, "annotation/my_studies.html", context)


@require_safe
@allowed(Role.RATER)
def my_answers(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the units that this rater has submitted in a study, newest first."""
    raters = Rater.objects.select_related("study")
    rater = get_object_or_404(raters, study__slug=slug, user=request.user)
    done = submitted_units(rater).select_related("arm")
    texts = ("places__target__response", "places__target__citation")
    page = Paginator(done.prefetch_related(*texts), UNITS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    units = own_units(rater, load_scheme(rater.study.scheme), list(page.object_list))
    context = {"study": rater.study, "page": page, "units": units}
    return render(request, "annotation/my_answers.html", context)
