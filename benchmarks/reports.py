"""Import a synthetic study of N votes in two arms and report on it: seconds, memory, growth.

`cold_seconds` is the time for all figures of the study, with none stored, in a fresh process;
`start_seconds` is the time that this process needs before, to load Django and the reports.
`warm_seconds` is the time for the study's whole page with stored, current figures, the median of
several visits. `threshold_ch_seconds` and the like are the times of the reports that are made when
a reader asks for them. Everything runs twice, with N/10 and with N votes, in processes and
databases of their own.

    .venv/bin/python benchmarks/reports.py --votes 1000000 --database postgresql
"""

import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]
SERVER = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")
QUESTIONS = (
    "understand",
    "relevant",
    "consistent",
    "evidence_relevant",
    "evidence_contradicts",
    "evidence_supports",
    "attributable",
)
ARMS = ("separate", "merged")
RATERS_PER_RESPONSE = 5
RESPONSES_PER_EXAMPLE = 4
N_RATERS = 200
N_VISITS = 7


def write_study(folder: Path, n_votes: int, seed: int = 1) -> None:
    """Write an interchange folder: AIS in both arms, five raters each, four responses an example.

    Each response also has a score like that of word overlap: a share of a few words, with ties.
    """
    draw = random.Random(seed)
    n_responses = n_votes // (len(QUESTIONS) * RATERS_PER_RESPONSE * len(ARMS))
    with (folder / "examples.jsonl").open("w") as out:
        for i in range(n_responses // RESPONSES_PER_EXAMPLE + 1):
            turn = {"speaker": "user", "text": f"Question {i}, as long as questions are?"}
            passage = {"id": f"p{i}", "text": "Some evidence text. " * 30, "golden": True}
            ids = {"id": f"e{i}", "dialog": f"d{i // 2}"}
            out.write(json.dumps(ids | {"turns": [turn], "evidence": [passage]}) + "\n")
    with (folder / "responses.jsonl").open("w") as out:
        for i in range(n_responses):
            setup = {"model": "m", "temperature": i % RESPONSES_PER_EXAMPLE / 4}
            example = f"e{i // RESPONSES_PER_EXAMPLE}"
            row = {"id": f"r{i}", "example": example, "setup": setup, "text": "A response. " * 10}
            out.write(json.dumps(row) + "\n")
    shares = [draw.random() for _ in range(n_responses)]
    with (folder / "scores.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["response", "metric", "score", "signature"])
        for i, share in enumerate(shares):
            n_words = draw.randint(5, 25)
            n_found = sum(draw.random() < (share + 1) / 2 for _ in range(n_words))
            rows.writerow([f"r{i}", "overlap", round(n_found / n_words, 4), "words"])
    with (folder / "votes.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["response", "rater", "question", "answer", "seconds", "arm", "position"])
        for i, share in enumerate(shares):
            for place, arm in enumerate(ARMS):
                for k in range(RATERS_PER_RESPONSE):
                    rater = f"rater{(i * 7 + (k + 5 * place) * 13) % N_RATERS}"
                    seconds = round(60 * draw.random(), 1)
                    position = draw.randint(1, RESPONSES_PER_EXAMPLE) if place else ""
                    for question in QUESTIONS:
                        answer = "yes" if draw.random() < share else "no"
                        rows.writerow([f"r{i}", rater, question, answer, seconds, arm, position])


def site_environment(url: str, folder: Path) -> dict[str, str]:
    """Return the environment of a site over this database, whose files go into the folder."""
    return os.environ | {
        "DATABASE_URL": url,
        "ATTEST_DATA_DIR": str(folder / "var"),
        "DJANGO_DEBUG": "0",  # in debug mode Django would keep every statement
        "DJANGO_SECRET_KEY": "benchmark" * 6,
        "DJANGO_ALLOWED_HOSTS": "localhost",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


@contextmanager
def database_url(kind: str, folder: Path) -> Iterator[str]:
    """Yield the address of an empty database, which is deleted afterwards."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'benchmark.sqlite3'}"
        return
    name = f"attest_benchmark_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{SERVER.rsplit('/', 1)[0]}/{name}"
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def measure(kind: str, n_votes: int) -> dict[str, float]:
    """Return seconds and peak MB of an import, of all figures and of the page, each on its own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "study").mkdir()
        write_study(folder / "study", n_votes)
        with database_url(kind, folder) as url:
            environment = site_environment(url, folder)

            def run(*command: str) -> tuple[float, float]:
                began = time.perf_counter()
                process = subprocess.Popen(
                    [sys.executable, str(ROOT / "manage.py"), *command],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                )
                _, status, usage = os.wait4(process.pid, 0)
                if status:
                    sys.exit(f"manage.py {command[0]} failed")
                return time.perf_counter() - began, usage.ru_maxrss / 1024

            def figures_of(part: str) -> dict[str, float]:
                done = subprocess.run(
                    [sys.executable, __file__, "--inside", part],
                    env=environment,
                    check=True,
                    stdout=subprocess.PIPE,
                )
                found: dict[str, float] = json.loads(done.stdout)
                return found

            run("migrate", "-v0")
            run("collectstatic", "-v0", "--no-input")
            import_seconds, import_peak = run("import_dataset", str(folder / "study"))
            cold, warm, asked = map(figures_of, ("cold", "warm", "asked"))
    return {
        "import_seconds": round(import_seconds, 2),
        "import_peak_mb": round(import_peak, 1),
        **cold,
        **warm,
        **asked,
    }


def cold() -> dict[str, float]:
    """Make and store all figures of the only study, as the worker does, in a fresh process."""
    import django

    began = time.perf_counter()
    django.setup()
    from annotation.models import Study
    from evaluation.reports.base import Choices
    from evaluation.studies.reports.cached_figures import compute_and_store

    study = Study.objects.get()
    started = time.perf_counter()
    compute_and_store(study.pk, Choices())
    return {
        "start_seconds": round(started - began, 2),
        "cold_seconds": round(time.perf_counter() - started, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def warm() -> dict[str, float]:
    """Visit the pages of the only study as a researcher, while its stored figures are current."""
    import django

    django.setup()
    from django.contrib.auth.models import Group
    from django.test import Client
    from django.urls import reverse

    from accounts.models import User
    from annotation.models import Study
    from evaluation.reports.base import Choices
    from evaluation.studies.pages.sub_pages import SUB_PAGES
    from evaluation.studies.reports.cached_figures import stored_figures

    study = Study.objects.get()
    researcher = User.objects.create_user("researcher")
    researcher.groups.add(Group.objects.get(name="researcher"))
    client = Client(headers={"host": "localhost", "x-forwarded-proto": "https"})
    client.force_login(researcher)
    addresses = [reverse(page.address, args=[study.slug]) for page in SUB_PAGES]
    seconds: dict[str, list[float]] = {address: [] for address in addresses}
    for address in addresses * (N_VISITS + 1):
        began = time.perf_counter()
        answer = client.get(address, secure=True)
        assert answer.status_code == 200, answer.status_code
        seconds[address].append(time.perf_counter() - began)
    began = time.perf_counter()
    stored = stored_figures(study, Choices())
    assert stored.is_current, "the pages' figures are not those that were stored"
    return {
        "first_visit_seconds": round(seconds[addresses[0]][0], 3),  # it also reads the templates
        "warm_seconds": round(max(statistics.median(each[1:]) for each in seconds.values()), 3),
        "stored_seconds": round(time.perf_counter() - began, 3),
    }


def asked() -> dict[str, float]:
    """Make each report that is made only when a reader asks for it, with its usual choices."""
    import django

    django.setup()
    from annotation.models import Study
    from evaluation.reports.registry import CannotReport, reports_about
    from evaluation.studies.reports.study import ON_PAGE

    study, on_page = Study.objects.get(), {kind.key for kind in ON_PAGE}
    seconds = {}
    for kind in reports_about(Study):
        if kind.key not in on_page:
            began = time.perf_counter()
            with suppress(CannotReport):  # the study is not about that
                kind.make(study, kind.chosen(study, {}))
                seconds[f"{kind.key[:12]}_seconds"] = round(time.perf_counter() - began, 2)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--votes", type=int, default=100_000)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--inside", choices=["cold", "warm", "asked"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        part = {"cold": cold, "warm": warm, "asked": asked}[options.inside]
        sys.stdout.write(json.dumps(part()))
        return
    small = measure(options.database, options.votes // 10)
    large = measure(options.database, options.votes)
    write = sys.stdout.write
    write(f"{'':<20}{options.votes // 10:>12,}{options.votes:>12,}{'ratio':>8}\n")
    for name, value in large.items():
        ratio = f"{value / small[name]:.2f}" if small[name] else ""
        write(f"{name:<20}{small[name]:>12,}{value:>12,}{ratio:>8}\n")
    if options.json:
        growth = round(large["import_peak_mb"] / small["import_peak_mb"], 3)
        figures = large | {"import_peak_ratio": growth}
        write(json.dumps(figures | {"votes": options.votes, "database": options.database}) + "\n")


if __name__ == "__main__":
    main()
