"""Hold auto-AIS against people on published data: makes the tables of docs/results.md.

For BEGIN (dev: Wizard of Wikipedia, CMU-DoG, Topical-Chat and all three), QAGS-XSum and MTRAG's
human evaluation: AUC, and accuracy at 0.5, of a checkpoint and of shared words. Everything goes
through the commands that anybody has: import_dataset, run_metric, report. The data are not shipped;
they lie in the folder that ATTEST_SHARED names.

    .venv/bin/python benchmarks/results.py --checkpoint PATH --work FOLDER

The same command goes on where it was stopped. A small checkpoint takes three quarters of an hour on
one core. Without --checkpoint shared words alone: a minute.
"""

import argparse
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from tests.published import shared_folder, write_qags  # noqa: E402 - found by the line above

WINDOWS = (0, 1, 2, 3)
LEXICAL = "lexical"
EVIDENCE = {0: "whole", 1: "K = 1", 2: "K = 2", 3: "K = 3"}
HYPOTHESIS = {"whole": "whole", "mean": "sentences, mean"}


class DataSet(NamedTuple):
    """One data set with votes, and what is tried on it."""

    key: str  # of --data
    name: str  # in the database
    title: str
    files: Sequence[str]  # in the folder of real data
    question: str  # whose majority is the truth
    flavors: Sequence[str]
    hypotheses: Sequence[str] = ("whole",)


BEGIN = "data/begin/begin_dev_{}.tsv"
DATA = (
    DataSet(
        "qags",
        "qags",
        "QAGS-XSum",
        ["data/qags/mturk_xsum.jsonl"],
        "supported",
        ["v3", "v1"],
    ),
    *(
        DataSet("begin", name, title, files, "attributable", ["v3", "v1", "v2"])
        for name, title, files in (
            ("begin-wow", "BEGIN dev, Wizard of Wikipedia", [BEGIN.format("wow")]),
            ("begin-cmu", "BEGIN dev, CMU-DoG", [BEGIN.format("cmu")]),
            ("begin-tc", "BEGIN dev, Topical-Chat", [BEGIN.format("tc")]),
            ("begin", "BEGIN dev, all", [BEGIN.format(part) for part in ("wow", "cmu", "tc")]),
        )
    ),
    DataSet(
        "mtrag",
        "mtrag",
        "MTRAG human evaluation",
        ["data/mtrag_human_eval/mtrag_human_eval_part1.json"],
        "faithfulness",
        ["v3"],  # its answers and passages are long: a flavor takes a quarter of an hour
    ),
)


class Choice(NamedTuple):
    """What a run is asked for, beside its backend."""

    flavor: str
    window: int
    hypothesis: str


def choices(data_set: DataSet) -> list[Choice]:
    return [
        Choice(flavor, window, hypothesis)
        for hypothesis in data_set.hypotheses
        for flavor in data_set.flavors
        for window in WINDOWS
    ]


def prepared(work: Path) -> None:
    """Use an SQLite database of its own in a folder, made where it is not there."""
    os.environ.update(
        DATABASE_URL=f"sqlite:///{work.resolve() / 'results.sqlite3'}",
        ATTEST_DATA_DIR=str(work.resolve() / "var"),
        DJANGO_SETTINGS_MODULE="config.settings",
        DJANGO_DEBUG="0",  # with it, Django remembers every statement
        DJANGO_SECRET_KEY="benchmark",
        DJANGO_ALLOWED_HOSTS="localhost",
    )
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def imported(data_set: DataSet, shared: Path) -> None:
    """Import a data set; again, nothing is new."""
    from django.core.management import call_command

    for file in data_set.files:
        with tempfile.TemporaryDirectory() as folder:
            path = shared / file
            if data_set.key == "qags":
                write_qags(shared, Path(folder))
                path = Path(folder)
            call_command("import_dataset", str(path), name=data_set.name, stdout=io.StringIO())


def scored(data_set: DataSet, choice: Choice, checkpoint: Path | None) -> None:
    """Score all responses with a checkpoint, or by shared words."""
    from django.core.management import call_command

    model = ["--backend", "transformers", "--model", str(checkpoint)] if checkpoint else []
    call_command(
        "run_metric",
        "auto_ais",
        *("--study", data_set.name, *model, "--flavor", choice.flavor),
        *("--window", str(choice.window), "--hypothesis", choice.hypothesis),
        stdout=sys.stderr,
    )


def figures(data_set: DataSet) -> dict[str, Any]:
    """Return what people say of a data set, a row for each run, and one for what is calibrated."""
    from django.core.management import call_command

    from annotation.models import Study
    from evaluation.models import MetricRun
    from evaluation.reports.calibration import CHOSEN, calibration_report

    report = io.StringIO()
    call_command("report", "agreement", study=data_set.name, format="json", stdout=report)
    study = Study.objects.get(name=data_set.name)
    runs = MetricRun.objects.in_bulk()
    rows = []
    for row in json.loads(report.getvalue())["rows"]:
        run = runs[row["run"]]
        if row["question"] == data_set.question and not run.is_imported:
            made = {name: run.parameters[name] for name in Choice._fields}
            rows.append({"backend": run.backend, "revision": run.revision, **made, **row})
    examples = study.dataset.examples
    calibrated = calibration_report(study, question=data_set.question).rows
    return {
        "data": data_set.name,
        "title": data_set.title,
        "n_responses": study.dataset.responses.count(),
        "n_dialogs": examples.values("dialog").distinct().count(),
        "rows": rows,
        "calibrated": [
            row for row in calibrated if (row["kind"], row["metric"]) == (CHOSEN, "auto_ais")
        ],
    }


def in_words(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a data set's section: what people say, then a row for each choice."""
    rows = {
        (row["backend"] == LEXICAL, Choice(*(row[name] for name in Choice._fields))): row
        for row in found["rows"]
    }
    first = max(found["rows"], key=lambda row: int(row["n"]))
    yield f"## {found['title']}"
    yield ""
    yield (
        f"{found['n_responses']} responses of {found['n_dialogs']} dialogs; {first['n']} are "
        f"compared, {first['n_human_yes']} of them a yes. Majority label: {first['baseline']:.3f}. "
        f"Left out: {first['undecided']} undecided, {first['assumed']} to which nothing was shown, "
        f"{first['failed']} without a score."
    )
    ceilings = (
        ("rest", "each rater against the rest"),
        ("halves", "half of the raters against the others"),
    )
    for name, words in ceilings:
        if first.get(f"ceiling_{name}") is not None:
            yield f"Ceiling, {words}: {_figure(first, f'ceiling_{name}')}."
    yield ""
    yield "| hypothesis | flavor | evidence | n | cut short | AUC | accuracy | lexical AUC | " + (
        "lexical accuracy |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for choice in sorted({choice for _, choice in rows}, key=_place):
        model, words = rows.get((False, choice), {}), rows.get((True, choice), {})
        cells = [
            HYPOTHESIS[choice.hypothesis],
            choice.flavor,
            EVIDENCE[choice.window],
            *(str(model.get(name, "—")) for name in ("n", "truncated")),
            *(_figure(each, name) for each in (model, words) for name in ("auc", "accuracy")),
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    for row in found["calibrated"]:
        if row["why"] is None:
            yield (
                f"Choice of {row['model']} on other dialogs (threshold too): "
                f"{_figure(row, 'accuracy')}; on the same, which flatters: "
                f"{_figure(row, 'flattering_accuracy')}; {row['untuned_title']} at "
                f"{row['untuned_threshold']:g}: {_figure(row, 'untuned_accuracy')}."
            )
    yield ""


def _place(choice: Choice) -> tuple[int, str, int]:
    return list(HYPOTHESIS).index(choice.hypothesis), choice.flavor, choice.window


def _figure(row: dict[str, Any], name: str) -> str:
    """Return a figure with its interval."""
    if row.get(name) is None:
        return "—"
    ends = [row[f"{name}_{end}"] for end in ("low", "high")]
    said = "–".join("—" if end is None else f"{end:.3f}" for end in ends)
    return f"{row[name]:.3f} ({said})"


def made(work: Path, checkpoint: Path | None, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the figures of the data sets that are asked for, each also written to the folder."""
    shared = shared_folder()
    prepared(work)
    all_figures = []
    for data_set in DATA:
        if data_set.key not in keys:
            continue
        imported(data_set, shared)
        for choice in choices(data_set):
            for model in dict.fromkeys([None, checkpoint]):
                scored(data_set, choice, model)
        found = figures(data_set)
        (work / f"{data_set.name}.json").write_text(json.dumps(found, indent=2), encoding="utf-8")
        all_figures.append(found)
    return all_figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, help="a folder (default: shared words alone)")
    keys = list(dict.fromkeys(data_set.key for data_set in DATA))
    parser.add_argument("--data", nargs="+", choices=keys, default=keys)
    parser.add_argument("--work", type=Path, help="where scores stay (default: nowhere)")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not (shared_folder() / "data").is_dir():
        sys.stdout.write("No folder of real data: set ATTEST_SHARED. Nothing was measured.\n")
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        found = made(work, options.checkpoint, options.data)
    for each in found:
        sys.stdout.write("\n".join(in_words(each)) + "\n")
    if options.json:
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
