"""A grid whose worker is killed twice: what was answered is not asked again, nothing is missing."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from generation.models import Call, Grid, Response
from generation.text.prompt_types import TWELVE
from tests.generation.question_makers import dataset_of, grid_of, started
from tests.services import database_url

pytestmark = pytest.mark.both

N_EXAMPLES, N_KILLS = 95, 2
N_CALLS = len(TWELVE) * 2 * N_EXAMPLES
LASTS_SECONDS = 120.0


@pytest.mark.faults
@pytest.mark.both(transaction=True)
@pytest.mark.usefixtures("noting")
def test_a_grid_killed_twice_makes_again_only_what_was_in_flight(tmp_path):
    prompts = [kind.key for kind in TWELVE]
    dataset = dataset_of(tmp_path / "mills", N_EXAMPLES)
    grid = started(dataset, grid_of(prompts=prompts, temperatures=[0.0, 0.7]))
    log = tmp_path / "calls"

    for kill in range(1, N_KILLS + 1):
        worker = asking(grid, log)
        waited_for(log, kill * N_CALLS // 3)
        worker.send_signal(signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL
        # Each call that was noted is stored, but for those in flight: one of each worker killed.
        assert 0 <= n_lines(log) - Response.objects.count() <= kill
    assert asking(grid, log).wait(LASTS_SECONDS) == 0

    grid.refresh_from_db()
    assert grid.state == Grid.State.DONE
    assert Response.objects.count() == Call.objects.count() == N_CALLS
    asked_for = Counter(f"{t} {prompt!r}" for t, prompt in stored())
    noted = Counter(log.read_text().splitlines())
    assert noted.keys() == asked_for.keys()
    assert (noted - asked_for).total() <= N_KILLS
    assert not asked_for - noted


def stored() -> list[tuple[float | None, str]]:
    return list(Call.objects.values_list("setup__temperature", "prompt"))


def asking(grid: Grid, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.generation.grid_answers", str(grid.pk), str(log)],
        cwd=settings.BASE_DIR,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings_test",
            "DATABASE_URL": database_url(),
            "ATTEST_DATA_DIR": str(settings.DATA_DIR),
            "ATTEST_CHUNK_LEASE_SECONDS": "1",
        },
    )


def n_lines(log: Path) -> int:
    return len(log.read_bytes().splitlines()) if log.exists() else 0


def waited_for(log: Path, n: int) -> None:
    ends = time.monotonic() + LASTS_SECONDS
    while n_lines(log) < n:
        assert time.monotonic() < ends, f"{n_lines(log):,} calls after {LASTS_SECONDS:.0f} s"
        time.sleep(0.02)
