"""Destinations: what there is to read, each about the study or dataset that has most of it.

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
from evaluation.runs.main_metrics import ATTRIBUTION, SENSIBLENESS, Side, set_aside
from generation.models import (
    RERANKED,
    Dataset,
    Entity,
    Example,
    ExamplePassage,
    KGQuestion,
    Response,
    Setup,
)
from work.union_rows import NUMBER, comes_first, first, n_of, number, part, text, union

SHOWN = 4  # results of each sort, at most
RUNNING = (Study.State.OPEN, Study.State.PAUSED)
GRAPH_METRICS = ("alignment", "incompetence")
_NOTHING = number()


class Destination(NamedTuple):
    """A page to read. `about` is the key of what it is about; what has most of it counts."""

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
        Destination("Re-ranking", "reranked", "tradeoffs:reranking"),
        Destination("Recipe", "recipe", "tradeoffs:recipe"),
        Destination("Takeaways", "traded", "tradeoffs:takeaways"),
    ),
    "Material": (
        Destination("Prompts", "with_evidence", "generation:prompts", of_example=True),
        Destination("Retrieval", "with_evidence", "evaluation:retrieval"),
    ),
    "Graphs": (
        Destination("Experiments", "to_experiment", "graphs:experiments"),
        Destination("Ask a question", "graph", "graphs:ask"),
    ),
}
# The main page of each sort of result.
RESULTS = {
    "rated": ("answer of a study", "evaluation:study"),
    "traded": ("figure of a trade-off", "tradeoffs:tradeoff"),
    "experimented": ("experiments on a graph", "graphs:experiments"),
}
# Of subjects with equally much of what a page is about, the larger counts: by page, the size.
SIZES = {
    "merged": "rated",
    "attributed": "rated",
    "compared": "rated",
    "reranked": "traded",
    "recipe": "traded",
    "to_experiment": "graph",
}


class Subject(NamedTuple):
    """A study or a dataset that there is something to read about."""

    about: str
    pk: int
    slug: str
    name: str
    state: str  # a study's state; "" for datasets
    example: int  # the number of a dataset's first example; 0 for studies
    n: int  # how much it has of what it is about: votes, setups, examples and so on

    @property
    def is_interim(self) -> bool:
        """Whether raters work on it, so that its figures still change."""
        return self.state in RUNNING


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
        subjects.sort(key=lambda each: (each.is_interim, -each.pk))
    return Reading(_groups(found), _results(found), frozenset(found))


def _groups(found: dict[str, list[Subject]]) -> list[tuple[str, list[ReadingLink]]]:
    groups = [
        (title, [_link(each, _fullest(found, each.about)) for each in pages if each.about in found])
        for title, pages in DESTINATIONS.items()
    ]
    return [(title, links) for title, links in groups if links]


def _fullest(found: dict[str, list[Subject]], about: str) -> Subject:
    """Return the subject that has most; interim studies come last, and newer ones before older."""
    sizes = {each.pk: each.n for each in found.get(SIZES.get(about, about), [])}
    return max(found[about], key=lambda each: (not each.is_interim, each.n, sizes.get(each.pk, 0)))


def _link(page: Destination, subject: Subject) -> ReadingLink:
    arguments = [subject.slug, subject.example] if page.of_example else [subject.slug]
    return ReadingLink(page.title, subject.name, reverse(page.view, args=arguments))


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
    every = _with_scheme_text(Study.objects.order_by("-pk"))
    rated = every.filter(_has_votes())
    in_both = rated.filter(_has_votes(Arm.Kind.SEPARATE), _has_votes(Arm.Kind.MERGED))
    attributed = rated.filter(_asks(ATTRIBUTION.questions))
    compared = rated.filter(
        _asks(ATTRIBUTION.questions) & Q(_has_run("dataset", ATTRIBUTION.metrics))
        | _asks(SENSIBLENESS.questions) & Q(_has_run("dataset", SENSIBLENESS.metrics))
    )
    here = every.filter(is_imported=False)
    with_gold_first = here.order_by(comes_first(Q(n_gold_units__gt=0)), "-pk")
    votes = n_of(Vote.objects.filter(is_surplus=False), "arm__study")
    return [
        _studies("study", first(every, 1)),
        _studies("rated", rated, n=votes),
        _studies("merged", in_both),
        _studies("attributed", attributed),
        _studies("compared", compared),
        _studies("rated_here", first(with_gold_first, 1)),
    ]


def _parts_of_datasets() -> list[QuerySet[Any, Any]]:
    every, in_dataset = Dataset.objects.order_by("-pk"), {"dataset": OuterRef("pk")}
    traded = every.filter(
        _has_side(ATTRIBUTION),
        _has_side(SENSIBLENESS),
    )
    golden = ExamplePassage.objects.filter(is_golden=True)
    with_evidence = every.filter(Exists(golden.filter(example__dataset=OuterRef("pk"))))
    graph = every.filter(Exists(Entity.objects.filter(**in_dataset)))
    experimented = graph.filter(_has_run("pk", GRAPH_METRICS))
    reranked = n_of(Setup.objects.filter(prompt=RERANKED), "dataset")
    parts = Setup.objects.filter(prompt__startswith="top-", prompt__contains="-part-")
    runs = MetricRun.objects.filter(metric__in=GRAPH_METRICS)
    asked = n_of(KGQuestion.objects.of_benchmark(), "example__dataset")
    with_responses = every.filter(Exists(Response.objects.filter(**in_dataset)))
    return [
        _datasets("material", first(with_responses, 1)),
        _datasets("traded", traded, n=n_of(Setup.objects.answered(), "dataset")),
        _datasets("reranked", traded, n=reranked),
        _datasets("recipe", traded, n=n_of(parts, "dataset")),
        _datasets("with_evidence", with_evidence, n=n_of(golden, "example__dataset")),
        _datasets("graph", graph, n=asked),
        _datasets("to_experiment", graph, n=n_of(runs, "dataset")),
        _datasets("experimented", experimented),
        _datasets("scored", first(every.filter(_has_run("pk")), 1)),
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


def _has_side(side: Side) -> Q:
    """Return whether a dataset has scores or votes for one side of the trade-off."""
    rated = _with_scheme_text(Study.objects.filter(dataset=OuterRef("pk")))
    asked = rated.filter(_asks(side.questions), _has_votes())
    runs = MetricRun.objects.filter(dataset=OuterRef("pk"), metric__in=side.metrics)
    done = runs.filter(state=MetricRun.State.DONE).exclude(pk__in=set_aside())
    return Q(Exists(done)) | Q(Exists(asked))


def _with_scheme_text(studies: QuerySet[Study]) -> QuerySet[Study]:
    return studies.annotate(scheme_text=Cast("scheme", TextField()))


def _studies(about: str, rows: QuerySet[Study], n: Any = _NOTHING) -> QuerySet[Any, Any]:
    return _subjects(about, rows, state="state", example=number(), n=n)


def _datasets(about: str, rows: QuerySet[Dataset], n: Any = _NOTHING) -> QuerySet[Any, Any]:
    examples = Example.objects.of_benchmark().filter(dataset=OuterRef("pk")).order_by("pk")
    example = Subquery(examples.values("pk")[:1], output_field=NUMBER)
    return _subjects(about, rows, state=text(), example=example, n=n)


def _subjects(about: str, rows: QuerySet[Any], **columns: Any) -> QuerySet[Any, Any]:
    return part(rows, about=text(about), pk="pk", slug="slug", name="name", **columns)
