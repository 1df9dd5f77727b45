"""The installation of tests/data/upgrade, restored on the database that the tests use."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.core.serializers import serialize
from django.core.serializers.python import Deserializer
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

from tests.upgrade.make_fixture import JUDGE

FIXTURE = Path(__file__).parent.parent / "data" / "upgrade"
STILL_HELD = "2099-01-01T00:00:00Z"  # leases have not run out, as if the site had just gone down
Row = dict[str, Any]
# The present names of models and fields of the old installation.
MODELS_NOW = {
    "generation.experiment": "generation.grid",
    "generation.experimentsetup": "generation.gridsetup",
    "generation.experimentchunk": "generation.gridchunk",
}
FIELDS_NOW = {
    "generation.grid": {"grid": "choices"},
    "generation.gridsetup": {"experiment": "grid"},
    "generation.gridchunk": {"experiment": "grid"},
    "generation.call": {"experiment": "grid"},
}


# Work that goes on is queued again, without a worker's token and its earlier attempts.
VALUES_NOW = {
    "generation.import": {"state": {"checking": "queued", "importing": "queued"}},
    "generation.sample": {"state": {"filtering": "queued", "ready": "done"}},
}
NO_MORE = {
    "generation.import": ("token", "n_attempts"),
    "generation.grid": ("sent_at", "plan_attempts"),
}


@cache
def old_rows(judge: str = JUDGE) -> list[Row]:
    """Return the rows of the old installation, with its language model served at this address."""
    text = (FIXTURE / "rows.jsonl").read_text(encoding="utf-8").replace(JUDGE, judge)
    rows: list[Row] = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        if row["model"] == "annotation.assignment" and row["fields"]["lease_until"]:
            row["fields"]["lease_until"] = STILL_HELD
    return rows


def old_tasks() -> list[str]:
    """Return the names of the tasks that the old code knows."""
    return (FIXTURE / "tasks.txt").read_text(encoding="utf-8").split()


def messages(folder: Path) -> list[tuple[str, str, Any]]:
    """Return (queue, task, body) of the messages in a folder, in order."""
    found = []
    for path in sorted(folder.glob("*.msg")):
        message = json.loads(path.read_text(encoding="utf-8"))
        found.append((path.name.split(".")[1], message["headers"]["task"], message["body"]))
    return found


def last_old_migrations() -> list[tuple[str, str]]:
    """Return the last migration of each app that the old installation had applied."""
    lines = (FIXTURE / "migrations.jsonl").read_text(encoding="utf-8").splitlines()
    return list({row["app"]: row["name"] for row in map(json.loads, lines)}.items())


# model → field of JSON → what a migration wrote into it
MORE_IN = {"generation.grid": {"choices": {"form": ["native"]}}}


def under_new_names(row: Row) -> tuple[tuple[str, Any], Row]:
    """Return (model, id) and the fields of an old row, under their present names and words."""
    model = MODELS_NOW.get(row["model"]) or row["model"]
    names = FIELDS_NOW.get(model, {})
    fields = {names.get(name) or name: value for name, value in row["fields"].items()}
    for name, values in VALUES_NOW.get(model, {}).items():
        fields[name] = values.get(fields[name], fields[name])
    for name in NO_MORE.get(model, ()):
        del fields[name]
    for name, more in MORE_IN.get(model, {}).items():
        fields[name] = fields[name] | more
    return (model, row["pk"]), fields


def rows_now(models: Sequence[str]) -> dict[tuple[str, Any], Row]:
    """Return the present rows of these models, in the form of a dump."""
    found = [
        row
        for model in models
        for row in json.loads(serialize("json", apps.get_model(model)._base_manager.all()))
    ]
    return {(row["model"], row["pk"]): row["fields"] for row in found}


@contextmanager
def own_database(folder: Path) -> Iterator[None]:
    """Let this process use a new and empty database until the block ends."""
    database = connection.settings_dict
    usual, is_file = database["NAME"], connection.vendor == "sqlite"
    new = str(folder / "upgraded.sqlite3") if is_file else f"{usual}_upgraded"
    if not is_file:
        _execute(f"CREATE DATABASE {connection.ops.quote_name(new)}")
    _connect_to(new)
    try:
        yield
    finally:
        _connect_to(usual)
        if not is_file:
            _execute(f"DROP DATABASE {connection.ops.quote_name(new)} WITH (FORCE)")


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def bring_up(data: Path, judge: str) -> None:
    """Make the tables of the old code with its rows, and restore its queue and its uploads."""
    executor = MigrationExecutor(connection)
    executor.migrate(last_old_migrations())
    _load(old_rows(judge), executor.loader.project_state(last_old_migrations()).apps)
    (data / "queue").mkdir(parents=True)
    shutil.copytree(FIXTURE / "queue", data / "queue" / "messages")
    shutil.copytree(FIXTURE / "uploads", data / "uploads")


class _OldRows(Deserializer):
    """A deserializer that uses the models of the old migrations."""

    def __init__(self, rows: list[Row], old: StateApps) -> None:
        super().__init__(rows)
        self._old = old

    def _get_model_from_node(self, model_identifier: str) -> Any:
        return self._old.get_model(model_identifier)


def _load(rows: list[Row], old: StateApps) -> None:
    """Replace the rows that migrations have made by the old rows."""
    models = old.get_models(include_auto_created=True)
    tables = [model._meta.db_table for model in models]
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))
    with transaction.atomic():
        for row in _OldRows(rows, old):
            row.save()
    for statement in connection.ops.sequence_reset_sql(no_style(), models):
        _execute(statement)
