"""A small made-up graph with questions and cited answers, for the tests of pages and reports.

There are two Anne Hathaways; a question that names Shakespeare means the one he married.
"""

from pathlib import Path
from typing import Any

from generation.models import Dataset
from tests.makers import Row, import_rows, response_row


def triple(relation: str, value: str, value_qid: str = "") -> Row:
    return {"relation": relation, "value": value} | ({"value_qid": value_qid} if value_qid else {})


ENTITIES: list[Row] = [
    {
        "qid": "Q1",
        "label": "Anne Hathaway",
        "type": "human",
        "aliases": ["Anne Shakespeare"],
        "triples": [
            triple("spouse", "William Shakespeare", "Q3"),
            triple("place of birth", "Shottery", "Q99"),
            triple("date of death", "1623"),
        ],
    },
    {
        "qid": "Q2",
        "label": "Anne Hathaway",
        "type": "human",
        "triples": [
            triple("occupation", "actor"),
            triple("occupation", "film producer"),
            triple("occupation", "singer"),
            triple("occupation", "voice actor"),
            triple("place of birth", "Brooklyn"),
        ],
    },
    {
        "qid": "Q3",
        "label": "William Shakespeare",
        "type": "human",
        "aliases": ["Bard of Avon"],
        "triples": [
            triple("spouse", "Anne Hathaway", "Q1"),
            triple("occupation", "playwright"),
            triple("notable work", "Hamlet"),
        ],
    },
    {"qid": "Q4", "label": "Globe", "type": "theatre", "text": "A theatre. " * 30, "triples": []},
]
QUESTION = "When did Anne Hathaway, the wife of William Shakespeare, die?"
QUESTIONS: list[Row] = [
    {
        "id": "k1",
        "question": QUESTION,
        "entities": ["Q1", "Q3"],
        "retrieved": ["Q1", "Q2"],
        "minimum": [
            ["Q1", "date of death", "1623", 1],
            ["Q3", "notable work", "Hamlet", 2],
        ],
    },
    {"id": "k2", "question": "Who built the mill?", "entities": []},
]
SHOWN = [
    ["Q1", "name", "Anne Hathaway"],
    ["Q1", "spouse", "William Shakespeare"],
    ["Q1", "date of death", "1623"],
]
ANSWER = (
    "She died in 1623 [Q1, date of death: 1623]. Her husband was Shakespeare "
    "[Q1, spouse: William Shakespeare]. She was a queen [Q1, occupation: queen]. "
    "It is said [spouse]. Her mother was named [NA]."
)


def cited_row(key: str = "a1", example: str = "k1", **more: Any) -> Row:
    return response_row(key, example, text=ANSWER, graph_shown=SHOWN) | more


def hathaways(folder: Path, name: str = "hathaways", **more: Any) -> Dataset:
    """Import the graph with its questions, and with the files of `more`, as for `import_rows`."""
    rows = {"entities": ENTITIES, "kg_questions": QUESTIONS} | more
    outcome = import_rows(folder / name, name, **rows)
    assert outcome.dataset is not None
    return outcome.dataset
