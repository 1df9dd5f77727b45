"""The page that fills in known answers from the adjudicated disagreements of another study."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.gold import GoldForm
from annotation.known_answers import stored_known_answers
from annotation.models import Study
from evaluation.studies.adjudicated_gold import known_from_decisions, studies_with_decisions


@require_safe
@allowed(Role.RESEARCHER)
def adjudicated_gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Offer the studies with decisions, and the form of gold items filled in from one of them.

    Nothing is stored before the researcher saves the form. Gold items that the study has already
    keep their answers.
    """
    study = get_object_or_404(Study, slug=slug, is_imported=False)
    if study.state != Study.State.PLANNED:
        return redirect("annotation:gold", slug)
    sources = studies_with_decisions(study)
    context: dict[str, Any] = {"study": study, "sources": sources}
    if "study" in request.GET:
        chosen = [source for source in sources if source.slug == request.GET["study"]]
        if not chosen:
            raise Http404("No study of this name has decisions that can become known answers here.")
        found = known_from_decisions(study, chosen[0])
        stored = stored_known_answers(study)
        context |= {
            "chosen": chosen[0],
            "found": found,
            "n_new": len(found.known.keys() - stored.keys()),
            "n_stored": len(stored),
            "form": GoldForm(study, known=found.known | stored),
        }
    return render(request, "evaluation/studies/adjudicated_gold.html", context)
