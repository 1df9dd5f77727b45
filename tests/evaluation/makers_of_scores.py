"""Runs and scores like those that a worker stores, made row by row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.models import Study, Target
from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset, Passage, Response
from generation.text.sentences import split_sentences
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row

MILL = (
    "The mill stood by the river. It ground corn for two villages. "
    "The mill closed in 1971 after the flood. Its wheel was sold. Today it is a museum."
)
SIGNATURE = "auto_ais|lexical|v3|localized:2|whole|shown|t:0.5|v:1"


def make_run(dataset: Dataset, **more: Any) -> MetricRun:
    """Make a run of Auto-AIS with windows of two sentences of the evidence shown."""
    signature = more.pop("signature", SIGNATURE)
    parameters = {"flavor": "v3", "window": 2, "hypothesis": "whole", "evidence": "shown"}
    parameters |= more.pop("parameters", {})
    return MetricRun.objects.create(
        dataset=dataset,
        metric=more.pop("metric", "auto_ais"),
        signature=signature,
        backend="lexical",
        parameters=parameters,
        **more,
    )


def make_score(run: MetricRun, key: str, score: float | None, **more: Any) -> AutoScore:
    """Make a run's score of the response with this key."""
    response = Response.objects.get(dataset=run.dataset_id, key=key)
    target, _ = Target.objects.get_or_create(response=response, citation=None)
    return AutoScore.objects.create(run=run, target=target, score=score, **more)


def make_scores(run: MetricRun, scores: Mapping[str, float]) -> None:
    for key, score in scores.items():
        make_score(run, key, score)


def window(
    passage: str, text: str, probability: float = 0.9, sentence: int | None = None
) -> dict[str, Any]:
    """Return, as scores store it, the window with this text in the newest passage of this key."""
    found = Passage.objects.filter(key=passage).latest("pk")
    start = found.text.index(text)
    end = start + len(text)
    held = [
        number
        for number, each in enumerate(split_sentences(found.text))
        if each.start >= start and each.end <= end
    ]
    return {
        "sentence": sentence,
        "passage": found.pk,
        "first": held[0],
        "last": held[-1],
        "start": start,
        "end": end,
        "probability": probability,
    }


def disputed(folder: Path, name: str = "Disputed") -> tuple[Study, MetricRun]:
    """Import a study of five responses in which raters and a run disagree on three.

    Yes : no votes and score of each: missed 3:2 .30, missed 5:0 .10, false alarm 1:4 .80,
    agree 5:0 .90, tied 2:2 .90.
    """
    votes = {"r-miss": "yyynn", "r-far": "yyyyy", "r-false": "ynnnn", "r-same": "yyyyy"}
    votes["r-even"] = "yynn"
    keys = list(votes)
    outcome = import_rows(
        folder / name,
        name,
        examples=[
            example_row(
                f"e-{key}", evidence=[{"id": f"p-{key}", "title": "The mill", "text": MILL}]
            )
            for key in keys
        ],
        responses=[
            response_row(
                key,
                f"e-{key}",
                text="The mill closed in 1971.",
                setup="cool" if key in ("r-miss", "r-false") else "warm",
                evidence_shown=[f"p-{key}"],
            )
            for key in keys
        ],
        votes=[
            vote_row(key, f"w{number}", {"y": "yes", "n": "no"}[answer])
            for key, answers in votes.items()
            for number, answer in enumerate(answers, start=1)
        ],
        scheme=scheme_of({"understand": "yes_no", "attributable": "yes_no"}),
    )
    assert outcome.study is not None
    run = make_run(outcome.study.dataset)
    won = {
        "r-miss": (0.3, "The mill closed in 1971 after the flood. Its wheel was sold."),
        "r-far": (0.1, "Its wheel was sold. Today it is a museum."),
        "r-false": (0.8, "The mill stood by the river. It ground corn for two villages."),
        "r-same": (0.9, "The mill closed in 1971 after the flood. Its wheel was sold."),
        "r-even": (0.9, "The mill closed in 1971 after the flood. Its wheel was sold."),
    }
    for key, (score, text) in won.items():
        make_score(run, key, score, windows=[window(f"p-{key}", text, score)])
    return outcome.study, run
