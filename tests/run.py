"""Run every test (`make test`): on SQLite, database tests again on PostgreSQL, then in a browser.

Tests marked `once` (pages, commands, reports, real data …: see conftest.py) run on PostgreSQL alone
where it is there, as it is the stricter one; on SQLite the browser goes to every page. Without it
they run on SQLite, like everything else.

With --faults (`make test-faults`) the slow ones that stress and kill, on both databases. All other
arguments go to pytest: python -m tests.run -k import
"""

import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from tests.services import is_required, missing, url_of

NO_TESTS = 5  # pytest's exit status
WITHOUT_BROWSER = ["--ignore=tests/e2e", "-n", "2"]
NOT_FAULTS = "not faults"
FAULTS = "--faults"


def main(arguments: list[str]) -> int:
    is_faults = FAULTS in arguments
    arguments = [argument for argument in arguments if argument != FAULTS]
    reason = missing("postgresql")
    n_failed = 0
    lines = []
    for name, database, selection in _faults() if is_faults else _tests(not reason):
        if database and reason:
            n_failed += is_required()
            lines.append(f"{name}: {'FAILED' if is_required() else 'skipped'}: {reason}")
            continue
        _say(f"\n{name}")
        began = time.monotonic()
        status = _pytest([*selection, *arguments], database)
        is_failed = status != 0 and not (status == NO_TESTS and arguments)
        n_failed += is_failed
        how = f"FAILED (pytest's status {status})" if is_failed else "passed"
        lines.append(f"{name}: {how} in {time.monotonic() - began:.0f} s")
    _say("\n" + "\n".join(lines))
    _say("Skips are listed above. With REQUIRE_SERVICES=1 a missing service is a failure.")
    return 1 if n_failed else 0


def _tests(has_postgresql: bool) -> list[tuple[str, str | None, list[str]]]:
    """Return a name, a database (None: SQLite) and pytest's arguments for each round."""
    once = f"{NOT_FAULTS} and not (database and once)" if has_postgresql else NOT_FAULTS
    # Who may see a page is decided before any database is asked about it.
    again = [*WITHOUT_BROWSER, "--ignore=tests/test_access.py", "-m", f"database and {NOT_FAULTS}"]
    return [
        ("SQLite", None, [*WITHOUT_BROWSER, "-m", once]),
        ("PostgreSQL", url_of("postgresql"), again),
        ("browser", None, ["tests/e2e", "-n", "2", "-m", NOT_FAULTS]),
    ]


def _faults() -> list[tuple[str, str | None, list[str]]]:
    """Return the same for the slow tests: one after the other, as each takes both cores."""
    one_by_one = ["--ignore=tests/e2e"]
    return [
        ("SQLite", None, [*one_by_one, "-m", "faults"]),
        ("PostgreSQL", url_of("postgresql"), [*one_by_one, "-m", "faults and database"]),
    ]


def _pytest(arguments: list[str], database: str | None) -> int:
    """Run pytest with a data folder and settings of its own; return its exit status."""
    with TemporaryDirectory(prefix="attest-test-", ignore_cleanup_errors=True) as folder:
        environment = {
            **os.environ,
            "ATTEST_DATA_DIR": folder,
            "DATABASE_URL": database or f"sqlite:///{folder}/attest.sqlite3",
            "CELERY_BROKER_URL": "filesystem://",
            "CACHE_URL": f"filecache://{folder}/cache",
            "DJANGO_DEBUG": "1",
            "OMP_NUM_THREADS": "1",  # two tests at a time that each take all cores wait for both
            "DJANGO_SETTINGS_MODULE": "config.settings_test",
        }
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], env=environment, check=False
        ).returncode


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a program for the terminal


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
