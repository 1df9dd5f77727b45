"""Models of how people join a study by themselves: its link, a platform, a qualification round."""

import secrets
from urllib.parse import quote

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.studies import Rater, Study
from generation.models import Response

SHORTEST_CODE = 4  # characters of a study's code; a shorter one is found by trying


def new_link_token() -> str:
    """Return a random token of 22 characters: 128 bits."""
    return secrets.token_urlsafe(16)


class StudyLink(models.Model):
    """The one address with which people join a study by themselves, as raters of it alone.

    The token is stored as it is, because researchers copy the address again and again.
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="link")
    token = models.CharField(max_length=32, unique=True, default=new_link_token)
    code = models.CharField(max_length=40, blank=True)  # people must type it; empty: no code
    # A group with so many counted raters takes no more people by the link.
    most_per_group = models.PositiveSmallIntegerField()
    ends_on = models.DateField(null=True, blank=True)  # the last day (UTC)
    stopped_at = models.DateTimeField(null=True, blank=True)
    # From one network no more people join within an hour. Those beyond it were turned away.
    most_per_hour = models.PositiveSmallIntegerField(default=30)
    n_turned_away = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(most_per_group__gte=1), name="study_link_for_one_person_or_more"
            ),
            models.CheckConstraint(
                condition=Q(most_per_hour__gte=1), name="study_link_for_one_person_an_hour_or_more"
            ),
        ]

    def __str__(self) -> str:
        return f"link of study {self.study_id}"

    @property
    def has_ended(self) -> bool:
        """Whether the link's last day is over, by UTC."""
        return self.ends_on is not None and self.ends_on < timezone.now().date()


class CrowdPlatform(models.Model):
    """The platform that sends people to a study's link, with ids in the address.

    Its parameters are those of Prolific unless a researcher says otherwise. Each code tells the
    platform how a person's visit ended.
    """

    link = models.OneToOneField(StudyLink, models.CASCADE, related_name="platform")
    is_prolific = models.BooleanField(default=True)  # whether its submissions can be read
    # Whether people whom the platform does not confirm are refused (see `confirmed_arrivals`).
    needs_confirmation = models.BooleanField(default=False)
    person_parameter = models.CharField(max_length=50, default="PROLIFIC_PID")
    study_parameter = models.CharField(max_length=50, default="STUDY_ID")
    session_parameter = models.CharField(max_length=50, default="SESSION_ID")
    consent = models.TextField()  # what people agree to before anything about them is stored
    # The address to which people go at the end; {code} stands for the code.
    end_address = models.CharField(
        max_length=200, default="https://app.prolific.com/submissions/complete?cc={code}"
    )
    code_done = models.CharField(max_length=40)
    code_screened_out = models.CharField(max_length=40)
    code_no_work = models.CharField(max_length=40)
    code_returned = models.CharField(max_length=40)
    # A person who does nothing for so long has left, and their place is free again.
    idle_minutes = models.PositiveSmallIntegerField(default=60, validators=[MinValueValidator(1)])
    # Since when submissions could not be read, and why; empty while they can.
    silent_since = models.DateTimeField(null=True, blank=True)
    silent_because = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(idle_minutes__gte=1), name="crowd_platform_waits_a_minute_or_more"
            ),
        ]

    def __str__(self) -> str:
        return f"platform of link {self.link_id}"

    def code_of(self, outcome: str) -> str:
        """Return the code that tells the platform how a visit ended; "" for a time-out."""
        codes = {
            Participant.Outcome.DONE: self.code_done,
            Participant.Outcome.SCREENED_OUT: self.code_screened_out,
            Participant.Outcome.NO_WORK: self.code_no_work,
            Participant.Outcome.RETURNED: self.code_returned,
        }
        return codes.get(Participant.Outcome(outcome), "")

    def address_of(self, outcome: str) -> str:
        """Return the address to which a person goes whose visit ended so; "" without a code."""
        code = self.code_of(outcome)
        return self.end_address.replace("{code}", quote(code, safe="")) if code else ""


class Participant(models.Model):
    """A rater whom a platform sent: the ids that it gave them, and how their visit ended.

    The ids appear in the file for payments alone, never in exports, logs or reports.
    """

    class Outcome(models.TextChoices):
        """The ways in which a visit ends. Each has a code that the platform gets."""

        DONE = "done", "finished"
        SCREENED_OUT = "screened_out", "did not qualify"
        NO_WORK = "no_work", "no work was left"
        RETURNED = "returned", "gave the place back"
        TIMED_OUT = "timed_out", "left without a word"

    class Review(models.TextChoices):
        APPROVED = "approved"
        REJECTED = "rejected"

    class Reason(models.TextChoices):
        """The reasons for which a person may be refused their pay, by Prolific's categories.

        That a person disagrees with others is none, and 'other' is not offered.
        """

        LOW_EFFORT = "LOW_EFFORT", "made no effort"
        FAILED_CHECK = "FAILED_CHECK", "failed several attention checks"
        FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS", "did not follow the instructions"
        TOO_QUICKLY = "TOO_QUICKLY", "was far faster than all others"
        NO_DATA = "NO_DATA", "left without answers"

    rater = models.OneToOneField(Rater, models.CASCADE, related_name="participant")
    platform = models.ForeignKey(CrowdPlatform, models.CASCADE, related_name="participants")
    person = models.CharField(max_length=200)
    platform_study = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    consented_at = models.DateTimeField()
    is_confirmed = models.BooleanField(default=False)  # whether the platform said that it is them
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # The state of the submission as the platform last said it, in its own words.
    submission = models.CharField(max_length=40, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    review = models.CharField(max_length=8, choices=Review, blank=True)
    review_category = models.CharField(max_length=20, choices=Reason, blank=True)
    review_reason = models.TextField(blank=True)  # what a person reads who is rejected
    reviewed_at = models.DateTimeField(null=True, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["platform", "person"], name="participant_once"),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at=None)
                | (~Q(outcome="") & Q(ended_at__isnull=False)),
                name="participant_outcome_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(review="rejected") | ~(Q(review_reason="") | Q(review_category="")),
                name="participant_rejected_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"participant {self.rater_id}"


class QualificationItem(models.Model):
    """One response that people judge to qualify, with the right answers and why they are right.

    No unit of the study has it, and it is no hidden gold: people are told the answers.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="qualification_items")
    response = models.ForeignKey(Response, models.CASCADE, related_name="+")
    place = models.PositiveSmallIntegerField()  # 1 or more
    answers = models.JSONField()  # question → answer, without implied ones
    explanation = models.TextField(blank=True)

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["study", "response"], name="qualification_item_once"),
            models.UniqueConstraint(fields=["study", "place"], name="qualification_place_once"),
        ]

    def __str__(self) -> str:
        return f"item {self.place} to qualify for study {self.study_id}"


class QualificationAnswer(models.Model):
    """A rater's answers to one item of the qualification round. They are no votes."""

    item = models.ForeignKey(QualificationItem, models.CASCADE, related_name="given")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="qualification_answers")
    answers = models.JSONField()  # question → answer, without implied ones
    n_right = models.PositiveSmallIntegerField()
    n_known = models.PositiveSmallIntegerField()  # the number of right answers that there are
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "rater"], name="qualification_answer_once"),
            models.CheckConstraint(
                condition=Q(n_right__lte=models.F("n_known"), n_known__gte=1),
                name="qualification_answer_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return f"answer of rater {self.rater_id} to item {self.item_id}"
