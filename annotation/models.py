"""People's judgements: studies, raters, what they rated and how they voted."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.models import Citation, Dataset, Response, Setup


class Study(models.Model):
    """Examples × setups rated under one scheme.

    An imported study is born closed. `scheme` is a copy of the scheme's file: what was asked
    then stays what was asked.
    """

    class State(models.TextChoices):
        PLANNED = "planned"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class EvidenceChoice(models.TextChoices):
        SHOWN = "shown"
        GOLDEN = "golden"
        RETRIEVED = "retrieved"

    name = models.CharField(max_length=100, unique=True)
    slug = models.SlugField(max_length=110, unique=True)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="studies")
    setups = models.ManyToManyField(Setup, related_name="studies", blank=True)
    scheme = models.JSONField()
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    is_imported = models.BooleanField(default=False)
    # None in imported studies: there N = the votes that an item has.
    raters_per_unit = models.PositiveSmallIntegerField(null=True, blank=True)
    evidence_choice = models.CharField(
        max_length=10, choices=EvidenceChoice, default=EvidenceChoice.SHOWN
    )
    seed = models.PositiveIntegerField(default=13)
    settings = models.JSONField(default=dict, blank=True)  # study.json: what it says beyond these
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(raters_per_unit__isnull=False) | Q(is_imported=True),
                name="study_rated_here_has_raters_per_unit",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def n_raters(self, n_there: int) -> int:
        """Return N, which a majority is more than half of, for an item with so many raters.

        That is the planned number; imported votes may be more, or have no plan.
        """
        return max(self.raters_per_unit or 0, n_there)


class Arm(models.Model):
    """One way of showing responses in a study: each alone, or all of an example together."""

    class Kind(models.TextChoices):
        SEPARATE = "separate"
        MERGED = "merged"

    study = models.ForeignKey(Study, models.CASCADE, related_name="arms")
    kind = models.CharField(max_length=8, choices=Kind)

    class Meta:
        ordering = ["-kind"]  # separate, merged
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="arm_once_per_study")]

    def __str__(self) -> str:
        return self.kind


class Guideline(models.Model):
    """One version of a study's guidelines; a vote keeps the version it was given under."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="guideline_version_once"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class Rater(models.Model):
    """One person in one study. Raters of imported votes have a code and no account."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="raters")
    code = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    is_excluded = models.BooleanField(default=False)
    is_simulated = models.BooleanField(default=False)
    gold_score = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="rater_code_once_per_study"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=Q(user__isnull=False),
                name="rater_once_per_study",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Target(models.Model):
    """The one thing a question is asked about: a response, or one citation of it."""

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
    """What a rater sees at once: one target, or in the merged arm all responses of one example."""

    arm = models.ForeignKey(Arm, models.CASCADE, related_name="units")
    targets = models.ManyToManyField(Target, related_name="units")

    def __str__(self) -> str:
        return f"unit {self.pk}"


class Assignment(models.Model):
    """One wanted judgement of one unit: a slot, planned with the study, taken by one rater."""

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField()  # 1 .. study.raters_per_unit
    rater = models.ForeignKey(
        Rater, models.RESTRICT, null=True, blank=True, related_name="assignments"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["unit", "slot"], name="assignment_slot_planned_once"),
            models.CheckConstraint(condition=Q(slot__gte=1), name="assignment_slot_from_1"),
            models.UniqueConstraint(
                fields=["unit", "rater"],
                condition=Q(rater__isnull=False),
                name="assignment_once_per_rater",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True) | Q(rater__isnull=False),
                name="assignment_submitted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.slot} of unit {self.unit_id}"


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

    class Meta:
        constraints = [
            # In this order, so that a report reads one arm's votes item by item.
            models.UniqueConstraint(
                fields=["arm", "target", "question", "rater"], name="vote_once_per_rater"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}"


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
