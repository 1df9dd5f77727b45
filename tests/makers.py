"""Datasets, studies and votes, made quickly with the files and services that people use."""

import csv
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, User
from annotation.models import Study
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import BadRows, ImportOutcome, import_dataset
from evaluation.exchange.services import delete_dataset
from generation.importers import Material, open_material
from generation.models import Dataset

Row = dict[str, Any]
CSV_KINDS = ("votes", "scores", "flags", "raters", "rankings")
SETTINGS = ("study", "scheme", "dataset")


# --- rows of interchange files --------------------------------------------------------------


def example_row(key: str = "e1", **more: Any) -> Row:
    turns = [{"speaker": "user", "text": f"Question of {key}?"}]
    evidence = [{"id": f"p-{key}", "text": f"Passage of {key}.", "golden": True}]
    return {"id": key, "turns": turns, "evidence": evidence} | more


def response_row(key: str = "r1", example: str = "e1", **more: Any) -> Row:
    return {"id": key, "example": example, "setup": "model-a", "text": f"Text of {key}."} | more


def vote_row(
    response: str = "r1",
    rater: str = "anna",
    answer: Any = "yes",
    question: str = "attributable",
    **more: Any,
) -> Row:
    return {"response": response, "rater": rater, "question": question, "answer": answer} | more


def pilot_rows() -> dict[str, Any]:
    """Return two examples of one dialog, three responses by two setups, votes of 2 and 3 raters."""
    passages = [{"id": "p1", "text": "Closed in 1971.", "title": "Mill", "golden": True}]
    return {
        "examples": [
            example_row("e1", dialog="d1", evidence=passages, golden_answer="In 1971."),
            example_row("e2", dialog="d1", evidence=[*passages, {"id": "p2", "text": "A flood."}]),
        ],
        "responses": [
            response_row("r1", "e1", evidence_shown=["p1"]),
            response_row("r2", "e1", setup={"model": "b", "temperature": 0.7, "top_p": 1.0}),
            response_row("r3", "e2", evidence_shown=[]),
        ],
        "votes": [
            vote_row("r1", "anna", "yes"),
            vote_row("r1", "ben", "no"),
            vote_row("r2", "anna", "1"),
            vote_row("r2", "ben", "0"),
            vote_row("r2", "cleo", "YES "),
        ],
        "flags": [{"response": "r3", "rater": "anna", "reason": "empty"}],
        "raters": [{"rater": "ben", "excluded": "yes", "gold_score": "0.25"}],
        "scores": [{"response": "r1", "metric": "rouge", "score": "0.5", "signature": "v1"}],
    }


def scheme_of(scales: Mapping[str, Any], key: str = "own", **more: Row) -> Row:
    """Return a scheme with a scale for each question; `more` has further keys by question."""
    questions = [{"key": q, "scale": scale} | more.get(q, {}) for q, scale in scales.items()]
    return {"key": key, "questions": questions}


def write_files(folder: Path, **rows: Any) -> Path:
    """Write an interchange folder: kind=list of rows; study, scheme, dataset: one object each."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, content in rows.items():
        if kind in SETTINGS:
            (folder / f"{kind}.json").write_text(json.dumps(content), encoding="utf-8")
        elif kind in CSV_KINDS:
            with (folder / f"{kind}.csv").open("w", encoding="utf-8", newline="") as file:
                columns = list(dict.fromkeys(name for row in content for name in row))
                writer = csv.DictWriter(file, columns, restval="")
                writer.writeheader()
                writer.writerows(content)
        else:
            lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in content]
            (folder / f"{kind}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


# --- imports --------------------------------------------------------------------------------


def import_path(
    path: Path, name: str = "pilot", study_name: str | None = None, **more: Any
) -> ImportOutcome:
    """Import the file or folder at a path, as the command and the page do."""
    with open_material(path) as material:
        return import_material(material, name, study_name, **more)


def import_material(
    material: Material, name: str = "pilot", study_name: str | None = None, **more: Any
) -> ImportOutcome:
    """Import material that a reader has opened."""
    return import_dataset(material, plan_import(material, name, study_name), **more)


def import_rows(
    folder: Path, name: str = "pilot", study_name: str | None = None, **rows: Any
) -> ImportOutcome:
    """Write rows into a new folder and import that folder."""
    return import_path(write_files(folder, **rows), name, study_name)


def rated(
    folder: Path,
    votes: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    name: str = "pilot",
    scheme: Mapping[str, Any] | None = None,
    dialogs: Mapping[str, str] | None = None,
    setups: Mapping[str, str] | None = None,
    more_votes: Sequence[Row] = (),
    **rows: Any,
) -> Study:
    """Import votes given as response → question → the answers of w1, w2, ... ('' for none).

    Each response belongs to an example of its own, which is a dialog unless `dialogs` names one.
    Without a scheme all questions are yes/no.
    """
    dialogs, setups = dialogs or {}, setups or {}
    questions = list(dict.fromkeys(q for by_question in votes.values() for q in by_question))
    given = [
        vote_row(response, f"w{number}", answer, question)
        for response, by_question in votes.items()
        for question, answers in by_question.items()
        for number, answer in enumerate(answers, start=1)
        if answer
    ]
    outcome = import_rows(
        folder,
        name,
        examples=[example_row(f"e-{key}", dialog=dialogs.get(key, f"e-{key}")) for key in votes],
        responses=[
            response_row(key, f"e-{key}", setup=setups.get(key, "model-a")) for key in votes
        ],
        votes=[*given, *more_votes],
        scheme=scheme or scheme_of(dict.fromkeys(questions, "yes_no")),
        **rows,
    )
    assert outcome.study is not None
    return outcome.study


def problems_of(error: BadRows) -> list[tuple[str, int, str]]:
    """Return file, line and field of each bad row."""
    return [(p.where.file, p.where.line, p.field) for p in error.outcome.problems]


def forget(dataset: Dataset) -> None:
    """Delete a dataset and all that belongs to it, as an admin does, and its audit entries."""
    admin = User.objects.create(username="who-empties")
    delete_dataset(dataset, admin)
    AuditEntry.objects.filter(subject=dataset.name).delete()
    admin.delete()


# --- what is in the database ----------------------------------------------------------------


# Models whose rows belong to no dataset, and so stay when one is deleted.
OF_THE_INSTALLATION = {
    "checkpoint",
    "construction",
    "constructioncall",
    "constructionentry",
    "import",
    "savedmapping",
}


def tables() -> list[type[Model]]:
    """Return the models that imports write to, and those of the tables between them."""
    found: list[type[Model]] = []
    for label in ("generation", "annotation", "evaluation"):
        found += apps.get_app_config(label).get_models(include_auto_created=True)
    return [model for model in found if model._meta.model_name not in OF_THE_INSTALLATION]


def row_counts() -> dict[str, int]:
    """Return how many rows each table has."""
    return {model._meta.label: model._default_manager.count() for model in tables()}


def contents() -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    return {
        model._meta.label: sorted(model._default_manager.values_list(), key=repr)
        for model in tables()
    }


def is_empty() -> bool:
    """Return whether no row is stored at all."""
    return not any(row_counts().values())


def audit_actions() -> list[tuple[str, str]]:
    """Return (action, subject) of the audit trail, oldest first."""
    return list(AuditEntry.objects.order_by("pk").values_list("action", "subject"))


def statements(action: Callable[[], object]) -> list[str]:
    """Return the SQL statements that an action executes."""
    with CaptureQueriesContext(connection) as queries:
        action()
    return [query["sql"] for query in queries.captured_queries]


def at_each_statement(action: Callable[[], Any], meanwhile: Callable[[], object]) -> Iterator[Any]:
    """Yield what an action returns if something else happens just before its nth statement.

    It is done once for each statement that it executes, and each time all is taken back.
    """
    for number in itertools.count(1):
        seen = itertools.count(1)

        def execute(
            run: Callable[..., object], *said: object, number: int = number, seen: Any = seen
        ) -> object:
            if next(seen) == number:
                meanwhile()
            return run(*said)

        with transaction.atomic():
            with connection.execute_wrapper(execute):
                result = action()
            if next(seen) <= number:
                return  # it has fewer statements
            yield result
            transaction.set_rollback(True)
