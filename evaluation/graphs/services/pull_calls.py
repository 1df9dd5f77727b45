"""The look-ups of a pull, before it is requested. This module only reads."""

from evaluation.graphs.services.graph_pull import PullPlan, dataset_named, missing_qids
from generation.call_plan import CallPlan, CallRow

MENTIONS = "Names that spaCy finds in the questions come on top."


def pull_asking(plan: PullPlan) -> CallPlan:
    """Return how many names and qids a pull looks up. A pull that was stopped asks for less."""
    dataset = dataset_named(plan.dataset.strip())
    names = {" ".join(name.split()) for name in plan.names} - {""}
    n_missing = len(missing_qids(dataset)) if dataset and plan.with_missing else 0
    row = CallRow(f"Names looked up at {plan.endpoint}", len(names) + n_missing)
    return CallPlan((row,), (MENTIONS,) if plan.with_mentions else ())
