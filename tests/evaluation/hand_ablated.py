"""Seeded runs over a small graph whose tables can be worked out by hand.

Minimum sets: q1 {Q1 writer, Q1 London}, q2 {Q2 miller}, q3 empty. Each question is a dialog.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from generation.models import Dataset
from tests.evaluation.hand_cited import ADA, BEN, CHESS, LONDON, MILLER, WRITER, entity, question
from tests.makers import Row, import_rows, response_row

BAKER = "[Q1, occupation: baker]"
MINIMUM: Mapping[str, Any] = {
    "q1": [["Q1", "occupation", "writer"], ["Q1", "birth", "London"]],
    "q2": [["Q2", "occupation", "miller"]],
    "q3": [],
}
GOLD = {"q1": "Q1", "q2": "Q2", "q3": "Q1"}
GRAPH = {"Q1": ADA, "Q2": BEN}
# The citations of three runs, by question. Citations, correct, precise, hit members:
#   run 1: 3, 3, 2, 2 of 3     run 2: 3, 2, 2, 2 of 3     run 3: 1, 1, 1, 1 of 3
RUNS = (
    {"q1": f"{WRITER} {LONDON}", "q2": CHESS},
    {"q1": f"{WRITER} {BAKER}", "q2": MILLER},
    {"q1": WRITER, "q2": "[NA]"},
)


def close(figure: float) -> Any:
    """Return a value that equals a figure except for rounding."""
    return pytest.approx(figure, abs=1e-12)


def setup(prompt: str = "graph-retrieved", seed: int = 1, **more: Any) -> dict[str, Any]:
    return {"model": "small", "temperature": 0.5, "prompt": prompt, "seed": seed} | more


def answers(
    said: Mapping[str, str], made_by: Mapping[str, Any], **more: Mapping[str, Any]
) -> list[Row]:
    """Return a run's responses.

    Args:
        said: question → the citations of the response's one sentence.
        made_by: the setup.
        more: name of a further field → its value by question.
    """
    key = "-".join(str(made_by[name]) for name in ("model", "prompt", "seed"))
    return [
        response_row(
            f"{key}-{q}",
            q,
            setup=made_by,
            text=f"It is so {cited}.",
            graph_shown=GRAPH[GOLD.get(q, "Q1")],
        )
        | {name: of[q] for name, of in more.items() if q in of}
        for q, cited in said.items()
    ]


def import_answers(
    folder: Path, rows: list[Row], name: str = "ablated", more: Sequence[str] = ()
) -> Dataset:
    """Import three questions, `more` questions with q1's minimum set, and some responses."""
    minimum = {**MINIMUM, **dict.fromkeys(more, MINIMUM["q1"])}
    questions = [question(q, of) | {"entities": [GOLD.get(q, "Q1")]} for q, of in minimum.items()]
    import_rows(
        folder,
        name,
        entities=[entity("Q1", "Ada", ADA), entity("Q2", "Ben", BEN)],
        kg_questions=questions,
        responses=rows,
    )
    return Dataset.objects.get(name=name)


def three_runs(folder: Path, name: str = "seeded", more: list[Row] | None = None) -> Dataset:
    """Import three seeded runs."""
    return import_answers(folder, [*all_runs(), *(more or [])], name)


def all_runs() -> list[Row]:
    """Return the answers of three seeded runs."""
    return [
        row for seed, said in enumerate(RUNS, start=1) for row in answers(said, setup(seed=seed))
    ]


def removal_rows() -> list[Row]:
    """Return a family of two seeds: gold graphs, and graphs with one and with two members removed.

    From q1, which has two members, writer is removed, then London. From q2, which has one member,
    miller is removed, and then nothing more.
    """
    ada, ben = ADA[1:2], BEN[1:2]
    gold = answers({"q1": f"{WRITER} {LONDON}", "q2": MILLER, "q3": WRITER}, setup("graph-gold"))
    minus_1 = "graph-gold-minus-1"
    one = [
        answers({"q1": LONDON, "q2": said}, setup(minus_1, seed), removed={"q1": ada, "q2": ben})
        for seed, said in ((1, CHESS), (2, f"{CHESS} {CHESS}"))
    ]
    both = {"q1": ADA[1:], "q2": ben}
    two = [
        answers({"q1": said, "q2": CHESS}, setup("graph-gold-minus-2", seed), removed=both)
        for seed, said in ((1, "[NA]"), (2, "[NA]"))
    ]
    return [*gold, *one[0], *one[1], *two[0], *two[1]]


def accuracy_rows() -> list[Row]:
    """Return the answers with gold graphs, with both graphs replaced, and with one replaced."""
    more = {"max_tokens": 100}  # makes these setups a family of their own
    rows = answers({"q1": f"{WRITER} {LONDON}", "q2": MILLER}, setup("graph-gold", **more))
    for p, said, graphs in (
        (40, {"q1": "[NA]", "q2": "[NA]"}, {"q1": BEN, "q2": ADA}),
        (80, {"q1": WRITER, "q2": "[NA]"}, {"q1": ADA, "q2": ADA}),
    ):
        rows += answers(said, setup(f"graph-accuracy-{p}", **more), graph_shown=graphs)
    return [row | {"id": f"accuracy-{row['id']}"} for row in rows]
