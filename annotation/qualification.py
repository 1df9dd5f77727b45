"""The qualification round of a rater: the next item as a unit, feedback, and the score so far.

This module only reads. Items are shown as units are, but no answer to them is a vote.
"""

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Max, Sum

from annotation.answer_words import answer_in_words
from annotation.models import QualificationAnswer, QualificationItem, Rater, Study, Target, Unit
from annotation.rated_units import RatedUnit, Share, unit_outside_queue
from annotation.schemes import Scheme, load_scheme
from annotation.voting import with_implied
from generation.evidence import evidence_of
from generation.models import Passage, Response


class Feedback(NamedTuple):
    """One question of an item: what the rater answered, what is right, both in words."""

    wording: str
    given: str  # "" if it was not asked
    right: str

    @property
    def is_right(self) -> bool:
        return self.given == self.right


def next_item(rater: Rater) -> QualificationItem | None:
    """Return the first item that a rater has not answered; None after the last."""
    answered = rater.qualification_answers.values("item")
    items = rater.study.qualification_items.exclude(pk__in=answered)
    return items.select_related("response").first()


def item_as_unit(study: Study, item: QualificationItem, n_answered: int) -> RatedUnit:
    """Return an item with its texts, as raters see a single response."""
    response = item.response
    evidence = evidence_of(Response.objects.filter(pk=response.pk), study.evidence_choice)
    texts = Passage.objects.in_bulk(evidence[response.pk])
    version = study.guidelines.aggregate(newest=Max("version"))["newest"] or 0
    return unit_outside_queue(
        study,
        Unit(example_id=response.example_id),
        [Target(pk=item.place, response=response)],
        [texts[passage] for passage in evidence[response.pk]],
        state="qualification",
        share=Share(version, n_answered, study.qualification_items.count()),
    )


def feedback_on(scheme: Scheme, given: QualificationAnswer) -> list[Feedback]:
    """Return each question that is asked if the item is answered rightly."""
    said = with_implied(scheme, given.answers).answers
    right = given.item.answers
    return [
        Feedback(
            question.wording,
            answer_in_words(said[question.key].value, question.scale)
            if question.key in said
            else "",
            answer_in_words(right[question.key], question.scale),
        )
        for question in scheme.questions
        if question.key in right
    ]


def n_right(study: Study, item: QualificationItem, answers: dict[str, int]) -> int:
    """Return how many of an item's right answers were given; an implied no is given too."""
    said = with_implied(load_scheme(study.scheme), answers).answers
    return sum(key in said and said[key].value == right for key, right in item.answers.items())


def score_of(rater: Rater) -> float | None:
    """Return the share of right answers that a rater gave in the round; None before the first."""
    return scores_of([rater.pk]).get(rater.pk)


def scores_of(raters: Collection[int]) -> dict[int, float]:
    """Return `score_of` by rater, both by their ids; raters without an answer are left out."""
    given = QualificationAnswer.objects.filter(rater__in=raters).order_by()
    sums = given.values_list("rater").annotate(right=Sum("n_right"), known=Sum("n_known"))
    return {rater: right / known for rater, right, known in sums}
