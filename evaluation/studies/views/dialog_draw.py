"""The page that draws the dialogs of a planned study by the scores of a metric run."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Study
from annotation.services.studies import StudyError
from evaluation.studies.forms.dialog_draw import DialogDrawForm
from evaluation.studies.services.dialog_draws import draw_dialogs


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def dialog_draw(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose how the sample of a planned study is drawn, and draw it."""
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug, is_imported=False)
    if study.state != Study.State.PLANNED:
        return redirect("annotation:study-setup", slug)
    posted = request.method == "POST"
    form = DialogDrawForm(study, request.POST if posted else None)
    if posted and form.is_valid():
        try:
            done = draw_dialogs(study, form.cleaned_data["draw"], form.chosen_run, request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{done.n_drawn:,} of {done.n_dialogs:,} dialogs are drawn.")
            return redirect("annotation:study-setup", slug)
    return render(
        request,
        "evaluation/studies/dialog_draw.html",
        {"study": study, "form": form},
        status=422 if posted else 200,
    )
