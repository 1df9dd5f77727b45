"""Deletion of chosen examples and setups with everything that belongs to them, after a preview.

A study that was rated here keeps the rest: a merged unit keeps its other responses. Passages and
entities stay in the dataset's collection.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import (
    Assignment,
    Draft,
    Enquiry,
    Exposure,
    Flag,
    GoldAnswer,
    Skip,
    Study,
    Target,
    Unit,
    UnitTarget,
    Vote,
    VoteChange,
)
from evaluation.jobs.services import ENDED
from evaluation.metrics.registry import METRICS
from evaluation.models import Adjudication, AutoScore, Job, MetricRun
from evaluation.reports.cache import DELETED
from generation.models import (
    Call,
    Dataset,
    Example,
    Grid,
    RankedPassage,
    SampledExample,
    Setup,
)
from generation.services.many_rows import delete_rows
from work.claims import GOING_ON


class InUseError(ValueError):
    """An error because the chosen material is in use; its message says by what, and what to do."""


class ChosenMaterial(NamedTuple):
    """Examples and setups of one dataset, by id."""

    dataset: Dataset
    examples: Collection[int]
    setups: Collection[int]

    def rows(self) -> list[tuple[str, QuerySet[Any]]]:
        """Return all rows to delete, in a possible order, each with a name for people.

        Rows that people never see on their own have an empty name.
        """
        chosen = Q(example__in=self.examples) | Q(setup__in=self.setups)
        given = self.dataset.responses.filter(chosen).values("pk")
        responses = self.dataset.responses.filter(Q(pk__in=given) | Q(chosen_from__in=given))
        targets = Target.objects.filter(response__in=responses)
        units = self._units(targets)
        return [
            ("known answers", GoldAnswer.objects.filter(target__in=targets)),
            ("", VoteChange.objects.filter(vote__target__in=targets)),
            ("votes", Vote.objects.filter(target__in=targets)),
            ("flags", Flag.objects.filter(response__in=responses)),
            ("scores", AutoScore.objects.filter(target__in=targets)),
            ("decisions about disagreements", Adjudication.objects.filter(target__in=targets)),
            ("", Skip.objects.filter(unit__in=units)),
            ("questions of raters", Enquiry.objects.filter(unit__in=units)),
            ("", Draft.objects.filter(unit__in=units)),
            ("", Exposure.objects.filter(Q(target__in=targets) | Q(unit__in=units))),
            ("", Assignment.objects.filter(unit__in=units)),
            ("units of studies", units),
            ("", UnitTarget.objects.filter(target__in=targets)),
            ("", targets),
            ("calls of models", Call.objects.filter(chosen, grid__dataset=self.dataset)),
            ("members of samples", SampledExample.objects.filter(example__in=self.examples)),
            ("passages of rankings", RankedPassage.objects.filter(example__in=self.examples)),
            ("responses", responses),
            ("examples", Example.objects.filter(pk__in=self.examples)),
            ("setups", Setup.objects.filter(pk__in=self.setups)),
        ]

    def _units(self, targets: QuerySet[Any, Any]) -> QuerySet[Unit]:
        """Return the units of the chosen examples, and units with no other targets than these."""
        places = UnitTarget.objects.filter(unit=OuterRef("pk"))
        is_alone = Exists(places.filter(target__in=targets)) & ~Exists(
            places.exclude(target__in=targets)
        )
        of_dataset = Unit.objects.filter(example__dataset=self.dataset)
        return of_dataset.filter(Q(example__in=self.examples) | is_alone)


def what_goes(chosen: ChosenMaterial) -> Mapping[str, int]:
    """Return how many rows of each name are deleted with the chosen material, without zeros."""
    counts = {name: rows.count() for name, rows in reversed(chosen.rows()) if name}
    return {name: n for name, n in counts.items() if n}


def refuse_if_in_use(chosen: ChosenMaterial) -> None:
    """Check that no study or work uses the chosen material.

    Raises:
        InUseError: a study with it is planned or being rated, or other work on its dataset goes on.
    """
    for who, what_to_do in _in_use(chosen):
        raise InUseError(f"{who}. {what_to_do} first.")


def _in_use(chosen: ChosenMaterial) -> Iterator[tuple[str, str]]:
    dataset = chosen.dataset
    open_studies = dataset.studies.exclude(state=Study.State.CLOSED)
    rated = Unit.objects.filter(example__in=chosen.examples).values("arm__study")
    for study in open_studies.filter(Q(setups__in=chosen.setups) | Q(pk__in=rated)).distinct():
        yield f"The study {study.name} is {study.state}", "Close it"
    for run in dataset.metric_runs.filter(state=MetricRun.State.RUNNING):
        yield f"The run of {METRICS[run.metric].title} is going on", "Wait for it or cancel it"
    for grid in Grid.objects.filter(dataset=dataset, state__in=Grid.GOING_ON):
        yield f"The grid {grid.name} is going on", "Wait for it or cancel it"
    for sample in dataset.samples.filter(state__in=GOING_ON):
        yield f"The sample {sample.name} is being drawn", "Wait for it or cancel it"
    of_dataset = Q(dataset=dataset) | Q(study__dataset=dataset)
    for job in Job.objects.filter(of_dataset).exclude(state__in=ENDED):
        yield f"{job.name} is going on", "Wait for it or cancel it"


@transaction.atomic
def delete_chosen(chosen: ChosenMaterial, actor: User) -> None:
    """Delete the chosen material with everything that belongs to it; record it in the audit trail.

    Raises:
        InUseError: the material is in use; nothing was deleted.
    """
    Dataset.objects.select_for_update().get(pk=chosen.dataset.pk)  # others that add to it wait
    refuse_if_in_use(chosen)
    counts = what_goes(chosen)
    for _, rows in chosen.rows():
        delete_rows(rows)
    for study in chosen.dataset.studies.filter(is_imported=False):
        _count_units(study)
    details = {f"n_{name.replace(' ', '_')}": n for name, n in counts.items()}
    record_in_audit_trail(actor, DELETED, chosen.dataset.name, **details)


def _count_units(study: Study) -> None:
    """Store how many units a study has in each arm and group, not counting known answers."""
    units = Unit.objects.filter(arm__study=study, is_gold=False).values_list("arm", "group")
    counts = Counter(units)
    for arm in study.arms.all():
        arm.n_units = sum(n for (of_arm, _), n in counts.items() if of_arm == arm.pk)
        arm.save(update_fields=["n_units"])
    if study.n_units_by_group:
        study.n_units_by_group = [
            sum(n for (_, of_group), n in counts.items() if of_group == group)
            for group in range(len(study.n_units_by_group))
        ]
        study.save(update_fields=["n_units_by_group"])
