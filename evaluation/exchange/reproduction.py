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
from django.db import connection
from psycopg import sql

from annotation.models import Study
from evaluation.exchange.data_differences import data_differences
from evaluation.exchange.export_content import ExportContent
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from evaluation.exchange.manifest_differences import report_differences
from evaluation.exchange.new_database import create_tables_if_empty
from evaluation.exchange.work_made_here import (
    announce_runs,
    complete_runs,
    store_calls,
    store_grids,
)
from evaluation.reports.code_version import CODE_VERSION
from evaluation.reports.manifest import (
    FORMAT,
    FORMAT_VERSION,
    package_versions,
    report_content,
)
from evaluation.reports.registry import CannotReport, all_reports
from evaluation.votes.digests import digest_from
from generation.choices.declaration import ChoiceError
from generation.importers import open_material
from generation.importers.errors import DatasetError
from generation.models import Dataset
from generation.services.datasets import create_dataset

COMMAND = "make_reports_again"  # runs in the process of its own
Manifest = Mapping[str, Any]


class CannotReproduce(Exception):
    """A manifest and an export from which nothing can be made again. The message says why."""


class Reproduction(NamedTuple):
    """The result of making the reports of a manifest again."""

    reports: dict[str, list[str]]  # report → what differs; [] for equal
    data: list[str]  # what differs in the data
    notes: list[str]  # other versions of code and packages

    @property
    def is_equal(self) -> bool:
        return not self.data and not any(self.reports.values())


def check_manifest(manifest: Any, where: str) -> Manifest:
    """Return a manifest that this version can read.

    Raises:
        CannotReproduce: it is something else.
    """
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CannotReproduce(
            f"{where}: found no manifest; expected the file that `manage.py report … --format "
            "manifest` or a page gives"
        )
    if manifest.get("version") != FORMAT_VERSION:
        raise CannotReproduce(
            f"{where}, version: found {manifest.get('version')}; expected {FORMAT_VERSION}"
        )
    return manifest


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
    """
    _check_subject(manifest, export)
    before = {name: digest_from(data) for name, data in manifest["data"].items()}
    made = _made_apart(manifest, export, database)
    reports = {}
    for each in manifest["reports"]:
        found = made[each["report"]]
        if problem := found.get("problem"):
            reports[each["report"]] = [f"it cannot be made: {problem}"]
        else:
            reports[each["report"]] = report_differences(each, found)
    return Reproduction(reports, data_differences(before, export, original), _notes(manifest))


def _check_subject(manifest: Manifest, export: ExportContent) -> None:
    subject = manifest["subject"]
    if subject["kind"] == "study":
        names = [row.get("name") for row in export.rows("study.json")]
        if names != [subject["name"]]:
            there = f"the study {names[0]!r}" if names else "no study"
            raise CannotReproduce(
                f"{export.path}: found {there}; expected the study {subject['name']!r} of the "
                "manifest"
            )
        return
    before = manifest["data"].get("examples.jsonl", {"items": {}})["items"]
    if before and not any(str(row["id"]) in before for row in export.rows("examples.jsonl")):
        raise CannotReproduce(
            f"{export.path}: found no example of the manifest; expected an export of the dataset "
            f"{subject['name']!r}"
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
        (scratch / "export").mkdir()
        folder = export.as_folder(scratch / "export")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "django",
                COMMAND,
                str(scratch / "manifest.json"),
                str(folder),
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
            raise CannotReproduce(done.stderr.strip() or "The process ended without an error.")
        found: dict[str, Any] = json.loads((scratch / "made.json").read_text("utf-8"))
        return found


@contextmanager
def _scratch_database(folder: Path, server: str) -> Iterator[str]:
    """Yield the URL of an empty database, which is deleted afterwards.

    Raises:
        CannotReproduce: the server does not answer, or lets no database be made.
    """
    if not server:
        yield f"sqlite:///{folder / 'scratch.sqlite3'}"
        return
    name = f"attest_reproduce_{uuid4().hex[:12]}"
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


def make_again(manifest: Manifest, folder: Path) -> dict[str, Any]:
    """Import an export into this database, which must be empty, and make the reports.

    Raises:
        CannotReproduce: the database is not empty, or the export cannot be imported.
    """
    if connection.introspection.table_names():
        raise CannotReproduce("The database is not empty. Reports are made again in a new one.")
    create_tables_if_empty()
    subject = manifest["subject"]
    try:
        dataset, study = _imported(ExportContent(folder), subject)
    except DatasetError as error:
        raise CannotReproduce(f"The export cannot be imported. {error}") from error
    made: dict[str, Any] = {}
    for each in manifest["reports"]:
        about = study if subject["kind"] == "study" else dataset
        try:
            made[each["report"]] = _report(about, each["report"], each["choices"])
        except (ChoiceError, CannotReport) as error:
            made[each["report"]] = {"problem": str(error)}
    return made


def _report(about: Dataset | Study | None, key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    kind = all_reports().get(key)
    if kind is None:
        raise CannotReport("This version of Attest has no such report.")
    choices = kind.chosen(about, given)
    if kind.prepare:
        kind.prepare(about, choices)
    return report_content(kind.make(about, choices))


def _imported(export: ExportContent, subject: Mapping[str, str]) -> tuple[Dataset, Study | None]:
    """Return the dataset of an export and its study, with the work that was made here."""
    dataset = create_dataset(subject["dataset"])
    announce_runs(dataset, export.rows("runs.jsonl"))
    with open_material(export.path) as material:
        study = import_dataset(material, plan_import(material, dataset.name)).study
    complete_runs(dataset, export.rows("runs.jsonl"))
    store_grids(dataset, export.rows("grids.jsonl"))
    store_calls(dataset, export.rows("calls.csv"))
    dataset.refresh_from_db()
    return dataset, study
