"""The queue of a study: targets, units, their slots, and which rater was given which unit."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Arm, Rater, Study
from generation.models import Citation, Example, Passage, Response


class Target(models.Model):
    """One thing that a question is asked about: a response, or one citation of a response."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="targets")
    citation = models.ForeignKey(
        Citation, models.CASCADE, null=True, blank=True, related_name="targets"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["response"],
                condition=Q(citation__isnull=True),
                name="target_once_per_response",
            ),
            models.UniqueConstraint(
                fields=["citation"],
                condition=Q(citation__isnull=False),
                name="target_once_per_citation",
            ),
        ]

    def __str__(self) -> str:
        return f"target {self.pk}"


class Unit(models.Model):
    """One unit, which a rater sees at once: a target, or in the merged arm several of one example.

    Its passages are shown as evidence. They are fixed when the unit is planned.
    """

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="units")
    example = models.ForeignKey(Example, models.CASCADE, related_name="units")
    targets = models.ManyToManyField(Target, through="UnitTarget", related_name="units")
    passages = models.ManyToManyField(Passage, through="UnitPassage", related_name="+")
    group = models.PositiveSmallIntegerField(default=0)  # the group of raters who may take it
    is_gold = models.BooleanField(default=False)  # its answers are known, and no report counts them
    is_always_full = models.BooleanField(default=False)  # it gets all N raters, also when decided

    def __str__(self) -> str:
        return f"unit {self.pk}"


class UnitTarget(models.Model):
    """A target in a unit, with its place in the fixed order of responses."""

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="places")
    target = models.ForeignKey(Target, models.CASCADE, related_name="places")
    place = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "place"], name="unit_place_once"),
            models.UniqueConstraint(fields=["unit", "target"], name="unit_target_once"),
        ]

    def __str__(self) -> str:
        return f"place {self.place} in unit {self.unit_id}"


class UnitPassage(models.Model):
    """A passage that a unit shows as evidence, with its position."""

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="evidence")
    passage = models.ForeignKey(Passage, models.CASCADE, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "position"], name="unit_passage_once"),
        ]

    def __str__(self) -> str:
        return f"passage {self.position} of unit {self.unit_id}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Slots, selected by their state."""

    def free(self, now: datetime) -> "AssignmentQuerySet":
        """Return the slots that may be taken: without a rater, or with a lease that has run out."""
        is_nobodys = Q(rater=None) | Q(lease_until__lt=now)
        return self.filter(is_nobodys, submitted_at=None, is_let_go=False)

    def nobodys(self) -> "AssignmentQuerySet":
        """Return the slots that no rater has, and that are still wanted."""
        return self.filter(rater=None, submitted_at=None, is_let_go=False)

    def in_hand(self) -> "AssignmentQuerySet":
        """Return the slots that a rater has taken and not submitted."""
        return self.filter(rater__isnull=False, submitted_at=None, is_let_go=False)

    def give_back(self) -> int:
        """Take these slots from their raters; return how many slots."""
        return self.update(rater=None, claimed_at=None, lease_until=None)


class Assignment(models.Model):
    """One slot: a wanted judgement of a unit, planned with the study and taken by one rater.

    `study` and `group` repeat the unit's, so that the first free slot is found in one narrow index.
    Slots are handed out turn by turn, in the order of random keys within a turn. A slot's turn is
    its number. Gold units may have more slots than others; after N their turns begin again at 1.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="assignments")
    unit = models.ForeignKey(Unit, models.CASCADE, related_name="assignments")
    group = models.PositiveSmallIntegerField()
    # From 1 to study.raters_per_unit; in a gold unit, to the number of raters in its group.
    slot = models.PositiveSmallIntegerField()
    turn = models.PositiveSmallIntegerField()  # 1 to study.raters_per_unit
    key = models.PositiveIntegerField()
    rater = models.ForeignKey(
        Rater, models.RESTRICT, null=True, blank=True, related_name="assignments"
    )
    claimed_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    is_let_go = models.BooleanField(default=False)  # not wanted any more, so no rater is given it
    # Set if a person let the slot go; empty if it is not needed, because its unit was decided.
    let_go_at = models.DateTimeField(null=True, blank=True)
    let_go_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["unit", "slot"], name="assignment_slot_planned_once"),
            models.CheckConstraint(condition=Q(slot__gte=1), name="assignment_slot_from_1"),
            models.UniqueConstraint(
                fields=["unit", "rater"],
                condition=Q(rater__isnull=False),
                name="assignment_once_per_rater",
            ),
            models.UniqueConstraint(
                fields=["rater"],
                condition=Q(rater__isnull=False, submitted_at__isnull=True, is_let_go=False),
                name="assignment_one_open_per_rater",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True) | Q(rater__isnull=False),
                name="assignment_submitted_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True) | Q(is_let_go=False),
                name="assignment_submitted_is_not_let_go",
            ),
            models.CheckConstraint(
                condition=Q(let_go_at__isnull=True) | Q(is_let_go=True),
                name="assignment_let_go_by_hand_is_let_go",
            ),
        ]
        indexes = [
            models.Index(
                fields=["study", "group", "turn", "key"],
                condition=Q(submitted_at__isnull=True, is_let_go=False),
                name="assignment_to_hand_out",
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.slot} of unit {self.unit_id}"


class Exposure(models.Model):
    """One target that a rater was given in a unit. They never get it again, whatever they did.

    `scope` is empty if the study forbids meeting a response in both arms. Else it is merged in the
    merged arm, and separate in both separate arms.
    """

    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="exposures")
    target = models.ForeignKey(Target, models.CASCADE, related_name="exposures")
    scope = models.CharField(max_length=10, choices=Arm.Kind, blank=True)
    unit = models.ForeignKey(Unit, models.CASCADE, related_name="exposures")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "target", "scope"], name="exposure_once_per_rater"
            ),
        ]
        indexes = [models.Index(fields=["rater", "unit"], name="exposure_of_unit")]

    def __str__(self) -> str:
        return f"target {self.target_id} shown to rater {self.rater_id}"


class Draft(models.Model):
    """One rater's answers in a unit before they are submitted. They stay after the lease ends.

    `answers`: id of the target (as text) → question → answer.
    """

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="drafts")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="drafts")
    answers = models.JSONField(default=dict)
    seconds = models.FloatField(default=0.0)  # time on task so far
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["unit", "rater"], name="draft_once_per_rater"),
        ]

    def __str__(self) -> str:
        return f"draft of rater {self.rater_id} on unit {self.unit_id}"


class Skip(models.Model):
    """One unit that a rater did not want to judge, and the reason. Its slot became free.

    A researcher may ask them again: then they may get the unit once more, and skip it once more.
    """

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="skips")
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="skips")
    reason = models.CharField(max_length=100)
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    asked_again_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["unit", "rater"],
                condition=Q(asked_again_at__isnull=True),
                name="skip_once_unless_asked_again",
            )
        ]

    def __str__(self) -> str:
        return f"unit {self.unit_id} skipped by rater {self.rater_id}"

    @property
    def keeps_from_qualifying(self) -> bool:
        """Whether the rater needs this known answer to qualify; no other rater can give it."""
        rater = self.rater
        is_qualifying = rater.gets_units and rater.n_gold < rater.study.n_qualifying
        return self.unit.is_gold and is_qualifying and self.asked_again_at is None
