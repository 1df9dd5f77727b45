"""Auto-metrics by name."""

from collections.abc import Mapping
from typing import Any

from evaluation.auto_metrics.alignment import AlignmentMetric
from evaluation.auto_metrics.auto_ais import AutoAisMetric
from evaluation.auto_metrics.auto_ssa import AutoSensible, AutoSpecific
from evaluation.auto_metrics.base import AutoMetric
from evaluation.auto_metrics.incompetence import IncompetenceMetric
from evaluation.auto_metrics.text_quality import Coherence, Consistency, Fluency, Relevance

METRICS: dict[str, type[AutoMetric]] = {
    "auto_ais": AutoAisMetric,
    "sensible": AutoSensible,
    "specific": AutoSpecific,
    "coherence": Coherence,
    "consistency": Consistency,
    "fluency": Fluency,
    "relevance": Relevance,
    "alignment": AlignmentMetric,
    "incompetence": IncompetenceMetric,
}


def metric_of(key: str, parameters: Mapping[str, Any]) -> AutoMetric:
    """Return a metric with the choices that a run's parameters name.

    Raises:
        KeyError: there is no such metric.
        ValueError: a choice that the metric does not have.
    """
    return METRICS[key].made(parameters)
