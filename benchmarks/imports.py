"""Import N rows of a file into an empty database, and delete them: seconds, memory, growth.

The rows are triples of N-Triples in Wikidata's shape: people with ten statements each, one of them
a date, names in three languages, aliases, and properties described as entities. The statements of a
person are in two places of the file. With `table`, the rows are those of a table of questions and
answers, five for each question, with a passage, a setup, a score and a column that stays in `meta`.
Everything runs twice, with N/10 and with N rows, in processes and databases of their own.
`read_seconds` is the time of the reader alone, `import_seconds` that of the whole command. `cpu` is
the processor time of the process in it, without the database. Peaks are those of the Python
process.

    nice .venv/bin/python benchmarks/imports.py graph --rows 1000000 --json
    nice .venv/bin/python benchmarks/imports.py table --rows 100000 --json
"""

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.reports import ROOT, database_url, site_environment

DATASET = "imported"
LINKS = ("P31", "P21", "P27", "P19", "P20", "P106", "P26", "P463", "P1412")
STATEMENTS = len(LINKS) + 1  # one more is the date of birth
N_VALUES = 5000  # number of things that are only values
BLOCK = 20_000  # size of a group of people; their later statements follow the first ones of all
ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
WIKIBASE = "http://wikiba.se/ontology#"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DATE = "<http://www.w3.org/2001/XMLSchema#dateTime>"


ROWS_OF_A_QUESTION = 5  # number of rows in a table


def triples(n_triples: int, seed: int = 1) -> Iterator[str]:
    """Yield the lines of a graph's file with about `n_triples` statements about people."""
    draw = random.Random(seed)
    for relation in (*LINKS, "P569"):
        yield f"<{ENTITY}{relation}> <{WIKIBASE}directClaim> <{DIRECT}{relation}> .\n"
        yield f'<{ENTITY}{relation}> {LABEL} "relation {relation}"@en .\n'
    for number in range(N_VALUES):
        yield f'<{ENTITY}Q{number}> {LABEL} "thing number {number}"@en .\n'
    n_people = n_triples // STATEMENTS
    for start in range(0, n_people, BLOCK):
        people = range(N_VALUES + start, N_VALUES + min(start + BLOCK, n_people))
        for number in people:
            person = f"<{ENTITY}Q{number}>"
            yield f"{person} {TYPE} <{WIKIBASE}Item> .\n"
            for language in ("en", "de", "zh"):
                yield f'{person} {LABEL} "Person {number}"@{language} .\n'
            yield f'{person} {ALIAS} "The {number}th"@en .\n'
            born = f"{draw.randint(1000, 1990)}-01-01T00:00:00Z"
            yield f'{person} <{DIRECT}P569> "{born}"^^{DATE} .\n'
            yield from _links(person, LINKS[:4], draw)
        for number in people:
            yield from _links(f"<{ENTITY}Q{number}>", LINKS[4:], draw)


def _links(person: str, relations: tuple[str, ...], draw: random.Random) -> Iterator[str]:
    for relation in relations:
        yield f"{person} <{DIRECT}{relation}> <{ENTITY}Q{draw.randrange(N_VALUES)}> .\n"


def table(n_rows: int, seed: int = 1) -> Iterator[str]:
    """Yield the lines of a table with `n_rows` rows of about 600 characters."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(2_000)]
    yield "question,context,answer,model,year,overlap\n"
    for number in range(n_rows // ROWS_OF_A_QUESTION):
        passage = " ".join(draw.choices(words, k=50))
        for setup in range(ROWS_OF_A_QUESTION):
            answer = " ".join(draw.choices(words, k=20))
            row = f"Who built {number}?,{passage},{answer},model-{setup},2026,{draw.random()}"
            yield f"{row}\n"


MAPPING = """[columns]
question = "question"
context = "shown"
answer = "response"
model = "setup"
overlap = "score"
"""


class File(NamedTuple):
    """A kind of file: its lines, and the end of its name."""

    lines: Callable[[int], Iterator[str]]
    suffix: str


FILES = {"graph": File(triples, ".nt.gz"), "table": File(table, ".csv.gz")}


def measure(kind: str, of: str, n_rows: int) -> dict[str, float]:
    """Return seconds and peak MB of reading, importing and deleting, each on its own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = folder / f"{DATASET}{FILES[of].suffix}"
        with gzip.open(file, "wt", compresslevel=1) as out:
            out.writelines(FILES[of].lines(n_rows))
        with database_url(kind, folder) as url:
            environment = site_environment(url, folder)

            def run(part: str) -> dict[str, float]:
                command = [sys.executable, __file__, "--inside", part, str(file)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
                return {f"{part}_{name}": value for name, value in json.loads(done.stdout).items()}

            manage = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity=0"]
            subprocess.run(manage, check=True, stdout=subprocess.DEVNULL, env=environment)
            figures: dict[str, float] = {"file_mb": round(file.stat().st_size / 2**20, 1)}
            for part in PARTS:
                figures |= run(part)
    return figures


def read(file: Path) -> dict[str, float]:
    from generation.importers import open_material

    with open_material(file) as material:
        return {"records": sum(1 for kind in material.kinds for _ in material.records(kind))}


def store(file: Path) -> dict[str, float]:
    from django.core.management import call_command

    mapping = file.with_name("mapping.toml")
    mapping.write_text(MAPPING, encoding="utf-8")
    by_mapping = [f"--mapping={mapping}"] if ".csv" in file.suffixes else []
    call_command("import_dataset", file, "--name", DATASET, *by_mapping, stdout=sys.stderr)
    return {"rows": n_stored()}


def delete(file: Path) -> dict[str, float]:
    from accounts.models import User
    from evaluation.exchange.services import delete_dataset
    from generation.models import Dataset

    delete_dataset(Dataset.objects.get(name=DATASET), User.objects.create_user("admin"))
    return {"rows_left": n_stored()}


def n_stored() -> int:
    """Return how many triples and responses are stored."""
    from generation.models import Response, Triple

    return Triple.objects.count() + Response.objects.count()


PARTS: dict[str, Callable[[Path], dict[str, float]]] = {
    "read": read,
    "import": store,
    "delete": delete,
}


def inside(part: str, file: Path) -> dict[str, Any]:
    """Run one part of the measurement in this process; return its figures, time and memory."""
    import django

    django.setup()
    began, cpu = time.perf_counter(), time.process_time()
    figures = PARTS[part](file)
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "cpu": round(time.process_time() - cpu, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        **figures,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("of", choices=FILES, nargs="?", default="graph")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--inside", nargs=2, metavar=("PART", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        part, file = options.inside
        sys.stdout.write(json.dumps(inside(part, Path(file))))
        return
    small = measure(options.database, options.of, options.rows // 10)
    large = measure(options.database, options.of, options.rows)
    write = sys.stdout.write
    write(f"{'':<22}{options.rows // 10:>12,}{options.rows:>12,}{'ratio':>8}\n")
    for name, value in large.items():
        ratio = f"{value / small[name]:.2f}" if small[name] else ""
        write(f"{name:<22}{small[name]:>12,}{value:>12,}{ratio:>8}\n")
    if options.json:
        ratios = {
            f"{name}_ratio": round(large[name] / small[name], 3)
            for name in ("import_seconds", "import_peak_mb", "delete_peak_mb")
            if small[name]
        }
        figures = large | ratios
        said = {"of": options.of, "rows": options.rows, "database": options.database}
        write(json.dumps(figures | said))
        write("\n")


if __name__ == "__main__":
    main()
