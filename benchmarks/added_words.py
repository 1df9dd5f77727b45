"""Hold the baseline `added_words` against `lexical` on published votes: a table of docs/results.md.

Both score the same responses at the same evidence, with windows of two sentences. The table gives
AUC and the accuracy at 0.5, and the difference of the AUC with a 95 % percentile interval that
resamples dialogs. Half of the dialogs of BEGIN, QAGS and WiCE were used to choose among ways to
weigh words; the others and MTRAG were not. The data are read from the folder that ATTEST_SHARED
names.

    .venv/bin/python benchmarks/added_words.py [--work FOLDER] [--json]
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.results import DATA, DataSet, imported, prepared  # noqa: E402 - see above
from tests.published import shared_folder  # noqa: E402

Floats = NDArray[np.float64]

NAMES = ("begin", "qags", "wice", "mtrag")
UNSEEN = ("mtrag",)  # no dialog of these was used to choose
BACKENDS = ("added_words", "lexical")
SEED, N_RESAMPLES = 13, 2000
HALVES = {"all": (0, 1), "chosen on": (0,), "not chosen on": (1,)}


class Scored(NamedTuple):
    """The responses of a data set with a human label and a score of each backend."""

    is_yes: NDArray[np.bool_]
    scores: Mapping[str, Floats]
    dialogs: list[str]

    def part(self, halves: tuple[int, ...]) -> "Scored":
        inside = np.array([half_of(dialog) in halves for dialog in self.dialogs])
        scores = {name: each[inside] for name, each in self.scores.items()}
        dialogs = [each for each, is_in in zip(self.dialogs, inside, strict=True) if is_in]
        return Scored(self.is_yes[inside], scores, dialogs)


def half_of(dialog: str) -> int:
    """Return 0 for a dialog that was used to choose, else 1."""
    return hashlib.sha256(f"{SEED}|{dialog}".encode()).digest()[0] % 2


def scored(data_set: DataSet) -> Scored:
    """Score a data set with both backends and return what can be compared."""
    from django.core.management import call_command

    from annotation.models import Study
    from evaluation.models import MetricRun
    from evaluation.reports.base import Choices, study_counts
    from evaluation.runs.item_scores import scores_of
    from evaluation.votes.people import people_of

    for backend in BACKENDS:
        over = ("--study", data_set.name, "--backend", backend)
        call_command("run_metric", "auto_ais", *over, stdout=sys.stderr)
    study = Study.objects.get(name=data_set.name)
    choices = Choices()
    of_arm, [people] = people_of(
        study, choices.truth, study_counts(study, choices), data_set.question
    )
    assert of_arm is not None
    runs = {run.backend: run for run in MetricRun.objects.filter(dataset=study.dataset_id)}
    scores = {name: scores_of(runs[name], of_arm).given for name in BACKENDS}
    there = ~np.isnan(people.labels)
    for each in scores.values():
        there &= ~np.isnan(each)
    return Scored(
        people.labels[there] == 1,
        {name: each[there] for name, each in scores.items()},
        [of_arm.items.dialog_names[number] for number in of_arm.items.dialogs[there]],
    )


def compared(data: Scored) -> dict[str, Any]:
    """Return both AUCs and accuracies, and the difference of the AUC with its interval."""
    from sklearn.metrics import roc_auc_score

    names, places = np.unique(data.dialogs, return_inverse=True)
    of_dialog = [np.flatnonzero(places == number) for number in range(len(names))]
    draws = np.random.default_rng(SEED).integers(len(names), size=(N_RESAMPLES, len(names)))
    differences = []
    for draw in draws:
        rows = np.concatenate([of_dialog[number] for number in draw])
        is_yes = data.is_yes[rows]
        if is_yes.any() and not is_yes.all():
            pair = [roc_auc_score(is_yes, data.scores[name][rows]) for name in BACKENDS]
            differences.append(pair[0] - pair[1])
    low, high = np.percentile(differences, [2.5, 97.5])
    found: dict[str, Any] = {"n": len(data.is_yes), "n_dialogs": len(names)}
    for name in BACKENDS:
        found[f"{name}_auc"] = float(roc_auc_score(data.is_yes, data.scores[name]))
        found[f"{name}_accuracy"] = float(np.mean((data.scores[name] > 0.5) == data.is_yes))
    share = float(data.is_yes.mean())
    difference = found["added_words_auc"] - found["lexical_auc"]
    return found | {
        "majority": max(share, 1 - share),
        "difference": difference,
        "difference_low": float(low),
        "difference_high": float(high),
    }


def measured(work: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each data set and half."""
    prepared(work)
    for data_set in DATA:
        if data_set.name in NAMES:
            imported(data_set, shared_folder())
            data = scored(data_set)
            for half, numbers in HALVES.items():
                if half == "all" or data_set.name not in UNSEEN:
                    about = {"data": data_set.title, "dialogs": half}
                    yield about | compared(data.part(numbers))


def line(row: dict[str, Any]) -> str:
    cells = [row["data"], row["dialogs"], str(row["n"]), f"{row['majority']:.3f}"]
    for name in BACKENDS:
        cells += [f"{row[f'{name}_auc']:.3f}", f"{row[f'{name}_accuracy']:.3f}"]
    ends = f"({row['difference_low']:+.3f} to {row['difference_high']:+.3f})"
    cells.append(f"{row['difference']:+.3f} {ends}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, help="where scores stay (default: nowhere)")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not (shared_folder() / "data").is_dir():
        sys.stdout.write("No folder of real data: set ATTEST_SHARED. Nothing was measured.\n")
        return
    sys.stdout.write(
        "| data | dialogs | n | majority label | added words: AUC | accuracy | word overlap: AUC "
        "| accuracy | difference of the AUC |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        rows = []
        for row in measured(work):
            rows.append(row)
            sys.stdout.write(f"{line(row)}\n")
            sys.stdout.flush()
    if options.json:
        sys.stdout.write(json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
