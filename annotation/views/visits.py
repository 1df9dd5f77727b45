"""The pages of a visit to a study: the qualification round at its beginning, and its end."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.rating import RatingForm
from annotation.models import CrowdPlatform, Participant, QualificationAnswer, Rater, Study
from annotation.pages.rating_desk import RatingDesk
from annotation.qualification import feedback_on, item_as_unit, next_item, score_of
from annotation.schemes import load_scheme
from annotation.services.joining import end_visit
from annotation.services.qualification import answer_item, end_round


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RATER)
def qualification(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the next item of the round; take its answers, and lead to what is right about them.

    Answers say which item they are about, so that none counts for an item that was not shown: a
    form may be sent twice, or its item may leave the round meanwhile.
    """
    rater = _rater(request, slug)
    item = next_item(rater) if rater.must_qualify else None
    if item is None:
        end_round(rater)  # if two tabs sent the last answers at once, neither of them did this
        return redirect("annotation:end-of-round", slug)
    is_sent, about = request.method == "POST", request.GET.get("item", "")
    if is_sent and about != str(item.pk):
        return _led_on(rater, about)
    unit = item_as_unit(rater.study, item, rater.qualification_answers.count())
    form = RatingForm(unit, request.POST if is_sent else None)
    if is_sent and form.is_valid():
        answer_item(rater, item, form.forms[0].given)
        return _led_on(rater, about)
    return item_page(request, form, f"{request.path}?item={item.pk}")


def _led_on(rater: Rater, item: str) -> HttpResponse:
    """Lead to what is right about an item that a rater answered, else to the next item."""
    answers = rater.qualification_answers.values_list("item", "item__place")
    places = {str(pk): place for pk, place in answers}
    if item in places:
        return redirect("annotation:qualification-item", rater.study.slug, places[item])
    return redirect("annotation:qualification", rater.study.slug)


def item_page(request: HttpRequest, form: RatingForm, address: str) -> HttpResponse:
    """Render an item of a round, whose form is sent to an address.

    The status is 422 if answers were sent that are not complete.
    """
    desk = RatingDesk(form)
    context = {"unit": form.unit, "study": form.unit.study, "desk": desk}
    context |= {"action": gettext("Not submitted:"), "problem": desk.problem, "rate_url": address}
    status = 422 if form.is_sent else 200
    response = render(request, "annotation/rate_unit.html", context, status=status)
    if form.is_sent:
        response["HX-Push-Url"] = "false"  # the browser keeps the item's address
    return response


@require_safe
@allowed(Role.RATER)
def qualification_item(request: SignedInRequest, slug: str, place: int) -> HttpResponse:
    """Show a rater's answers to an item beside the right ones, and why these are right."""
    rater = _rater(request, slug)
    answers = rater.qualification_answers.select_related("item__response")
    given = get_object_or_404(answers, item__place=place)
    is_last = next_item(rater) is None
    after = "annotation:end-of-round" if is_last else "annotation:qualification"
    return feedback_page(request, rater.study, given, reverse(after, args=[slug]))


def feedback_page(
    request: HttpRequest, study: Study, given: QualificationAnswer, after: str
) -> HttpResponse:
    """Render the answers to an item beside the right ones; `after` is the address of the button."""
    context = {
        "study": study,
        "item": given.item,
        "given": given,
        "rows": feedback_on(load_scheme(study.scheme), given),
        "n_items": study.qualification_items.count(),
        "after": after,
    }
    return render(request, "annotation/qualification_item.html", context)


@require_safe
@allowed(Role.RATER)
def end_of_round(request: SignedInRequest, slug: str) -> HttpResponse:
    """Say whether a rater qualified, and lead on."""
    rater = _rater(request, slug)
    if not rater.qualification_answers.exists():
        return redirect("annotation:my-studies")
    if rater.must_qualify and next_item(rater):
        return redirect("annotation:qualification", slug)
    context = {"study": rater.study, "score": score_of(rater), "has_passed": rater.gets_units}
    return render(request, "annotation/end_of_round.html", context)


@require_safe
@allowed(Role.RATER)
def end_of_visit(request: SignedInRequest, slug: str) -> HttpResponse:
    """Thank a person whom a platform sent, and give them the code with which they go back."""
    participants = Participant.objects.select_related("platform", "rater__study")
    participant = get_object_or_404(participants, rater=_rater(request, slug))
    if not participant.outcome:
        return redirect("annotation:my-studies")
    return end_page(request, participant.platform, participant.rater.study, participant.outcome)


def end_page(
    request: HttpRequest, platform: CrowdPlatform, study: Study, outcome: str
) -> HttpResponse:
    """Render the page with which a visit ends: the thanks, the code, and the way back."""
    context = {"study": study, "outcome": outcome} | way_back(platform, outcome)
    return render(request, "annotation/end_of_visit.html", context)


def way_back(platform: CrowdPlatform, outcome: str) -> dict[str, str]:
    """Return what a page needs to send a person back to their platform: code and address."""
    return {"code": platform.code_of(outcome), "address": platform.address_of(outcome)}


@require_POST
@allowed(Role.RATER)
def give_place_back(request: SignedInRequest, slug: str) -> HttpResponse:
    """End the visit of a person who gives their place back; their votes are excluded."""
    participant = get_object_or_404(Participant, rater=_rater(request, slug))
    end_visit(participant, Participant.Outcome.RETURNED)
    return redirect("annotation:end-of-visit", slug)


def _rater(request: SignedInRequest, slug: str) -> Rater:
    raters = Rater.objects.select_related("study")
    return get_object_or_404(raters, study__slug=slug, user=request.user)
