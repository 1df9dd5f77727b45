"""The pages on which researchers see who is to be paid, and approve or reject submissions."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Max
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.payments import RejectForm
from annotation.models import CrowdPlatform
from annotation.payments import (
    WAITS,
    approved_ids,
    asks_prolific,
    participants_of,
    payments,
    payments_csv,
)
from annotation.prolific import ProlificError
from annotation.services import submissions

PEOPLE_PER_PAGE = 100


@require_safe
@allowed(Role.RESEARCHER)
def study_payments(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the people whom a platform sent: those who wait for a review, or all."""
    platform = _platform(slug)
    shows_all = request.GET.get("show") == "all"
    people = participants_of(platform)
    waiting = people.filter(WAITS)
    page = Paginator(people if shows_all else waiting, PEOPLE_PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "study": platform.link.study,
        "platform": platform,
        "asks_prolific": asks_prolific(platform),
        "checked_at": people.aggregate(last=Max("checked_at"))["last"],
        "shows_all": shows_all,
        "is_ticked": request.GET.get("ticked") == "all",
        "n_people": page.paginator.count if shows_all else people.count(),
        "n_waiting": waiting.count() if shows_all else page.paginator.count,
        "page": page,
        "payments": payments(list(page.object_list)),
    }
    return render(request, "annotation/payments.html", context)


@require_POST
@allowed(Role.RESEARCHER)
def approve_submissions(request: SignedInRequest, slug: str) -> HttpResponse:
    """Approve the submissions that are ticked, or the one whose button was pressed."""
    platform = _platform(slug)
    typed = request.POST.getlist("one") or request.POST.getlist("rater")
    raters = [int(each) for each in typed if each.isdecimal() and len(each) < 19]
    try:
        n_approved = submissions.approve_submissions(platform, raters, request.user)
    except ProlificError as error:
        messages.error(request, f"{error} Nothing was approved.")
    else:
        _say_approved(request, n_approved, is_asked=bool(raters))
    return redirect("annotation:payments", slug)


def _say_approved(request: SignedInRequest, n_approved: int, *, is_asked: bool) -> None:
    if n_approved:
        what = f"{n_approved:,} submissions are" if n_approved > 1 else "The submission is"
        messages.success(request, f"{what} approved.")
    elif is_asked:
        messages.info(request, "Nothing was changed: none of these people waits any more.")
    else:
        messages.error(request, "Nobody was ticked. Tick the people whom you want to approve.")


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def reject_submission(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Ask for the reason of a rejection, show it once more, and reject."""
    platform = _platform(slug)
    person = get_object_or_404(participants_of(platform).filter(WAITS), rater=rater_id)
    posted = request.method == "POST"
    form = RejectForm(request.POST if posted else None)
    is_right = posted and form.is_valid()
    if is_right and request.POST.get("is_confirmed") == "yes":
        try:
            submissions.reject_submission(person, **form.cleaned_data, by=request.user)
        except ProlificError as error:
            messages.error(request, f"{error} Nothing was rejected.")
        else:
            messages.success(request, f"The submission of {person.rater.code} is rejected.")
        return redirect("annotation:payments", slug)
    [payment] = payments([person])
    context = {
        "study": platform.link.study,
        "payment": payment,
        "form": form,
        "is_to_confirm": is_right and "change" not in request.POST,
        "asks_prolific": asks_prolific(platform),
    }
    status = 422 if posted and not is_right else 200
    return render(request, "annotation/reject_submission.html", context, status=status)


@require_safe
@allowed(Role.RESEARCHER)
def payments_file(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """Download a CSV of all people with the ids that the platform knows."""
    answer = StreamingHttpResponse(payments_csv(_platform(slug)), content_type="text/csv")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-payments.csv"'
    return answer


@require_safe
@allowed(Role.RESEARCHER)
def approved_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """Download the ids of the people who are approved, to paste into Prolific."""
    answer = HttpResponse(approved_ids(_platform(slug)), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-approved.txt"'
    return answer


def _platform(slug: str) -> CrowdPlatform:
    platforms = CrowdPlatform.objects.select_related("link__study")
    return get_object_or_404(platforms, link__study__slug=slug)
