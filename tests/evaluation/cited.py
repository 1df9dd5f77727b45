"""A dataset of answers that cite a small graph, partly removed, and its runs by shared words.

Lexical scores by hand: the share of the hypothesis' content words that the sentence has.

    a, 1  'Ada was a painter.'           occupation: painter   {painter}            1 of 2
    a, 2  'She was born in Rome.'        place of birth: Rome  {rome}               1 of 3
    a, 3  the same sentence              spouse: Ben           {}                   0 of 2
    b, 1  'His occupation was writer.'   occupation: writer    {occupation, writer} 2 of 2
    d, 1  no sentence: a bracket alone   occupation: writer    assumed 0
"""

import json
from pathlib import Path
from typing import Any

from annotation import schemes
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.runs import request_metric_run
from generation.models import Dataset
from tests.evaluation.metric_runs import work
from tests.makers import Row, example_row, import_rows, response_row, vote_row

GRAPH = [
    ["Q1", "name", "Ada"],
    ["Q1", "occupation", "painter"],
    ["Q1", "place of birth", "Rome"],
    ["Q1", "spouse", "Ben"],
    ["Q2", "name", "Ben"],
    ["Q2", "occupation", "writer"],
]
REMOVED = [["Q1", "date of birth", "1596"], ["Q1", "employer", "Medici"]]
ADMITS = "Her date of birth is not known [NA]. Her employer was Medici [NA]."
TEXTS = {
    "a": "Ada was a painter [Q1, occupation: painter]. "
    "She was born in Rome [Q1, place of birth: Rome, spouse: Ben].",
    "b": "His occupation was writer [Q2, occupation: writer].",
    "c": "Nobody knows [1].",
    "d": "[Q2, occupation: writer]",
}
ALIGNED = {("a", 1): 1 / 2, ("a", 2): 1 / 3, ("a", 3): 0.0, ("b", 1): 1.0, ("d", 1): 0.0}


def answers(**more: Row) -> list[Row]:
    """Return the four responses; `more` maps a response to further fields of its row."""
    return [
        response_row(key, text=text, graph_shown=GRAPH) | more.get(key, {})
        for key, text in TEXTS.items()
    ]


def cited(folder: Path, name: str = "cited", **rows: Any) -> Dataset:
    """Import the answers; all of them answer one example."""
    given = {"examples": [example_row("e1")], "responses": answers()} | rows
    outcome = import_rows(folder / name, name, **given)
    assert outcome.dataset is not None
    return outcome.dataset


def removed_rows() -> list[Row]:
    """Return answers with and without [NA]; removed were triples, nothing, or it is not known what.

    The sentences of 'admits' share {date, birth} of {date, birth, 1596}, and both words of
    {employer, medici}: the highest probabilities, by sentence as well as by triple, are 2/3 and 1.
    """
    return [
        response_row("admits", text=ADMITS, graph_shown=GRAPH, removed=REMOVED),
        response_row("hides", text="Ada was a painter.", graph_shown=GRAPH, removed=REMOVED[:1]),
        response_row("whole", text=ADMITS, graph_shown=GRAPH, removed=[]),
        response_row("unknown", text=ADMITS, graph_shown=GRAPH),
    ]


def alignment_scheme() -> Row:
    """Return the scheme of the human check (KaLMA, 5.4)."""
    path = Path(schemes.__file__).parent / "scheme_files" / "alignment.json"
    scheme: Row = json.loads(path.read_text("utf-8"))
    return scheme


def votes(by_citation: dict[tuple[str, int], str]) -> list[Row]:
    """Return the votes of two raters, who agree."""
    return [
        vote_row(response, rater, answer, "supports", citation=number)
        for (response, number), answer in by_citation.items()
        for rater in ("anna", "ben")
    ]


def asked_for(dataset: Dataset, metric: str = "alignment", **plan: Any) -> MetricRun:
    """Request a run over all responses."""
    made: AutoMetric = METRICS[metric].made({})
    return request_metric_run(dataset, RunPlan(metric=made, **plan), dataset.responses.all(), None)


def scored(dataset: Dataset, metric: str = "alignment", **plan: Any) -> MetricRun:
    """Return a run that has finished."""
    return work(asked_for(dataset, metric, **plan))


def by_citation(run: MetricRun) -> dict[tuple[str, int | None], AutoScore]:
    """Return a run's rows by the response's key and the citation's number."""
    rows = AutoScore.objects.filter(run=run).select_related("target__response", "target__citation")
    return {
        (row.target.response.key, row.target.citation.number if row.target.citation else None): row
        for row in rows
    }
