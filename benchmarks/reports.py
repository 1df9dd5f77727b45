"""Import a synthetic study of N votes and report on it: seconds, peak memory, and how both grow.

Everything runs twice, with N/10 and with N votes, in processes and databases of their own.

    .venv/bin/python benchmarks/reports.py --votes 1000000 --database postgresql
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

ROOT = Path(__file__).parent.parent
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
RATERS_PER_RESPONSE = 5
RESPONSES_PER_EXAMPLE = 4
N_RATERS = 200


def write_study(folder: Path, n_votes: int, seed: int = 1) -> None:
    """Write an interchange folder: AIS, five raters a response, four responses an example."""
    draw = random.Random(seed)
    n_responses = n_votes // (len(QUESTIONS) * RATERS_PER_RESPONSE)
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
    with (folder / "votes.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["response", "rater", "question", "answer", "seconds"])
        for i in range(n_responses):
            share = draw.random()
            for k in range(RATERS_PER_RESPONSE):
                rater = f"rater{(i * 7 + k * 13) % N_RATERS}"
                for question in QUESTIONS:
                    answer = "yes" if draw.random() < share else "no"
                    rows.writerow([f"r{i}", rater, question, answer, round(60 * draw.random(), 1)])


@contextmanager
def database_url(kind: str, folder: Path) -> Iterator[str]:
    """Yield the address of an empty database that is gone afterwards."""
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
    """Return seconds and peak MB of an import and of a report in fresh processes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "study").mkdir()
        write_study(folder / "study", n_votes)
        with database_url(kind, folder) as url:
            environment = os.environ | {
                "DATABASE_URL": url,
                "ATTEST_DATA_DIR": str(folder / "var"),
                "DJANGO_DEBUG": "0",  # with it, Django remembers every statement
                "DJANGO_SECRET_KEY": "benchmark",
                "DJANGO_ALLOWED_HOSTS": "localhost",
            }

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

            run("migrate", "-v0")
            import_seconds, import_peak = run("import_dataset", str(folder / "study"))
            cold_seconds, peak = run("report", "raters", "--study", "study", "--format", "json")
    return {
        "import_seconds": round(import_seconds, 2),
        "import_peak_mb": round(import_peak, 1),
        "cold_seconds": round(cold_seconds, 2),
        "peak_mb": round(peak, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--votes", type=int, default=100_000)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    small = measure(options.database, options.votes // 10)
    large = measure(options.database, options.votes)
    write = sys.stdout.write
    write(f"{'':<18}{options.votes // 10:>12,}{options.votes:>12,}{'ratio':>8}\n")
    for name, value in large.items():
        ratio = value / small[name]
        write(f"{name:<18}{small[name]:>12,}{value:>12,}{ratio:>8.2f}\n")
    if options.json:
        growth = round(large["import_peak_mb"] / small["import_peak_mb"], 3)
        figures = large | {"import_peak_ratio": growth}
        write(json.dumps(figures | {"votes": options.votes, "database": options.database}) + "\n")


if __name__ == "__main__":
    main()
