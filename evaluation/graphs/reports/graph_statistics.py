"""The report on what a dataset's questions are about: people, places, occupations, eras."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Lower, Replace

from evaluation.graphs.reports.answer_figures import need_graph
from evaluation.measures.biographies import (
    BIRTH,
    DEATH,
    biography_relations,
    century_in_words,
    century_of,
    following,
    is_untranslated,
    year_in_words,
    year_of,
)
from evaluation.reports.columns import Column, Format
from evaluation.reports.estimates import data_hash
from evaluation.reports.registry import NoChoices, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from generation.models import Dataset, Entity, KGQuestion, QuestionEntity, Triple

# What is counted by value, and what the number of its different values is called.
COUNTED = {"country": "countries", "city": "cities", "occupation": "occupations"}
MOST_LISTED = 100  # values of each; the number of different ones is over all


@dataclass(frozen=True, kw_only=True)
class StatisticRow(ReportRow):
    """One thing that is counted."""

    kind: Annotated[str, Column("Kind")]
    name: Annotated[str, Column("Name")]


@dataclass(frozen=True, kw_only=True)
class FactRow(StatisticRow):
    """How many questions, people or different values there are."""

    n: Annotated[int, Column("Number", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class KnownFactRow(FactRow):
    """The same, and of how many people it is known."""

    n_people: Annotated[int, Column("People", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class YearRow(StatisticRow):
    """The earliest or the latest year in which somebody was born or died."""

    year: int  # -1950 for 1950 BC
    said: Annotated[str, Column("Year")]  # in words
    of: Annotated[str, Column("Of")]


@dataclass(frozen=True, kw_only=True)
class CenturyRow(StatisticRow):
    """How many people were born and died in a century."""

    century: int  # -1 for the first one BC
    n_births: Annotated[int, Column("Births", Format.COUNT)]
    n_deaths: Annotated[int, Column("Deaths", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class ValueRow(StatisticRow):
    """How many people have a value of a kind."""

    n_people: Annotated[int, Column("People", Format.COUNT)]
    share: Annotated[float, Column("Share", Format.PERCENT)]  # of those of whom it is known


class _PersonTriple(NamedTuple):
    """One triple about a person."""

    qid: str
    label: str
    kind: str  # a key of COUNTED, birth or death
    value: str


class _Dated(NamedTuple):
    """A year in which a person was born or died."""

    year: int
    label: str
    kind: str


class _People(NamedTuple):
    """The people that are counted, and where they are from."""

    entities: QuerySet[Entity]
    are_of_questions: bool
    left_out: LeftOut


def statistics_report(dataset: Dataset) -> Report[StatisticRow]:
    """Return what a dataset's questions are about (KaLMA, 2.3).

    People are entities of the type human that questions name: as gold where a question has gold
    entities, else as retrieved. All of the graph where no question names any. Rows by `kind`:

    - `fact`: a count `n`, and `n_people` of whom it is known;
    - `year`: the earliest and the latest, -1950 for 1950 BC, which dates have as -1949;
    - `century`: how many were born and died in it, from the first to the last without a gap;
    - `country`, `city`, `occupation`: its `n_people` and their share of those of whom it is known,
      the first hundred values by that and then by name.

    A value counts once for each person, and every value of a person counts.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    n_questions = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).count()
    people = _people(dataset)
    n_people = people.entities.count()
    said = _said(people.entities)
    valued = {kind: _by_value(said, kind) for kind in COUNTED}
    dated, undated = _dated(said)
    rows = [
        FactRow(kind="fact", name="questions", n=n_questions),
        KnownFactRow(kind="fact", name="people", n=n_people, n_people=n_people),
        *_facts(valued),
        *_eras(dated),
        *(row for kind in COUNTED for row in _values(kind, valued[kind])),
    ]
    left_out = people.left_out | {
        "dates_that_cannot_be_read": undated,
        "values_without_a_name": sum(
            each.kind in COUNTED and is_untranslated(each.value) for each in said
        ),
        "humans_without_a_year": n_people - len({qid for qid, _ in dated}),
        **{
            f"further_values_of_{kind}": max(0, len(valued[kind]) - MOST_LISTED) for kind in COUNTED
        },
    }
    signature = [
        "statistics",
        "people of questions, gold where known"
        if people.are_of_questions
        else "all people of the graph",
        biography_relations().signature,
        f"data {data_hash([n_questions, n_people, *said])}",
        f"attest {settings.VERSION}",
    ]
    return Report(dataset.name, "statistics", rows, left_out, " | ".join(signature))


def are_of_questions(report: Report[StatisticRow]) -> bool:
    """Return whether a report is about the people of questions, and not all of the graph."""
    return "people of questions" in report.signature


def _people(dataset: Dataset) -> _People:
    """Return the people to count; three queries."""
    named = _named(dataset)
    n_named = named.values("qid").distinct().count()
    entities = Entity.objects.filter(dataset=dataset)
    if n_named:
        entities = entities.filter(qid__in=named.values("qid"))
    is_human = Q(plain_type__in=biography_relations().people)
    people = entities.annotate(plain_type=Lower("type")).filter(is_human)
    n_in_graph = entities.count()
    return _People(
        people,
        bool(n_named),
        {
            "qids_of_other_types": n_in_graph - people.count(),
            "qids_not_in_the_graph": n_named - n_in_graph if n_named else 0,
        },
    )


def _named(dataset: Dataset) -> QuerySet[QuestionEntity]:
    """Return whom questions name: as gold where a question has gold entities, else as retrieved."""
    gold = QuestionEntity.objects.filter(question=OuterRef("question"), is_retrieved=False)
    of_all = QuestionEntity.objects.filter(question__example__dataset=dataset).order_by()
    return of_all.exclude(Exists(gold), is_retrieved=True)


def _said(people: QuerySet[Entity]) -> list[_PersonTriple]:
    """Return what the graph says of people, in their order and its; one query."""
    meaning = biography_relations().meaning
    spelt = Lower(Replace(F("relation"), Value("_"), Value(" ")))
    rows = (
        Triple.objects.filter(subject__in=people.values("pk"))
        .annotate(spelt=spelt)
        .filter(spelt__in=meaning)
        .order_by("subject__qid", "position")
        .values_list("subject__qid", "subject__label", "spelt", "value")
    )
    return [
        _PersonTriple(qid, label, meaning[relation], " ".join(value.split()))
        for qid, label, relation, value in rows.iterator(chunk_size=5000)
    ]


def _by_value(said: Iterable[_PersonTriple], kind: str) -> dict[str, set[str]]:
    """Return the people of each value that has a name."""
    people: dict[str, set[str]] = defaultdict(set)
    for each in said:
        if each.kind == kind and each.value and not is_untranslated(each.value):
            people[each.value].add(each.qid)
    return people


def _dated(said: Iterable[_PersonTriple]) -> tuple[dict[tuple[str, str], _Dated], int]:
    """Return by person and kind the first date that can be read, and how many dates cannot."""
    dated: dict[tuple[str, str], _Dated] = {}
    n_undated = 0
    for each in said:
        if each.kind in (BIRTH, DEATH):
            year = year_of(each.value)
            n_undated += year is None
            if year is not None:
                dated.setdefault((each.qid, each.kind), _Dated(year, each.label, each.kind))
    return dated, n_undated


def _facts(valued: dict[str, dict[str, set[str]]]) -> Iterator[KnownFactRow]:
    for kind, name in COUNTED.items():
        n_people = len(set().union(*valued[kind].values()))
        yield KnownFactRow(kind="fact", name=name, n=len(valued[kind]), n_people=n_people)


def _eras(dated: dict[tuple[str, str], _Dated]) -> Iterator[YearRow | CenturyRow]:
    """Yield the earliest and the latest year, and all centuries between them."""
    if not dated:
        return
    years = sorted(dated.values())
    for name, each in (("earliest year", years[0]), ("latest year", years[-1])):
        yield YearRow(
            kind="year",
            name=name,
            year=each.year,
            said=year_in_words(each.year),
            of=f"{each.kind} of {each.label}",
        )
    n = Counter((century_of(each.year), each.kind) for each in years)
    century, last = century_of(years[0].year), century_of(years[-1].year)
    while century <= last:
        yield CenturyRow(
            kind="century",
            name=century_in_words(century),
            century=century,
            n_births=n[century, BIRTH],
            n_deaths=n[century, DEATH],
        )
        century = following(century)


def _values(kind: str, people: dict[str, set[str]]) -> Sequence[ValueRow]:
    """Return the values that most people have."""
    n_known = len(set().union(*people.values()))
    most = sorted(people.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_LISTED]
    return [
        ValueRow(kind=kind, name=value, n_people=len(of), share=len(of) / n_known)
        for value, of in most
    ]


STATISTICS = ReportKind(
    key="statistics",
    title="Statistics",
    lede="Describes what the questions about a graph are about.",
    about=Dataset,
    choices=NoChoices,
    make=lambda dataset, _: statistics_report(dataset),
    rows=(KnownFactRow, ValueRow, CenturyRow, YearRow),
)
