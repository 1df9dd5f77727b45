"""Pairs of a sentence and a citation, with judgements of two people and of a run, by hand."""

from collections.abc import Sequence
from pathlib import Path

from annotation.models import Study, UnitTarget, Vote
from annotation.services.alignment_studies import request_alignment_study
from annotation.services.studies import open_study
from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset
from tests.annotation.makers import rater_users, raters_of, researcher
from tests.makers import example_row, import_rows, response_row

# For each pair: votes of the two raters, score of the metric (0.5 or more: aligned; None: failed).
# 10 pairs: 6 yes-yes, 2 no-no, 2 split. Mean vote (6 + 2 * 0.5) / 10 = 0.7, agreement 8 / 10.
PAIRS = [
    *[((1, 1), 0.9)] * 5,
    ((1, 1), 0.1),
    ((0, 0), 0.1),
    ((0, 0), 0.8),
    ((1, 0), 0.9),
    ((1, 0), None),
]


def pairs_of(
    folder: Path, name: str = "pairs", n: int = 10, models: Sequence[str] = ("one",)
) -> Dataset:
    """Import n answers of each model, each with one pair in a dialog of its own."""
    outcome = import_rows(
        folder / name,
        name,
        examples=[example_row(f"e{i}", dialog=f"d{i}") for i in range(n)],
        responses=[
            response_row(
                f"{model}-{i}",
                f"e{i}",
                setup={"model": model, "temperature": i % 2 / 2},
                text=f"Ada was a painter, says book {i} [Q1, occupation: painter].",
                graph_shown=[["Q1", "name", "Ada"], ["Q1", "occupation", "painter"]],
            )
            for model in models
            for i in range(n)
        ],
    )
    assert outcome.dataset is not None
    return outcome.dataset


def rated(folder: Path, name: str = "pairs", models: Sequence[str] = ("one",)) -> Study:
    """Make a study in which two people have rated every pair, and a run that has scored them.

    The votes and scores are those of `PAIRS`, for each model.
    """
    dataset = pairs_of(folder, name, models=models)
    slug = "rated" if name == "pairs" else f"rated {name}"
    study = request_alignment_study(dataset, slug, raters=rater_users(2))
    open_study(study, researcher())
    run = MetricRun.objects.create(
        dataset=dataset, metric="alignment", threshold=0.5, is_yes_at_threshold=True, state="done"
    )
    places = UnitTarget.objects.filter(unit__arm__study=study).order_by("target__response__key")
    said = PAIRS * len(models)
    for place, (votes, score) in zip(places.select_related("unit__arm"), said, strict=True):
        for rater, answer in zip(raters_of(study), votes, strict=True):
            Vote.objects.create(
                arm=place.unit.arm,
                rater=rater,
                target=place.target,
                question="supports",
                answer=answer,
            )
        AutoScore.objects.create(
            run=run, target=place.target, score=score, problem="" if score else "failed"
        )
    return study
