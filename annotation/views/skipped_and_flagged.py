"""The page of what raters of a study skipped and flagged."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.stranded_slots import stranded
from annotation.study_progress import MOST_LISTED, newest_flags, newest_skips
from annotation.views.setup import rated_here


@require_safe
@allowed(Role.RESEARCHER)
def skipped_and_flagged(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the newest skipped units and flagged responses."""
    study = rated_here(slug)
    skips, flags = newest_skips(study), newest_flags(study)
    context = {
        "study": study,
        "stranded": stranded(study) if study.is_running else None,
        "skips": skips[:MOST_LISTED],
        "n_skips": skips.count(),
        "flags": flags[:MOST_LISTED],
        "n_flags": flags.count(),
    }
    return render(request, "annotation/skipped_and_flagged.html", context)
