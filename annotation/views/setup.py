"""Pages for setting a study up: plan it, add raters, open, pause and close it."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from accounts.models import User
from annotation.enquiries import enquiry_counts
from annotation.forms.changes import AddRatersForm, CloseForm, OpenForm
from annotation.forms.setup import ChooseDatasetForm, StudyForm
from annotation.guidelines import default_guideline
from annotation.models import Rater, Study
from annotation.planning import plan_units, rater_needs
from annotation.refilling import refill_of, slots_to_refill
from annotation.services import studies as services
from annotation.services.studies import StudyError
from annotation.stranded_slots import stranded, stranded_details
from annotation.study_progress import (
    MOST_LISTED,
    arm_progress,
    group_name,
    plan_figures,
    rater_progress,
    was_rated,
)
from generation.dataset_menus import datasets_with_responses
from generation.views.opened_dataset import opened_dataset

RATERS_PER_PAGE = 50


def rated_here(slug: str) -> Study:
    """Return a study that is rated on this site, or answer 404; imported studies are not."""
    return get_object_or_404(
        Study.objects.select_related("dataset").prefetch_related("arms"),
        slug=slug,
        is_imported=False,
    )


# --- before it opens ------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_study(request: SignedInRequest) -> HttpResponse:
    """Plan a study: the researcher chooses its dataset first, then everything else."""
    dataset = opened_dataset(request, datasets_with_responses(), "no responses to rate")
    choose = ChooseDatasetForm(dataset)
    if dataset is None:
        return render(request, "annotation/study_form.html", {"choose": choose})
    posted = request.method == "POST"
    form = StudyForm(dataset, request.POST if posted else None)
    if posted and form.is_valid():
        guideline = default_guideline(form.cleaned_data["scheme"])
        try:
            plan, raters = form.plan(), form.chosen_raters()
            study = services.create_study(plan, guideline, raters, request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The study is planned. Look at the plan, then open it.")
            return redirect("annotation:study-setup", study.slug)
    context = {"choose": choose, "dataset": dataset, "form": form}
    return render(request, "annotation/study_form.html", context, status=422 if posted else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def edit_study(request: SignedInRequest, slug: str) -> HttpResponse:
    """Change a study that has not been opened yet."""
    study = rated_here(slug)
    if study.state != Study.State.PLANNED:
        messages.error(request, f"{study.name} is open, so you can no longer change what is rated.")
        return redirect("annotation:study-setup", slug)
    was_default = default_guideline(study.scheme["key"])
    posted = request.method == "POST"
    form = StudyForm(study.dataset, request.POST if posted else None, study=study)
    if posted and form.is_valid():
        try:
            services.change_study(study, form.plan(), request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            _follow_scheme(study, was_default, form.cleaned_data["scheme"], request.user)
            messages.success(request, "The changes are saved.")
            return redirect("annotation:study-setup", slug)
    context = {"study": study, "dataset": study.dataset, "form": form}
    return render(request, "annotation/study_form.html", context, status=422 if posted else 200)


def _follow_scheme(study: Study, was_default: str, scheme: str, by: User) -> None:
    """Give a study the guideline of its new scheme, unless a researcher has written one."""
    newest = study.guidelines.order_by("-version").first()
    if newest and newest.text == was_default:
        services.write_guideline(study, default_guideline(scheme), by)


# --- the plan, later the progress ---------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def study_setup(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a study's plan or progress, its raters, and the possible next steps."""
    return _setup_page(request, rated_here(slug))


def _setup_page(
    request: SignedInRequest, study: Study, status: int = 200, **more: object
) -> HttpResponse:
    """Render the page, with the form that was refused if there is one."""
    needs = rater_needs(study)
    is_planned = study.state == Study.State.PLANNED
    raters = Rater.objects.filter(study=study).select_related("user", "study")
    page = Paginator(raters, RATERS_PER_PAGE).get_page(request.GET.get("page"))
    arms = [] if is_planned else arm_progress(study)
    of_nobody = stranded(study) if study.is_running else None
    context: dict[str, Any] = {
        "study": study,
        "n_setups": study.setups.count(),
        "needs": [(group_name(study, need.group), need) for need in needs],
        "n_missing": sum(need.n_missing for need in needs),
        "stranded": of_nobody,
        "stranded_units": stranded_details(study, MOST_LISTED)
        if of_nobody and of_nobody.n_slots
        else [],
        "plan": plan_figures(study, plan_units(study), needs) if is_planned else None,
        "refill": refill_of(study, slots_to_refill(study)) if study.is_running else None,
        "arms": arms,
        "n_let_go_by_hand": sum(arm.n_let_go_by_hand for arm in arms),
        "can_be_deleted": not was_rated(study),
        "page": page,
        "raters": rater_progress(study, list(page.object_list)),
        "enquiries": enquiry_counts(study),
        "open_form": OpenForm(study, needs),
        "close_form": CloseForm(),
        "raters_form": AddRatersForm(study) if study.state != Study.State.CLOSED else None,
    }
    return render(request, "annotation/study_setup.html", context | more, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def change_state(request: SignedInRequest, slug: str) -> HttpResponse:
    """Open, pause, resume or close a study."""
    study = rated_here(slug)
    action = request.POST.get("action", "")
    if action not in CHANGES:
        raise Http404("A study has no such action. It can be opened, paused, resumed and closed.")
    change, done = CHANGES[action]
    if action == "open":
        open_form = OpenForm(study, rater_needs(study), request.POST)
        if study.state == Study.State.PLANNED and not open_form.is_valid():
            return _setup_page(request, study, 422, open_form=open_form)
    elif action == "close":
        close_form = CloseForm(request.POST)
        if study.is_running and not close_form.is_valid():
            return _setup_page(request, study, 422, close_form=close_form)
    try:
        change(study, request.user)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("annotation:study-setup", slug)


CHANGES: Mapping[str, tuple[Callable[[Study, User], None], str]] = {
    "open": (services.open_study, "The study is open: its raters find it under My studies."),
    "pause": (services.pause_study, "The study is paused: raters get no new units."),
    "resume": (services.resume_study, "The study is open again."),
    "close": (services.close_study, "The study is closed."),
}


# --- its raters ------------------------------------------------------------------------------


@require_POST
@allowed(Role.RESEARCHER)
def add_raters(request: SignedInRequest, slug: str) -> HttpResponse:
    """Let more people rate in a study."""
    study = rated_here(slug)
    form = AddRatersForm(study, request.POST)
    if not form.is_valid():
        return _setup_page(request, study, 422, raters_form=form)
    try:
        n_new = services.add_raters(study, form.cleaned_data["raters"], request.user)
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{n_new} rater{'s are' if n_new != 1 else ' is'} added.")
    return redirect("annotation:study-setup", slug)


@require_POST
@allowed(Role.RESEARCHER)
def release_units(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Give back a rater's open unit, so that the next rater can get it."""
    rater = get_object_or_404(Rater, study=rated_here(slug), pk=rater_id)
    if services.release_units(rater, request.user):
        messages.success(request, f"The unit of {rater.code} is released. Their draft is kept.")
    else:
        messages.info(
            request, f"{rater.code} has no unit reserved, so there is nothing to release."
        )
    return redirect("annotation:study-setup", slug)
