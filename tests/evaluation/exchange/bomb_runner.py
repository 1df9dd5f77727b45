"""A program that checks and imports files that were made to break imports.

Each bomb has a process of its own, as workers start it; all mutations share one process.

python -m tests.evaluation.exchange.bomb_runner bombs FORMAT N SEED
python -m tests.evaluation.exchange.bomb_runner mutations FORMAT N SEED

It prints one JSON object on each line.
"""

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import django

MEGABYTE = 1024**2
N_KNOWN = 2000  # examples and responses that bombs can refer to


def main(what: str, format: str, n: int, seed: int) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        database = folder / "bombs.sqlite3"
        os.environ |= {
            "DATABASE_URL": f"sqlite:///{database}",
            "ATTEST_DATA_DIR": name,
            "CACHE_URL": "locmemcache://",
            "ATTEST_LOG_LEVEL": "CRITICAL",
            "DJANGO_SETTINGS_MODULE": "config.settings_test",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        django.setup()
        _forked(partial(_make_database, folder))
        shutil.copy(database, folder / "begun.sqlite3")

        if what == "mutations":
            _say(_forked(partial(_mutations, folder, format, n, seed)))
            return
        for number in range(n):
            shutil.copy(folder / "begun.sqlite3", database)
            for leftover in folder.glob("bombs.sqlite3-*"):
                leftover.unlink()
            path = Path(_forked(partial(_bomb, folder, format, seed, number))["path"])
            found = _forked(partial(_imported, path, format))
            _say({"number": number, "bytes": path.stat().st_size, "file": path.name} | found)
            path.unlink()


def _say(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _forked(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do some work in a child; return its result, its peak of memory and its exit code."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                json.dump(work(), out)
            status = 0
        except MemoryError:
            status = 12
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found | {"status": code, "megabytes": usage.ru_maxrss // 1024}


def _make_database(folder: Path) -> dict[str, Any]:
    from django.core.management import call_command
    from django.db import connection

    from tests.makers import example_row, import_rows, response_row, vote_row

    call_command("migrate", verbosity=0)
    import_rows(
        folder / "known",
        "pilot",
        "pilot study",
        examples=[example_row(f"e{n}") for n in range(N_KNOWN)],
        responses=[response_row(f"r{n}", example=f"e{n}") for n in range(N_KNOWN)],
        votes=[vote_row("r0", "anna", "yes", "good")],
    )
    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return {}


def _bomb(folder: Path, format: str, seed: int, number: int) -> dict[str, Any]:
    from tests.evaluation.exchange.bombs import write_bomb

    return {"path": str(write_bomb(folder, format, Random(f"{format} {seed} {number}")))}


def _imported(path: Path, format: str) -> dict[str, Any]:
    """Check and import a file within the limits that apply to a small file."""
    from evaluation.exchange.import_process import allowance

    allowed = allowance(0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (allowed.megabytes * MEGABYTE,) * 2)
    found: dict[str, Any] = {"check": 0.0, "import": 0.0}
    for what, is_dry_run in (("check", True), ("import", False)):
        began = time.process_time()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used + allowed.cpu_seconds, -1))
        found["said"] = _outcome(path, format, is_dry_run=is_dry_run)
        found[what] = round(time.process_time() - began, 2)
    return found


def _outcome(path: Path, format: str, *, is_dry_run: bool) -> str:
    """Import a file; return a short text on the outcome."""
    from evaluation.exchange.import_plan import plan_import
    from evaluation.exchange.interchange import import_dataset
    from generation.importers import open_material
    from generation.importers.errors import DatasetError

    try:
        with open_material(path, format or None) as material:
            name = "pilot" if format in ("", "interchange", "trec-run") else format
            plan = plan_import(material, name, f"{name} study")
            outcome = import_dataset(material, plan, dry_run=is_dry_run, skip_bad=True)
    except DatasetError as error:
        return f"refused: {error}"[:200]
    new = sum(count["new"] for count in outcome.counts.values())
    return f"{new} new, {outcome.n_problems} problems"


def _mutations(folder: Path, format: str, n: int, seed: int) -> dict[str, Any]:
    """Check mutations one after the other; return the faults with the files that caused them."""
    from django.db import transaction

    from tests.evaluation.exchange.bombs import sound_bytes
    from tests.evaluation.exchange.mutations import mutated
    from tests.evaluation.exchange.sound_files import SOUND

    allowed = 350 * MEGABYTE
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    faults: list[list[Any]] = []
    slowest = 0.0
    random = Random(f"{format} {seed}")
    sound = [(sound.name, sound_bytes(sound)) for sound in SOUND[format]]
    for number in range(n):
        name, content = random.choice(sound)
        path = folder / name
        path.write_bytes(mutated(content, random))
        began = time.process_time()
        try:
            with transaction.atomic():
                _outcome(path, format if number % 2 else "", is_dry_run=number % 3 > 0)
                transaction.set_rollback(True)
        except Exception as error:
            if len(faults) < 10:
                faults.append([number, repr(error)[:300], path.read_bytes().hex()[:2000]])
        slowest = max(slowest, time.process_time() - began)
        path.unlink()
    return {"faults": faults, "slowest": round(slowest, 2), "n": n}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
