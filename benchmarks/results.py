"""Compare auto-metrics with people on published data, and make the tables of docs/results.md.

For Auto-AIS, the tables have AUC, and accuracy at 0.5, of a checkpoint and of shared words, on all
data with evidence and human labels, over windows and units of the hypothesis (the whole response;
its sentences, mean and lowest). For Auto-SSA on FED, there is table 1 of the attribution/fluency
paper. Scores and agreement come from commands for all users: import_dataset, run_metric, report.
The data are not part of Attest; they are in the folder that ATTEST_SHARED names.

    .venv/bin/python benchmarks/results.py --checkpoint PATH --work FOLDER
    .venv/bin/python benchmarks/results.py --checkpoint PATH --work FOLDER --data qags fed

After an interruption, the same command continues. A small checkpoint takes some hours on one core;
--data and --hypotheses choose a part. Without --checkpoint, only shared words and `heuristic` are
measured, which takes minutes.
"""

import argparse
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks import table_1  # noqa: E402 - needs the line above
from tests.published import shared_folder, write_infotabs, write_qags  # noqa: E402
from tests.published_labels import (  # noqa: E402
    write_expertqa,
    write_faithdial,
    write_q2,
    write_wice,
)

WINDOWS = (0, 1, 2, 3)
LEXICAL = "lexical"
EVIDENCE = {0: "whole", 1: "K = 1", 2: "K = 2", 3: "K = 3"}
HYPOTHESIS = {"whole": "whole", "mean": "sentences, mean", "min": "sentences, lowest"}
FED = "fed"  # a value of --data, for table 1


class DataSet(NamedTuple):
    """One data set with votes, and the flavors that are tried on it. It has `files` or `write`."""

    key: str  # a value of --data
    name: str  # the dataset's name in the database
    title: str
    question: str  # the majority answer to this question is the truth
    flavors: Sequence[str]
    files: Sequence[str] = ()  # paths in the folder of real data, which an importer can read
    write: Callable[[Path, Path], None] | None = None  # this writes an interchange folder
    positive: Mapping[str, str] = {}  # nominal question → the label that counts as yes


BEGIN = "data/begin/begin_dev_{}.tsv"
DATA = (
    DataSet("qags", "qags", "QAGS-XSum", "supported", ["v3", "v1"], write=write_qags),
    *(
        DataSet("begin", name, title, "attributable", ["v3", "v1", "v2"], files)
        for name, title, files in (
            ("begin-wow", "BEGIN dev, Wizard of Wikipedia", [BEGIN.format("wow")]),
            ("begin-cmu", "BEGIN dev, CMU-DoG", [BEGIN.format("cmu")]),
            ("begin-tc", "BEGIN dev, Topical-Chat", [BEGIN.format("tc")]),
            ("begin", "BEGIN dev, all", [BEGIN.format(part) for part in ("wow", "cmu", "tc")]),
        )
    ),
    DataSet("q2", "q2", "Q² cross annotation", "consistent", ["v3", "v1"], write=write_q2),
    DataSet(
        "faithdial",
        "faithdial",
        "FaithDial's audit",
        "attributable",
        ["v3", "v1"],
        write=write_faithdial,
    ),
    DataSet(
        "infotabs",
        "infotabs",
        "InfoTabS validation",
        "entailment",
        ["v1"],  # the data has no real question, only a stand-in
        write=write_infotabs,
        positive={"entailment": "entailed"},
    ),
    DataSet("wice", "wice", "WiCE dev", "supported", ["v1"], write=write_wice),
    DataSet("expertqa", "expertqa", "ExpertQA", "supported", ["v3"], write=write_expertqa),
    DataSet(
        "mtrag",
        "mtrag",
        "MTRAG human evaluation",
        "faithfulness",
        ["v3"],  # long answers and passages: a flavor takes a quarter of an hour or more
        ["data/mtrag_human_eval/mtrag_human_eval_part1.json"],
    ),
)


class Choice(NamedTuple):
    """The choices of a run, beside its backend."""

    flavor: str
    window: int
    hypothesis: str


def choices(data_set: DataSet, hypotheses: Sequence[str]) -> list[Choice]:
    return [
        Choice(flavor, window, hypothesis)
        for hypothesis in hypotheses
        for flavor in data_set.flavors
        for window in WINDOWS
    ]


def prepared(work: Path) -> None:
    """Use an SQLite database in the folder `work`; make it if it does not exist."""
    os.environ.update(
        DATABASE_URL=f"sqlite:///{work.resolve() / 'results.sqlite3'}",
        ATTEST_DATA_DIR=str(work.resolve() / "var"),
        DJANGO_SETTINGS_MODULE="config.settings",
        DJANGO_DEBUG="0",  # in debug mode Django would keep every statement
        DJANGO_SECRET_KEY="benchmark" * 6,
        DJANGO_ALLOWED_HOSTS="localhost",
    )
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def imported(data_set: DataSet, shared: Path) -> None:
    """Import a data set. A second call adds nothing."""
    from django.core.management import call_command

    def store(path: Path) -> None:
        call_command("import_dataset", str(path), name=data_set.name, stdout=io.StringIO())

    for file in data_set.files:
        store(shared / file)
    if data_set.write:
        with tempfile.TemporaryDirectory() as folder:
            data_set.write(shared, Path(folder))
            if data_set.positive:
                facts = json.dumps({"positive": data_set.positive})
                (Path(folder) / "study.json").write_text(facts, encoding="utf-8")
            store(Path(folder))


def scored(data_set: DataSet, choice: Choice, checkpoint: Path | None) -> None:
    """Score all responses with a checkpoint, or by shared words."""
    from django.core.management import call_command

    model = ["--backend", "transformers", "--model", str(checkpoint), "--yes"] if checkpoint else []
    call_command(
        "run_metric",
        "auto_ais",
        *("--study", data_set.name, *model, "--flavor", choice.flavor),
        *("--window", str(choice.window), "--hypothesis", choice.hypothesis),
        stdout=sys.stderr,
    )


def figures(data_set: DataSet) -> dict[str, Any]:
    """Return facts about a data set, a row for each run, and the rows of threshold choices."""
    from django.core.management import call_command

    from annotation.models import Study
    from evaluation.models import MetricRun
    from evaluation.studies.reports.threshold_choice import threshold_choice_report
    from evaluation.studies.reports.threshold_choice_rows import CHOSEN

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
    chosen = threshold_choice_report(study, question=data_set.question).records
    return {
        "data": data_set.name,
        "title": data_set.title,
        "n_responses": study.dataset.responses.count(),
        "n_dialogs": examples.values("dialog").distinct().count(),
        "rows": rows,
        "chosen": [row for row in chosen if (row["kind"], row["metric"]) == (CHOSEN, "auto_ais")],
    }


def in_words(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a data set's section: facts about its votes, then a row per choice."""
    from evaluation.studies.reports.ceilings import CEILINGS

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
        f"Left out: {first['waiting'] + first['tied']} without a label, "
        f"{first['assumed']} to which nothing was shown, "
        f"{first['failed']} without a score."
    )
    for name in ("rest", "halves"):
        if first.get(f"ceiling_{name}") is not None:
            compared = CEILINGS[name].how(first[f"ceiling_{name}_votes"])
            yield f"Ceiling, {compared}: {_figure(first, f'ceiling_{name}')}."
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
    for row in found["chosen"]:
        if row["why"] is None:
            yield (
                f"Accuracy of {row['model']}, chosen on other dialogs (threshold too): "
                f"{_figure(row, 'accuracy')}. Chosen on the same dialogs (too optimistic): "
                f"{_figure(row, 'flattering_accuracy')}. Nothing chosen ({row['untuned_title']} "
                f"at {row['untuned_threshold']:g}): {_figure(row, 'untuned_accuracy')}."
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


def made(
    work: Path, checkpoint: Path | None, keys: Sequence[str], hypotheses: Sequence[str]
) -> Iterator[tuple[dict[str, Any], Iterator[str]]]:
    """Yield figures and lines of each chosen data set; the figures are stored in the folder."""
    shared = shared_folder()
    prepared(work)
    for data_set in DATA:
        if data_set.key not in keys:
            continue
        imported(data_set, shared)
        for choice in choices(data_set, hypotheses):
            for model in dict.fromkeys([None, checkpoint]):
                scored(data_set, choice, model)
        found = figures(data_set)
        _write(work, found)
        yield found, in_words(found)
    if FED in keys:
        found = table_1.measured(shared, work, checkpoint)
        _write(work, found)
        yield found, table_1.in_words(found)


def _write(work: Path, found: dict[str, Any]) -> None:
    (work / f"{found['data']}.json").write_text(json.dumps(found, indent=2), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, help="a folder (default: shared words alone)")
    keys = [*dict.fromkeys(data_set.key for data_set in DATA), FED]
    parser.add_argument("--data", nargs="+", choices=keys, default=keys)
    units = list(HYPOTHESIS)
    parser.add_argument("--hypotheses", nargs="+", choices=units, default=units)
    parser.add_argument("--work", type=Path, help="where scores stay (default: nowhere)")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not (shared_folder() / "data").is_dir():
        sys.stdout.write("No folder of real data: set ATTEST_SHARED. Nothing was measured.\n")
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        all_figures = []
        for found, lines in made(work, options.checkpoint, options.data, options.hypotheses):
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
            all_figures.append(found)
    if options.json:
        sys.stdout.write(json.dumps(all_figures) + "\n")


if __name__ == "__main__":
    main()
