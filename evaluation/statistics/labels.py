"""Rules that turn votes on a question with any scale into yes or no, to compare metrics with them.

Votes on a yes/no question are used as they are. On an ordinal question, a median above the cut is
a yes, a median below it is a no, and a median on it is no label. Without a cut of its own, a
question is cut in the middle of its scale. A nominal question needs the label that counts as yes.

An item without a label is *waiting* while some of its N votes are still to come, and *tied* once
all of them are in.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from annotation.schemes import Question, Scale
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_answers import (
    NO_MAJORITY,
    Unlabelled,
    consensus,
    majority_category,
    rater_score,
    unlabelled,
)

# The keys in a study's settings of two mappings: question → cut, and question → label.
CUTS, POSITIVE = "cuts", "positive"


class LabelRule(NamedTuple):
    """The rule by which votes on one question become yes and no.

    When there can be no such rule, `why` says what is missing.
    """

    kind: Literal["yes_no", "ordinal", "nominal"]
    values: tuple[int, ...]  # the values of the columns, in order
    cut: float = math.nan  # only for an ordinal question
    positive: int = 1  # nominal: the column that is a yes
    positive_label: str = ""  # nominal: the label of that column
    why: str = ""

    @property
    def description(self) -> str:
        """The condition for a yes, in words; empty without a rule."""
        if self.why:
            return ""
        if self.kind == "ordinal":
            return f"median above {self.cut:g}"
        return "majority" if self.kind == "yes_no" else f"majority says {self.positive_label}"

    def labels(self, counts: ArrayLike, n_raters: ArrayLike) -> Floats:
        """Return the label of each item: 1 yes, 0 no, NaN without a label or a rule.

        Args:
            counts: (n_items, n_categories).
            n_raters: how many raters an item is meant to have. A majority is more than half of
                them. A median uses only the votes that exist.
        """
        votes = np.asarray(counts)
        if self.why:
            return np.full(len(votes), math.nan)
        if self.kind == "ordinal":
            above = consensus(votes, self.values) - self.cut
            return np.where((above == 0) | np.isnan(above), math.nan, above > 0)
        majority = majority_category(votes, n_raters)
        is_yes = (majority == self.positive).astype(np.float64)
        return np.where(majority == NO_MAJORITY, math.nan, is_yes)

    def unlabelled(self, counts: ArrayLike, n_raters: ArrayLike) -> Unlabelled:
        """Return which items without a label wait for votes, and which are tied.

        Without a rule, no item is either of the two. `labels` explains the arguments.
        """
        has_label = ~np.isnan(self.labels(counts, n_raters))
        return unlabelled(has_label | bool(self.why), counts, n_raters)

    def label_of(self, counts: Floats) -> Floats:
        """Return the label of each item from the given votes alone; the ceilings need this."""
        return self.labels(counts, counts.sum(axis=1))

    def sides(self, counts: ArrayLike) -> tuple[Indexes, Indexes]:
        """Return how many votes on each item are for yes, and how many for no.

        Votes on the cut of an ordinal scale are for neither.
        """
        votes = np.asarray(counts)
        values = np.array(self.values)
        if self.kind == "ordinal":
            yes, no = values > self.cut, values < self.cut
        else:
            yes = np.arange(len(values)) == self.positive
            no = ~yes
        return votes[:, yes].sum(axis=1), votes[:, no].sum(axis=1)

    def rater_scores(self, counts: ArrayLike) -> Floats:
        """Return each item's rater score in [0, 1]: the mean vote, or the share of the yes label.

        It is NaN without votes or without a rule.
        """
        votes = np.asarray(counts)
        if self.why:
            return np.full(len(votes), math.nan)
        if self.kind == "nominal":
            is_yes = np.arange(votes.shape[1]) == self.positive
            votes = np.column_stack([votes[:, ~is_yes].sum(axis=1), votes[:, is_yes]])
            return rater_score(votes, (0, 1))
        return rater_score(votes, self.values)


def label_rule(question: Question, settings: Mapping[str, Any]) -> LabelRule:
    """Return the rule of a question, with the cut or the label from its study's settings."""
    scale = question.scale
    rule = LabelRule(scale.kind, scale.values)
    if scale.kind == "ordinal":
        return _cut(rule, _of_question(settings, CUTS, question.key))
    if scale.kind == "nominal":
        return _with_positive(rule, scale, _of_question(settings, POSITIVE, question.key))
    return rule


def _of_question(settings: Mapping[str, Any], name: str, question: str) -> object:
    by_question = settings.get(name)
    return by_question.get(question) if isinstance(by_question, Mapping) else None


def _cut(rule: LabelRule, said: object) -> LabelRule:
    low, high = rule.values[0], rule.values[-1]
    if said is None:
        return rule._replace(cut=(low + high) / 2)
    if isinstance(said, bool) or not isinstance(said, int | float) or not low <= said <= high:
        return rule._replace(why=f"its cut is {said!r:.40}; expected a number from {low} to {high}")
    return rule._replace(cut=float(said))


def _with_positive(rule: LabelRule, scale: Scale, said: object) -> LabelRule:
    if said is None:
        return rule._replace(why="no label of this question is named as the positive one")
    column = scale.answer(said) if isinstance(said, str) else None
    if column is None:
        why = f"its positive label is {said!r:.40}; expected {scale.expected}"
        return rule._replace(why=why)
    return rule._replace(positive=column, positive_label=scale.labels[column])
