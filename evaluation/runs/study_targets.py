"""Which runs are about what a study's raters judge: its responses, or their citations."""

from annotation.models import Study
from evaluation.metrics.alignment import AlignmentMetric
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.runs.plan import RunPlan


def is_of_citations(study: Study) -> bool:
    """Return whether a study's raters judge citations."""
    return bool(study.scheme.get("target") == "citation")


def is_about(run: MetricRun, *, citations: bool) -> bool:
    """Return whether a run scores citations, or responses; imported scores may be of both."""
    if run.is_imported or run.metric not in METRICS:
        return True
    return (METRICS[run.metric].judges == "citations") == citations


def first_plan(study: Study) -> RunPlan:
    """Return the run that a study can have at once: of what its raters judge, by shared words."""
    if is_of_citations(study):
        return RunPlan(metric=AlignmentMetric())
    return RunPlan(evidence=study.evidence_choice)
