"""Which answers the figures of an experiment are made of: what its numbers lead to. Reads only."""

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

    Those of an ablation are the ones to the examples that all its rows have (see `ablations`);
    other experiments count the first answer of each setup to each example, but for those from
    whose graph knowledge was removed.
    """
    return _COMPARED.get(key, cited_answers)(dataset)


def _responses(key: str, dataset: Dataset, setups: Collection[int]) -> list[int]:
    found: list[int] = answers_of_experiment(dataset, key).of_setups(setups).responses.tolist()
    return found


for _key, _kind in EXPERIMENTS.items():
    if _kind.has_grid:
        register(_key, AnswerExperiment(_kind.title, partial(_responses, _key)))
