"""Run every test (`make test`): on SQLite, database tests on PostgreSQL, then in a browser.

Tests marked `once` run only on PostgreSQL where it is available, because it is the stricter one; on
SQLite the browser visits every page. Without PostgreSQL they run on SQLite, like everything else.

With --faults (`make test-faults`) it runs the slow tests that stress and kill, on both databases.
With --models (`make test-models`) it runs the tests with small real models, on SQLite.
All other arguments go to pytest: python -m tests.run -k import
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.services import is_required, missing, url_of

NO_TESTS = 5  # pytest's exit status
ORDINARY = "not faults and not models"
BROWSER = "tests/e2e"
# Each process begins with a part of the files, so that what a file's tests share is made once. A
# process that has finished takes tests from the others. There is one more process than cores,
# because many tests wait for a database, for processes that they start, or for a browser.
IN_THREE = ["--dist", "worksteal", "-n", "3"]
# Making tables from the models takes a tenth of the time of migrations. The test of an upgrade does
# migrate on both databases, and `make migrations-check` checks that models and migrations agree.
NO_MIGRATIONS = ["--no-migrations"]
MODELS_SECONDS = 600.0


class Round(NamedTuple):
    """Some of the tests on one database; `url` None means a new SQLite database."""

    name: str
    url: str | None
    marks: str
    where: list[str]
    how: list[str]
    seconds: float | None = None  # pytest is told to stop after these


def main(arguments: list[str]) -> int:
    reason = missing("postgresql")
    rounds = next(filter(None, map(OTHERS.get, arguments)), partial(_tests, not reason))
    arguments = [argument for argument in arguments if argument not in OTHERS]
    n_failed = 0
    lines = []
    start = time.monotonic()
    for part in rounds():
        if part.url and reason:
            n_failed += is_required()
            how = "FAILED" if is_required() else "skipped"
            lines.append(f"{part.name}: {how}: {reason}")
            continue
        _say(f"\n{part.name}")
        began = time.monotonic()
        status = run_pytest(part, arguments)
        is_failed = status != 0 and not (status == NO_TESTS and arguments)
        n_failed += is_failed
        how = f"FAILED (pytest's status {status})" if is_failed else "passed"
        lines.append(f"{part.name}: {how} in {time.monotonic() - began:.0f} s")
    lines.append(f"in all: {time.monotonic() - start:.0f} s")
    _say("\n" + "\n".join(lines))
    _say("Skips are listed above. With REQUIRE_SERVICES=1 a missing service is a failure.")
    return 1 if n_failed else 0


def _tests(has_postgresql: bool) -> Iterator[Round]:
    everything_else = [f"--ignore={BROWSER}"]
    on_sqlite = f"{ORDINARY} and not e2e" + " and (both or not once)" * has_postgresql
    yield Round("SQLite", None, on_sqlite, everything_else, [*NO_MIGRATIONS, *IN_THREE])
    on_postgresql = f"{ORDINARY} and (once or both)"
    how = [*NO_MIGRATIONS, *IN_THREE]
    yield Round("PostgreSQL", url_of("postgresql"), on_postgresql, everything_else, how)
    yield Round("browser", None, f"{ORDINARY} and e2e", [BROWSER], [*NO_MIGRATIONS, *IN_THREE])


def _faults() -> Iterator[Round]:
    """Yield the rounds of the slow tests, which run one by one because each takes both cores."""
    where = [f"--ignore={BROWSER}"]
    yield Round("SQLite", None, "faults", where, [])
    yield Round("PostgreSQL", url_of("postgresql"), "faults and (once or both)", where, [])


def _models() -> Iterator[Round]:
    """Yield the round of tests with small real models, each of which is loaded once."""
    yield Round("small models", None, "models", [], NO_MIGRATIONS, MODELS_SECONDS)


OTHERS = {"--faults": _faults, "--models": _models}  # rounds that `make test` leaves out


def run_pytest(part: Round, arguments: Sequence[str]) -> int:
    """Run pytest with a data folder and settings of its own; return its exit status.

    Where the arguments name tests, only these run.
    """
    names_tests = any(Path(argument.partition("::")[0]).exists() for argument in arguments)
    where = [] if names_tests else part.where
    with TemporaryDirectory(prefix="attest-test-", ignore_cleanup_errors=True) as folder:
        environment = {
            **os.environ,
            "ATTEST_DATA_DIR": folder,
            "DATABASE_URL": part.url or f"sqlite:///{folder}/attest.sqlite3",
            "CELERY_BROKER_URL": "filesystem://",
            "CACHE_URL": f"filecache://{folder}/cache",
            "DJANGO_DEBUG": "1",
            "OMP_NUM_THREADS": "1",  # two tests that each use all cores slow each other down
            # Keep bytecode, or each of the many processes would compile all of the code anew.
            "PYTHONDONTWRITEBYTECODE": "",
            "DJANGO_SETTINGS_MODULE": "config.settings_test",
        }
        command = [sys.executable, "-m", "pytest", "-m", part.marks, *part.how, *where]
        with subprocess.Popen([*command, *arguments], env=environment) as pytest:
            try:
                return pytest.wait(part.seconds)
            except subprocess.TimeoutExpired:
                pytest.send_signal(signal.SIGINT)
                return pytest.wait()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
