"""The examples that an axis of raters is about, and the marks that stand on answers by raters.

An assumed answer makes no mark alone, and a mark over a part of a setup's examples says so. Which
answers are assumed says `evaluation.votes.assumed_answers`. This module only reads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.planning import sampled
from evaluation.statistics.intervals import Floats
from evaluation.votes.counts import Ints, gold_targets

Bools = NDArray[np.bool_]


class RatedExamples(NamedTuple):
    """The part of a setup's examples that raters have answered, on each axis of raters."""

    n_examples: int  # examples that the setup answered, and that the axes are about
    n_not_rated: int  # those of them for which an axis of raters has no answer

    @property
    def is_part(self) -> bool:
        """Whether raters have answered some of the examples, but not all of them."""
        return 0 < self.n_not_rated < self.n_examples

    @property
    def is_nothing(self) -> bool:
        """Whether raters have answered none of the examples."""
        return self.n_not_rated == self.n_examples


class RatedPlan(NamedTuple):
    """The setups, examples and responses that figures on a study need answers about."""

    setups: frozenset[int]  # ids
    examples: frozenset[int] | None  # ids of those of the drawn dialogs; None: no dialogs are drawn
    known: frozenset[int]  # ids of responses with known answers, which count in no figure

    def is_asked(self, responses: Ints, sources: Ints, examples: Ints) -> Bools:
        """Return whether figures need an answer to each response.

        Args:
            responses: ids.
            sources: ids of the responses that they were chosen from; 0 for none.
            examples: ids.
        """
        is_known = np.isin(responses, list(self.known)) | np.isin(sources, list(self.known))
        if self.examples is None:
            return ~is_known
        return ~is_known & np.isin(examples, list(self.examples))


def plan_of(study: Study) -> RatedPlan:
    """Return what a study asks its raters about, with at most five queries."""
    gold = gold_targets(study).values_list("target__response", flat=True)
    to_qualify = study.qualification_items.values_list("response", flat=True)
    return RatedPlan(
        frozenset(study.setups.values_list("pk", flat=True)),
        None if study.n_sampled is None else frozenset(sampled(study)),
        frozenset([*gold, *to_qualify]),
    )


class AxisAnswers(NamedTuple):
    """The answers on one axis of raters; each array is (n_dots, n_examples)."""

    is_asked: Bools  # whether the axis is about the response
    is_known: Bools  # whether raters have answered it with all votes or enough, or it is assumed
    is_assumed: Bools
    is_in_plan: Bools  # (n_dots,) whether the setup is among those of the study


def made_of_assumed(values: Floats, answers: Sequence[AxisAnswers | None], side: int) -> Bools:
    """Return which setups have no mark, because their answers on an axis are assumed alone: (n,).

    A setup without evidence, whose answers are all assumed, has its mark at 0 if it is in the plan
    of the study, or if raters have answered its examples on the other axis.

    Args:
        values: (2, n_dots, n_examples); NaN where an axis has none.
        answers: the answers on both axes; None for a metric.
        side: the place of the axis; a metric's has its marks whatever it assumes.
    """
    is_counted: Bools = np.all(~np.isnan(values), axis=0)

    def rated(of_axis: AxisAnswers | None) -> Bools:
        if of_axis is None:
            return np.zeros(len(is_counted), np.bool_)
        return _any(is_counted & ~of_axis.is_assumed)

    own, other = answers[side], answers[1 - side]
    if own is None:
        return np.zeros(len(is_counted), np.bool_)
    is_all_assumed = ~_any(own.is_asked & ~own.is_assumed)
    may_be_alone = is_all_assumed & (own.is_in_plan | rated(other))
    return _any(is_counted & own.is_assumed) & ~rated(own) & ~may_be_alone


def _any(where: Bools) -> Bools:
    """Return which setups have an example: (n_dots, n_examples) to (n_dots,)."""
    found: Bools = np.any(where, axis=1)
    return found


def rated_parts(
    answers: Sequence[AxisAnswers | None], is_response: Bools
) -> Sequence[RatedExamples | None]:
    """Return the part of each setup that raters have answered; None if no axis is of raters.

    Args:
        answers: the answers on both axes; None for a metric.
        is_response: whether a setup has answered an example: (n_dots, n_examples).
    """
    of_raters = [each for each in answers if each is not None]
    if not of_raters:
        return [None] * len(is_response)
    is_asked = is_response & np.all([each.is_asked for each in of_raters], axis=0)
    is_known = np.all([each.is_known for each in of_raters], axis=0)
    n_asked, n_without = is_asked.sum(axis=1), (is_asked & ~is_known).sum(axis=1)
    return [RatedExamples(*each) for each in zip(n_asked.tolist(), n_without.tolist(), strict=True)]
