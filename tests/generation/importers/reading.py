"""Rows of the interchange format, written to a file and read back."""

import json
from typing import Any

from generation.importers import open_material
from generation.records import Problem

EXAMPLE = {"id": "e1", "turns": [{"speaker": "user", "text": "Why?"}]}
RESPONSE = {"id": "r1", "example": "e1", "setup": "plain", "text": "Because."}
VOTE = {"response": "r1", "rater": "anna", "question": "sensible", "answer": "yes"}
ENTITY = {"qid": "Q1", "label": "Rome", "triples": []}


def read_lines(tmp_path, kind, *rows, limits=None):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(tmp_path, kind, limits)


def read_csv(tmp_path, kind, text, limits=None):
    (tmp_path / f"{kind}.csv").write_text(text, encoding="utf-8", newline="")
    return read(tmp_path, kind, limits)


def opened(path, **how) -> Any:
    """Return a material of type `Any`, so that tests need no casts for its records."""
    return open_material(path, **how)


def read(folder, kind, limits=None):
    with open_material(folder, limits=limits) as material:
        return list(material.records(kind))


def the_problem(items):
    (problem,) = items
    assert isinstance(problem, Problem), problem
    return problem
