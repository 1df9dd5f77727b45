"""The grid of restricted context ([A] 7.4): golden and non-evidence at each share of the dialog.

The whole dialog leaves no room for evidence of any kind, so it is asked once, as golden.
"""

from collections.abc import Sequence

from generation.grids.grid_file import (
    USUAL_MAX_TOKENS,
    USUAL_RETRIEVAL,
    GridChoices,
    GridError,
    GridModel,
    Precision,
    Retrieval,
    of_data,
)
from generation.model_specs import Price
from generation.text.prompt_types import SHARES, RestrictedEvidence, restricted_key

USUAL_EVIDENCE: tuple[RestrictedEvidence, ...] = ("golden", "next-best")


def restricted_grid(
    name: str,
    model: str,
    *,
    sample: str = "",
    evidence: Sequence[RestrictedEvidence] = USUAL_EVIDENCE,
    shares: Sequence[float] = SHARES,
    budget: int | None = None,
    retrieval: Retrieval = USUAL_RETRIEVAL,
    max_tokens: int = USUAL_MAX_TOKENS,
    precision: Precision = "fp32",
    price: Price | None = None,
) -> GridChoices:
    """Return the grid that asks one model at temperature 0 with each evidence at each share.

    Args:
        sample: the name of a sample; "" for every example of the dataset.
        shares: shares of the dialog's tokens, some of `SHARES`; 1 is one prompt, whatever the
            evidence.
        budget: tokens of a prompt, at most.
        retrieval: how the next-best passages are ranked.

    Raises:
        GridError: a share or a kind of evidence does not exist, or any other choice cannot be used.
    """
    for share in shares:
        if share not in SHARES:
            raise GridError("shares", f"{share:g}", "some of 1, 0.9, 0.8 … 0.1, 0")
    grid = GridChoices(
        name,
        (GridModel(model, precision, price),),
        sample=sample,
        prompts=tuple(
            restricted_key(each if share < 1 else "golden", share)
            for place, each in enumerate(evidence)
            for share in shares
            if share < 1 or place == 0
        ),
        temperatures=(0.0,),
        max_tokens=(max_tokens,),
        budget=budget,
        retrieval=retrieval,
    )
    return of_data(grid.as_data())
