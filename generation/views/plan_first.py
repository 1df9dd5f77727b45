"""The page that shows what a form would ask of a model, before it asks."""

from django.http import HttpResponse
from django.shortcuts import render

from accounts.http import SignedInRequest, page_to_return_to
from generation.call_plan import COLUMNS, CallPlan

SEEN = "seen_calls"  # the field that says how many calls the person has seen in the plan
SENT_ALREADY = ("csrfmiddlewaretoken", SEEN)


def plan_first(request: SignedInRequest, plan: CallPlan, **instead: str) -> HttpResponse | None:
    """Return the page with a plan, whose button sends the form again; None: it may start.

    It may start if nothing is asked, or if the person has seen a plan with at least as many calls.

    Args:
        request: the request with the form.
        plan: what the form would ask.
        instead: fields that the page sends instead of files.
    """
    seen = request.POST.get(SEEN, "")
    if not plan.n_calls or (seen.isdecimal() and len(seen) < 20 and int(seen) >= plan.n_calls):
        return None
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in (*SENT_ALREADY, *instead)
    ]
    context = {
        "plan": plan,
        "columns": COLUMNS,
        "path": request.get_full_path(),
        "fields": [*fields, *instead.items()],
        "seen": SEEN,
        "page": page_to_return_to(request),
    }
    return render(request, "generation/plan_first.html", context)
