"""Measure what long work costs beside the work itself: a quick run, and claims by many workers.

The run scores 92,000 pairs by the words that they share, which takes next to nothing, so that
claims, leases and stored batches show. With `--beside COMMIT` the code of an earlier commit scores
the same pairs, in turn with today's: `ratio` is today's rate over the earlier one.

Then eight processes claim the chunks of one run, as workers do: each those of its own messages.

    .venv/bin/python benchmarks/long_work.py --database postgresql --beside HEAD~1
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.imports_beside_runs import (  # noqa: E402 - needs the line above
    N_EXAMPLES,
    N_SENTENCES,
    write_responses,
)
from benchmarks.raters import checked_out  # noqa: E402
from benchmarks.reports import database_url, site_environment  # noqa: E402

N_PAIRS = N_EXAMPLES * (N_SENTENCES - 1)  # a window is two sentences
N_WORKERS, N_CHUNKS = 8, 2000
RUN = ("manage.py", "run_metric", "auto_ais", "--dataset=scored", "--backend=lexical")
MAKE_CHUNKS = f"""
import django; django.setup()
from evaluation.models import MetricRun, RunChunk
from generation.models import Dataset
dataset = Dataset.objects.create(name="claimed", slug="claimed")
run = MetricRun.objects.create(dataset=dataset, metric="claims", state="running")
RunChunk.objects.bulk_create(RunChunk(run=run, number=n, targets=[]) for n in range({N_CHUNKS}))
"""
CLAIM = """
import sys, time
import django; django.setup()
from evaluation.models import RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
ids = list(RunChunk.objects.order_by("pk").values_list("pk", flat=True))
mine = ids[int(sys.argv[1]) :: int(sys.argv[2])]
print("ready", flush=True)
sys.stdin.readline()
print(sum(RUN_CHUNKS.claim(chunk) is not None for chunk in mine))
"""


def python(root: Path, environment: dict[str, str], *arguments: str) -> None:
    """Run Python in the source of a commit."""
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)


def pairs_per_second(root: Path, kind: str, data: Path) -> float:
    """Return the rate at which the code of a commit scores all pairs, on an empty database."""
    with tempfile.TemporaryDirectory() as folder, database_url(kind, Path(folder)) as url:
        environment = site_environment(url, Path(folder))
        python(root, environment, "manage.py", "migrate", "-v0")
        python(root, environment, "manage.py", "import_dataset", str(data), "--name=scored")
        began = time.perf_counter()
        python(root, environment, *RUN)
        return N_PAIRS / (time.perf_counter() - began)


def claims_per_second(kind: str) -> float:
    """Return how many chunks of one run several processes claim in a second, all together."""
    with tempfile.TemporaryDirectory() as folder, database_url(kind, Path(folder)) as url:
        environment = site_environment(url, Path(folder))
        python(ROOT, environment, "manage.py", "migrate", "-v0")
        python(ROOT, environment, "-c", MAKE_CHUNKS)
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", CLAIM, str(number), str(N_WORKERS)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(N_WORKERS)
        ]
        for worker in workers:
            assert worker.stdout
            assert worker.stdout.readline() == "ready\n"
        began = time.perf_counter()
        n_claims = sum(int(worker.communicate()[0]) for worker in _started(workers))
        seconds = time.perf_counter() - began
    assert n_claims == N_CHUNKS, f"{n_claims} claims of {N_CHUNKS} chunks"
    return n_claims / seconds


def _started(workers: "list[subprocess.Popen[str]]") -> "list[subprocess.Popen[str]]":
    """Let all workers begin; return them."""
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return workers


def measure(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Return the median rates of today's code and of the earlier one, and those of claims."""
    write_responses(folder)
    roots = {"today": ROOT}
    with ExitStack() as stack:
        if options.beside:
            roots["before"] = stack.enter_context(checked_out(options.beside, folder / "before"))
        rates: dict[str, list[float]] = {name: [] for name in roots}
        for _ in range(options.rounds):
            for name, root in roots.items():
                rates[name].append(pairs_per_second(root, options.database, folder / "scored"))
    medians = {name: statistics.median(each) for name, each in rates.items()}
    figures = {f"pairs_per_second_{name}": round(rate, 1) for name, rate in medians.items()}
    if options.beside:
        figures["ratio"] = round(medians["today"] / medians["before"], 3)
    return figures | {"claims_per_second": round(claims_per_second(options.database))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", metavar="COMMIT", help="measure the code of this commit too")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    with tempfile.TemporaryDirectory(prefix="attest-work-") as temporary:
        figures = measure(options, Path(temporary))
    for name, value in figures.items():
        sys.stdout.write(f"{name:<26}{value:>12,}\n")
    if options.json:
        sys.stdout.write(json.dumps(figures | {"database": options.database}) + "\n")


if __name__ == "__main__":
    main()
