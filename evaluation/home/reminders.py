"""Reminders: what waits for a decision of the reader, in groups.

This module only reads, with one statement for all groups. Tied labels are not counted
here, because they need every vote of a study; the page of its disagreements lists them.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.access import Role, roles_of
from accounts.models import User
from annotation.models import Assignment, Enquiry, Study
from generation.models import Construction, ConstructionEntry, Grid, Import, Sample, SampledExample
from generation.models.samples import IS_ASKED
from work.union_rows import first, n_of, number, part, text, union

SHOWN = 4  # reminders of a group, at most


class ReminderGroup(NamedTuple):
    """A group of reminders. `more` is the page that lists them all; "" for none."""

    key: str
    title: str
    view: str  # the page of one reminder
    more: str = ""
    by_slug: bool = False  # whether the address of the page has the slug
    by_pk: bool = True  # whether it has the number
    counted: str = ""  # the word for what `n` and `n_total` count


GROUPS = (
    ReminderGroup(
        "unit",
        "Units that you have begun",
        "annotation:rate-unit",
        more="annotation:my-studies",
        by_slug=True,
    ),
    ReminderGroup(
        "import",
        "Checked files to store",
        "evaluation:import-progress",
        more="evaluation:import",
    ),
    ReminderGroup("grid", "Grids to start", "grids:grid", more="grids:grids"),
    ReminderGroup(
        "planned",
        "Studies to open",
        "annotation:study-setup",
        more="annotation:studies",
        by_slug=True,
        by_pk=False,
    ),
    ReminderGroup(
        "open",
        "Studies that raters work on",
        "annotation:study-setup",
        more="annotation:studies",
        by_slug=True,
        by_pk=False,
        counted="slots",
    ),
    ReminderGroup(
        "enquiry",
        "Questions of raters to answer",
        "annotation:enquiries",
        more="annotation:studies",
        by_slug=True,
        by_pk=False,
    ),
    ReminderGroup(
        "sample",
        "Samples to check",
        "generation:sample",
        by_slug=True,
        counted="examples",
    ),
    ReminderGroup(
        "construction",
        "Constructed questions to review",
        "constructions:construction",
        more="constructions:constructions",
        counted="questions",
    ),
    ReminderGroup("user", "People without a role", "accounts:user", more="accounts:users"),
)


class Reminder(NamedTuple):
    """One thing that waits for the reader."""

    group: str
    pk: int
    slug: str
    name: str
    state: str
    n: int  # what is done; without `n_total`, what waits
    n_total: int  # 0: it is not known how much there is in all

    @property
    def percent(self) -> int:
        return 100 * self.n // self.n_total if self.n_total else 0


class Reminders(NamedTuple):
    """The reminders of one group, newest first."""

    group: ReminderGroup
    rows: list[tuple[Reminder, str]]  # each with its address
    is_cut: bool


def reminders(user: User, *, with_imports: bool) -> list[Reminders]:
    """Return what waits for a person, without empty groups.

    Args:
        user: the person.
        with_imports: whether they may store imports.
    """
    found: dict[str, list[Reminder]] = defaultdict(list)
    for row in union(list(_parts(user, with_imports))):
        found[row[0]].append(Reminder(*row))
    return [
        _of_group(group, sorted(found[group.key], key=lambda each: -each.pk))
        for group in GROUPS
        if group.key in found
    ]


def _of_group(group: ReminderGroup, rows: list[Reminder]) -> Reminders:
    listed = [(each, _address(group, each)) for each in rows[:SHOWN]]
    return Reminders(group, listed, len(rows) > SHOWN)


def _address(group: ReminderGroup, reminder: Reminder) -> str:
    parts = [reminder.slug] * group.by_slug + [reminder.pk] * group.by_pk
    return reverse(group.view, args=parts)


def _parts(user: User, with_imports: bool) -> Iterator[QuerySet[Any, Any]]:
    roles = roles_of(user)
    yield _part("planned", _studies(Study.State.PLANNED), slug="slug", state="state")
    slots = Assignment.objects.filter(is_let_go=False, unit__is_gold=False)
    submitted = slots.filter(submitted_at__isnull=False)
    yield _part(
        "open",
        _studies(Study.State.OPEN, Study.State.PAUSED),
        slug="slug",
        state="state",
        n=n_of(submitted, "study"),
        n_total=n_of(slots, "study"),
    )
    waiting = Enquiry.objects.filter(answered_at=None)
    yield _part(
        "enquiry",
        _studies(Study.State.OPEN, Study.State.PAUSED)
        .filter(raters__enquiries__in=waiting)
        .distinct(),
        slug="slug",
        n=n_of(waiting, "rater__study"),
    )
    yield _part("grid", Grid.objects.filter(state=Grid.State.PLANNED))
    yield _samples()
    yield _constructions()
    if with_imports:
        mine = Import.objects.filter(state=Import.State.CHECKED, requested_by=user)
        yield _part("import", mine, name="file_name")
    if Role.RATER in roles:
        yield _part(
            "unit",
            Assignment.objects.in_hand().filter(rater__user=user, study__state=Study.State.OPEN),
            pk="unit_id",
            slug="study__slug",
            name="study__name",
        )
    if Role.ADMIN in roles:
        without = User.objects.filter(groups=None, is_superuser=False, is_active=True)
        yield _part("user", without, name="username")


def _studies(*states: Study.State) -> QuerySet[Study]:
    return Study.objects.filter(state__in=states)


def _samples() -> QuerySet[Any, Any]:
    """Return drawn samples with examples that have no verdict; a sample in use is settled."""
    members = SampledExample.objects.all()
    decided = members.exclude(verdict=SampledExample.Verdict.OPEN)
    drawn = Sample.objects.filter(
        state=Sample.State.DONE,
        grids=None,
        members__verdict=SampledExample.Verdict.OPEN,
    )
    return _part(
        "sample",
        drawn.exclude(name__regex=IS_ASKED).distinct(),
        slug="dataset__slug",
        n=n_of(decided, "sample"),
        n_total=n_of(members, "sample"),
    )


def _constructions() -> QuerySet[Any, Any]:
    """Return constructions with questions that have no verdict and are in no dataset yet."""
    built = ConstructionEntry.objects.filter(state=ConstructionEntry.State.BUILT)
    reviewed = built.exclude(verdict=ConstructionEntry.Verdict.OPEN)
    is_open = Q(
        entries__state=ConstructionEntry.State.BUILT,
        entries__verdict=ConstructionEntry.Verdict.OPEN,
    )
    return _part(
        "construction",
        Construction.objects.filter(is_open, datasets=None).distinct(),
        n=n_of(reviewed, "construction"),
        n_total=n_of(built, "construction"),
    )


def _part(group: str, rows: QuerySet[Any], **columns: Any) -> QuerySet[Any, Any]:
    """Return the newest rows of a group as a part of the union."""
    usual = {
        "pk": "pk",
        "slug": text(),
        "name": "name",
        "state": text(),
        "n": number(),
        "n_total": number(),
    }
    newest = first(rows.order_by("-pk"), SHOWN + 1)
    return part(newest, group=text(group), **(usual | columns))
