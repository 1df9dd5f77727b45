"""The pages of people who come by a study's link: they join, or come back."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import Role, public, roles_of
from accounts.backends import SIGNED_IN_BY
from accounts.models import User
from accounts.throttling import is_shut_out, note_wrong_code
from annotation.arrivals import Arrival, ArrivalError, known_participant, read_arrival
from annotation.confirmed_arrivals import visit_is_confirmed
from annotation.forms.joining import JoinForm
from annotation.models import CrowdPlatform, Participant, Rater, StudyLink
from annotation.origins import keep_browser, origin_in, raters_in_browser
from annotation.services.joining import KnownBrowserError, Newcomer, join_study, refusal
from annotation.services.studies import StudyError
from annotation.views.link_trial import join_page, platform_of, try_link
from annotation.views.visits import way_back

UNKNOWN_VISIT = gettext_lazy(
    "The platform that sent you knows nothing of this visit, or it has ended there. Open the study "
    "again from the platform."
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@public
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a study asks of people, and let them join it. Opening the page stores nothing.

    The browser gets a cookie, by which it is known again. A researcher who tries the link sees the
    same pages; their form stores nothing either.
    """
    link = get_object_or_404(StudyLink.objects.select_related("study", "platform"), token=token)
    if "try" in request.GET and Role.RESEARCHER in roles_of(request.user):
        return try_link(request, link)
    answer = _answer(request, link)
    keep_browser(request, answer)
    return answer


def _answer(request: HttpRequest, link: StudyLink) -> HttpResponse:
    """Lead a person on whom the site knows; show everybody else the form, and take it."""
    user = request.user if isinstance(request.user, User) else None
    platform = platform_of(link)
    try:
        arrival = read_arrival(platform, request.GET) if platform else None
    except ArrivalError as error:
        return join_page(request, link, 400, why=str(error))
    mine = link.study.raters.filter(user=user).select_related("study").first() if user else None
    if mine:
        return _go_on(request, mine, arrival)
    if user and Role.RATER not in roles_of(user):
        return join_page(request, link, is_no_rater=True)
    if arrival and platform and platform.participants.filter(person=arrival.person).exists():
        return _come_back(request, platform, arrival)
    if why := refusal(link):
        return join_page(request, link, 410, why=why)
    if platform and request.POST.get("answer") == "no":
        context = way_back(platform, Participant.Outcome.RETURNED)
        return render(request, "annotation/declined.html", context)
    return _take_form(request, link, Newcomer(user, arrival, origin=origin_in(link.study, request)))


def _take_form(request: HttpRequest, link: StudyLink, newcomer: Newcomer) -> HttpResponse:
    """Show the form to a person who may join, or let them join by it."""
    newcomer = newcomer._replace(is_somebody_else="somebody_else" in request.POST)
    of_study = "" if request.method != "POST" else link.study.name
    if of_study and link.code and is_shut_out(request, of_study):
        return join_page(request, link, 429, why=gettext("Too many wrong codes. Please wait."))
    form = JoinForm(link, request.POST if request.method == "POST" else None)
    before = None if platform_of(link) else raters_in_browser(link.study, newcomer.origin)
    if not form.is_valid():
        if "code" in form.errors and request.POST.get("code"):
            note_wrong_code(request, of_study)
        return join_page(request, link, 422 if form.is_bound else 200, form=form, before=before)
    is_confirmed = _is_confirmed(request, link, newcomer)
    if is_confirmed is False:
        return join_page(request, link, 410, why=UNKNOWN_VISIT)
    newcomer = newcomer._replace(is_confirmed=bool(is_confirmed))
    try:
        joined = join_study(link, form.cleaned_data["key"], newcomer)
    except KnownBrowserError:
        return join_page(request, link, 409, form=form, before=before)
    except StudyError as error:
        return join_page(request, link, 410, why=str(error))
    if newcomer.user is None:
        login(request, joined.rater.user, backend=SIGNED_IN_BY)
    welcome = {"study": link.study, "rater": joined.rater, "return_code": joined.return_code}
    return render(request, "annotation/joined.html", welcome)


# --- parts ----------------------------------------------------------------------------------


def _is_confirmed(request: HttpRequest, link: StudyLink, newcomer: Newcomer) -> bool | None:
    """Return whether the platform confirms a visit; None if it cannot, and people are trusted."""
    platform = platform_of(link)
    if not (platform and newcomer.arrival):
        return None
    is_confirmed = visit_is_confirmed(platform, newcomer.arrival, *_signed(request))
    return False if is_confirmed is None and platform.needs_confirmation else is_confirmed


def _signed(request: HttpRequest) -> tuple[str, str]:
    """Return the token with which Prolific signed an address, and the address without the ids."""
    return request.GET.get("prolific_token", ""), request.build_absolute_uri(request.path)


def _come_back(request: HttpRequest, platform: CrowdPlatform, arrival: Arrival) -> HttpResponse:
    """Let a person in whom the platform vouches for; ask everybody else for the return code."""
    participant = known_participant(platform, arrival)
    if participant and visit_is_confirmed(platform, arrival, *_signed(request)):
        login(request, participant.rater.user, backend=SIGNED_IN_BY)
        return redirect("annotation:my-studies")
    return render(request, "annotation/come_back.html", {"study": platform.link.study})


def _go_on(request: HttpRequest, rater: Rater, arrival: Arrival | None) -> HttpResponse:
    """Lead a rater of the study on, unless the ids in the address are those of another person."""
    participant = Participant.objects.filter(rater=rater).first()
    if arrival and participant and participant.person != arrival.person:
        return render(request, "annotation/another_person.html", {"rater": rater}, status=409)
    return redirect("annotation:my-studies")
