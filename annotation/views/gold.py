"""Gold items: responses with known answers, set before a study opens."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.forms.gold import GoldForm
from annotation.models import Study
from annotation.services.gold import set_gold
from annotation.services.studies import StudyError
from annotation.views.setup import rated_here


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a study's known answers. While the study is planned, they can be changed."""
    study = rated_here(slug)
    posted = request.method == "POST"
    form = GoldForm(study, request.POST, request.FILES) if posted else GoldForm(study)
    if posted and form.is_valid():
        said = form.cleaned_data
        try:
            set_gold(
                study,
                form.known,
                request.user,
                n_qualifying=said["n_qualifying"],
                threshold=said["threshold"],
            )
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            n = len(form.known)
            messages.success(request, f"{n} known answer{'s are' if n != 1 else ' is'} set.")
            return redirect("annotation:study-setup", slug)
    context = {
        "study": study,
        "form": form,
        "is_planned": study.state == Study.State.PLANNED,
    }
    return render(request, "annotation/gold.html", context, status=422 if posted else 200)
