"""Send uploads of 1,000 rows, first with idle workers and then beside a long run: seconds.

`start_seconds` is the time from sending an upload until a worker begins to check it,
`check_seconds` the time until it is checked. Both are medians; `worst_start_seconds` is the
longest. The workers are those of `manage.py work` over the queue in a folder. While they are busy,
all of their heavy processes score pairs with a random model of MiniLM's shape, in chunks of 200
responses.

    .venv/bin/python benchmarks/imports_beside_runs.py --uploads 10 --json
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.entailment import make_checkpoint  # noqa: E402 - needs the line above
from benchmarks.reports import database_url, site_environment  # noqa: E402

if TYPE_CHECKING:
    from accounts.models import User
    from evaluation.models import MetricRun
    from work.processes import Supervisor

N_ROWS = 1000
N_EXAMPLES, N_SENTENCES = 4000, 24  # a chunk of 200 responses has 4,600 pairs
LOOKS_EVERY_SECONDS = 0.01
ENDS_WITHIN_SECONDS = 600.0


class Waits(NamedTuple):
    """The seconds that one upload waited for its start, and until it was checked."""

    start: float
    check: float


def measure(folder: Path, n_uploads: int) -> dict[str, float]:
    """Return the waits with idle workers, those beside a run, and how many times longer they are.

    Django is set up with an empty database and without workers.
    """
    from django.conf import settings

    from accounts.models import User
    from work.processes import STARTS_WITHIN_SECONDS, Supervisor
    from work.workers import Workers

    user = User.objects.create_user("admin")
    import_responses(folder)
    make_checkpoint(folder / "model")
    with Supervisor(ROOT, folder / "logs") as supervisor:
        workers = Workers(supervisor)
        workers.start()
        supervisor.wait(workers.are_ready, STARTS_WITHIN_SECONDS)
        idle = [waits_of(n, user, supervisor) for n in range(n_uploads)]
        run = begun_run(folder / "model")
        n_heavy = settings.CELERY_WORKER_CONCURRENCY
        supervisor.wait(lambda: n_at_work(run) == n_heavy and n_scored(run) > 0, 120)
        busy = []
        for number in range(n_uploads, 2 * n_uploads):
            busy.append(waits_of(number, user, supervisor))
            if n_at_work(run) != n_heavy:
                sys.exit("the run ended too early, or not all heavy processes were at work")
    figures = named("idle", idle) | named("busy", busy)
    return figures | {"start_ratio": figures["busy_start_seconds"] / figures["idle_start_seconds"]}


def named(state: str, waits: list[Waits]) -> dict[str, float]:
    starts, checks = zip(*waits, strict=True)
    return {
        f"{state}_start_seconds": statistics.median(starts),
        f"{state}_worst_start_seconds": max(starts),
        f"{state}_check_seconds": statistics.median(checks),
    }


def waits_of(number: int, user: "User", supervisor: "Supervisor") -> Waits:
    """Send an upload and wait until it is checked."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    from evaluation.exchange.import_process import IMPORTS
    from evaluation.exchange.uploads import request_import
    from generation.models import Import

    rows = "".join(examples(N_ROWS, "Some evidence. ")).encode()
    upload = request_import(SimpleUploadedFile("rows.jsonl", rows), f"Upload {number}", "", user)
    row = Import.objects.filter(pk=upload.pk)
    sent_at = time.perf_counter()
    IMPORTS.send_waiting(pk=upload.pk)
    is_begun = row.exclude(state=Import.State.QUEUED).exists
    is_checked = row.filter(state=Import.State.CHECKED).exists
    start, check = (seconds_until(each, sent_at, supervisor) for each in (is_begun, is_checked))
    return Waits(start, check)


def seconds_until(condition: Callable[[], bool], since: float, supervisor: "Supervisor") -> float:
    """Return how long after a moment a condition was met. Ctrl-C ends the wait."""
    while not condition():
        if supervisor.is_stopping or time.perf_counter() - since > ENDS_WITHIN_SECONDS:
            sys.exit(f"an upload has waited for {time.perf_counter() - since:.0f} seconds")
        time.sleep(LOOKS_EVERY_SECONDS)
    return time.perf_counter() - since


# --- the run --------------------------------------------------------------------------------


def examples(n: int, evidence: str) -> Iterator[str]:
    for number in range(n):
        turn = {"speaker": "user", "text": f"What did mill {number} make?"}
        passage = {"id": f"p{number}", "text": evidence, "golden": True}
        yield json.dumps({"id": f"e{number}", "turns": [turn], "evidence": [passage]}) + "\n"


def write_responses(folder: Path) -> None:
    """Write the responses that the run scores."""
    (folder / "scored").mkdir()
    evidence = " ".join(
        f"The mill by the river made {n} sacks of flour on that day." for n in range(N_SENTENCES)
    )
    with (folder / "scored" / "examples.jsonl").open("w") as out:
        out.writelines(examples(N_EXAMPLES, evidence))
    with (folder / "scored" / "responses.jsonl").open("w") as out:
        for number in range(N_EXAMPLES):
            row: dict[str, Any] = {"id": f"r{number}", "example": f"e{number}"}
            row |= {"setup": {"model": "m"}, "text": f"The mill made {number} sacks."}
            out.write(json.dumps(row | {"evidence_shown": [f"p{number}"]}) + "\n")


def import_responses(folder: Path) -> None:
    """Import the responses that the run scores."""
    from django.core.management import call_command

    write_responses(folder)
    call_command("import_dataset", folder / "scored", "--name", "scored", stdout=sys.stderr)


def begun_run(checkpoint: Path) -> "MetricRun":
    """Request a run over the responses, and send it to the workers."""
    from evaluation.measures.entailment import AutoAis
    from evaluation.metrics.auto_ais import AutoAisMetric
    from evaluation.runs.plan import RunPlan
    from evaluation.runs.services.chunks import send_run
    from evaluation.runs.services.runs import request_metric_run
    from generation.model_specs import ModelSpec
    from generation.models import Dataset

    dataset = Dataset.objects.get(name="scored")
    model = ModelSpec("transformers", "model", str(checkpoint))
    plan = RunPlan(metric=AutoAisMetric(AutoAis()), spec=model)
    run = request_metric_run(dataset, plan, dataset.responses.all(), None)
    send_run(run)
    return run


def n_at_work(run: "MetricRun") -> int:
    """Return how many heavy processes are at a chunk of the run."""
    return run.chunks.filter(state="running").count()


def n_scored(run: "MetricRun") -> int:
    return run.scores.count()


def begin_django(url: str, folder: Path) -> None:
    """Set up Django with the tables of an empty database, and a queue in the folder."""
    queue = {"CELERY_BROKER_URL": "filesystem://", "CACHE_URL": f"filecache://{folder}/cache"}
    os.environ |= site_environment(url, folder) | queue
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--uploads", type=int, default=10, help="of each kind. Default: 10.")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="sqlite")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with database_url(options.database, folder) as url:
            begin_django(url, folder)
            figures = measure(folder, options.uploads)
    for name, value in figures.items():
        sys.stdout.write(f"{name:<28}{value:>8.2f}\n")
    if options.json:
        said = {name: round(value, 3) for name, value in figures.items()}
        sys.stdout.write(json.dumps(said | {"database": options.database}) + "\n")


if __name__ == "__main__":
    main()
