"""Material for teaching a small model: responses, and a teacher who judges by one word."""

import random
from collections.abc import Callable
from pathlib import Path

from evaluation.metrics.auto_ssa import AutoSensible
from evaluation.models import MetricRun
from generation.models import Dataset
from tests.evaluation.metric_runs import done
from tests.evaluation.told_language_model import BACKEND, ToldLanguageModel
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.tiny_encoder import BAD, GOOD, WORDS

N_DIALOGS, N_RATED = 60, 6


def rated_and_unrated(folder: Path) -> Dataset:
    """Import two responses per dialog, one of which contains 'guitar'; six dialogs have votes."""
    draw = random.Random(5)
    rows = [
        (f"r{dialog}-{word}", f"e{dialog}", " ".join([*draw.choices(WORDS[:10], k=4), word]))
        for dialog in range(N_DIALOGS)
        for word in (GOOD, BAD)
    ]
    outcome = import_rows(
        folder / "taught",
        "taught",
        examples=[example_row(f"e{n}", dialog=f"d{n}") for n in range(N_DIALOGS)],
        responses=[response_row(key, example, text=text) for key, example, text in rows],
        votes=[
            vote_row(key, f"w{n}", "yes" if GOOD in key else "no", "sensible")
            for key, example, _ in rows
            if int(example[1:]) < N_RATED
            for n in range(3)
        ],
        scheme=scheme_of({"sensible": "yes_no"}),
    )
    assert outcome.dataset is not None
    return outcome.dataset


def teacher_run(dataset: Dataset, told_model: Callable[..., ToldLanguageModel]) -> MetricRun:
    """Return a language model's run that scores .9 for a reply with 'guitar', and .1 otherwise."""

    def rate(prompt: str) -> str:
        return f"Answer: {0.9 if GOOD in prompt.rpartition('Final reply')[2] else 0.1}"

    told_model(rate)
    return done(dataset, metric=AutoSensible(), backend=BACKEND, model_name="teacher")
