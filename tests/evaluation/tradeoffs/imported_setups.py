"""A few setups with responses and scores, imported."""

from generation.models import Dataset
from tests.makers import example_row, import_rows, response_row

SMALL, LARGE = "M 8B", "M 540B"
# Model, temperature, prompt; for each of four examples, whether the response to it is attributable;
# then likewise whether it is sensible.
SETUPS = [
    (SMALL, 0.0, "golden", "yyyn", "yynn"),
    (LARGE, 0.0, "golden", "yyny", "yyyy"),
    (LARGE, 0.0, "one-shot", "yyyn", "yyyn"),
    (LARGE, 0.7, "no-evidence", "nnny", "yyyn"),
]


def imported(folder, name, setups=SETUPS) -> Dataset:
    """Import setups, each with four responses and their scores."""
    dataset = import_rows(folder, name, **rows(setups)).dataset
    assert dataset
    return dataset


def rows(setups=SETUPS):
    places = [(s, e) for s in range(len(setups)) for e in range(4)]
    return {
        "examples": [example_row(f"e{n}") for n in range(4)],
        "responses": [
            response_row(
                f"r{s}-{e}",
                f"e{e}",
                setup={"model": setups[s][0], "temperature": setups[s][1], "prompt": setups[s][2]},
            )
            for s, e in places
        ],
        "scores": [
            {
                "response": f"r{s}-{e}",
                "metric": metric,
                "score": 0.9 if said == "y" else 0.1,
                "signature": "t:0.5",
            }
            for s, e in places
            for metric, said in (("auto_ais", setups[s][3][e]), ("sensible", setups[s][4][e]))
        ],
    }
