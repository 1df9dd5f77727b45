"""Forms that plan a study by one click: of a sample of a dataset's dialogs, with all its setups."""

from typing import Any

from django import template
from django.template.context import RequestContext

from annotation.forms.setup import n_dialogs_with_responses, scheme_fields, setups_of
from annotation.models import Study
from annotation.schemes import USUAL_SCHEME
from annotation.services.studies import StudyError, free_study_name, scheme_to_rate_by
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
    context: RequestContext,
    dataset: Dataset,
    n_sampled: int,
    raters_per_unit: int,
    arms: str,
    scheme: str = USUAL_SCHEME,
    like: Study | None = None,
) -> dict[str, Any]:
    """Return the form that plans a study with these figures.

    Its id is `plan-study`, so that other buttons of the page can plan with another figure.

    Args:
        n_sampled: the number of dialogs to draw.
        raters_per_unit: the number of raters for each response.
        arms: a choice of arms in the form of a new study, such as 'separate' or 'both'.
        scheme: the key of a built-in scheme.
        like: a study whose setups, evidence and scheme the planned one has; raters may be unable
            to use the scheme of an imported study, and then it is not taken.
    """
    planned: dict[str, Any] = {
        "n_sampled": n_sampled,
        "raters_per_unit": raters_per_unit,
        "arms": arms,
        "scheme": scheme,
    }
    fields = _fields(context, dataset)
    if like:
        fields["setups"] = like.setups.all()
        planned |= {"evidence_choice": like.evidence_choice} | _scheme_of(like)
    return fields | {"planned": planned}


def _scheme_of(study: Study) -> dict[str, str]:
    try:
        scheme_to_rate_by(study.scheme)
    except StudyError:
        return {}
    return scheme_fields(study)


def _fields(context: RequestContext, dataset: Dataset) -> dict[str, Any]:
    """Return what both forms post beside their figures: a free name, and all setups."""
    return {
        "csrf_token": context.get("csrf_token"),
        "dataset": dataset,
        "setups": setups_of(dataset),
        "name": free_study_name(f"{dataset.name[:80]}, sample"),
    }
