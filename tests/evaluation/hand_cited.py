"""A small dataset of cited answers whose figures can be worked out by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.models import Target
from evaluation.models import AutoScore, MetricRun
from generation.models import Citation, Dataset, Response
from generation.services.citations import store_cited_facts
from tests.makers import import_rows, response_row

ADA = [["Q1", "name", "Ada"], ["Q1", "occupation", "writer"], ["Q1", "birth", "London"]]
BEN = [["Q2", "name", "Ben"], ["Q2", "occupation", "miller"], ["Q2", "sport", "chess"]]
COOL = {"model": "small", "temperature": 0.0, "prompt": "graph-gold"}
WARM = {"model": "small", "temperature": 0.5, "prompt": "graph-gold", "seed": 2, "run": "2"}

WRITER, LONDON = "[Q1, occupation: writer]", "[Q1, birth: London]"
MILLER, CHESS = "[Q2, occupation: miller]", "[Q2, sport: chess]"


def question(key: str, minimum: Any = None) -> dict[str, Any]:
    row = {"id": key, "question": f"Who is {key}?", "entities": ["Q1"]}
    return row if minimum is None else row | {"minimum": minimum}


def entity(qid: str, label: str, graph: list[list[str]]) -> dict[str, Any]:
    triples = [{"relation": relation, "value": value} for _, relation, value in graph[1:]]
    return {"qid": qid, "label": label, "triples": triples}


def import_cited(folder: Path, name: str = "cited") -> Dataset:
    """Import four questions and the answers of two setups.

    Minimum sets: q1 {Q1 writer (round 1), Q1 London (round 2)}, q2 {Q2 miller} without rounds,
    q3 empty, q4 not known.
    """
    c1 = f"Ada writes {WRITER}. She is from London {LONDON} {LONDON}."
    c2 = f"Ben bakes [Q2, occupation: baker]. He [Q2] plays {CHESS}. Born [NA] [1]."
    import_rows(
        folder,
        name,
        entities=[entity("Q1", "Ada", ADA), entity("Q2", "Ben", BEN)],
        kg_questions=[
            question("q1", [["Q1", "occupation", "writer", 1], ["Q1", "birth", "London", 2]]),
            question("q2", [["Q2", "occupation", "miller"]]),
            question("q3", []),
            question("q4"),
        ],
        responses=[
            # All three citations are correct and needed; two of them are the same.
            response_row("c1", "q1", setup=COOL, text=c1, graph_shown=ADA),
            # One citation is wrong, one incomplete, one correct but not needed.
            response_row("c2", "q2", setup=COOL, text=c2, graph_shown=BEN, removed=[BEN[1]]),
            response_row("c3", "q3", setup=COOL, text=f"Ada writes {WRITER}.", graph_shown=ADA),
            response_row("c4", "q4", setup=COOL, text=f"Ben mills {MILLER}.", graph_shown=BEN),
            # No citation; one that the empty graph cannot hold; an unknown graph.
            response_row("w1", "q1", setup=WARM, text="I do not know [NA].", graph_shown=ADA),
            response_row("w2", "q2", setup=WARM, text=f"Ben mills {MILLER}.", graph_shown=[]),
            response_row("w3", "q3", setup=WARM, text="Nobody knows."),
        ],
    )
    return Dataset.objects.get(name=name)


def score_citations(
    dataset: Dataset, scores: Mapping[tuple[str, int], float | None], **more: Any
) -> MetricRun:
    """Make a run of alignment; scores by response and number of the citation; None: failed."""
    store_cited_facts(list(dataset.responses.values_list("pk", flat=True)))
    said = {"signature": "alignment|lexical|t:0.5", "backend": "lexical"} | more
    run = MetricRun.objects.create(dataset=dataset, metric="alignment", **said)
    for (key, number), score in scores.items():
        citation = Citation.objects.get(response__dataset=dataset, response__key=key, number=number)
        target, _ = Target.objects.get_or_create(response=citation.response, citation=citation)
        problem = "" if score is not None else "too long"
        AutoScore.objects.create(run=run, target=target, score=score, problem=problem)
    return run


def score_answers(
    dataset: Dataset,
    metric: str,
    scores: Mapping[str, Any],
    details: Mapping[str, Any] | None = None,
    **more: Any,
) -> MetricRun:
    """Make a run over responses; by response, the score, or a text that says why there is none."""
    run = MetricRun.objects.create(dataset=dataset, metric=metric, **more)
    for key, score in scores.items():
        response = Response.objects.get(dataset=dataset, key=key)
        target, _ = Target.objects.get_or_create(response=response, citation=None)
        said: dict[str, Any] = {"problem": score} if isinstance(score, str) else {"score": score}
        said |= {"details": (details or {}).get(key, {})}
        AutoScore.objects.create(run=run, target=target, **said)
    return run
