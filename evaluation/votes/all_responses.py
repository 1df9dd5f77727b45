"""All responses of a study's setups, rated or not, and the dialogs that were drawn to be rated."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.ordering import drawn_names
from annotation.planning import responses_of
from evaluation.statistics.intervals import Floats
from evaluation.votes.counts import Ints
from evaluation.votes.dialog_probabilities import probabilities_of

Bools = NDArray[np.bool_]


class AllResponses(NamedTuple):
    """The responses of a study's setups in the order of their keys, which no database decides."""

    responses: Ints  # (n,) ids
    setups: Ints  # (n,) ids
    examples: Ints  # (n,) the number of each example, 0 .. len(dialogs_of_examples) - 1
    dialogs_of_examples: Ints  # (n_examples,) the number of each example's dialog
    n_dialogs: int
    # (n_dialogs,): whether the seed drew a dialog to be rated. None: the rated dialogs were not
    # drawn by dialog from those that there are now, so chance did not choose them.
    is_drawn: Bools | None
    # (n_dialogs,): the probability of each drawn dialog; NaN for one that was not drawn. None: all
    # had the same.
    probabilities: Floats | None

    @property
    def dialogs(self) -> Ints:
        """The number of each response's dialog: (n,)."""
        numbers: Ints = self.dialogs_of_examples[self.examples]
        return numbers

    def places_of(self, responses: Ints) -> Ints:
        """Return the places of responses, given by their ids, or -1 for one that is not here."""
        order = np.argsort(self.responses)
        found = np.searchsorted(self.responses, responses, sorter=order)
        places = order[np.minimum(found, len(order) - 1)] if len(order) else found
        is_here = len(order) > 0 and self.responses[places] == responses
        return np.where(is_here, places, -1)


def all_responses(study: Study) -> AllResponses:
    """Return all responses of a study's setups. There are at most two queries."""
    columns = ("key", "pk", "setup", "example__key", "example__dialog")
    rows = sorted(responses_of(study).order_by().values_list(*columns))
    named = sorted({(row[3], row[4]) for row in rows})
    names, dialogs = np.unique([dialog for _, dialog in named], return_inverse=True)
    number = {key: place for place, (key, _) in enumerate(named)}
    return AllResponses(
        responses=np.array([row[1] for row in rows], np.int64),
        setups=np.array([row[2] for row in rows], np.int64),
        examples=np.array([number[row[3]] for row in rows], np.int64),
        dialogs_of_examples=dialogs.astype(np.int64),
        n_dialogs=len(names),
        **_draw(study, names.tolist()),
    )


def draw_of(study: Study) -> tuple[int, int] | None:
    """Return how many dialogs a study drew, and from how many; None if it drew no dialogs.

    An imported study has them from its file.
    """
    facts = study.draw_facts
    drawn, drawn_from = facts["n_sampled"], facts["n_drawn_from"]
    return None if drawn is None or drawn_from is None else (drawn, drawn_from)


def _draw(study: Study, names: list[str]) -> dict[str, Any]:
    """Return which dialogs were drawn, and with which probabilities."""
    draw, unequal = draw_of(study), probabilities_of(study)
    probabilities = None
    if unequal is not None:
        probabilities = np.array([unequal.get(name, math.nan) for name in names])
    if draw is None or draw[1] != len(names):
        return {"is_drawn": None, "probabilities": probabilities}
    drawn = drawn_names(names, study.seed, draw[0]) if unequal is None else set(unequal)
    is_drawn = np.array([name in drawn for name in names], bool)
    return {"is_drawn": is_drawn, "probabilities": probabilities}
