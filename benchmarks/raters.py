"""Let raters without pauses work against gunicorn: pairs a second, waits, and broken promises.

A pair is the submit of a full form and the page of the next unit, as a browser behind a proxy asks
for them: one session per rater, the page's own form, address and CSRF token. There are two flows:

- *at once*: a script submits, and the answer is the next unit, as in a browser with scripts;
- *led*: the submit is answered with a redirect, and the browser asks for the page that it names.

Both are measured in turn, so that their ratio says what a round trip costs. With `--beside COMMIT`
the same load also meets the server of an earlier commit, led, on the same database; the tables of
both must be the same. `wait_ms` is the time that a rater waits, from the submit to the next page.
Server, database and load are all on this machine.

Where the milliseconds of a pair go is said by `benchmarks/rating_parts.py`.

    .venv/bin/python benchmarks/raters.py --raters 10 --units 2000 --database postgresql
"""

import argparse
import json
import math
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.rating_load import FLOWS, HOST, Load, Pair  # noqa: E402 - needs the line above
from benchmarks.reports import database_url  # noqa: E402 - as above

RATERS_PER_UNIT = 5
RESPONSES_PER_EXAMPLE = 4
TURNS = 5
WORDS_OF_PASSAGE = 150
PROSE = (
    "the mill on north bank was built when river trade grew and closed after last flood "
    "its owner sold land to town council which kept tower as store for grain until new road "
    "came through valley in spring of that year people moved away because work had become "
    "rare but school stayed open with forty children from farms nearby museum shows tools "
    "letters maps photographs found by students who measured every wall"
)


# --- material -------------------------------------------------------------------------------


def write_material(folder: Path, n_units: int, seed: int = 1) -> None:
    """Write an interchange folder: each example has five turns, two passages, four responses."""
    draw = random.Random(seed)

    def text(n_words: int) -> str:
        words = draw.choices(PROSE.split(), k=n_words)
        sentences = [words[i : i + 14] for i in range(0, n_words, 14)]
        return " ".join(" ".join(sentence).capitalize() + "." for sentence in sentences)

    with (
        (folder / "examples.jsonl").open("w") as examples,
        (folder / "responses.jsonl").open("w") as responses,
    ):
        for i in range(-(-n_units // RESPONSES_PER_EXAMPLE)):
            turns = [
                {"speaker": ("user", "system")[turn % 2], "text": text((12, 30)[turn % 2])}
                for turn in range(TURNS)
            ]
            passages = [
                {"id": f"p{i}-{n}", "title": text(4), "text": text(WORDS_OF_PASSAGE)}
                for n in range(2)
            ]
            example = {"id": f"e{i}", "dialog": f"d{i // 2}", "turns": turns, "evidence": passages}
            examples.write(json.dumps(example) + "\n")
            for k in range(min(RESPONSES_PER_EXAMPLE, n_units - i * RESPONSES_PER_EXAMPLE)):
                response = {
                    "id": f"r{i}-{k}",
                    "example": f"e{i}",
                    "setup": {"model": "m", "temperature": k / 10},
                    "text": text(35),
                    "evidence_shown": [passage["id"] for passage in passages],
                }
                responses.write(json.dumps(response) + "\n")


def environment(url: str, folder: Path) -> dict[str, str]:
    """Return the variables of a site with this database, whose other data are in a folder."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": url,
        "ATTEST_DATA_DIR": str(folder / "var"),
        "DJANGO_DEBUG": "0",
        "DJANGO_SECRET_KEY": "benchmark" * 6,
        "DJANGO_ALLOWED_HOSTS": HOST,
        "DJANGO_PROXIES": "1",  # the load acts as a proxy that got https
    }


def set_up(folder: Path, n_units: int, n_raters: int) -> tuple[str, list[str]]:
    """Make the database, an open AIS study and signed-in raters.

    Return the study's slug and the raters' session keys.
    """
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import Group
    from django.contrib.sessions.backends.cached_db import SessionStore
    from django.core.management import call_command

    from accounts.access import Role
    from accounts.models import User
    from annotation.schemes import built_in_schemes
    from annotation.services.studies import create_study, open_study
    from annotation.study_plan import StudyPlan
    from generation.models import Dataset

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    (folder / "material").mkdir()
    write_material(folder / "material", n_units)
    call_command("import_dataset", str(folder / "material"), stdout=sys.stderr)
    researcher = User.objects.create_user("who-plans")
    raters = [User.objects.create_user(f"rater-{n}") for n in range(1, n_raters + 1)]
    Group.objects.get(name=Role.RATER).user_set.set(raters)
    dataset = Dataset.objects.get()
    scheme = built_in_schemes()["AIS"]
    plan = StudyPlan("Pilot", dataset, scheme, list(dataset.setups.all()))
    study = create_study(plan, "Read, then judge.", raters, researcher)
    open_study(study, researcher)
    sessions = []
    for rater in raters:
        session = SessionStore()
        session[SESSION_KEY] = str(rater.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = rater.get_session_auth_hash()
        session.save()
        sessions.append(str(session.session_key))
    return study.slug, sessions


# --- the server -----------------------------------------------------------------------------


@contextmanager
def checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """Yield a folder with the source of a commit."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "-q", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


@contextmanager
def server(folder: Path, root: Path, options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Run gunicorn as in README; yield its port and process id. It writes into server.log.

    Each request has a connection of its own, as behind a proxy, unless connections are kept. A
    connection that is kept open stays with one worker: one of two workers could get all ten, which
    would halve the figures.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    how = f"--bind 127.0.0.1:{port} --worker-class gthread --no-control-socket"
    how += f" --workers {options.workers} --threads {options.threads}"
    how += f" --keep-alive {5 if options.keep_alive else 0}"
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", *how.split()]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=root, stderr=log)
        try:
            _wait_for(port, process)
            yield port, process.pid
        finally:
            process.terminate()
            process.wait()


def worker_seconds(server: int) -> float:
    """Return the processor time of gunicorn's workers so far (0 on systems without /proc)."""
    children = Path(f"/proc/{server}/task/{server}/children")
    if not children.exists():
        return 0.0
    ticks = 0
    for worker in children.read_text().split():
        fields = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # user and system, as proc(5) counts them
    return ticks / os.sysconf("SC_CLK_TCK")


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit("gunicorn did not start")


# --- figures --------------------------------------------------------------------------------


def integrity(pairs: Collection[Pair]) -> dict[str, int]:
    """Count broken promises in the database, from votes and not from the queue's own rows."""
    from django.db.models import Count

    from annotation.models import UnitTarget, Vote

    counting = Vote.objects.filter(is_surplus=False).order_by()
    raters = counting.values("arm", "target").annotate(n=Count("rater", distinct=True))
    twice = Vote.objects.order_by().values("arm", "target", "question", "rater")
    targets = dict(UnitTarget.objects.values_list("unit", "target"))
    votes = Vote.objects.order_by().values_list("rater__user__username", "target")
    stored = {(rater, target): n for rater, target, n in votes.annotate(n=Count("question"))}
    keys = [(f"rater-{pair.rater}", targets[pair.unit]) for pair in pairs]
    return {
        "over_assigned": raters.filter(n__gt=RATERS_PER_UNIT).count(),
        "rated_twice": twice.annotate(n=Count("pk")).filter(n__gt=1).count()
        + len(keys)
        - len(set(keys)),
        "lost": sum(stored.get(key) != 7 for key in keys),
    }


def percentile(seconds: Sequence[float], share: int) -> float:
    """Return a percentile in milliseconds."""
    if len(seconds) < 2:
        return float("nan")
    return round(1000 * statistics.quantiles(seconds, n=100)[share - 1], 1)


class Side(NamedTuple):
    """One source in one flow; its figures have this name in front."""

    name: str
    root: Path
    flow: str


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the figures of one run in a fresh database."""
    import django
    from django.db import connections

    django.setup()
    began = time.perf_counter()
    slug, sessions = set_up(folder, options.units, options.raters)
    connections.close_all()
    sys.stderr.write(f"set up in {time.perf_counter() - began:.1f} s\n")
    sides = [Side(flow.replace(" ", "_"), ROOT, flow) for flow in options.flows]
    with ExitStack() as stack:
        if options.beside:
            before = stack.enter_context(checked_out(options.beside, folder / "before"))
            sides.append(Side("before", before, "led"))
        loads: dict[Side, list[tuple[Load, float]]] = {side: [] for side in sides}
        for side in sides * 2:
            with server(folder, side.root, options) as (port, pid):
                load = Load(port, slug, sessions, side.flow)
                load.warm_up()
                cpu = worker_seconds(pid)
                load.run(options.seconds / 2)
                loads[side].append((load, worker_seconds(pid) - cpu))
    errors = [error for of_side in loads.values() for load, _ in of_side for error in load.errors]
    log = (folder / "server.log").read_text(encoding="utf-8")
    for line in errors[:10]:
        sys.stderr.write(line + "\n")
    if "Traceback" in log or errors:
        sys.stderr.write(log[-5000:])
    of_sides = {side.name: of_side(loads[side]) for side in sides}
    (first, figures), *others = of_sides.items()
    for name, of_other in others:
        ratio = figures["pairs_per_second"] / (of_other["pairs_per_second"] or math.nan)
        figures |= {f"{name}_{figure}": value for figure, value in of_other.items()}
        figures[f"{first}_over_{name}"] = round(ratio, 2)
    pairs = [pair for of_side in loads.values() for load, _ in of_side for pair in load.pairs]
    return {
        **figures,
        **integrity(pairs),
        "errors": len(errors) + log.count("Traceback"),
        "locked": log.count("database is locked"),
    }


def of_side(loads: Sequence[tuple[Load, float]]) -> dict[str, Any]:
    """Return the figures of some loads, each with the processor time that the server took."""
    pairs = [pair for load, _ in loads for pair in load.pairs]
    waits = [pair.shown - pair.sent for pair in pairs]
    took = sum(load.seconds for load, _ in loads)
    return {
        "pairs_per_second": round(len(pairs) / took, 1) if took else 0.0,
        "p50_wait_ms": percentile(waits, 50),
        "p95_wait_ms": percentile(waits, 95),
        "pairs": len(pairs),
        # Processor time per pair stays comparable when the machine has other work.
        "server_cpu_ms": round(1000 * sum(cpu for _, cpu in loads) / max(1, len(pairs)), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--raters", type=int, default=10)
    parser.add_argument("--units", type=int, default=2000)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each flow")
    parser.add_argument("--flow", choices=FLOWS, help="only this one")
    parser.add_argument("--beside", metavar="COMMIT", help="measure the server of this commit too")
    parser.add_argument("--keep-alive", action="store_true", help="keep connections open")
    parser.add_argument("--workers", type=int, default=2, help="processes of gunicorn")
    parser.add_argument("--threads", type=int, default=2, help="threads of each")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    options.flows = [options.flow] if options.flow else list(FLOWS)
    with tempfile.TemporaryDirectory(prefix="attest-raters-") as temporary:
        folder = Path(temporary)
        with database_url(options.database, folder) as url:
            os.environ.update(environment(url, folder))
            figures = measure(options, folder)
    write = sys.stdout.write
    write(f"{options.raters} raters, {options.units:,} units, {options.database}\n")
    for name, value in figures.items():
        write(f"{name:<22}{value:>12,}\n")
    if options.json:
        setting = {"raters": options.raters, "units": options.units, "database": options.database}
        write(json.dumps(figures | setting) + "\n")


if __name__ == "__main__":
    main()
