"""Forms that plan a study by one click: of a sample of a dataset's dialogs, with all its setups."""

from typing import Any

from django import template
from django.template.context import RequestContext

from annotation.forms.setup import n_dialogs_with_responses, setups_of
from annotation.models import Study
from generation.models import Dataset

USUAL_SAMPLE = 100  # dialogs; of a dataset with fewer than twice as many, half of them

register = template.Library()


@register.inclusion_tag("annotation/_draw_sample.html", takes_context=True)
def draw_sample(context: RequestContext, dataset: Dataset) -> dict[str, Any]:
    """Return the form that draws a sample of dialogs to rate; it is empty without two dialogs."""
    n_dialogs = n_dialogs_with_responses(dataset)
    n_usual = min(USUAL_SAMPLE, n_dialogs // 2)
    return _fields(context, dataset) | {"n_dialogs": n_dialogs, "n_usual": n_usual}


@register.inclusion_tag("annotation/_plan_study.html", takes_context=True)
def plan_study(
    context: RequestContext, dataset: Dataset, n_sampled: int, raters_per_unit: int, arms: str
) -> dict[str, Any]:
    """Return the form that plans a study with these figures.

    Args:
        n_sampled: the number of dialogs to draw.
        raters_per_unit: the number of raters for each response.
        arms: a choice of arms in the form of a new study, such as 'separate' or 'both'.
    """
    planned = {"n_sampled": n_sampled, "raters_per_unit": raters_per_unit, "arms": arms}
    return _fields(context, dataset) | {"planned": planned}


def _fields(context: RequestContext, dataset: Dataset) -> dict[str, Any]:
    """Return what both forms post beside their figures: a free name, and all setups."""
    return {
        "csrf_token": context.get("csrf_token"),
        "dataset": dataset,
        "setups": setups_of(dataset),
        "name": _free_name(f"{dataset.name[:80]}, sample"),
    }


def _free_name(name: str) -> str:
    """Return the name, with a number after it if a study has it already."""
    taken = set(Study.objects.filter(name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} {n}" for n in range(2, len(taken) + 3))
    return next(free for free in [name, *numbered] if free not in taken)
