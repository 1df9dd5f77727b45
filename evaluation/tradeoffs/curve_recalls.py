"""The recalls of the lines beside two curves: typed, or measured over the examples of both."""

from evaluation.retrieval.ranked_examples import RetrievalChoices
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial
from evaluation.tradeoffs.recall_lines import NEXT_BEST, Curves
from evaluation.tradeoffs.recalls import USUAL_K, Recalls, recalls_over, unknown_recalls
from generation.choices.declaration import ChoiceError
from generation.grids.prompt_choices import PromptError, choices_of


def measured_recalls(
    material: TradeoffMaterial, curves: Curves, k: int = USUAL_K
) -> Recalls | None:
    """Return recall@1 and recall@k of BM25 over the examples that the curves' setups answered.

    Passages are ranked as those of non-evidence were, or in the usual way where these were drawn.
    None is returned if nothing measures them, see `evaluation.tradeoffs.recalls`.

    Raises:
        ValueError: k is below 1.
    """
    is_answered = (material.responses[list(curves.places)] != NO_RESPONSE).any(axis=0)
    examples = frozenset(int(example) for example in material.example_ids[is_answered])
    return recalls_over(material.dataset, examples, _ranking_of(material, curves), k)


def check_typed(at_1: float | None, at_k: float | None) -> None:
    """Check that two typed recalls are consistent: more passages find no less.

    Raises:
        ChoiceError: recall@k is below recall@1.
    """
    if at_1 is not None and at_k is not None and at_k < at_1:
        raise ChoiceError(
            "recall_k", f"Found {at_k:g}; expected at least recall@1, which is {at_1:g}."
        )


def typed_or_measured(
    material: TradeoffMaterial,
    curves: Curves,
    k: int = USUAL_K,
    at_1: float | None = None,
    at_k: float | None = None,
) -> Recalls:
    """Return the typed recalls, and measured ones for the others; NaN if nothing measures them.

    Raises:
        ChoiceError: a typed recall is not consistent with the other: more passages find no less.
    """
    check_typed(at_1, at_k)
    if at_1 is not None and at_k is not None:
        return Recalls(at_1, at_k, k)
    measured = measured_recalls(material, curves, k) or unknown_recalls(k)
    if at_1 is not None:
        if at_1 > measured.at_k:
            message = (
                f"Found {at_1:g}; expected at most {measured.at_k:.3g}, the measured recall@{k}."
            )
            raise ChoiceError("recall_1", message)
        return measured._replace(at_1=at_1, is_1_measured=False)
    if at_k is not None:
        if at_k < measured.at_1:
            message = (
                f"Found {at_k:g}; expected at least {measured.at_1:.3g}, the measured recall@1."
            )
            raise ChoiceError("recall_k", message)
        return measured._replace(at_k=at_k, is_k_measured=False)
    return measured


def _ranking_of(material: TradeoffMaterial, curves: Curves) -> RetrievalChoices:
    for place in curves.non_evidence.values():
        dot = material.dots[place]
        if dot.kind is not None and dot.kind.evidence == NEXT_BEST and dot.kind.shows_passages:
            try:
                choices = choices_of(dot.setup)
            except (PromptError, TypeError, ValueError):  # an import may have any settings
                break
            return RetrievalChoices(choices.bm25, choices.query)
    return RetrievalChoices()
