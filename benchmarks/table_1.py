"""Table 1 of the attribution/fluency paper on FED: the measurement of `results.py --data fed`.

FED has no question whether a reply is sensible. *Semantically appropriate* (0, 1 or 2; five people)
is used instead: a rating of 2 is a yes. A checkpoint is taught the rater scores of every second
dialog. Then it and `heuristic` are compared with the raters of the other dialogs, slice by slice.
The paper distils a language model's scores. Here the scores are the raters' own, because no
language model is asked.
"""

import io
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.published import fed_lessons, write_fed_sensible

NAME = "fed-sensible"  # the name of the dataset, its study, and the model that is taught
TITLE = "FED, *Semantically appropriate* for *sensible*"
EPOCHS = 10  # chosen before anything was measured; there are only 114 replies to learn from
HELD_OUT_EVERY = 10  # one in so many training dialogs is held out for the training's own figures


def measured(shared: Path, work: Path, base: Path | None) -> dict[str, Any]:
    """Return the rows of table 1 for `heuristic` and for a checkpoint that was taught.

    Args:
        work: the folder in which the taught model is kept.
        base: an encoder to teach; None: `heuristic` alone is measured.
    """
    from django.core.management import call_command

    with tempfile.TemporaryDirectory() as folder:
        write_fed_sensible(shared, Path(folder))
        call_command("import_dataset", folder, name=NAME, stdout=io.StringIO())
    backends: list[Sequence[str]] = [["--backend", "heuristic"]]
    if base:
        taught = str(_taught(shared, work, base))
        backends.append(["--backend", "distilled", "--model", taught, "--yes"])
    for backend in backends:
        call_command("run_metric", "sensible", "--study", NAME, *backend, stdout=sys.stderr)
    report = io.StringIO()
    call_command("report", "sensibleness", study=NAME, format="json", stdout=report)
    return {"data": NAME, "title": TITLE, "rows": json.loads(report.getvalue())["rows"]}


def in_words(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the section: a row for each backend and slice, as in the paper."""
    yield f"## {found['title']}"
    yield ""
    yield "| scored by | slice | n | human yes | MSE | 1→0 | 0→1 | error |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in found["rows"]:
        of_slice = row["slice"] if row["n_slices"] == 1 else f"mean of the {row['n_slices']}"
        named = [row["model"], of_slice, row["n"], row["n_human_yes"]]
        figures = [_figure(row, name) for name in ("mse", "missed", "false_alarm", "error_rate")]
        yield f"| {' | '.join(map(str, [*named, *figures]))} |"
    yield ""


def _taught(shared: Path, work: Path, base: Path) -> Path:
    """Return the folder of a checkpoint that was taught the rater scores; teach it only once."""
    from evaluation.backends.base import Reply
    from evaluation.backends.distillation_training import Lesson, Training, TrainingRecipe
    from generation.model_specs import ModelSpec

    made = work / NAME
    if made.is_dir():
        return made
    lessons: list[Lesson] = []
    held_out: list[Lesson] = []
    for dialog, turns, text, score in fed_lessons(shared):
        lesson = Lesson(Reply(tuple(turns), text), score)
        (held_out if dialog // 2 % HELD_OUT_EVERY == 0 else lessons).append(lesson)
    recipe = TrainingRecipe("sensible", epochs=EPOCHS)
    spec = ModelSpec("transformers", base.name, str(base.resolve()))
    training = Training(spec, recipe, lessons, held_out, work / f"{NAME}-state")
    epochs = [epoch._asdict() for epoch in training.epochs(lambda: None)]
    training.save(made, {"name": NAME, **recipe._asdict(), "epochs_trained": epochs})
    training.forget()
    return made


def _figure(row: dict[str, Any], name: str) -> str:
    """Return a figure with its interval."""
    if row[name] is None:
        return "—"
    return f"{row[name]:.3f} ({row[f'{name}_low']:.3f}–{row[f'{name}_high']:.3f})"
