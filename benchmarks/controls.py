"""Show whether Attest's metrics tell right from wrong on public data, for docs/results.md.

Responses of MTRAG, BEGIN, QAGS-XSum and WiCE are drawn, and their controls are scored: wrong
evidence, the evidence itself, texts that say nothing. The metrics are word overlap and a small
entailment checkpoint in four flavors, added words, and on MTRAG `heuristic`. Everything is done by
commands for all users. The data and the checkpoint are not part of Attest; they are in the folder
that ATTEST_SHARED names.

    .venv/bin/python benchmarks/controls.py --work FOLDER
    .venv/bin/python benchmarks/controls.py --work FOLDER --data begin --drawn 40

The checkpoint takes most of the time, so it judges fewer responses. After an interruption, the same
command continues.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.results import DATA, DataSet, imported, prepared  # noqa: E402 - needs the line above
from tests.published import shared_folder  # noqa: E402

CHOSEN = {each.name: each for each in DATA if each.name in ("mtrag", "begin", "qags", "wice")}
FLAVORS = ("v0", "v1", "v2", "v3")
JUDGED_BY = ("--evidence", "golden", "--window", "2", "--hypothesis", "whole")
WITH_QUESTIONS_OF_USERS = "mtrag"  # the data on which `heuristic` judges replies
COLUMNS = ("data", "metric", "flavor", "wrong", "nothing said", "right", "verdict")


def run(*words: str, **options: Any) -> str:
    """Give a command of manage.py, and return what it prints."""
    from django.core.management import call_command

    printed = io.StringIO()
    call_command(*words, stdout=printed, **options)
    return printed.getvalue()


def scored(data_set: DataSet, drawn: int) -> None:
    """Score drawn responses of a data set and their controls with the metrics without a model."""
    score(data_set, drawn, "auto_ais", "--backend", "added_words", *JUDGED_BY)
    for flavor in FLAVORS:
        score(data_set, drawn, "auto_ais", "--backend", "lexical", *JUDGED_BY, "--flavor", flavor)
    if data_set.name == WITH_QUESTIONS_OF_USERS:
        score(data_set, drawn, "sensible", "--backend", "heuristic")


def scored_by_checkpoint(
    data_set: DataSet, drawn: int, checkpoint: Path, flavors: Sequence[str]
) -> None:
    """Score drawn responses of a data set and their controls with a checkpoint."""
    model = ("--backend", "transformers", "--model", str(checkpoint), "--yes")
    for flavor in flavors:
        score(data_set, drawn, "auto_ais", *model, *JUDGED_BY, "--flavor", flavor)


def score(data_set: DataSet, drawn: int, *words: str) -> None:
    """Score about as many responses as are drawn, equally many of each model, and say how long."""
    from generation.models import Response

    of_data = Response.objects.filter(example__dataset__name=data_set.name)
    n_models = of_data.values("setup__model").distinct().count()
    sample = ("--sample", str(-(-drawn // n_models)), "--controls", str(drawn))
    began = time.monotonic()
    run("run_metric", *words, "--dataset", data_set.name, *sample)
    seconds = time.monotonic() - began
    sys.stderr.write(f"{data_set.name}, {' '.join(words)}: {seconds:.0f} s\n")


def rows_of(data_set: DataSet) -> list[tuple[dict[str, Any], Any]]:
    """Return the rows of the report on controls, each with its run."""
    from evaluation.models import MetricRun

    report = json.loads(run("report", "controls", dataset=data_set.name, format="json"))
    runs = MetricRun.objects.in_bulk()
    return [(row, runs[row["run"]]) for row in report["rows"]]


def shares(data_set: DataSet) -> Iterator[Sequence[str]]:
    """Yield the cells of each run: its shares of yes and the verdict."""
    for row, of_run in rows_of(data_set):
        figures = (_figure(row, kind) for kind in ("floor", "nothing", "top"))
        yield (*named(data_set, of_run), *figures, row["verdict"] or "—")


def shares_by_form(data_set: DataSet) -> Iterator[Sequence[str]]:
    """Yield the cells of each run: its share of yes to each form of texts that say nothing."""
    from evaluation.measures.control_texts import FORMS
    from evaluation.runs.control_figures import NOTHING, control_labels
    from evaluation.runs.control_figures import shares_by_form as by_form

    runs = [of_run for _, of_run in rows_of(data_set)]
    labels = control_labels(runs)
    for each in runs:
        found = dict(by_form(labels[each.pk][NOTHING])) if NOTHING in labels[each.pk] else {}
        said = [
            f"{100 * found[form].share:.0f} % of {found[form].n}" if form in found else "—"
            for form in FORMS
        ]
        yield (*named(data_set, each), *said)


def named(data_set: DataSet, run: Any) -> tuple[str, str, str]:
    """Return the names of a run in a table: its data, who answers, and its flavor."""
    flavor = run.parameters.get("flavor")
    return data_set.title, run.model_name or run.backend, flavor if flavor in FLAVORS else "—"


def _figure(row: dict[str, Any], name: str) -> str:
    """Return a share of yes in percent, with its interval and the number of controls."""
    if row[name] is None:
        return "—"
    low, high = (f"{100 * row[f'{name}_{end}']:.0f}" for end in ("low", "high"))
    return f"{100 * row[name]:.0f} % [{low}, {high}] of {row[f'n_{name}']}"


def table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for cells in rows:
        yield f"| {' | '.join(cells)} |"


def in_words(data_sets: Sequence[DataSet]) -> Iterator[str]:
    """Yield the lines of both tables. Shares are percent of yes, with 95 % intervals."""
    from evaluation.measures.control_texts import FORMS_IN_WORDS

    yield from table(COLUMNS, (cells for each in data_sets for cells in shares(each)))
    yield ""
    columns = (*COLUMNS[:3], *FORMS_IN_WORDS.values())
    yield from table(columns, (cells for each in data_sets for cells in shares_by_form(each)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, help="where scores stay (default: nowhere)")
    parser.add_argument("--data", nargs="+", choices=CHOSEN, default=list(CHOSEN))
    parser.add_argument("--drawn", type=int, default=200, help="responses (default: 200)")
    parser.add_argument(
        "--drawn-by-checkpoint", type=int, default=40, help="the same for the checkpoint (40)"
    )
    parser.add_argument(
        "--flavors", nargs="+", choices=FLAVORS, default=FLAVORS, help="of the checkpoint"
    )
    given = parser.parse_args()
    shared = shared_folder()
    if not (shared / "data").is_dir():
        sys.stdout.write("No folder of real data: set ATTEST_SHARED. Nothing was measured.\n")
        return
    checkpoint = shared / "models/entailment-minilm"
    if not checkpoint.is_dir():
        sys.stdout.write("Found no checkpoint. Only metrics that need no model are measured.\n")
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        prepared(work)
        chosen = [CHOSEN[name] for name in given.data]
        for data_set in chosen:
            imported(data_set, shared)
            scored(data_set, given.drawn)
            if checkpoint.is_dir() and given.drawn_by_checkpoint:
                drawn = given.drawn_by_checkpoint
                scored_by_checkpoint(data_set, drawn, checkpoint.resolve(), given.flavors)
        sys.stdout.write("\n".join(in_words(chosen)) + "\n")


if __name__ == "__main__":
    main()
