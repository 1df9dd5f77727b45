"""Pages of a study's guidelines: raters read them, researchers write them."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed, roles_of
from accounts.http import SignedInRequest
from annotation.forms.guidelines import GuidelineForm
from annotation.guidelines import (
    LONGEST_GUIDELINE,
    changed_lines,
    not_asked,
    render_guideline,
)
from annotation.models import Guideline, Study
from annotation.schemes import load_scheme
from annotation.services.studies import StudyError, write_guideline
from annotation.study_progress import StillToRate
from annotation.views.setup import rated_here


@require_safe
@allowed(Role.RATER, Role.RESEARCHER)
def guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a study's guidelines: the newest version, or an older one that is asked for."""
    study = get_object_or_404(Study, slug=slug, is_imported=False)
    is_rater_here = study.raters.filter(user=request.user).exists()
    if not is_rater_here and Role.RESEARCHER not in roles_of(request.user):
        raise Http404("You are not a rater of this study.")
    versions = list(study.guidelines.order_by("-version"))
    shown, before = _shown_and_before(versions, request.GET.get("version", ""))
    html, headings = render_guideline(shown.text, request.GET)
    scheme = load_scheme(study.scheme)
    context = {
        "study": study,
        "scheme": scheme,
        "is_rater_here": is_rater_here,
        "guideline": shown,
        "newest": versions[0],
        "versions": versions,
        "before": before,
        "changes": changed_lines(before.text, shown.text) if before else [],
        "html": html,
        "headings": headings,
        "not_asked": not_asked(scheme),
    }
    return render(request, "annotation/guidelines.html", context)


def _shown_and_before(
    versions: Sequence[Guideline], wanted: str
) -> tuple[Guideline, Guideline | None]:
    """Return the wanted version (by default the newest), and the version before it."""
    for place, version in enumerate(versions):
        if wanted in ("", str(version.version)):
            return version, versions[place + 1] if place + 1 < len(versions) else None
    raise Http404("These guidelines have no such version.")


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def edit_guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    """Write a new version of a study's guidelines; old versions are kept."""
    study = rated_here(slug)
    if study.state == Study.State.CLOSED:
        messages.error(request, f"{study.name} is closed, so you cannot change its guidelines.")
        return redirect("annotation:guidelines", slug)
    newest = study.guidelines.order_by("-version").first()
    posted = request.method == "POST"
    form = GuidelineForm(newest, request.POST if posted else None)
    is_good = posted and form.is_valid()
    if is_good and "preview" not in request.POST:
        text, based_on = form.cleaned_data["text"], form.newest_version
        try:
            written = write_guideline(study, text, request.user, based_on=based_on)
        except StudyError as error:
            form = GuidelineForm(study.guidelines.order_by("-version").first(), request.POST)
            if form.is_valid():  # else it says already that another version was saved
                form.add_error("text", str(error))
            return guideline_editor(request, study, form, status=422)
        if written == newest:
            messages.info(request, "The text did not change, so there is no new version.")
        else:
            messages.success(request, f"Version {written.version} is in use from now on.")
        return redirect("annotation:guidelines", slug)
    return guideline_editor(request, study, form, status=422 if posted and not is_good else 200)


def guideline_editor(
    request: SignedInRequest,
    study: Study,
    form: GuidelineForm,
    *,
    status: int = 200,
    still: StillToRate | None = None,
) -> HttpResponse:
    """Show the form of a study's guidelines beside the preview of its text.

    Args:
        still: who may still rate the response of a worked example that was added to the text.
    """
    html, _ = render_guideline(form["text"].value() or "", request.GET)
    context = {"study": study, "form": form, "html": html, "still": still}
    return render(request, "annotation/edit_guidelines.html", context, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def preview_guidelines(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a text as raters would read it, while it is written; nothing is stored."""
    rated_here(slug)
    text = request.POST.get("text", "")
    if len(text) > LONGEST_GUIDELINE:
        context = {"n_characters": len(text), "most": LONGEST_GUIDELINE}
        return render(request, "annotation/_guideline_preview.html", context, status=422)
    html, _ = render_guideline(text, request.GET)
    return render(request, "annotation/_guideline_preview.html", {"html": html})
