"""Pages that change the raters of a study, and slots: those to fill anew, and those to let go."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.changes import ExcludeForm
from annotation.models import Rater, Study, Unit
from annotation.refilling import refill_of, slots_to_refill
from annotation.services import stranded_slots, study_raters
from annotation.services.refilling import refill_units
from annotation.services.studies import StudyError
from annotation.study_progress import counted_votes, rater_progress
from annotation.views.setup import rated_here


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def take_out_rater(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show what happens if a rater is taken out, and take them out."""
    rater = _rater(rated_here(slug), rater_id)
    if request.method == "POST":
        try:
            study_raters.take_out_rater(rater, request.user)
        except StudyError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"{rater.code} no longer takes part.")
        return redirect("annotation:study-setup", slug)
    [progress] = rater_progress(rater.study, [rater])
    context = {"study": rater.study, "rater": rater, "progress": progress}
    return render(request, "annotation/take_out_rater.html", context)


@require_POST
@allowed(Role.RESEARCHER)
def let_rater_back(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Let a rater who was taken out rate again."""
    rater = _rater(rated_here(slug), rater_id)
    try:
        if study_raters.let_rater_back(rater, request.user):
            still = " They are still excluded, so they get no units." if rater.is_excluded else ""
            messages.success(request, f"{rater.code} takes part again.{still}")
    except StudyError as error:
        messages.error(request, str(error))
    return redirect("annotation:study-setup", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def exclude_rater(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show what a rater did, and exclude them with a reason, or include them again.

    Raters of imported studies may be excluded too.
    """
    study = get_object_or_404(Study.objects.prefetch_related("arms"), slug=slug)
    rater = _rater(study, rater_id)
    if study.state == Study.State.PLANNED:  # there are no votes yet
        return redirect("annotation:take-out-rater", slug, rater_id)
    posted = request.method == "POST"
    form = ExcludeForm(rater, request.POST if posted else None)
    if posted and form.is_valid():
        excludes = form.cleaned_data["excludes"]
        try:
            study_raters.set_excluded(rater, excludes, form.cleaned_data["reason"], request.user)
        except StudyError as error:
            messages.error(request, str(error))
        else:
            done = "excluded. No report counts their votes" if excludes else "included again"
            messages.success(request, f"{rater.code} is {done}.")
        return redirect("annotation:exclude-rater", slug, rater_id)
    [progress] = rater_progress(study, [rater])
    context = {
        "study": study,
        "rater": rater,
        "progress": progress,
        "votes": counted_votes(rater),
        "form": form,
        "refill": refill_of(study, slots_to_refill(study, rater)) if rater.is_excluded else None,
    }
    return render(request, "annotation/exclude_rater.html", context, status=422 if posted else 200)


@require_POST
@allowed(Role.RESEARCHER)
def refill(request: SignedInRequest, slug: str) -> HttpResponse:
    """Let other raters make judgements of excluded raters again: of one rater, or of all."""
    study = rated_here(slug)
    number = request.POST.get("rater")
    rater = _rater(study, _number(number)) if number else None
    try:
        done = refill_units(study, request.user, rater)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        n = done.n_judgements
        messages.success(
            request,
            f"{n:,} judgement{'s' if n != 1 else ''} can be made again."
            if n
            else "Nothing was changed: there is no such judgement any more.",
        )
    if rater:
        return redirect("annotation:exclude-rater", slug, rater.pk)
    return redirect("annotation:study-setup", slug)


@require_POST
@allowed(Role.RESEARCHER)
def ask_again(request: SignedInRequest, slug: str, unit_id: int, rater_id: int) -> HttpResponse:
    """Let a rater get a unit once more."""
    study = rated_here(slug)
    unit = get_object_or_404(Unit, arm__study=study, pk=unit_id)
    rater = _rater(study, rater_id)
    try:
        if stranded_slots.ask_again(unit, rater, request.user):
            messages.success(request, f"{rater.code} can now rate the unit again.")
        else:
            messages.info(
                request,
                f"Nothing was changed: {rater.code} has this unit, has judged it, or may take it "
                "already.",
            )
    except StudyError as error:
        messages.error(request, str(error))
    return redirect("annotation:skipped-and-flagged", slug)


@require_POST
@allowed(Role.RESEARCHER)
def let_slots_go(request: SignedInRequest, slug: str) -> HttpResponse:
    """Let slots go that no rater may take: those of one unit, or of all."""
    study = rated_here(slug)
    number = request.POST.get("unit")
    unit = get_object_or_404(Unit, arm__study=study, pk=_number(number)) if number else None
    try:
        n_slots = stranded_slots.let_slots_go(study, request.user, unit)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        what = f"{n_slots:,} slot{'s are' if n_slots != 1 else ' is'}"
        messages.success(
            request,
            f"{what} released."
            if n_slots
            else "Nothing was released: there is no such slot any more.",
        )
    return redirect("annotation:study-setup", slug)


@require_POST
@allowed(Role.RESEARCHER)
def take_slots_back(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make the slots wanted again that people let go."""
    try:
        n_slots = stranded_slots.take_slots_back(rated_here(slug), request.user)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"{n_slots:,} slot{'s' if n_slots != 1 else ''} can be filled again."
        )
    return redirect("annotation:study-setup", slug)


def _rater(study: Study, rater_id: int | None) -> Rater:
    return get_object_or_404(Rater.objects.select_related("study"), study=study, pk=rater_id)


def _number(typed: str) -> int | None:
    return int(typed) if typed.isdecimal() and len(typed) < 19 else None
