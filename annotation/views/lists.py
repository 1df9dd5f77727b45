"""Lists of studies: all of them for researchers, their own for raters."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, page_to_return_to, render_page_or_fragment
from accounts.listing import (
    Compared,
    ListFilter,
    Listing,
    Options,
    Sort,
    containing,
    n_of,
    said_of_archive,
)
from annotation.enquiries import own_enquiries
from annotation.models import Rater, Study
from annotation.own_work import half_answered, own_studies, own_units, submitted_units
from annotation.scheme_languages import text_in
from annotation.schemes import load_scheme
from annotation.services.studies import StudyError, archive_study

UNITS_PER_PAGE = 20


def _schemes() -> Options:
    """Return the schemes of all studies, by title."""
    keys = Study.objects.order_by().values_list("scheme__key", "scheme__title").distinct()
    titled = {key: text_in(title) or key for key, title in keys}
    titles = sorted(titled.items(), key=lambda each: each[1])
    return {key: (title, Q(scheme__key=key)) for key, title in titles}


STUDIES = Listing(
    "studies",
    finds=containing("name", "dataset__name"),
    sorts=(
        Sort("date", "Created", "created_at", Compared.DATE),
        Sort("name", "Study", Lower("name"), Compared.TEXT),
        Sort("dataset", "Dataset", Lower("dataset__name"), Compared.TEXT),
        Sort("raters", "Raters", n_of(Rater.objects.all(), "study"), Compared.COUNT),
    ),
    filters=(ListFilter("scheme", "Scheme", _schemes),),
    tabs={state: (state.label, Q(state=state)) for state in Study.State},
)


@require_safe
@allowed(Role.RESEARCHER)
def studies(request: SignedInRequest) -> HttpResponse:
    """List the studies with scheme, state and number of raters."""
    rows = Study.objects.select_related("dataset").prefetch_related("arms")
    listed = STUDIES.read(rows, request)
    studies = listed.rows.annotate(n_raters=Count("raters"))
    return render_page_or_fragment(
        request,
        page="annotation/studies.html",
        fragment="annotation/_study_list.html",
        context={"listed": listed, "page": listed.page, "studies": studies},
    )


@require_POST
@allowed(Role.RESEARCHER)
def archive(request: SignedInRequest, slug: str) -> HttpResponse:
    """Put a study into the archive, or take it out of it."""
    study = get_object_or_404(Study, slug=slug)
    is_archived = request.POST.get("archived") == "yes"
    try:
        archive_study(study, is_archived, request.user)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, said_of_archive(study.name, is_archived))
    return redirect(page_to_return_to(request))


@require_safe
@allowed(Role.RATER)
def my_studies(request: SignedInRequest) -> HttpResponse:
    """List the studies that this rater takes part in, and the units that they have in hand."""
    mine = own_studies(request.user)
    context = {
        "in_hand": half_answered(request.user),
        "enquiries": own_enquiries(request.user) if any(own.has_asked for own in mine) else [],
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
    done = submitted_units(rater).select_related("arm", "example")
    texts = ("places__target__response", "places__target__citation", "example__turns")
    page = Paginator(done.prefetch_related(*texts), UNITS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    units = own_units(rater, load_scheme(rater.study.scheme), list(page.object_list))
    context = {"study": rater.study, "page": page, "units": units}
    return render(request, "annotation/my_answers.html", context)
