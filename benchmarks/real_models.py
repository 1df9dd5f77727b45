"""Ask a small real language model about published data, and make the tables of docs/results.md.

SmolLM2-135M-Instruct (`make small-models`) answers a drawn number of examples of MTRAG in two forms
of a dialog, with twelve prompt types, at two temperatures. The answers are scored by an entailment
checkpoint, by added words and by `heuristic`. Everything is done by commands for all users. The
data and the checkpoint are not part of Attest; they are in the folder that ATTEST_SHARED names.

    .venv/bin/python benchmarks/real_models.py --folder FOLDER
    .venv/bin/python benchmarks/real_models.py --folder FOLDER --stage restricted rerank judge kalma
    .venv/bin/python benchmarks/real_models.py --folder FOLDER --examples 4 --prompts golden random

All of it takes hours. Ctrl-C stops it when the calls in progress are done, and the same command
goes on. A folder that has 4 examples goes on to 40: a larger draw contains the smaller one.
"""

import argparse
import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from django.core.management.base import CommandError  # noqa: E402 - needs the line above

from benchmarks.real_model_tables import (  # noqa: E402
    FORMS,
    PROMPTS,
    SEED,
    TEMPERATURES,
    debris_lines,
    replies_of,
    setup_lines,
)
from benchmarks.results import prepared  # noqa: E402
from tests.published import shared_folder, write_fed_sensible  # noqa: E402
from tests.small_models import LANGUAGE_MODEL  # noqa: E402

MODEL = "SmolLM2-135M"
LANGUAGE_MODEL_BACKEND = "language-model"
MTRAG, FED, BIOKALMA = "mtrag", "fed", "biokalma"
MAX_TOKENS = 64
QUESTIONS = 60  # drawn from BioKaLMA
FUNCTIONS = (("max-attribution",), ("sensible-first",), ("weighted", "--weights", ".5", ".5"))
# Golden evidence judges all prompt types alike. The mean over sentences in windows of two agrees
# best with people on MTRAG.
JUDGED_BY = ("--evidence", "golden", "--window", "2", "--hypothesis", "mean")


class Options(NamedTuple):
    """The choices of the command, and the folder in which everything stays."""

    folder: Path
    n_examples: int
    prompts: Sequence[str]
    checkpoint: Path

    @property
    def sample(self) -> str:
        return f"{self.n_examples} drawn"


def run(*words: str, **options: Any) -> str:
    """Give a command of manage.py, and return what it prints."""
    from django.core.management import call_command

    printed = io.StringIO()
    call_command(*words, stdout=printed, **options)
    return printed.getvalue()


@contextmanager
def timed(folder: Path, stage: str, step: str) -> Iterator[None]:
    """Add the seconds of a step to those of its earlier parts, also if it is interrupted."""
    file = folder / "seconds.json"
    began = time.monotonic()
    try:
        yield
    finally:
        seconds = seconds_of(folder)
        of_stage = seconds.setdefault(stage, {})
        of_stage[step] = of_stage.get(step, 0.0) + time.monotonic() - began
        file.write_text(json.dumps(seconds, indent=2), encoding="utf-8")


def seconds_of(folder: Path) -> dict[str, dict[str, float]]:
    """Return the seconds of each step so far, by stage."""
    file = folder / "seconds.json"
    found: dict[str, dict[str, float]] = json.loads(file.read_text()) if file.exists() else {}
    return found


def list_model() -> None:
    """List the language model, as an admin does under Models."""
    from evaluation.runs.services.checkpoints import CallLimits, add_checkpoint
    from generation.models import Checkpoint

    if not Checkpoint.objects.filter(name=MODEL).exists():
        location = str(LANGUAGE_MODEL.resolve())
        add_checkpoint(MODEL, location, None, limits=CallLimits(), backend=LANGUAGE_MODEL_BACKEND)


def import_mtrag(options: Options) -> None:
    """Import the examples of MTRAG without the published answers, and draw some of them."""
    from generation.filters import FILTER_KEYS

    source = shared_folder() / "data/mtrag_human_eval/mtrag_human_eval_part1.json"
    examples = options.folder / "mtrag.json"
    data = json.loads(source.read_text(encoding="utf-8"))
    examples.write_text(json.dumps(data | {"evaluations": []}), encoding="utf-8")
    run("import_dataset", str(examples), "--name", MTRAG)
    draw(MTRAG, options.n_examples, options.sample, FILTER_KEYS)


def draw(dataset: str, n: int, name: str, off: Sequence[str]) -> None:
    filters = [word for key in off for word in ("--off", key)]
    drawn = ("--sample", str(n), "--seed", str(SEED), "--name", name)
    run("filter_qrecc", dataset, *filters, *drawn)


def mtrag(options: Options) -> Iterator[str]:
    """Ask about MTRAG, score the answers, and yield the lines of the section."""
    from generation.grids.progress import grids_progress
    from generation.models import Grid

    import_mtrag(options)
    name = ask(options)
    score(options, "mtrag")
    grid = Grid.objects.get(name=name)
    replies = list(replies_of(grid))
    [progress] = grids_progress([grid])
    n_dialogs = len({reply.dialog for reply in replies})
    yield f"### MTRAG: {MODEL} in two forms"
    yield ""
    yield (
        f"{options.n_examples} drawn examples (seed {SEED}) of {n_dialogs} conversations, "
        f"{len(options.prompts)} prompt types, at most {MAX_TOKENS} tokens a reply. "
        f"{progress.n_done:,} calls answered, {progress.n_failed:,} failed; "
        f"{progress.n_tokens_in:,} tokens in, {progress.n_tokens_out:,} out."
    )
    yield from seconds_line(options, "mtrag")
    yield ""
    yield from debris_lines(replies)
    yield ""
    yield from setup_lines(replies, positions())


def ask(options: Options) -> str:
    """Ask every combination, and return the name of the grid."""
    from generation.grids.grid_file import GridChoices, GridModel
    from generation.management.grid_commands import with_name

    usual = GridChoices(
        "",
        (GridModel(MODEL),),
        sample=options.sample,
        temperatures=TEMPERATURES,
        form=FORMS,
        max_tokens=(MAX_TOKENS,),
    )
    title = f"{MODEL}, {options.sample}"
    grid = with_name(usual._replace(prompts=tuple(options.prompts)), title, usual)
    file = options.folder / "grid.toml"
    file.write_text(grid.as_toml(), encoding="utf-8")
    with timed(options.folder, "mtrag", "asking"):
        run("generate", MTRAG, "--grid", str(file), "--yes")
    return grid.name


def score(options: Options, stage: str) -> None:
    """Score all responses about MTRAG that have no score yet."""
    checkpoint = ("--backend", "transformers", "--model", str(options.checkpoint), "--yes")
    for step, words in {
        options.checkpoint.name: ("auto_ais", *checkpoint, *JUDGED_BY),
        "added_words": ("auto_ais", "--backend", "added_words", *JUDGED_BY),
        "heuristic": ("sensible", "--backend", "heuristic"),
    }.items():
        with timed(options.folder, stage, step):
            run("run_metric", *words, "--dataset", MTRAG)


def positions() -> dict[str, dict[int, Mapping[str, Any]]]:
    """Return the rows of the report on the trade-off by setup, for each model of Auto-AIS."""
    from evaluation.models import MetricRun

    runs = {each.metric: each for each in MetricRun.objects.filter(metric="sensible")}
    found = {}
    for each in MetricRun.objects.filter(metric="auto_ais").order_by("pk"):
        axes = {"attribution": f"run-{each.pk}", "sensibleness": f"run-{runs['sensible'].pk}"}
        report = run("report", "tradeoff", dataset=MTRAG, format="json", **axes)
        rows = json.loads(report)["rows"]
        found[each.model_name or each.backend] = {row["setup_id"]: row for row in rows}
    return found


def seconds_line(options: Options, stage: str) -> Iterator[str]:
    steps = seconds_of(options.folder).get(stage, {})
    if steps:
        said = ", ".join(f"{step} {seconds:,.0f} s" for step, seconds in steps.items())
        yield f"Time: {said}."


def restricted(options: Options) -> Iterator[str]:
    """Ask with restricted context, and yield the report."""
    import_mtrag(options)
    about = ("--model", MODEL, "--sample", options.sample, "--max-tokens", str(MAX_TOKENS))
    with timed(options.folder, "restricted", "asking"):
        run("restrict_context", MTRAG, *about, "--yes")
    score(options, "restricted")
    yield from report_lines(options, "restricted", "Restricted context", "restricted", MTRAG)


def rerank(options: Options) -> Iterator[str]:
    """Re-rank the usual pools by each function, and yield the report."""
    import_mtrag(options)
    for function in FUNCTIONS:
        with timed(options.folder, "rerank", function[0]):
            run("rerank", MTRAG, "--model", MODEL, "--function", *function)
    yield from report_lines(options, "rerank", "Re-ranking", "reranking", MTRAG)


def judge(options: Options) -> Iterator[str]:
    """Let the model judge the replies of FED, and yield how far it agrees with people."""
    files = options.folder / FED
    files.mkdir(exist_ok=True)
    write_fed_sensible(shared_folder(), files)
    run("import_dataset", str(files), "--name", FED)
    with timed(options.folder, "judge", "judging"):
        run("run_metric", "sensible", "--study", FED, "--model", MODEL, "--yes")
    run("run_metric", "sensible", "--study", FED, "--backend", "heuristic")
    yield from report_lines(options, "judge", f"FED: {MODEL} as a judge", "agreement", FED)


def kalma(options: Options) -> Iterator[str]:
    """Ask drawn simple questions of BioKaLMA, and yield the table of citations."""
    from generation.filters import FILTER_KEYS

    # The other file numbers its questions in the same way, so it would be another dataset.
    questions = shared_folder() / "data/biokalma/simple_question_graph.json"
    run("import_dataset", str(questions), "--name", BIOKALMA)
    name = f"{QUESTIONS} drawn"
    draw(BIOKALMA, QUESTIONS, name, FILTER_KEYS)
    asked = ("--models", MODEL, "--sample", name, "--max-tokens", str(MAX_TOKENS))
    scored = ("--backend", "transformers", "--model", str(options.checkpoint), "--yes")
    for experiment in ("citations", "removal"):
        words = (experiment, "--dataset", BIOKALMA, *asked, *scored, "--format", "markdown")
        with timed(options.folder, "kalma", experiment):
            table = run("run_kg_experiment", *words)
        yield from [f"### BioKaLMA, {experiment}: {QUESTIONS} drawn simple questions", "", table]
    yield from seconds_line(options, "kalma")


def report_lines(
    options: Options, stage: str, title: str, report: str, subject: str
) -> Iterator[str]:
    """Yield a section that has a report's own table."""
    of = "study" if subject == FED else "dataset"
    yield f"### {title}"
    yield ""
    yield from seconds_line(options, stage)
    yield ""
    yield run("report", report, f"--{of}", subject, "--format", "markdown")


Stage = Callable[[Options], Iterator[str]]
STAGES: Mapping[str, Stage] = {
    each.__name__: each for each in (mtrag, restricted, rerank, judge, kalma)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="where database and data stay")
    parser.add_argument("--examples", type=int, default=40, help="drawn from MTRAG (default: 40)")
    parser.add_argument("--prompts", nargs="+", choices=PROMPTS, default=PROMPTS, metavar="PROMPT")
    parser.add_argument("--checkpoint", type=Path, help="a folder (default: entailment-minilm)")
    parser.add_argument("--stage", nargs="+", choices=STAGES, default=["mtrag"])
    given = parser.parse_args()
    checkpoint = given.checkpoint or shared_folder() / "models/entailment-minilm"
    wanting = [str(folder) for folder in (LANGUAGE_MODEL, checkpoint) if not folder.is_dir()]
    if wanting or not given.folder:
        why = (
            f"Found no {' and no '.join(wanting)}" if wanting else "This takes hours: give --folder"
        )
        sys.stdout.write(f"{why}. Nothing was measured.\n")
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    options = Options(given.folder.resolve(), given.examples, given.prompts, checkpoint.resolve())
    prepared(options.folder)
    list_model()
    try:
        for stage in given.stage:
            sys.stdout.write("\n".join(STAGES[stage](options)) + "\n\n")
            sys.stdout.flush()
    except CommandError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
