"""The report on the subjects of a dataset's questions: people, places, occupations and eras."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Lower, Replace

from evaluation.graphs.reports import methods
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
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from generation.models import Dataset, Entity, KGQuestion, QuestionEntity, Triple

# What is counted by value → the name of the number of its different values.
COUNTED = {"country": "countries", "city": "cities", "occupation": "occupations"}
MOST_LISTED = 100  # values of each kind with a row; the number of different values is over all


@dataclass(frozen=True, kw_only=True)
class StatisticRow(ReportRow):
    """A row about one thing that is counted."""

    kind: Annotated[str, Column("Kind")]
    name: Annotated[str, Column("Name")]


@dataclass(frozen=True, kw_only=True)
class FactRow(StatisticRow):
    """The number of questions, people or different values."""

    n: Annotated[int, Column("Number", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class KnownFactRow(FactRow):
    """The number of people or different values, and the number of people for whom it is known."""

    n_people: Annotated[int, Column("People", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class YearRow(StatisticRow):
    """The earliest or the latest year in which a person was born or died."""

    year: int  # -1950 for 1950 BC
    said: Annotated[str, Column("Year")]  # the year in words
    of: Annotated[str, Column("Of")]


@dataclass(frozen=True, kw_only=True)
class CenturyRow(StatisticRow):
    """The number of people who were born and who died in a century."""

    century: int  # -1 for the first century BC
    n_births: Annotated[int, Column("Births", Format.COUNT)]
    n_deaths: Annotated[int, Column("Deaths", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class ValueRow(StatisticRow):
    """The number of people who have a value of a kind."""

    n_people: Annotated[int, Column("People", Format.COUNT)]
    share: Annotated[float, Column("Share", Format.PERCENT)]  # share of people with a known value


class _PersonTriple(NamedTuple):
    """One triple about a person."""

    qid: str
    label: str
    kind: str  # a key of COUNTED, or birth or death
    value: str


class _Dated(NamedTuple):
    """A year in which a person was born or died."""

    year: int
    label: str
    kind: str


class _People(NamedTuple):
    """The people that are counted, and whether they are those whom questions name."""

    entities: QuerySet[Entity]
    are_of_questions: bool
    left_out: LeftOut


def statistics_report(dataset: Dataset) -> Report[StatisticRow]:
    """Return statistics of the subjects of a dataset's questions (KaLMA, 2.3).

    People are entities of the type human that questions name: gold entities if a question has any,
    else its retrieved entities. If no question names any entity, all people of the graph are
    counted. There are rows of these kinds (`kind`):

    - `fact`: a count `n`, and the number of people for whom it is known, `n_people`;
    - `year`: the earliest and the latest year, -1950 for 1950 BC, which dates write as -1949;
    - `century`: how many people were born and died in it, from first to last without a gap;
    - `country`, `city`, `occupation`: the `n_people` with a value, and their share of the people
      for whom the kind is known. These are the first hundred values by `n_people`, then by name.

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
    """Return whether a report is about people whom questions name, and not all of the graph."""
    return "people of questions" in report.signature


def _people(dataset: Dataset) -> _People:
    """Return the people to count. This takes three queries."""
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
    """Return the entities that questions name: their gold entities or, without any, retrieved."""
    gold = QuestionEntity.objects.filter(question=OuterRef("question"), is_retrieved=False)
    of_all = QuestionEntity.objects.filter(question__example__dataset=dataset).order_by()
    return of_all.exclude(Exists(gold), is_retrieved=True)


def _said(people: QuerySet[Entity]) -> list[_PersonTriple]:
    """Return the triples about people, by qid and then in the graph's order, by one query."""
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
    """Return the qids of the people who have each value. Values without a name are left out."""
    people: dict[str, set[str]] = defaultdict(set)
    for each in said:
        if each.kind == kind and each.value and not is_untranslated(each.value):
            people[each.value].add(each.qid)
    return people


def _dated(said: Iterable[_PersonTriple]) -> tuple[dict[tuple[str, str], _Dated], int]:
    """Return the first readable date by person and kind, and how many dates cannot be read."""
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
    """Yield the earliest and the latest year, and all centuries from one to the other."""
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
    """Return the values that the most people have."""
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
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.STATISTICS,
    choices=NoChoices,
    make=lambda dataset, _: statistics_report(dataset),
    rows=(KnownFactRow, ValueRow, CenturyRow, YearRow),
)
