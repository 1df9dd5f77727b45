"""A study that rated a drawn sample of dialogs, while a metric scored all responses."""

from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Study
from annotation.ordering import drawn_names
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row

SEED, N_DIALOGS, N_DRAWN = 13, 80, 40
SETUPS = {"first": 0.7, "second": 0.4, "third": 0.5}  # setup → share of yes
DIALOGS = [f"d{n:02}" for n in range(N_DIALOGS)]
DRAWN = drawn_names(DIALOGS, SEED, N_DRAWN)


def few_labels_rows(**facts: Any) -> dict[str, Any]:
    """Return the files of the study: votes of three raters on drawn dialogs, scores of all."""
    random = np.random.default_rng(7)
    responses, votes, scores = [], [], []
    for dialog in DIALOGS:
        for setup, share in SETUPS.items():
            key, is_good = f"{dialog}-{setup}", random.random() < share
            responses.append(response_row(key, dialog, setup={"model": setup}))
            score = min(1.0, max(0.0, random.normal(0.65 if is_good else 0.35, 0.15)))
            scores.append({"response": key, "metric": "nli", "score": f"{score:.3f}"})
            if dialog in DRAWN:
                votes += [
                    vote_row(key, f"w{n}", "yes" if is_good else "no", "good") for n in (1, 2, 3)
                ]
    return {
        "examples": [example_row(dialog, dialog=dialog) for dialog in DIALOGS],
        "responses": responses,
        "votes": votes,
        "scores": scores,
        "scheme": scheme_of({"good": "yes_no"}),
        "study": {
            "seed": SEED,
            "raters_per_unit": 3,
            "n_sampled": N_DRAWN,
            "n_drawn_from": N_DIALOGS,
        }
        | facts,
    }


def few_labels(folder: Path, **facts: Any) -> Study:
    """Import that study; `facts` change its study.json."""
    study = import_rows(folder, "few", **few_labels_rows(**facts)).study
    assert study is not None
    return study
