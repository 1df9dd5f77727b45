"""The paragraph on methods that each report declares, with its references."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.reports.estimates import N_RESAMPLES
from evaluation.reports.references import REFERENCES

_SEED = re.compile(r"\bseed (\d+)")
_DATA = re.compile(r"\| data ([0-9a-f+]+)")


class Methods(NamedTuple):
    """A paragraph for a paper's section on methods: it says how the figures of a report are made.

    `{resamples}` and `{seed}` in the text stand for numbers of the report at hand.
    """

    text: str
    references: Sequence[str] = ()  # keys of `REFERENCES`

    @property
    def texts(self) -> list[str]:
        """The references in full, in the order in which the report names them."""
        return [REFERENCES[key] for key in self.references]

    def paragraph(self, signature: str = "") -> str:
        """Return the text with the numbers that a report's signature states."""
        seed = _SEED.search(signature)
        data = _DATA.search(signature)
        said = self.text.format(
            resamples=f"{N_RESAMPLES:,}", seed=seed[1] if seed else "of the signature"
        )
        return f"{said} The hash of the data is {data[1]}." if data else said


NO_METHODS = Methods("")
# Sentences that many reports need, and the references in them.
SHARES = (
    "Shares have Wilson intervals in which the number of items allows for dialogs "
    "(Wilson, 1927; Franco et al., 2019)."
)
F1_OF_SHARES = (
    "F1 of two shares has the Wilson interval of its range with the variance of the jackknife over "
    "dialogs (Efron, 1982)."
)
MIXES = (
    "Sums of shares with fixed weights have intervals that are put together from those of the "
    "shares (Zou and Donner, 2008)."
)
OTHERS = (
    "Other numbers have expanded percentile bootstrap intervals over {resamples} resamples of "
    "whole dialogs, seed {seed} (Efron and Tibshirani, 1993; Hesterberg, 2015)."
)
JACKKNIFED = (
    "Kappas, alpha, Gwet’s coefficients, the area under the ROC curve and correlations have Wilson "
    "intervals of their range with the variance of the jackknife over dialogs (Efron, 1982); where "
    "there is a rarer answer, five dialogs must hold it."
)
INTERVALS = f"All intervals are 95 %. {SHARES} {OTHERS}"
OF_SHARES = ("wilson", "franco")
OF_INTERVALS = (*OF_SHARES, "efron", "hesterberg")
OF_JACKKNIFED = ("jackknife",)
