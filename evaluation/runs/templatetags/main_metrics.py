"""The form for the main metrics of a dataset, on the page of the dataset."""

from typing import Any

from django import template
from django.template.context import RequestContext

from evaluation.runs.forms.main_metrics import MainMetricsForm
from generation.models import Dataset

register = template.Library()


@register.inclusion_tag("evaluation/runs/_main_metrics.html", takes_context=True)
def main_metrics(context: RequestContext, dataset: Dataset) -> dict[str, Any]:
    """Return the form; it is shown if there are runs to pin, or a run is pinned."""
    return {
        "csrf_token": context.get("csrf_token"),
        "dataset": dataset,
        "form": MainMetricsForm(dataset),
    }
