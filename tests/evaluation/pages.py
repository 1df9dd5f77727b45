"""Material that tests of pages share: a study with rows of every kind, and its addresses."""

from pathlib import Path

from django.urls import reverse

from generation.models import Dataset, Example, Response
from tests.evaluation.studies.hand_made import PAIR
from tests.makers import example_row, import_rows, response_row, vote_row


def make_pilot(folder: Path) -> Dataset:
    """Make a dataset named pilot, and a study of it with votes, flags and scores of every kind."""
    turns = [
        {"speaker": "user", "text": "Who built the mill?"},
        {"speaker": "assistant", "text": "The monks."},
        {"speaker": "user", "text": "When did it close?"},
    ]
    evidence = [
        {"id": "p1", "title": "The mill", "text": "It closed in 1971.", "golden": True},
        {"id": "p2", "title": "The bridge", "text": "It was built of stone."},
    ]
    import_rows(
        folder / "pilot",
        examples=[
            example_row("e0"),
            example_row("e1", turns=turns, evidence=evidence, golden_answer="In 1971."),
            {"id": "e2", "turns": None},
        ],
        responses=[
            response_row("r1", "e1", text="It closed in 1971.", evidence_shown=["p2"], tokens=7),
            response_row("r2", "e1", setup={"model": "b", "temperature": 0.7, "top_p": 0.9}),
            response_row("r3", "e1", setup="model-c", evidence_shown=[]),
            response_row("r4", "e2"),
        ],
        votes=[
            vote_row("r1", "anna", "yes", "sensible"),
            vote_row("r1", "ben", "no", "sensible"),
            vote_row("r1", "cleo", "no", "sensible"),
            vote_row("r1", "cleo", "no", "specific", implied="1"),
            vote_row("r1", "anna", "yes", "specific"),
            vote_row("r1", "anna", "yes", "sensible", arm="merged", position="2"),
            vote_row("r1", "anna", "yes", "sensible", citation="2"),
        ],
        flags=[{"response": "r2", "rater": "ben", "reason": "cut off"}],
        scores=[
            {"response": "r1", "metric": "rouge", "score": "0.25", "signature": "v1|k2"},
            {"response": "r1", "metric": "nli", "score": "1", "citation": "2"},
        ],
        scheme=PAIR,
    )
    return Dataset.objects.get()


def example_address(key):
    example = Example.objects.get(key=key)
    return reverse("evaluation:example", args=[example.dataset.slug, example.pk])


def response_address(key):
    response = Response.objects.get(key=key)
    return reverse("evaluation:response", args=[response.dataset.slug, response.pk])


def run_choices(**more):
    """Return the fields of the form of a new run: lexical Auto-AIS over a dataset named mill."""
    return {
        "over": "dataset:mill",
        "metric": "auto_ais",
        "model": "lexical",
        "flavor": "v3",
        "window": "2",
        "hypothesis": "whole",
        "evidence": "shown",
        "threshold": "0.5",
        "seed": "0",
        "controls": "0",
    } | more
