"""The recalls of a simulated retriever: typed, or measured over the examples of an analysis."""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

from evaluation.retrieval.ranked_examples import RetrievalChoices
from evaluation.retrieval.report import retrieval_report
from generation.models import Dataset
from generation.retrieval.dataset_index import can_wait_for_index

USUAL_K = 3


class Recalls(NamedTuple):
    """The recalls of a retriever for golden evidence; NaN where unknown; then nothing is mixed.

    As in the report on retrieval, a recall is the mean, over examples, of the share of an example's
    golden passages that are among the first. Only if each example has one golden passage, it is the
    share of examples whose golden passage is found.
    """

    at_1: float  # recall@1, in [0, 1]
    at_k: float  # recall@k, in [0, 1]
    k: int
    is_1_measured: bool = False  # measured by BM25 over the dataset's passages; else typed
    is_k_measured: bool = False
    n: int = 0  # examples over which they are measured
    retrieval: str = ""  # signature of the retrieval that measured them

    @property
    def are_known(self) -> bool:
        return not (math.isnan(self.at_1) or math.isnan(self.at_k))

    @property
    def signature_part(self) -> str:
        """Each recall in full with its source, and what measured it, for signatures."""
        parts = [self._said(repr)]
        if self.is_1_measured or self.is_k_measured:
            parts.append(f"recall measured over {self.n} examples by [{self.retrieval}]")
        return " | ".join(parts)

    @property
    def caption(self) -> str:
        """Each recall, rounded, with its source, for captions."""
        said = self._said(lambda recall: f"{recall:.3g}")
        is_measured = self.is_1_measured or self.is_k_measured
        return said + f", over {self.n:,} examples" * is_measured

    def _said(self, written: Callable[[float], str]) -> str:
        each = [
            (1, self.at_1, self.is_1_measured),
            (self.k, self.at_k, self.is_k_measured),
        ]
        if self.k == 1 and repr(self.at_1) == repr(self.at_k):
            del each[1]
        return ", ".join(
            f"recall@{k} "
            + (
                "not known"
                if math.isnan(recall)
                else f"{written(float(recall))} ({'measured by BM25' if is_measured else 'typed'})"
            )
            for k, recall, is_measured in each
        )


def unknown_recalls(k: int) -> Recalls:
    """Return recalls that are not known."""
    return Recalls(math.nan, math.nan, k)


def recalls_over(
    dataset: Dataset,
    examples: Collection[int],
    choices: RetrievalChoices,
    k: int = USUAL_K,
) -> Recalls | None:
    """Return recall@1 and recall@k of BM25 over examples, from the report on retrieval.

    None is returned if nothing measures them: no example has golden evidence, or the passages are
    too many to index while a reader waits.

    Args:
        examples: ids of examples.

    Raises:
        ValueError: k is below 1.
    """
    if k < 1:
        raise ValueError(f"k {k}, expected 1 or more")
    if not can_wait_for_index(dataset.pk):
        return None
    report = retrieval_report(dataset, choices, k, examples)
    at_1, at_k = report.rows[0].recall.value, report.rows[k - 1].recall.value
    if at_1 is None or at_k is None:
        return None
    return Recalls(at_1, at_k, k, True, True, report.rows[0].n, report.signature)
