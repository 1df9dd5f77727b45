"""The pages of a study's link for researchers: its limits, its platform, its first round."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.joining import SharedComputerForm, StudyLinkForm
from annotation.forms.platform import CrowdPlatformForm
from annotation.forms.qualification import QualificationForm
from annotation.models import CrowdPlatform, Participant, StudyLink
from annotation.payments import asks_prolific
from annotation.planning import rater_needs
from annotation.services import joining
from annotation.services.qualification import set_qualification
from annotation.services.studies import StudyError
from annotation.study_progress import group_name
from annotation.views.setup import rated_here


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def study_link(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a study's link and its limits; make it or change it."""
    study = rated_here(slug)
    link = StudyLink.objects.filter(study=study).first()
    limits = ("most_per_group", "ends_on", "code", "most_per_hour")
    initial = {name: getattr(link, name) for name in limits} if link else {}
    initial.setdefault("most_per_group", study.raters_per_unit)
    initial["most_units"] = study.most_units_per_rater
    posted = request.method == "POST"
    form = StudyLinkForm(request.POST if posted else None, initial=initial, n_groups=study.n_groups)
    if posted and form.is_valid():
        try:
            joining.write_link(study, request.user, **form.cleaned_data)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, "The link is ready." if link is None else "The link is saved."
            )
            return redirect("annotation:study-link", slug)
    context = {
        "study": study,
        "link": link,
        "form": form,
        "address": link and request.build_absolute_uri(reverse("join", args=[link.token])),
        "refusal": joining.refusal(link) if link else "",
        "shared_form": SharedComputerForm(),
        "groups": [(group_name(study, need.group), need.n_there) for need in rater_needs(study)],
    }
    return render(request, "annotation/study_link.html", context, status=422 if posted else 200)


@require_POST
@allowed(Role.RESEARCHER)
def stop_study_link(request: SignedInRequest, slug: str) -> HttpResponse:
    """Stop a study's link, or start it again."""
    link = get_object_or_404(StudyLink.objects.select_related("study"), study=rated_here(slug))
    is_stopped = request.POST.get("stop") == "yes"
    joining.stop_link(link, is_stopped, request.user)
    done = (
        "stopped: nobody joins by it any more, and the return codes of people who joined by it "
        "have ended"
        if is_stopped
        else "in use again"
    )
    messages.success(request, f"The link is {done}.")
    return redirect("annotation:study-link", slug)


@require_POST
@allowed(Role.RESEARCHER)
def share_computer(request: SignedInRequest, slug: str) -> HttpResponse:
    """Let one more person join in the browser of a rater."""
    form = SharedComputerForm(request.POST)
    try:
        if not form.is_valid():
            raise StudyError(f"Rater: {form.errors['code'][0]}")
        joining.let_one_more_join(rated_here(slug), form.cleaned_data["code"], request.user)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"One more person may join in the browser of {form.cleaned_data['code']}."
        )
    return redirect("annotation:study-link", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def study_platform(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show and change the platform that sends people to a study's link; or remove it."""
    study = rated_here(slug)
    link = get_object_or_404(StudyLink.objects.select_related("study"), study=study)
    platform = CrowdPlatform.objects.filter(link=link).select_related("link__study").first()
    posted = request.method == "POST"
    form = CrowdPlatformForm(link, platform, request.POST if posted else None)
    try:
        if posted and "remove" in request.POST and platform:
            joining.remove_platform(platform, request.user)
            messages.success(request, "The platform is removed. The link works without one.")
            return redirect("annotation:study-link", slug)
        if posted and form.is_valid():
            joining.write_platform(form.save(commit=False), request.user)
            messages.success(request, "The platform is saved.")
            return redirect("annotation:study-platform", slug)
    except StudyError as error:
        messages.error(request, str(error))
        return redirect("annotation:study-platform", slug)
    context: dict[str, object] = {"study": study, "platform": platform, "form": form}
    if platform:
        context["asks_prolific"] = asks_prolific(platform)
        context["n_not_confirmed"] = platform.participants.filter(is_confirmed=False).count()
        context["address"] = _address_with_ids(request, link, platform)
        context["endings"] = [
            (outcome.label, platform.code_of(outcome))
            for outcome in Participant.Outcome
            if platform.code_of(outcome)
        ]
    return render(request, "annotation/study_platform.html", context, status=422 if posted else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def study_qualification(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show and set the items that people who join by the link judge before their first unit."""
    study = rated_here(slug)
    posted = request.method == "POST"
    form = QualificationForm(study, request.POST, request.FILES) if posted else None
    if form and form.is_valid():
        try:
            set_qualification(study, form.items, form.cleaned_data["pass_mark"], request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            n = len(form.known)
            messages.success(request, f"{n} item{'s are' if n != 1 else ' is'} stored.")
            return redirect("annotation:study-link", slug)
    context = {
        "study": study,
        "form": form or QualificationForm(study),
        "n_answered": study.raters.filter(qualification_answers__isnull=False).distinct().count(),
    }
    status = 422 if posted else 200
    return render(request, "annotation/study_qualification.html", context, status=status)


def _address_with_ids(request: SignedInRequest, link: StudyLink, platform: CrowdPlatform) -> str:
    """Return the address to type on the platform, which puts the ids in its placeholders."""
    address = request.build_absolute_uri(reverse("join", args=[link.token]))
    names = (platform.person_parameter, platform.study_parameter, platform.session_parameter)
    if platform.is_prolific:
        ids = [f"{{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")]
    else:
        ids = ["PERSON", "STUDY", "SESSION"]
    return f"{address}?" + "&".join(f"{name}={i}" for name, i in zip(names, ids, strict=True))
