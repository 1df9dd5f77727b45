"""The pages of people who join, for a researcher who tries a study's link. Nothing is stored."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from annotation.forms.joining import JoinForm
from annotation.forms.rating import RatingForm
from annotation.models import CrowdPlatform, Participant, QualificationAnswer, StudyLink
from annotation.qualification import item_as_unit, n_right
from annotation.views.visits import end_page, feedback_page, item_page

RETURN_CODE_OF_A_TRIAL = "K7P2-9QXM-4TRB"


def platform_of(link: StudyLink) -> CrowdPlatform | None:
    """Return the platform that sends people to a link; None if people get it in another way."""
    return getattr(link, "platform", None)


def join_page(
    request: HttpRequest, link: StudyLink, status: int = 200, **more: object
) -> HttpResponse:
    """Render the page of a link: the form, or the reason why there is none."""
    context = {"study": link.study, "platform": platform_of(link)}
    return render(request, "annotation/join.html", context | more, status=status)


def try_link(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Show a researcher one of the pages, by the address: consent, an item to qualify, an end."""
    study, platform = link.study, platform_of(link)
    if "item" in request.GET:
        return _try_item(request, link)
    if "end" in request.GET:
        outcome = request.GET["end"]
        if platform is None or outcome not in Participant.Outcome:
            raise Http404("A visit has no such end.")
        return end_page(request, platform, study, outcome)
    form = JoinForm(link, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return join_page(request, link, 422 if form.is_bound else 200, form=form, is_trial=True)
    context = {"study": study, "return_code": RETURN_CODE_OF_A_TRIAL, "is_trial": True}
    context["items"] = study.qualification_items.all()
    context["endings"] = [
        outcome for outcome in Participant.Outcome if platform and platform.code_of(outcome)
    ]
    return render(request, "annotation/joined.html", context)


def _try_item(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Show an item of the qualification round, and what people read after answering it."""
    items = link.study.qualification_items.select_related("response")
    place = request.GET["item"]
    item = get_object_or_404(items, place=int(place) if place.isdecimal() and len(place) < 5 else 0)
    unit = item_as_unit(link.study, item, item.place - 1)
    form = RatingForm(unit, request.POST if request.method == "POST" else None)
    if not (form.is_sent and form.is_valid()):
        return item_page(request, form, request.get_full_path())
    given = QualificationAnswer(
        item=item,
        answers=form.forms[0].given,
        n_right=n_right(link.study, item, form.forms[0].given),
        n_known=len(item.answers),
        at=timezone.now(),
    )
    more = items.filter(place=item.place + 1).exists()
    after = f"?try=yes&item={item.place + 1}" if more else "?try=yes"
    return feedback_page(request, link.study, given, after)
