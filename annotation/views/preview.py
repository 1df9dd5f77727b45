"""The preview of a study's units, and the known answers that a researcher gives there."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.rating import RatingForm
from annotation.models import Arm, Study
from annotation.pages.rating_desk import RatingDesk
from annotation.previewed_units import UnitPreview, preview_unit
from annotation.services.gold import add_known_answers
from annotation.services.studies import StudyError
from annotation.stated_reasons import FLAG_REASONS, SKIP_REASONS
from annotation.views.setup import rated_here


@require_safe
@allowed(Role.RESEARCHER)
def preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a unit as a rater sees it; nothing is stored."""
    study = rated_here(slug)
    kinds = [arm.kind for arm in study.arms.all()]
    kind = request.GET.get("arm", kinds[0])
    typed = request.GET.get("number", "1")
    number = int(typed) if typed.isdecimal() and len(typed) < 9 else 0
    previewed = preview_unit(study, kind, number) if kind in kinds else None
    if previewed is None and (kind not in kinds or number != 1):
        raise Http404("There is no such unit to preview.")
    if previewed is None:
        context = {"study": study, "kinds": kinds, "kind": kind, "number": number}
        return render(request, "annotation/nothing_to_preview.html", context)
    return _page(request, previewed, number, RatingForm(previewed.unit))


@require_POST
@allowed(Role.RESEARCHER)
def know_answers(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """Store the answers given on the preview of a single response as its known answers."""
    study = rated_here(slug)
    previewed = preview_unit(study, Arm.Kind.SEPARATE, number)
    if previewed is None or not _can_be_known(previewed):
        raise Http404("This unit cannot become a gold item.")
    form = RatingForm(previewed.unit, request.POST)
    if request.POST.get("response") != previewed.response:
        messages.error(request, "The plan has changed meanwhile. Answer this response again.")
    elif not form.is_valid():
        return _page(request, previewed, number, form)
    else:
        try:
            add_known_answers(study, previewed.response, form.forms[0].given, request.user)
        except StudyError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "The answers are known: this response is a gold item.")
    address = reverse("annotation:preview", args=[slug])
    return redirect(f"{address}?arm={Arm.Kind.SEPARATE.value}&number={number}")


def _can_be_known(previewed: UnitPreview) -> bool:
    """Return whether the unit is a single response of a planned study, as gold items are."""
    unit = previewed.unit
    is_single = unit.arm == Arm.Kind.SEPARATE and unit.scheme.target == "response"
    return is_single and unit.study.state == Study.State.PLANNED


def _page(
    request: SignedInRequest, previewed: UnitPreview, number: int, form: RatingForm
) -> HttpResponse:
    """Render the preview of a unit. A form that was sent has errors when it comes here."""
    unit, desk = previewed.unit, RatingDesk(form)
    context = {
        "study": unit.study,
        "kinds": [arm.kind for arm in unit.study.arms.all()],
        "kind": unit.arm,
        "number": number,
        "unit": unit,
        "desk": desk,
        "previewed": previewed,
        "known_url": reverse("annotation:know-answers", args=[unit.study.slug, number])
        if _can_be_known(previewed)
        else "",
        "n_units": previewed.n_units,
        "unit_before": number - 1,
        "unit_after": number + 1 if number < previewed.n_units else None,
        "action": "Not stored:",
        "problem": desk.problem,
        "skip_reasons": SKIP_REASONS,
        "flag_reasons": FLAG_REASONS,
    }
    status = 422 if form.is_sent else 200
    return render(request, "annotation/preview.html", context, status=status)
