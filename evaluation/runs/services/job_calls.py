"""The calls of prompt searches and distillations, before they are requested. It only reads."""

from evaluation.metrics.auto_ssa import MOST_TOKENS, AutoSsa
from evaluation.runs.services.distillation import DistillationPlan, check_run, data_of
from evaluation.runs.services.prompt_search import SearchPlan, slice_of
from generation.call_plan import CallPlan, CallRow

GROWS = "How many tokens its prompts have is not known: they grow by what the search keeps."
NO_SPEED = "How long the training takes is not known: it depends on the machine of the worker."


def search_asking(plan: SearchPlan) -> CallPlan:
    """Return what a search asks of its language model.

    Raises:
        JobError: the study has no such question, or no such setup.
    """
    n_calls = slice_of(plan).most_calls
    title = f"Prompt search for {plan.metric}, by {plan.spec.name}"
    row = CallRow(title, n_calls, n_completion_tokens=n_calls * MOST_TOKENS)
    return CallPlan((row,), (GROWS, AutoSsa.asks_again))


def distillation_asking(plan: DistillationPlan) -> CallPlan:
    """Return what a distillation computes: each text that the small model reads is a call.

    Raises:
        JobError: the scores of the run cannot be taught.
    """
    check_run(plan.run)
    data = data_of(plan.run, plan.seed)
    n_calls = plan.epochs * (len(data.lessons) + len(data.held_out))
    row = CallRow(f"Training of {plan.base.name} for {plan.epochs} epochs", n_calls)
    return CallPlan((row,), (NO_SPEED,))
