"""Assumed answers: a no that no rater has to give, because it follows from the response itself.

A response of a model that was shown nothing is not attributable, if the evidence is what was shown.
An empty response is neither sensible nor attributable. Such a response is not rated, and it is left
out of agreement and uncertainty. Where a mean or an axis needs its answer, it counts as a no.
"""

from collections.abc import Collection
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from annotation.models import Study
from annotation.planning import responses_of, sampled
from annotation.schemes import YES_NO, Question, load_scheme
from generation.evidence import EvidenceChoice, graph_in_order
from generation.models import SAYS_NOTHING, Response, ResponsePassage

ATTRIBUTABLE, SENSIBLE = "attributable", "sensible"  # the questions whose answer is assumed

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class AssumedResponses(NamedTuple):
    """The responses of a study whose answer is assumed, in the order of their keys."""

    responses: Ints  # (n,) ids
    setups: Ints  # (n,) ids
    dialogs: tuple[str, ...]  # (n,) names
    is_empty: Bools  # (n,) whether the response is empty; else the model was shown nothing

    def to(self, question: Question) -> Bools:
        """Return which of the responses have an assumed no to a question: (n,).

        It may be assumed for the question itself or for its gate, which then implies it.
        """
        if question.scale != YES_NO:
            return np.zeros(len(self.responses), bool)
        keys = {question.key, *question.after}
        if ATTRIBUTABLE in keys:
            return np.ones(len(self.responses), bool)
        return self.is_empty & (SENSIBLE in keys)

    def of_setups(self, setups: Collection[int]) -> "AssumedResponses":
        """Return only the responses of some setups, which are given by their ids."""
        return self._only(np.isin(self.setups, list(setups)))

    def unseen(self, seen: Collection[int]) -> "AssumedResponses":
        """Return only the responses that were not rated or flagged.

        Args:
            seen: ids of the responses that were rated or flagged.
        """
        return self._only(~np.isin(self.responses, list(seen)))

    def and_those_of(self, other: "AssumedResponses") -> "AssumedResponses":
        """Return these responses, then those of another selection."""
        return AssumedResponses(
            np.concatenate([self.responses, other.responses]),
            np.concatenate([self.setups, other.setups]),
            (*self.dialogs, *other.dialogs),
            np.concatenate([self.is_empty, other.is_empty]),
        )

    def _only(self, here: Bools) -> "AssumedResponses":
        dialogs = tuple(name for name, is_here in zip(self.dialogs, here, strict=True) if is_here)
        return AssumedResponses(
            self.responses[here], self.setups[here], dialogs, self.is_empty[here]
        )


def assumed_responses(study: Study) -> AssumedResponses:
    """Return the responses of a study whose answer is assumed, rated or not.

    For a study that was imported from an export, they are those that its file names. There are at
    most two queries.
    """
    named = study.assumed_keys
    if named is not None:
        return _read(responses_of(study).filter(key__in=named))
    examples = None if study.n_sampled is None else sampled(study)
    return _read(_assumed(study, responses_of(study)), examples)


def assumed_on_axis(study: Study) -> AssumedResponses:
    """Return the responses whose answer is assumed on an axis that the raters of a study make.

    They are those of the study's plan. Of setups that the study does not have, they are those of
    setups without evidence, whose responses are all assumed. A response of another such setup is
    left out: with only its silent responses known, the setup would stand at 0.
    """
    of_plan = assumed_responses(study)
    others = Response.objects.of_benchmark().filter(dataset=study.dataset_id)
    others = others.exclude(setup__in=study.setups.all())
    found = _read(_assumed(study, others))
    if not found.responses.size:
        return of_plan
    setups, n_assumed = np.unique(found.setups, return_counts=True)
    by_setup = others.filter(setup__in=setups.tolist()).order_by().values_list("setup")
    n_there = dict(by_setup.annotate(n=Count("pk")))
    whole = [
        setup
        for setup, n in zip(setups.tolist(), n_assumed.tolist(), strict=True)
        if n == n_there[setup]
    ]
    return of_plan.and_those_of(found.of_setups(whole))


def _assumed(study: Study, responses: QuerySet[Response]) -> QuerySet[Response]:
    """Return the responses that have an assumed answer by a study's scheme and evidence choice.

    They still include responses that were shown a graph; `_read` leaves those out.
    """
    scheme = load_scheme(study.scheme)
    if study.evidence_choice == EvidenceChoice.SHOWN and scheme.evidence == "needed":
        passages = ResponsePassage.objects.filter(response=OuterRef("pk"))
        is_without = Q(is_evidence_stated=True) & ~Exists(passages)
        return responses.filter(Q(text__regex=SAYS_NOTHING) | is_without)
    if {ATTRIBUTABLE, SENSIBLE} & set(scheme.keys):
        return responses.filter(text__regex=SAYS_NOTHING)
    return responses.none()


def _read(
    responses: QuerySet[Response], examples: Collection[int] | None = None
) -> AssumedResponses:
    """Return the responses, without those that have words and were shown a graph.

    Args:
        responses: the responses that `_assumed` returns, or those that a file names.
        examples: ids of the only examples that count; None for all.
    """
    columns = "key", "pk", "setup", "example__dialog", "example", "text", "graph_shown"
    rows = sorted(
        (
            row
            for row in responses.order_by().values_list(*columns)
            if not (row[5].strip() and graph_in_order(row[6]))
            and (examples is None or row[4] in examples)
        ),
        key=itemgetter(0),
    )
    return AssumedResponses(
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], np.int64),
        tuple(row[3] for row in rows),
        np.array([not row[5].strip() for row in rows], bool),
    )
