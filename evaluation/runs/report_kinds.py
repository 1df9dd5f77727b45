"""The reports on runs of metrics."""

from evaluation.reports.registry import register
from evaluation.runs.reports import CONTROLS

register(CONTROLS)
