"""Auto-metrics by name."""

import re
from collections.abc import Mapping
from typing import Any

from evaluation.backends.registry import words_rule
from evaluation.metrics.alignment import AlignmentMetric
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.auto_ssa import AutoSensible, AutoSpecific
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.incompetence import IncompetenceMetric
from evaluation.metrics.text_quality import Coherence, Consistency, Fluency, Relevance
from evaluation.models import MetricRun

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
    """Return a metric with the choices in a run's parameters.

    Raises:
        KeyError: there is no such metric.
        ValueError: the metric has no such choice.
    """
    return METRICS[key].made(parameters)


# The version of the scoring rule, which is the last part of a run's signature.
_VERSION = re.compile(r"\|v:(\d+)$")


def is_of_earlier_rule(run: MetricRun) -> bool:
    """Return whether a run's scores were made here by a rule that is no longer used.

    It is the metric's rule, or that by which a baseline tells words. The scores stay unchanged, and
    no score by today's rule is added to them.
    """
    kind = None if run.is_imported else METRICS.get(run.metric)
    said = _VERSION.search(run.signature)
    if kind is None or said is None:
        return False
    words = words_rule(run.backend)
    return int(said[1]) != kind.version or bool(words and words not in run.signature.split("|"))
