"""Samples as pages, commands and the API show them. This module only reads."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count

from generation.filters import CascadeRow, cascade_rows
from generation.models import Sample, SampledExample
from generation.sample_choices import PARTS, SampleChoices, choices_of

Verdict = SampledExample.Verdict
MOST_REASONS = 20
USUAL_REASONS = (
    "The question does not follow from the dialog.",
    "The golden answer does not answer the question.",
    "The evidence does not support the golden answer.",
    "It cannot be understood.",
)


class SampleReport(NamedTuple):
    """One sample with its table of filters, and the numbers of verdicts about its members."""

    sample: Sample
    choices: SampleChoices
    n: int  # examples of the part that is drawn from, before any filter
    rows: list[CascadeRow]
    n_open: int  # members without a verdict
    n_kept: int
    n_dropped: int

    @property
    def n_members(self) -> int:
        return self.n_open + self.n_decided

    @property
    def n_decided(self) -> int:
        return self.n_kept + self.n_dropped

    @property
    def n_passed(self) -> int:
        """The number of examples that the last filter left."""
        return self.rows[-1].n_left if self.rows else 0

    @property
    def part_in_words(self) -> str:
        return PARTS[self.choices.part]


def sample_reports(samples: Sequence[Sample]) -> list[SampleReport]:
    """Return the reports of some samples, in their order. This takes one query."""
    members = SampledExample.objects.filter(sample__in=samples)
    counted = members.order_by().values_list("sample", "verdict").annotate(n=Count("pk"))
    counts = {(sample, verdict): n for sample, verdict, n in counted}
    return [
        SampleReport(
            sample=sample,
            choices=choices_of(sample.name, sample.parameters),
            n=sample.cascade.get("n", 0),
            rows=cascade_rows(sample.cascade),
            n_open=counts.get((sample.pk, Verdict.OPEN), 0),
            n_kept=counts.get((sample.pk, Verdict.KEEP), 0),
            n_dropped=counts.get((sample.pk, Verdict.DROP), 0),
        )
        for sample in samples
    ]


def sample_report(sample: Sample) -> SampleReport:
    """Return the report of one sample."""
    return sample_reports([sample])[0]


def next_open(sample: Sample, after: int) -> int | None:
    """Return the next position without a verdict. None: every example has one.

    After the last position, the search begins again at the first.
    """
    still_open = sample.members.filter(verdict=Verdict.OPEN).order_by("position")
    later = still_open.filter(position__gt=after)
    found = later.values_list("position", flat=True).first()
    return found or still_open.values_list("position", flat=True).first()


def reasons_of(sample: Sample) -> list[str]:
    """Return reasons to choose from: those given in this sample come first, then the usual ones."""
    given = sample.members.exclude(reason="").order_by("reason")
    own = list(given.values_list("reason", flat=True).distinct()[:MOST_REASONS])
    return [*own, *(reason for reason in USUAL_REASONS if reason not in own)]
