"""No file of up to 1 MB, of any format, takes more than 400 MB or 30 seconds in check or import.

200 bombs of each format, each in a process with the limits of a small upload, and 5,000 mutations
of each format in one process. Prints a table of peaks; a seed and a number make a bomb again.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.evaluation.exchange.sound_files import SOUND

pytestmark = pytest.mark.faults

SEED = 13
N_BOMBS, N_MUTATIONS = 200, 5_000
MOST_MEGABYTES, MOST_SECONDS = 400, 30
ENDED_BY_LIMIT = (12, -24)  # out of memory; SIGXCPU


def run(what: str, format: str, n: int) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "tests.evaluation.exchange.bomb_runner",
        what,
        format,
        str(n),
        str(SEED),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("format", SOUND)
def test_bombs_stay_small(format, capsys):
    bombs = run("bombs", format, N_BOMBS)

    ended = [bomb for bomb in bombs if bomb["status"]]
    seconds = [max(bomb.get("check", 0), bomb.get("import", 0)) for bomb in bombs]
    with capsys.disabled():
        print(  # noqa: T201 - this table is the purpose of running the test
            f"\n{format} (seed {SEED}): {len(bombs)} bombs, at most "
            f"{max(bomb['megabytes'] for bomb in bombs)} MB, {max(seconds):.1f} s; "
            f"ended by a limit: {[bomb['number'] for bomb in ended]}"
        )
    assert len(bombs) == N_BOMBS
    assert all(bomb["bytes"] <= 1024**2 for bomb in bombs)
    assert all(bomb["status"] in ENDED_BY_LIMIT for bomb in ended), ended
    assert max(bomb["megabytes"] for bomb in bombs) <= MOST_MEGABYTES
    assert max(seconds) <= MOST_SECONDS + 1  # a process is told a second late


@pytest.mark.parametrize("format", SOUND)
def test_mutations_are_no_faults_of_ours(format, capsys):
    [found] = run("mutations", format, N_MUTATIONS)

    with capsys.disabled():
        print(  # noqa: T201 - as above
            f"\n{format} (seed {SEED}): {found.get('n')} mutations, at most "
            f"{found['megabytes']} MB, the slowest {found.get('slowest')} s"
        )
    assert found["status"] == 0
    assert not found["faults"], found["faults"]
    assert found["megabytes"] <= MOST_MEGABYTES
    assert found["slowest"] <= MOST_SECONDS
