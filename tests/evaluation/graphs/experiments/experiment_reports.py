"""The reports of experiments over a graph, as the pages, files and commands make them."""

from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.reports.registry import all_reports

OVER_A_GRAPH = [key for key, each in EXPERIMENTS.items() if each.has_grid]


def experiment_report(key, dataset):
    """Return the report of an experiment over a graph."""
    kind = all_reports()[EXPERIMENTS[key].report]
    return kind.make(dataset, kind.choices())
