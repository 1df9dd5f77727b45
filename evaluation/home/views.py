"""The first page of each role, and its list of long work, which is asked for repeatedly."""

from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed, allowed_to_all, may_import, roles_of
from accounts.http import SignedInRequest
from accounts.services import FIRST_NEWS, note_home_visit
from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.home.reminders import reminders
from evaluation.home.results import last_results
from evaluation.home.steps import DONE, first_steps
from evaluation.reports.base import Choices
from evaluation.studies.pages.answer import findings
from evaluation.studies.reports.cached_figures import stored_figures
from evaluation.studies.services.looks import count_look
from work.kinds import kinds_for
from work.pages import recent_work


@require_safe
@allowed_to_all
def home(request: SignedInRequest) -> HttpResponse:
    """Show what waits, the last answer, and what runs or has ended; raters go to their list."""
    roles = roles_of(request.user)
    if not roles:
        raise PermissionDenied("Your account has no role yet. An admin can give it one.")
    if Role.RESEARCHER not in roles:
        return redirect("annotation:my-studies")
    found = last_results()
    steps = first_steps(found.there)
    context = _work_of(request, note_home_visit(request.user)) | {
        "reminders": reminders(request.user, with_imports=may_import(request.user)),
        "results": found,
        "steps": steps,
        "has_begun": all(each.state == DONE for each in steps),
    }
    return render(request, "evaluation/home/home.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def home_answer(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the first sentence of a study's answer. Home asks for it, so that home need not wait."""
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    figures = stored_figures(study, Choices()).figures
    found = []
    if figures:
        count_look(study, figures.overview.n_votes)
        found = findings(study, load_scheme(study.scheme), figures)
    sentences = [each.sentences[0] for each in found if each.sentences]
    context = {
        "study": study,
        "sentences": sentences[:1],
        "overview": figures.overview if figures else None,
    }
    return render(request, "evaluation/home/_answer.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def home_work(request: SignedInRequest) -> HttpResponse:
    """Show long work alone. Home asks for it repeatedly while something goes on."""
    since = request.user.home_news_since or timezone.now() - FIRST_NEWS
    return render(request, "evaluation/home/_work.html", _work_of(request, since))


def _work_of(request: SignedInRequest, since: datetime) -> dict[str, Any]:
    work = recent_work(kinds_for(request.user), since, request.user)
    return {"work": work, "since": since}
