"""The answers behind the numbers of an experiment, to which its numbers link.

This module only reads.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.reports import accuracy, citation_table, removal
from evaluation.graphs.reports.cited_answers import CitedAnswers, cited_answers
from evaluation.runs.named_answers import AnswerExperiment, register
from generation.models import Dataset

_COMPARED: Mapping[str, Callable[[Dataset], CitedAnswers]] = {
    "citations": citation_table.counted_answers,
    "quality": citation_table.counted_answers,
    "removal": removal.compared_answers,
    "accuracy": accuracy.compared_answers,
}


def answers_of_experiment(dataset: Dataset, key: str) -> CitedAnswers:
    """Return the answers that an experiment counts, under any setup.

    An ablation counts the answers to the examples that all its rows have (see `ablations`). Other
    experiments count the first answer of each setup to each example. They leave out answers from
    whose graph knowledge was removed although their prompt type removes none.
    """
    return _COMPARED.get(key, cited_answers)(dataset)


def _responses(key: str, dataset: Dataset, setups: Collection[int]) -> list[int]:
    found: list[int] = answers_of_experiment(dataset, key).of_setups(setups).responses.tolist()
    return found


for _key, _kind in EXPERIMENTS.items():
    if _kind.has_grid:
        register(_key, AnswerExperiment(_kind.title, partial(_responses, _key)))
