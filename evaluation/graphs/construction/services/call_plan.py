"""The calls and look-ups of a construction, before it is requested. This module only reads."""

from evaluation.graphs.construction.services.constructions import (
    ConstructionPlan,
    left_out_at_once,
)
from evaluation.graphs.construction.services.rounds import MOST_ATTEMPTS
from generation.call_plan import CallPlan, CallRow
from generation.models import Construction, ConstructionCall, ConstructionEntry

State = ConstructionEntry.State
AT_MOST = (
    "Entries whose people are not found ask nothing. How many tokens the prompts have is known "
    "when the graphs are looked up."
)
AGAIN = (
    f"A round that cannot be read is asked up to {MOST_ATTEMPTS} times. Those calls are not "
    "counted here."
)


def construction_asking(plan: ConstructionPlan) -> CallPlan:
    """Return the look-ups and the calls that a construction has left, at most."""
    there = Construction.objects.filter(name=plan.name).first()
    if there is None:
        ready = [each for each in plan.entries if not left_out_at_once(each, plan.relations)]
        n_waiting = n_writing = len(ready)
        n_there = 0
    else:
        n_waiting = there.entries.filter(state=State.WAITING).count()
        open_states = (State.WAITING, State.WRITING, State.FAILED)
        n_writing = there.entries.filter(state__in=open_states).count()
        calls = ConstructionCall.objects.filter(entry__construction=there, problem="")
        n_there = calls.filter(entry__state__in=open_states).count()
    n_calls = max(0, n_writing * (plan.n_rounds + 1) - n_there)  # a last call for the simple style
    model = CallRow(
        f"Rounds of questions, by {plan.model}",
        n_calls,
        n_there,
        n_completion_tokens=n_calls * plan.max_tokens,
    )
    endpoint = CallRow(f"Pairs of people looked up at {plan.endpoint}", n_waiting)
    return CallPlan((endpoint, model), (AT_MOST, AGAIN))
