"""The match between runs and studies: both are about responses, or both are about citations."""

from annotation.models import Study
from evaluation.metrics.alignment import AlignmentMetric
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.runs.choices import plan_of
from evaluation.runs.plan import RunPlan


def is_of_citations(study: Study) -> bool:
    """Return whether a study's raters judge citations."""
    return bool(study.scheme.get("target") == "citation")


def is_about(run: MetricRun, *, citations: bool) -> bool:
    """Return whether a run scores citations, or else responses. Imported runs may score both.

    Args:
        citations: whether to ask about citations; False: about responses.
    """
    if run.is_imported or run.metric not in METRICS:
        return True
    return (METRICS[run.metric].judges == "citations") == citations


def first_plan(study: Study) -> RunPlan:
    """Return the plan of a run that a study can have at once: its targets, by a baseline."""
    metric = AlignmentMetric if is_of_citations(study) else AutoAisMetric
    return plan_of(metric.key, usual_evidence=study.evidence_choice)
