"""Reports made again from an export, in a scratch database of a process of its own.

The scratch database is a temporary SQLite file, or a new database on a PostgreSQL server. Folder
and cache are temporary as well, so that nothing of the installation is read or changed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from django.conf import settings
from django.db import IntegrityError, connection
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from annotation.models import Study
from evaluation.exchange.data_differences import data_differences
from evaluation.exchange.export_content import ExportContent
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from evaluation.exchange.manifest_check import CannotReproduce, Manifest
from evaluation.exchange.manifest_differences import report_differences
from evaluation.exchange.new_database import create_tables_if_empty
from evaluation.exchange.work_made_here import (
    announce_runs,
    complete_runs,
    store_calls,
    store_grids,
)
from evaluation.reports.code_version import CODE_VERSION
from evaluation.reports.manifest import package_versions, report_content
from evaluation.reports.registry import CannotReport, NotYet, all_reports
from evaluation.votes.digests import digest_from
from generation.choices.declaration import check_types
from generation.importers import open_material
from generation.importers.errors import DatasetError, excerpt, quotation
from generation.models import Dataset
from generation.services.datasets import create_dataset

COMMAND = "make_reports_again"  # runs in the process of its own
# The URL of a database has a password, and other users of a machine can read all arguments.
DATABASE_VARIABLE = "ATTEST_REPRODUCE_DATABASE_URL"


class Reproduction(NamedTuple):
    """The result of making the reports of a manifest again."""

    reports: dict[str, list[str]]  # report → what differs; [] for equal
    data: list[str]  # what differs in the data
    notes: list[str]  # other versions of code and packages

    @property
    def is_equal(self) -> bool:
        return not self.data and not any(self.reports.values())


def reproduce(
    manifest: Manifest,
    export: ExportContent,
    original: ExportContent | None = None,
    database: str = "",
) -> Reproduction:
    """Make the reports of a manifest again from an export, and compare.

    Args:
        original: the export that belongs to the manifest, if a bundle holds it.
        database: the URL of any database on the PostgreSQL server to use; "": a SQLite file.

    Raises:
        CannotReproduce: the export is of another study or dataset, or it cannot be imported.
        DatasetError: a file of the export cannot be read.
    """
    _check_subject(manifest, export)
    before = {name: digest_from(data) for name, data in manifest["data"].items()}
    now = export.digests()  # reads every row, before a database is made for them
    made = _made_apart(manifest, export, database)
    reports = {}
    for each in manifest["reports"]:
        found = made[each["report"]]
        if problem := found.get("problem"):
            reports[each["report"]] = [f"it cannot be made: {problem}"]
        else:
            reports[each["report"]] = report_differences(each, found)
    return Reproduction(reports, data_differences(before, now, export, original), _notes(manifest))


def _check_subject(manifest: Manifest, export: ExportContent) -> None:
    subject = manifest["subject"]
    if subject["kind"] == "study":
        names = [row.get("name") for row in export.rows("study.json")]
        if names != [subject["name"]]:
            there = f"the study {quotation(names[0])}" if names else "no study"
            raise CannotReproduce(
                f"{export.path}: found {there}; expected the study {excerpt(subject['name'])} of "
                "the manifest"
            )
        return
    before = manifest["data"].get("examples.jsonl", {"items": {}})["items"]
    if before and not any(str(row.get("id")) in before for row in export.rows("examples.jsonl")):
        raise CannotReproduce(
            f"{export.path}: found no example of the manifest; expected an export of the dataset "
            f"{excerpt(subject['name'])}"
        )


def _notes(manifest: Manifest) -> list[str]:
    """Return in what the code and the packages differ from those of the manifest."""
    notes = []
    if manifest["code"]["version"] != CODE_VERSION:
        notes.append(f"the code was {manifest['code']['version']}, is {CODE_VERSION}")
    were = {name: v for name, v in manifest["packages"].items() if name != "python"}
    now = package_versions()
    for name in {**were, **now}:
        if were.get(name) != now.get(name):
            notes.append(f"{name} was {were.get(name, 'missing')}, is {now.get(name, 'missing')}")
    return notes


# --- the process of its own -----------------------------------------------------------------


def _made_apart(manifest: Manifest, export: ExportContent, database: str) -> dict[str, Any]:
    """Return the content of each report, or its problem, as another process makes it."""
    with (
        tempfile.TemporaryDirectory(prefix="attest-reproduce-") as name,
        _scratch_database(Path(name), database) as url,
    ):
        scratch = Path(name)
        (scratch / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "django",
                COMMAND,
                str(scratch / "manifest.json"),
                str(export.path.absolute()),
                str(scratch / "made.json"),
            ],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                "DATABASE_URL": url,
                "ATTEST_DATA_DIR": str(scratch),
                "CACHE_URL": "locmemcache://",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CannotReproduce(_said(done.stderr))
        found: dict[str, Any] = json.loads((scratch / "made.json").read_text("utf-8"))
        return found


def _said(error: str) -> str:
    """Return why the process ended, in one line if it did not say so itself."""
    lines = error.strip().splitlines()
    if not lines:
        return "The reports cannot be made again: the process ended without an error."
    if any(line.startswith("Traceback") for line in lines):
        return f"The reports cannot be made again: {lines[-1]}"
    return "\n".join(lines)


@contextmanager
def _scratch_database(folder: Path, server: str) -> Iterator[str]:
    """Yield the URL of an empty database, which is deleted afterwards.

    Raises:
        CannotReproduce: it is no URL of PostgreSQL, the server does not answer, or it lets no
            database be made.
    """
    if not server:
        yield f"sqlite:///{folder / 'scratch.sqlite3'}"
        return
    name = f"attest_reproduce_{uuid4().hex[:12]}"
    try:
        if not server.startswith(("postgres://", "postgresql://")):
            raise psycopg.ProgrammingError
        conninfo_to_dict(server)
    except psycopg.ProgrammingError as error:  # its text may have a part of the password
        raise CannotReproduce(
            f"{DATABASE_VARIABLE}: found no URL of PostgreSQL; expected "
            "postgres://user:password@host:port/name"
        ) from error
    try:
        with psycopg.connect(server, autocommit=True) as at:
            at.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    except psycopg.Error as error:
        raise CannotReproduce(f"The database cannot be made: {error}") from error
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server, autocommit=True) as at:
            at.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def make_again(manifest: Manifest, path: Path) -> dict[str, Any]:
    """Import an export into this database, which must be empty, and make the reports.

    Raises:
        CannotReproduce: the database is not empty, or the export cannot be imported.
    """
    if connection.introspection.table_names():
        raise CannotReproduce("The database is not empty. Reports are made again in a new one.")
    create_tables_if_empty()
    subject = manifest["subject"]
    try:
        dataset, study = _imported(ExportContent(path), subject)
    except (DatasetError, IntegrityError) as error:
        raise CannotReproduce(f"The export cannot be imported. {error}") from error
    made: dict[str, Any] = {}
    for each in manifest["reports"]:
        about = study if subject["kind"] == "study" else dataset
        try:
            made[each["report"]] = _report(about, each["report"], each["choices"])
        except (ValueError, CannotReport, NotYet) as error:
            made[each["report"]] = {"problem": str(error)}
    return made


def _report(about: Dataset | Study | None, key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    kind = all_reports().get(key)
    if kind is None:
        raise CannotReport("This version of Attest has no such report.")
    if not isinstance(about, kind.about):
        raise CannotReport(f"This report is about a {kind.about._meta.model_name}.")
    check_types(kind.choices, given)
    choices = kind.chosen(about, given)
    if kind.prepare:
        kind.prepare(about, choices)
    return report_content(kind.make(about, choices))


def _imported(export: ExportContent, subject: Mapping[str, str]) -> tuple[Dataset, Study | None]:
    """Return the dataset of an export and its study, with the work that was made here."""
    dataset = create_dataset(subject["dataset"])
    announce_runs(dataset, export)
    with open_material(export.path, folder=export.folder) as material:
        study = import_dataset(material, plan_import(material, dataset.name)).study
    complete_runs(dataset, export)
    store_grids(dataset, export)
    store_calls(dataset, export)
    dataset.refresh_from_db()
    return dataset, study
