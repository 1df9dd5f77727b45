"""The prompts that a metric of sensibleness may use. This module only reads."""

from collections.abc import Mapping
from typing import Any

from evaluation.metrics.auto_ssa import SsaPrompt, usual_prompt
from evaluation.models import Job

PROMPTED = ("sensible", "specific")  # the metrics that use a prompt of this kind


def prompts_for(metric: str) -> list[SsaPrompt]:
    """Return the prompts of a metric: its usual one first, then those that a search has found.

    The list is empty for metrics that have no such prompt.
    """
    if metric not in PROMPTED:
        return []
    searches = Job.objects.filter(
        kind=Job.Kind.PROMPT_SEARCH, state=Job.State.DONE, parameters__metric=metric
    )
    found = searches.order_by("name").values_list("result", flat=True)
    return [usual_prompt(metric), *map(prompt_of, found)]


def prompt_of(result: Mapping[str, Any]) -> SsaPrompt:
    """Return the prompt that a finished search has found."""
    return SsaPrompt(
        result["prompt"], result["text"], result["built_on"], result.get("built_on_dataset", "")
    )
