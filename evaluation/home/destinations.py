"""Destinations: what there is to read, each about the newest study or dataset that has it.

This module only reads, with one statement for all of them.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import (
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
)
from django.db.models.functions import Cast
from django.urls import reverse

from annotation.models import Arm, Study, Vote
from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import (
    ATTRIBUTION_METRICS,
    ATTRIBUTION_QUESTIONS,
    SENSIBLENESS_METRICS,
    SENSIBLENESS_QUESTIONS,
)
from generation.models import Dataset, Entity, Example, ExamplePassage, Response
from work.union_rows import NUMBER, comes_first, first, number, part, text, union

SHOWN = 4  # results of each sort, at most
RUNNING = (Study.State.OPEN, Study.State.PAUSED)
GRAPH_METRICS = ("alignment", "incompetence")


class Destination(NamedTuple):
    """A page to read. `about` is the key of what it is about; the newest that there is counts."""

    title: str
    about: str
    view: str
    of_example: bool = False  # whether the address names an example of the dataset


# The addresses of all pages that home leads to.
DESTINATIONS: dict[str, Sequence[Destination]] = {
    "Studies": (
        Destination("Raters’ agreement", "rated", "evaluation:study-raters"),
        Destination(
            "Merged against separate: uncertainty rate", "merged", "evaluation:study-merged"
        ),
        Destination("Human–auto agreement", "compared", "evaluation:study-metrics"),
        Destination("Threshold choice", "attributed", "evaluation:threshold-choice"),
        Destination("Disagreements", "compared", "evaluation:disagreements"),
        Destination("Gold items", "rated_here", "annotation:gold"),
    ),
    "Trade-offs": (
        Destination("Trade-off", "traded", "tradeoffs:tradeoff"),
        Destination("Re-ranking", "traded", "tradeoffs:reranking"),
        Destination("Recipe", "traded", "tradeoffs:recipe"),
        Destination("Takeaways", "traded", "tradeoffs:takeaways"),
    ),
    "Material": (
        Destination("Prompts", "with_evidence", "generation:prompts", of_example=True),
        Destination("Retrieval", "with_evidence", "evaluation:retrieval"),
    ),
    "Graphs": (
        Destination("Experiments", "graph", "graphs:experiments"),
        Destination("Ask a question", "graph", "graphs:ask"),
    ),
}
# The main page of each sort of result.
RESULTS = {
    "rated": ("answer of a study", "evaluation:study"),
    "traded": ("figure of a trade-off", "tradeoffs:tradeoff"),
    "experimented": ("experiments on a graph", "graphs:experiments"),
}


class Subject(NamedTuple):
    """A study or a dataset that there is something to read about."""

    about: str
    pk: int
    slug: str
    name: str
    state: str  # a study's state; "" for datasets
    example: int  # the number of a dataset's first example; 0 for studies


class ReadingLink(NamedTuple):
    """A link to a destination, with the name of what it is about."""

    title: str
    name: str
    url: str


class Result(NamedTuple):
    """One of the last results: a study with votes, a trade-off, or experiments on a graph."""

    sort: str
    subject: Subject
    url: str


class Reading(NamedTuple):
    """The links to what there is to read, the last results, and the keys of what there is."""

    groups: list[tuple[str, list[ReadingLink]]]
    results: list[Result]
    there: frozenset[str]


def reading() -> Reading:
    """Return the links to what there is to read, with the last results."""
    found: dict[str, list[Subject]] = defaultdict(list)
    for row in union(_parts()):
        found[row[0]].append(Subject(*row))
    for subjects in found.values():
        subjects.sort(key=lambda each: (each.state not in RUNNING, -each.pk))
    return Reading(_groups(found), _results(found), frozenset(found))


def _groups(found: dict[str, list[Subject]]) -> list[tuple[str, list[ReadingLink]]]:
    groups = [
        (title, [_link(each, found[each.about][0]) for each in pages if each.about in found])
        for title, pages in DESTINATIONS.items()
    ]
    return [(title, links) for title, links in groups if links]


def _link(page: Destination, subject: Subject) -> ReadingLink:
    arguments = [subject.slug, subject.example] if page.of_example else [subject.slug]
    return ReadingLink(page.title, subject.name, reverse(page.view, args=arguments))


def _results(found: dict[str, list[Subject]]) -> list[Result]:
    return [
        Result(sort, subject, reverse(view, args=[subject.slug]))
        for about, (sort, view) in RESULTS.items()
        for subject in found.get(about, [])
    ]


# --- what there is --------------------------------------------------------------------------


def _parts() -> list[QuerySet[Any, Any]]:
    return [*_parts_of_studies(), *_parts_of_datasets()]


def _parts_of_studies() -> list[QuerySet[Any, Any]]:
    every = _with_scheme_text(Study.objects.order_by("-pk"))
    rated = every.filter(_has_votes())
    in_both = rated.filter(_has_votes(Arm.Kind.SEPARATE), _has_votes(Arm.Kind.MERGED))
    attributed = rated.filter(_asks(ATTRIBUTION_QUESTIONS))
    compared = rated.filter(
        _asks(ATTRIBUTION_QUESTIONS) & Q(_has_run("dataset", ATTRIBUTION_METRICS))
        | _asks(SENSIBLENESS_QUESTIONS) & Q(_has_run("dataset", SENSIBLENESS_METRICS))
    )
    here = every.filter(is_imported=False)
    return [
        _studies("study", every),
        # Studies that raters work on come first, because they have the newest votes.
        _studies("rated", rated.order_by(comes_first(Q(state__in=RUNNING)), "-pk"), SHOWN),
        _studies("merged", in_both),
        _studies("attributed", attributed),
        _studies("compared", compared),
        _studies("rated_here", here.order_by(comes_first(Q(n_gold_units__gt=0)), "-pk")),
    ]


def _parts_of_datasets() -> list[QuerySet[Any, Any]]:
    every, in_dataset = Dataset.objects.order_by("-pk"), {"dataset": OuterRef("pk")}
    traded = every.filter(
        _has_side(ATTRIBUTION_METRICS, ATTRIBUTION_QUESTIONS),
        _has_side(SENSIBLENESS_METRICS, SENSIBLENESS_QUESTIONS),
    )
    golden = ExamplePassage.objects.filter(example__dataset=OuterRef("pk"), is_golden=True)
    graph = every.filter(Exists(Entity.objects.filter(**in_dataset)))
    return [
        _datasets("material", every.filter(Exists(Response.objects.filter(**in_dataset)))),
        _datasets("traded", traded, SHOWN),
        _datasets("with_evidence", every.filter(Exists(golden))),
        _datasets("graph", graph),
        _datasets("experimented", graph.filter(_has_run("pk", GRAPH_METRICS)), SHOWN),
        _datasets("scored", every.filter(_has_run("pk"))),
    ]


def _has_votes(*arms: Arm.Kind) -> Exists:
    """Return whether a study has votes, in one of these arms if any are given."""
    of_study = Arm.objects.filter(study=OuterRef("pk"), kind__in=arms or Arm.Kind.values)
    return Exists(of_study.filter(Exists(Vote.objects.filter(arm=OuterRef("pk")))))


def _asks(questions: Collection[str]) -> Q:
    """Return whether a study's scheme has one of these questions, by its text."""
    keys = Q()
    for question in questions:
        keys |= Q(scheme_text__contains=f'"{question}"')
    return keys


def _has_run(dataset: str, metrics: Collection[str] = ()) -> Exists:
    """Return whether a dataset has scores, of one of these metrics if any are given."""
    runs = MetricRun.objects.filter(dataset=OuterRef(dataset), state=MetricRun.State.DONE)
    return Exists(runs.filter(metric__in=metrics) if metrics else runs)


def _has_side(metrics: Collection[str], questions: Collection[str]) -> Q:
    """Return whether a dataset has scores or votes for one side of the trade-off."""
    rated = _with_scheme_text(Study.objects.filter(dataset=OuterRef("pk")))
    asked = rated.filter(_asks(questions), _has_votes())
    return Q(_has_run("pk", metrics)) | Q(Exists(asked))


def _with_scheme_text(studies: QuerySet[Study]) -> QuerySet[Study]:
    return studies.annotate(scheme_text=Cast("scheme", TextField()))


def _studies(about: str, rows: QuerySet[Study], n: int = 1) -> QuerySet[Any, Any]:
    return _subjects(about, first(rows, n), state="state", example=number())


def _datasets(about: str, rows: QuerySet[Dataset], n: int = 1) -> QuerySet[Any, Any]:
    examples = Example.objects.of_benchmark().filter(dataset=OuterRef("pk")).order_by("pk")
    example = Subquery(examples.values("pk")[:1], output_field=NUMBER)
    return _subjects(about, first(rows, n), state=text(), example=example)


def _subjects(about: str, rows: QuerySet[Any], **columns: Any) -> QuerySet[Any, Any]:
    return part(rows, about=text(about), pk="pk", slug="slug", name="name", **columns)
