"""The pages of people who come by a study's link: they join, or come back."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import Role, public, roles_of
from accounts.backends import SIGNED_IN_BY
from accounts.models import User
from annotation.arrivals import Arrival, ArrivalError, known_participant, read_arrival
from annotation.confirmed_arrivals import ids_of_signed_token, session_is_confirmed
from annotation.forms.joining import JoinForm
from annotation.models import CrowdPlatform, Participant, Rater, StudyLink
from annotation.services.joining import join_study, refusal
from annotation.services.studies import StudyError
from annotation.views.link_trial import join_page, platform_of, try_link
from annotation.views.visits import way_back

UNKNOWN_VISIT = (
    "The platform that sent you knows nothing of this visit, or it has ended there. Open the study "
    "again from the platform."
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@public
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a study asks of people, and let them join it. Opening the page stores nothing.

    A researcher who tries the link sees the same pages; their form stores nothing either.
    """
    link = get_object_or_404(StudyLink.objects.select_related("study", "platform"), token=token)
    if "try" in request.GET and Role.RESEARCHER in roles_of(request.user):
        return try_link(request, link)
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
    form = JoinForm(link, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return join_page(request, link, 422 if form.is_bound else 200, form=form)
    if arrival and platform and session_is_confirmed(platform, arrival) is False:
        return join_page(request, link, 410, why=UNKNOWN_VISIT)
    try:
        joined = join_study(link, form.cleaned_data["key"], user, arrival)
    except StudyError as error:
        return join_page(request, link, 410, why=str(error))
    if user is None:
        login(request, joined.rater.user, backend=SIGNED_IN_BY)
    welcome = {"study": link.study, "rater": joined.rater, "return_code": joined.return_code}
    return render(request, "annotation/joined.html", welcome)


# --- parts ----------------------------------------------------------------------------------


def _come_back(request: HttpRequest, platform: CrowdPlatform, arrival: Arrival) -> HttpResponse:
    """Let a person in whom the platform vouches for; ask everybody else for the return code."""
    participant = known_participant(platform, arrival)
    token = request.GET.get("prolific_token", "")
    address = request.build_absolute_uri(request.path)
    if participant and (
        (token and ids_of_signed_token(platform, token, address) == arrival)
        or session_is_confirmed(platform, arrival)
    ):
        login(request, participant.rater.user, backend=SIGNED_IN_BY)
        return redirect("annotation:my-studies")
    return render(request, "annotation/come_back.html", {"study": platform.link.study})


def _go_on(request: HttpRequest, rater: Rater, arrival: Arrival | None) -> HttpResponse:
    """Lead a rater of the study on, unless the ids in the address are those of another person."""
    participant = Participant.objects.filter(rater=rater).first()
    if arrival and participant and participant.person != arrival.person:
        return render(request, "annotation/another_person.html", {"rater": rater}, status=409)
    return redirect("annotation:my-studies")
