"""Published votes with the scores of metrics, for `public_few_labels.py`.

The data are imported into a database of their own, as a user would import them. The scores are
those of the published files, of the baselines that need no model, and of a checkpoint if there is
one. Each data set has one choice of flavor, window and hypothesis, fixed beforehand.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.results import DATA, DataSet, imported
from evaluation.statistics.intervals import Floats, Indexes
from tests.published import FED_CUT, FED_STAND_IN, shared_folder, write_fed

FED_QUESTION = FED_STAND_IN.lower().replace(" ", "_")


def write_fed_with_cut(shared: Path, folder: Path) -> None:
    """Write FED so that a reply whose median rating is `FED_CUT` or more is a yes."""
    write_fed(shared, folder)
    facts = json.dumps({"cuts": {FED_QUESTION: FED_CUT - 0.5}})
    (folder / "study.json").write_text(facts, encoding="utf-8")


FED = DataSet("fed", "fed", "FED", FED_QUESTION, [], write=write_fed_with_cut)
WHOLE = ("--window", "0")


class Scoring(NamedTuple):
    """The way in which responses of a data set are scored, and what is drawn as a whole."""

    data_set: DataSet
    cluster: str  # what is drawn as a whole; "example" draws examples instead of dialogs
    metric: str
    backends: Sequence[str]
    options: Sequence[str] = ()
    of_checkpoint: Sequence[str] | None = None  # None: the checkpoint does not score it


def _data_set(name: str) -> DataSet:
    return next(each for each in DATA if each.name == name)


ADDED_WORDS = "added_words"  # it has no flavor
WORDS = ("lexical", ADDED_WORDS)
SCORINGS = (
    # The checkpoint is at chance over whole answers of MTRAG, takes long over their sentences, and
    # has learnt from InfoTabS.
    Scoring(_data_set("mtrag"), "example", "auto_ais", WORDS, WHOLE),
    Scoring(_data_set("qags"), "article", "auto_ais", WORDS, of_checkpoint=()),
    Scoring(_data_set("begin"), "knowledge", "auto_ais", WORDS, of_checkpoint=()),
    Scoring(_data_set("infotabs"), "table", "auto_ais", WORDS, WHOLE),
    Scoring(FED, "dialog", "sensible", ["heuristic"]),
)


class Rated(NamedTuple):
    """The responses of a data set, with labels of people and scores of metrics."""

    title: str
    cluster: str
    labels: Floats  # (n_items,): 1 yes, 0 no, NaN without one
    rater_scores: Mapping[str, Floats]  # question → (n_items,), in [0, 1]
    scores: Mapping[str, Floats]  # metric → (n_items,); NaN: none
    clusters: Indexes  # (n_items,): 0 .. n_clusters - 1
    dialogs: Indexes  # (n_items,): 0 .. n_dialogs - 1
    setups: Sequence[str]  # (n_items,)


def rated(scoring: Scoring, checkpoint: Path | None) -> Rated:
    """Import a data set, score its responses and return them; what exists is used again."""
    from annotation.models import Study
    from evaluation.reports.base import Choices, study_counts
    from evaluation.runs.item_scores import runs_with_scores, scores_of_runs
    from evaluation.votes.people import people_of
    from generation.models import Response

    data_set = scoring.data_set
    imported(data_set, shared_folder())
    _score(scoring, checkpoint)
    study, choices = Study.objects.get(name=data_set.name), Choices()
    of_arm, people = people_of(study, choices.truth, study_counts(study, choices))
    if of_arm is None:
        raise ValueError(f"{data_set.name}: found no votes; expected at least one arm")
    runs = runs_with_scores(study)
    found = scores_of_runs(runs, of_arm)
    scores = {run.model_name or run.backend or run.metric: found[run.pk].given for run in runs}
    rows = Response.objects.filter(dataset=study.dataset_id)
    about = {pk: rest for pk, *rest in rows.values_list("pk", "example", "setup__name")}
    examples, setups = zip(*(about[pk] for pk in of_arm.items.responses.tolist()), strict=True)
    dialogs = np.unique(of_arm.items.dialogs, return_inverse=True)[1]
    by_example = np.unique(examples, return_inverse=True)[1]
    [of_question] = [each for each in people if each.question.key == data_set.question]
    return Rated(
        data_set.title,
        scoring.cluster,
        of_question.labels,
        {each.question.key: each.rater_scores for each in people},
        scores,
        by_example if scoring.cluster == "example" else dialogs,
        dialogs,
        setups,
    )


def _score(scoring: Scoring, checkpoint: Path | None) -> None:
    from django.core.management import call_command

    asked = [("--backend", backend, *scoring.options) for backend in scoring.backends]
    if checkpoint and scoring.of_checkpoint is not None:
        model = ("--backend", "transformers", "--model", str(checkpoint), "--yes")
        asked.append((*model, *scoring.of_checkpoint))
    for options in asked:
        has_flavor = scoring.data_set.flavors and ADDED_WORDS not in options
        flavor = ("--flavor", scoring.data_set.flavors[0]) if has_flavor else ()
        over = ("--study", scoring.data_set.name, *options, *flavor)
        call_command("run_metric", scoring.metric, *over, stdout=sys.stderr)
