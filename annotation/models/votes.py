"""Votes, their changes, flags, and known answers."""

from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models.studies import Arm, Guideline, Rater, Study
from annotation.models.units import Assignment, Target
from generation.models import Response


class Vote(models.Model):
    """One rater's answer to one question about one target.

    `answer` is 1 or 0 for yes or no, the number itself on an ordinal scale, and the label's place
    from 0 on a nominal scale. Imported votes have no assignment.
    """

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="votes")
    target = models.ForeignKey(Target, models.CASCADE, related_name="votes")
    question = models.CharField(max_length=64)
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="votes")
    answer = models.SmallIntegerField()
    is_implied = models.BooleanField(default=False)
    # Its slot went to another rater, before it was submitted or after (see `refill_units`). So no
    # figure has it.
    is_surplus = models.BooleanField(default=False)
    assignment = models.ForeignKey(
        Assignment, models.RESTRICT, null=True, blank=True, related_name="votes"
    )
    guideline = models.ForeignKey(
        Guideline, models.RESTRICT, null=True, blank=True, related_name="+"
    )
    position = models.PositiveSmallIntegerField(null=True, blank=True)  # place in the unit, from 1
    seconds = models.FloatField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    source_id = models.CharField(max_length=200, blank=True)  # its id in the file that it is from

    class Meta:
        constraints = [
            # With this order of fields, a report reads one arm's votes item by item.
            models.UniqueConstraint(
                fields=["arm", "target", "question", "rater"], name="vote_once_per_rater"
            ),
            models.CheckConstraint(
                condition=Q(is_surplus=False) | Q(assignment=None),
                name="vote_surplus_fills_no_slot",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


class VoteChange(models.Model):
    """One change that a rater made to a submitted vote: the old answer and the new one."""

    # Votes are deleted only with their dataset, which deletes their changes first. With a cascade,
    # Django would load every vote to look for changes.
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


class FlagQuerySet(models.QuerySet["Flag"]):
    """Flags, selected by whether they count.

    A flag counts if it is part of a judgement that fills a slot. So a response has at most as many
    counted flags as slots. A flag on a unit that the rater has not submitted, or whose slot went to
    another rater, does not count, as a surplus vote does not. Flags of imported studies count,
    because these have no slots.
    """

    def counted(self) -> "FlagQuerySet":
        """Return the flags that count, also those of excluded raters."""
        return self.filter(self._counts())

    def marked(self) -> "FlagQuerySet":
        """Return all flags, each with `is_counted`."""
        return self.annotate(is_counted=self._counts())

    @staticmethod
    def _counts() -> Q:
        filled = Assignment.objects.filter(
            rater=OuterRef("rater"),
            submitted_at__isnull=False,
            unit__arm=OuterRef("arm"),
            unit__targets__response=OuterRef("response"),
        )
        return Q(arm__study__is_imported=True) | Q(Exists(filled))


class Flag(models.Model):
    """One rater's statement that no judgement is possible on one response."""

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="flags")
    response = models.ForeignKey(Response, models.CASCADE, related_name="flags")
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="flags")
    reason = models.TextField(blank=True)

    objects = FlagQuerySet.as_manager()

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
