"""Votes, how they were changed, flags, and answers that are known."""

from django.db import models

from annotation.models.studies import Arm, Guideline, Rater, Study
from annotation.models.units import Assignment, Target
from generation.models import Response


class Vote(models.Model):
    """One rater's answer to one question about one target.

    `answer`: yes/no 1 or 0, ordinal the number itself, nominal the label's place from 0.
    Imported votes have no assignment.
    """

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="votes")
    target = models.ForeignKey(Target, models.CASCADE, related_name="votes")
    question = models.CharField(max_length=64)
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="votes")
    answer = models.SmallIntegerField()
    is_implied = models.BooleanField(default=False)
    is_surplus = models.BooleanField(default=False)  # late, its slot was gone: outside the vote
    assignment = models.ForeignKey(
        Assignment, models.RESTRICT, null=True, blank=True, related_name="votes"
    )
    guideline = models.ForeignKey(
        Guideline, models.RESTRICT, null=True, blank=True, related_name="+"
    )
    position = models.PositiveSmallIntegerField(null=True, blank=True)  # in a merged unit, from 1
    seconds = models.FloatField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    source_id = models.CharField(max_length=200, blank=True)  # what it is called where it is from

    class Meta:
        constraints = [
            # In this order, so that a report reads one arm's votes item by item.
            models.UniqueConstraint(
                fields=["arm", "target", "question", "rater"], name="vote_once_per_rater"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


class VoteChange(models.Model):
    """One change of one's own vote after it was submitted: what it was, and what it became."""

    # Nothing deletes a vote but the deletion of its dataset, which deletes these first; with
    # a cascade Django would load every vote to look for them.
    vote = models.ForeignKey(Vote, models.DO_NOTHING, related_name="changes")
    at = models.DateTimeField()
    old_answer = models.SmallIntegerField()
    old_is_implied = models.BooleanField()
    new_answer = models.SmallIntegerField()
    new_is_implied = models.BooleanField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.old_answer} became {self.new_answer}"


class Flag(models.Model):
    """'Malformed, no judgement possible', said by one rater about one response."""

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="flags")
    response = models.ForeignKey(Response, models.CASCADE, related_name="flags")
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="flags")
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["arm", "response", "rater"], name="flag_once_per_rater"
            ),
        ]

    def __str__(self) -> str:
        return f"flag on response {self.response_id}"


class GoldAnswer(models.Model):
    """The known answer to one question about one target of a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="gold_answers")
    target = models.ForeignKey(Target, models.CASCADE, related_name="gold_answers")
    question = models.CharField(max_length=64)
    answer = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "target", "question"], name="gold_answer_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}, known"
