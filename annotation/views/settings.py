"""The settings of a study that is rated here, and what a running study can still be given."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.enquiries import enquiry_counts
from annotation.forms.changes import ExtendForm
from annotation.models import Study
from annotation.planning import rater_needs
from annotation.services import studies as services
from annotation.services.studies import StudyError
from annotation.study_progress import PlanFigures, plan_figures
from annotation.views.setup import rated_here


@require_safe
@allowed(Role.RESEARCHER)
def study_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show every choice of a study, and the form that extends a running one."""
    return _settings_page(request, rated_here(slug))


def _settings_page(
    request: SignedInRequest, study: Study, status: int = 200, **more: object
) -> HttpResponse:
    """Render the page, with the form that was refused if there is one."""
    context: dict[str, Any] = {
        "study": study,
        "setups": study.setups.all(),
        "guideline": study.guidelines.order_by("-version").first(),
        "enquiries": enquiry_counts(study),
        "extend_form": ExtendForm(study) if study.is_running else None,
    }
    return render(request, "annotation/study_settings.html", context | more, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def extend_study(request: SignedInRequest, slug: str) -> HttpResponse:
    """Add setups and examples to a running study, after a first request that only shows them."""
    study = rated_here(slug)
    form = ExtendForm(study, request.POST)
    if not form.is_valid():
        return _settings_page(request, study, 422, extend_form=form)
    try:
        if not form.cleaned_data["is_confirmed"]:
            return _settings_page(
                request, study, extend_form=form, extension=_extension(study, form.choice())
            )
        n_units = services.extend_study(study, request.user, **form.choice())
    except StudyError as error:
        form.add_error(None, str(error))
        return _settings_page(request, rated_here(slug), 422, extend_form=form)
    messages.success(request, f"{n_units:,} unit{'s are' if n_units != 1 else ' is'} added.")
    return redirect("annotation:study-setup", slug)


def _extension(study: Study, choice: Mapping[str, Any]) -> PlanFigures:
    """Return what an extension would add; nothing is stored."""
    return plan_figures(study, services.plan_extension(study, **choice), rater_needs(study))
