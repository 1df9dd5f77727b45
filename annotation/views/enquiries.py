"""The page on which researchers answer questions of raters (enquiries)."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.enquiries import enquiries_of, enquiry_counts, listed
from annotation.forms.enquiries import AnswerForm
from annotation.models import Enquiry, Study
from annotation.services.enquiries import EnquiryError
from annotation.services.enquiries import answer_enquiry as store
from annotation.services.studies import StudyError
from annotation.views.setup import rated_here

ENQUIRIES_PER_PAGE = 20


@require_safe
@allowed(Role.RESEARCHER)
def enquiries(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the questions of a study's raters, and show a form for each answer."""
    return _page(request, rated_here(slug))


@require_POST
@allowed(Role.RESEARCHER)
def answer_enquiry(request: SignedInRequest, slug: str, enquiry_id: int) -> HttpResponse:
    """Answer a question of a rater: to this rater, or to all raters of the study."""
    study = rated_here(slug)
    found = Enquiry.objects.select_related("rater__study")
    enquiry = get_object_or_404(found, pk=enquiry_id, rater__study=study)
    form = AnswerForm(enquiry, request.POST)
    if not form.is_valid():
        return _page(request, study, form)
    said = form.cleaned_data
    try:
        is_new = store(
            enquiry,
            said["answer"],
            request.user,
            is_for_all=form.is_for_all,
            replaces=said["replaces"],
        )
    except EnquiryError as error:
        form.add_error("answer", str(error))
        return _page(request, study, form)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _outcome(enquiry, is_new=is_new))
    return redirect("annotation:enquiries", slug)


def _outcome(enquiry: Enquiry, *, is_new: bool) -> str:
    if not is_new:
        return "This answer is stored already."
    if enquiry.is_for_all:
        return (
            "The question and your answer are in a new version of the guidelines. All raters read "
            "it before their next unit."
        )
    return f"{enquiry.rater.code} finds your answer under My studies and at the unit."


def _page(request: SignedInRequest, study: Study, sent: AnswerForm | None = None) -> HttpResponse:
    """Show the page; `sent` is a form that was refused, and comes first with its question."""
    asked = enquiries_of(study)
    page = Paginator(asked, ENQUIRIES_PER_PAGE).get_page(request.GET.get("page"))
    rows = [
        (listed(each), AnswerForm(each))
        for each in page.object_list
        if sent is None or each != sent.enquiry
    ]
    if sent:
        rows.insert(0, (listed(asked.get(pk=sent.enquiry.pk)), sent))
    context = {"study": study, "page": page, "rows": rows, "counts": enquiry_counts(study)}
    return render(request, "annotation/enquiries.html", context, status=422 if sent else 200)
