"""The page on which an admin pulls entities from a SPARQL endpoint."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.graphs.forms.graph_pull import PullForm
from evaluation.graphs.services.endpoint_choices import PRIVATE
from evaluation.graphs.services.graph_pull import dataset_named, missing_qids, request_pull
from evaluation.graphs.services.pull_calls import pull_asking
from evaluation.jobs.kinds import send_job
from evaluation.jobs.services import JobError, left_to_ask
from evaluation.models import Job
from generation.dataset_menus import why_not_offered
from generation.models import Dataset
from generation.retrieval.endpoint_addresses import NotPublicError
from generation.views.plan_first import plan_first

PULLS_SHOWN = 10
TICK = f"If the endpoint is yours, tick “{PRIVATE.label}” below."


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def pull(request: SignedInRequest) -> HttpResponse:
    """Show the form for endpoint, graph and names, and start the pull."""
    posted = request.method == "POST"
    form = PullForm(request.POST if posted else _first(request))
    if posted and form.is_valid():
        plan = form.plan()
        asked = partial(request_pull, plan, request.user)
        try:
            if page := plan_first(request, left_to_ask(asked, partial(pull_asking, plan))):
                return page
            job = asked()
        except JobError as error:
            said = f"{error}. {TICK}" if isinstance(error.__cause__, NotPublicError) else f"{error}"
            form.add_error(error.field if error.field in form.fields else None, said)
        else:
            send_job(job)
            return redirect("evaluation:job", job.pk)
    if not posted:  # Errors are shown only after the admin has sent the form.
        form.errors.clear()
    pulls = Job.objects.filter(kind=Job.Kind.GRAPH_PULL).select_related("dataset")
    context = {
        "form": form,
        "is_refused": posted,
        "datasets": Dataset.objects.order_by("name").values_list("name", flat=True),
        "pulls": pulls.order_by("-pk")[:PULLS_SHOWN],
        **_lacking(form),
    }
    return render(request, "evaluation/graphs/pull.html", context, status=422 if posted else 200)


def _first(request: SignedInRequest) -> dict[str, Any]:
    """Return the values of the form: what was chosen so far, or else the initial values."""
    if "endpoint" in request.GET:
        return request.GET.dict()
    slug = request.GET.get("dataset", "")
    named = dataset_named(slug) if slug else None
    if slug and named is None:
        messages.error(request, why_not_offered("dataset", slug, None, ""))
    first = {name: field.initial for name, field in PullForm().fields.items() if field.initial}
    return {**first, "dataset": named.name if named else ""}


def _lacking(form: PullForm) -> dict[str, Any]:
    """Return the chosen dataset, and how many entities of its questions its graph lacks."""
    dataset = dataset_named(str(form["dataset"].value() or "").strip())
    return {"chosen": dataset, "n_missing": len(missing_qids(dataset)) if dataset else 0}
