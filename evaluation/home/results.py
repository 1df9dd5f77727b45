"""The last results: studies with votes, trade-offs, and knowledge graphs.

This module only reads.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

from django.db.models import (
    Exists,
    OuterRef,
    Q,
    QuerySet,
    TextField,
)
from django.db.models.functions import Cast
from django.urls import reverse

from annotation.models import Arm, Study, Vote
from evaluation.models import MetricRun
from evaluation.runs.main_metrics import ATTRIBUTION, SENSIBLENESS, Side, set_aside
from generation.models import (
    Dataset,
    Entity,
    Response,
)
from work.union_rows import first, part, text, union

SHOWN = 4  # results of each sort, at most
RUNNING = (Study.State.OPEN, Study.State.PAUSED)
# The main page of each sort of result.
RESULTS = {
    "rated": ("answer of a study", "evaluation:study"),
    "traded": ("figure of a trade-off", "tradeoffs:tradeoff"),
    "graph": ("knowledge graph", "graphs:graph"),
}


class Subject(NamedTuple):
    """A study or a dataset that there is something to read about."""

    about: str
    pk: int
    slug: str
    name: str
    state: str  # a study's state; "" for datasets

    @property
    def is_interim(self) -> bool:
        """Whether raters work on it, so that its figures still change."""
        return self.state in RUNNING


class Result(NamedTuple):
    """One of the last results: a study with votes, a trade-off, or a knowledge graph."""

    sort: str
    subject: Subject
    url: str


class LastResults(NamedTuple):
    """The study and the dataset with the last results, the others, and keys of what there is."""

    study: Study | None  # the newest that has votes; one that raters work on comes last
    dataset: Dataset | None  # the newest that has a trade-off, else a graph
    others: list[Result]
    there: frozenset[str]


def last_results() -> LastResults:
    """Return the last results, with one statement for all, and one each for study and dataset."""
    found: dict[str, list[Subject]] = defaultdict(list)
    for row in union(_parts()):
        found[row[0]].append(Subject(*row))
    for subjects in found.values():
        subjects.sort(key=lambda each: (each.is_interim, -each.pk))
    study = next(iter(found["rated"]), None)
    dataset = next(iter(found["traded"] or found["graph"]), None)
    return LastResults(
        Study.objects.select_related("dataset").get(pk=study.pk) if study else None,
        Dataset.objects.get(pk=dataset.pk) if dataset else None,
        [each for each in _results(found) if each.subject not in (study, dataset)],
        frozenset(about for about, subjects in found.items() if subjects),
    )


def _results(found: dict[str, list[Subject]]) -> list[Result]:
    """Return the last results of each sort, newest first. Interim ones come after all others."""
    results = [
        Result(
            f"interim {sort}" if subject.is_interim else sort,
            subject,
            reverse(view, args=[subject.slug]),
        )
        for about, (sort, view) in RESULTS.items()
        for subject in found.get(about, [])[:SHOWN]
    ]
    return sorted(results, key=lambda each: each.subject.is_interim)


# --- what there is --------------------------------------------------------------------------


def _parts() -> list[QuerySet[Any, Any]]:
    return [*_parts_of_studies(), *_parts_of_datasets()]


def _parts_of_studies() -> list[QuerySet[Any, Any]]:
    every = Study.objects.order_by("-pk")
    rated = every.filter(_has_votes())
    return [_subjects("study", first(every, 1), "state"), _subjects("rated", rated, "state")]


def _parts_of_datasets() -> list[QuerySet[Any, Any]]:
    every, in_dataset = Dataset.objects.order_by("-pk"), {"dataset": OuterRef("pk")}
    traded = every.filter(_has_side(ATTRIBUTION), _has_side(SENSIBLENESS))
    graph = every.filter(Exists(Entity.objects.filter(**in_dataset)))
    with_responses = every.filter(Exists(Response.objects.filter(**in_dataset)))
    return [
        _subjects("dataset", first(every, 1)),
        _subjects("material", first(with_responses, 1)),
        _subjects("traded", traded),
        _subjects("graph", graph),
        _subjects("scored", first(every.filter(_has_scores()), 1)),
    ]


def _has_votes() -> Exists:
    """Return whether a study has votes."""
    of_study = Arm.objects.filter(study=OuterRef("pk"))
    return Exists(of_study.filter(Exists(Vote.objects.filter(arm=OuterRef("pk")))))


def _asks(questions: Collection[str]) -> Q:
    """Return whether a study's scheme has one of these questions, by its text."""
    keys = Q()
    for question in questions:
        keys |= Q(scheme_text__contains=f'"{question}"')
    return keys


def _has_scores() -> Exists:
    """Return whether a dataset has scores."""
    return Exists(MetricRun.objects.filter(dataset=OuterRef("pk"), state=MetricRun.State.DONE))


def _has_side(side: Side) -> Q:
    """Return whether a dataset has scores or votes for one side of the trade-off."""
    rated = _with_scheme_text(Study.objects.filter(dataset=OuterRef("pk")))
    asked = rated.filter(_asks(side.questions), _has_votes())
    runs = MetricRun.objects.filter(dataset=OuterRef("pk"), metric__in=side.metrics)
    done = runs.filter(state=MetricRun.State.DONE).exclude(pk__in=set_aside())
    return Q(Exists(done)) | Q(Exists(asked))


def _with_scheme_text(studies: QuerySet[Study]) -> QuerySet[Study]:
    return studies.annotate(scheme_text=Cast("scheme", TextField()))


def _subjects(about: str, rows: QuerySet[Any], state: str = "") -> QuerySet[Any, Any]:
    columns = {"pk": "pk", "slug": "slug", "name": "name", "state": state or text()}
    return part(rows, about=text(about), **columns)
