"""Samples: examples of a dataset that passed filters, drawn by a seed and checked by people."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.models.datasets import Dataset, Example
from work.models import CountedPiece, held_while_running

ASKED = "asked-"  # the prefix of keys of questions asked on a page, and of their samples' names
IS_ASKED = rf"^{ASKED}[0-9a-f]{{16}}$"  # matches such a key or such a name


class Sample(CountedPiece):
    """A part of a dataset that was filtered and drawn for grids, with the table of its filters.

    `n_done` counts the examples that were looked at.
    `cascade`: {"n": examples before any filter, "rows": [{"filter", "is_on", "is_applicable",
    "n_not_applicable", "n_dropped", "n_left"}]}, in the filters' order.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="samples")
    name = models.CharField(max_length=100)
    parameters = models.JSONField()  # the filters and their settings; part, size, seeds
    cascade = models.JSONField(default=dict, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            held_while_running("sample_lease_while_running"),
            models.UniqueConstraint(fields=["dataset", "name"], name="sample_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.name


class SampledExample(models.Model):
    """One example of a sample, in the order drawn, with the verdict given by hand."""

    class Verdict(models.TextChoices):
        OPEN = ""  # no verdict yet; the example is in the sample
        KEEP = "keep"
        DROP = "drop"  # `reason` says why

    sample = models.ForeignKey(Sample, models.CASCADE, related_name="members")
    example = models.ForeignKey(Example, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()
    verdict = models.CharField(max_length=4, choices=Verdict, default=Verdict.OPEN, blank=True)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "example"], name="sampled_once"),
            models.UniqueConstraint(fields=["sample", "position"], name="sampled_position_once"),
            models.CheckConstraint(
                condition=Q(verdict="drop") & ~Q(reason="") | ~Q(verdict="drop") & Q(reason=""),
                name="sampled_dropped_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"example {self.example_id} of sample {self.sample_id}"
