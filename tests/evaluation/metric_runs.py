"""Metric runs in every state, scored in the test's own process by the code of the workers."""

from pathlib import Path
from typing import Any

from accounts.models import User
from evaluation.measures.entailment import AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import MetricRun
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.runs import cancel_run, request_metric_run
from generation.model_specs import ModelSpec
from generation.models import Dataset, Response
from tests.makers import example_row, import_rows, response_row

# An example, and the reason why its responses have no score.
BARE, NO_GOLDEN = "e2", "no golden evidence"


def mill(folder: Path, n_responses: int = 12, name: str = "mill", **rows: Any) -> Dataset:
    """Import a dataset of one example, with `n_responses` responses that were shown its passage.

    A second example, `BARE`, has no known evidence: responses to it cannot be scored.
    """
    text = "The mill closed in 1971. A flood had ruined it."
    evidence = [{"id": "p1", "text": text, "golden": True}]
    turns = [{"speaker": "user", "text": "When did the mill close?"}]
    outcome = import_rows(
        folder / name,
        name,
        **{
            "examples": [
                example_row("e1", turns=turns, evidence=evidence),
                example_row(BARE, turns=turns, evidence=[]),
            ],
            "responses": [
                response_row(
                    f"r{n}", setup=f"s{n}", text=f"It closed in {1970 + n}.", evidence_shown=["p1"]
                )
                for n in range(n_responses)
            ],
        }
        | rows,
    )
    assert outcome.dataset is not None
    return outcome.dataset


def requested(dataset: Dataset, user: User | None = None, **plan: Any) -> MetricRun:
    """Request a run over a dataset; it is lexical unless the plan says otherwise."""
    choices = AutoAis(**{key: plan.pop(key) for key in AutoAis._fields if key in plan})
    named = {"model_name": "name", "model_location": "location"}
    named |= {key: key for key in ModelSpec._fields}
    spec = {field: plan.pop(key) for key, field in named.items() if key in plan}
    wanted = RunPlan(
        spec=ModelSpec(**{"backend": "lexical"} | spec),
        **{"metric": AutoAisMetric(choices)} | plan,
    )
    return request_metric_run(dataset, wanted, Response.objects.filter(dataset=dataset), user)


def work(run: MetricRun, n_chunks: int | None = None) -> MetricRun:
    """Score the first chunks of a run, or all of them, as a worker does."""
    for pk in list(run.chunks.order_by("number").values_list("pk", flat=True))[:n_chunks]:
        if claim := RUN_CHUNKS.claim(pk):
            RUN_CHUNKS.do(claim)
    run.refresh_from_db()
    return run


def done(dataset: Dataset, user: User | None = None, **plan: Any) -> MetricRun:
    """Return a run that has finished."""
    return work(requested(dataset, user, **plan))


def cancelled(dataset: Dataset, user: User | None = None, **plan: Any) -> MetricRun:
    """Return a run that was cancelled after its first chunk."""
    run = work(requested(dataset, user, **plan), 1)
    cancel_run(run, user)
    run.refresh_from_db()
    return run


def failed(dataset: Dataset, location: str, user: User | None = None) -> MetricRun:
    """Return a run that stopped because its model cannot be loaded from its location."""
    return work(
        requested(
            dataset, user, backend="transformers", model_name="lost-model", model_location=location
        )
    )
