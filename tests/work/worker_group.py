"""A group of workers with its beat, as `manage.py work` runs it, for tests that kill it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from tests.evaluation.workers import Site, site_on

SILENT_AFTER_SECONDS = 3.0
HASTY = {
    "ATTEST_BEAT_SECONDS": "1",
    "ATTEST_CHUNK_LEASE_SECONDS": "2",
    "ATTEST_SILENT_AFTER_SECONDS": str(SILENT_AFTER_SECONDS),
}
# With these pools, the process of a worker does the work itself.
ALONE = {"--pool=solo", "--pool=threads"}


class Group:
    """The processes that `manage.py work` started, and their present state."""

    def __init__(self, site: Site, environment: Mapping[str, str], log: Path) -> None:
        self.site = site
        self._environment = {**site.environment, **environment}
        self._log = log
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "work"],
                cwd=settings.BASE_DIR,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def beat(self) -> list[int]:
        return [pid for pid, words in self._programs() if "beat" in words]

    @property
    def computing(self) -> list[int]:
        """The heavy processes, which compute."""
        return self._of_sort("heavy")

    @property
    def quick(self) -> list[int]:
        """The processes for what takes seconds; they take the tasks of the beat."""
        return self._of_sort("quick")

    @property
    def for_servers(self) -> list[int]:
        """The process whose threads wait for servers."""
        return self._of_sort("for-servers")

    def _of_sort(self, sort: str) -> list[int]:
        """Return the processes of one sort of workers: single ones, or those of a pool."""
        found = {
            pid: words
            for pid, words in self._programs()
            if any(word.startswith(f"--hostname=worker-{sort}") for word in words)
        }
        if all(ALONE.intersection(words) for words in found.values()):
            return list(found)
        return [pid for pid, parent in _children().items() if parent in found]

    def kill(self) -> None:
        """End all of it as a power cut would."""
        for pid in [*self._all(), self._process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def _all(self) -> list[int]:
        parents = _children()
        found = {self._process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found - {self._process.pid})

    def _programs(self) -> Iterator[tuple[int, list[str]]]:
        for pid, parent in _children().items():
            if parent == self._process.pid:
                with suppress(OSError):
                    yield pid, Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def _children() -> dict[int, int]:
    """Return the parent of each process that runs."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(stat.parent.name)] = int(parent)
    return found


@contextmanager
def group_on(broker: str, folder: Path, **environment: str) -> Iterator[Group]:
    with site_on(broker, folder) as site, group_of(site, folder / "work.log", environment) as group:
        yield group


@contextmanager
def group_of(site: Site, log: Path, environment: Mapping[str, str]) -> Iterator[Group]:
    """Yield one group of a site, which may have several, as on two machines."""
    group = Group(site, environment, log)
    try:
        yield group
    finally:
        group.kill()
