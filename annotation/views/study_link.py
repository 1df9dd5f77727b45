"""The page on which researchers make a study's link, change it and stop it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.joining import StudyLinkForm
from annotation.models import StudyLink
from annotation.planning import rater_needs
from annotation.services import joining
from annotation.services.studies import StudyError
from annotation.study_progress import group_name
from annotation.views.setup import rated_here


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def study_link(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a study's link and its limits; make it or change it."""
    study = rated_here(slug)
    link = StudyLink.objects.filter(study=study).first()
    limits = ("most_per_group", "ends_on", "code")
    initial = {name: getattr(link, name) for name in limits} if link else {}
    initial.setdefault("most_per_group", study.raters_per_unit)
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
    done = "stopped: nobody joins by it any more" if is_stopped else "in use again"
    messages.success(request, f"The link is {done}.")
    return redirect("annotation:study-link", slug)
