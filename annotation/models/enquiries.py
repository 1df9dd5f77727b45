"""Questions that raters ask researchers about a unit. In code they are enquiries.

A question, in this app, is what raters are asked about a response.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Rater
from annotation.models.units import Unit


class Enquiry(models.Model):
    """One question of a rater about one unit, and a researcher's answer once there is one.

    An answer to all raters is in the study's guidelines too, where it can be edited. The rater
    may ask again about the same unit as soon as they have an answer.
    """

    unit = models.ForeignKey(Unit, models.CASCADE, related_name="enquiries")
    rater = models.ForeignKey(Rater, models.RESTRICT, related_name="enquiries")
    text = models.TextField()
    asked_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    is_for_all = models.BooleanField(default=False)  # whether all raters of the study read it

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "enquiries"
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="enquiry_asks_something"),
            models.CheckConstraint(
                condition=Q(answer="", answered_at=None, answered_by=None, is_for_all=False)
                | (~Q(answer="") & Q(answered_at__isnull=False, answered_by__isnull=False)),
                name="enquiry_is_open_or_answered",
            ),
            models.UniqueConstraint(
                fields=["unit", "rater"],
                condition=Q(answered_at__isnull=True),
                name="enquiry_one_open_per_rater_and_unit",
            ),
        ]

    def __str__(self) -> str:
        return f"enquiry of rater {self.rater_id} about unit {self.unit_id}"

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return self.answered_at is None
