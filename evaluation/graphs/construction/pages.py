"""Constructions as their pages show them.

This module only reads, with a fixed number of queries.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from evaluation.graphs.construction.forms import Reviewable
from evaluation.graphs.pages.cited_answer import AnswerPart, CitedFact, answer_parts, facts_of
from evaluation.measures.citation import CitationVerdict, judged
from generation.models import ConstructedDataset, Construction, ConstructionCall, ConstructionEntry
from generation.models.constructions import SIMPLE_STYLE
from generation.services.construction_entries import graphs_of
from generation.text.citations import parse_citations, pieces
from generation.text.cited_vocabulary import Vocabulary
from generation.text.compared_triples import compared, without_names
from generation.text.constructed_questions import Member, is_cited, minimum_set
from generation.text.flat_graph import Triple
from generation.text.graph_prompts import NAME, Graph
from work.cards import Card
from work.pages import ListedWork
from work.work_row import WorkRow

State = ConstructionEntry.State
Problem = ConstructionEntry.Problem
Verdict = ConstructionEntry.Verdict
MOST_REASONS = 20
USUAL_REASONS = (
    "The question cannot be understood.",
    "The question does not ask for its knowledge.",
    "The paragraph says something that the graph does not.",
    "Another person of that name is meant.",
)
# The steps of the funnel, each with the problem that it drops entries for, in the order of checks.
FUNNEL = (
    ("Complete names", Problem.INCOMPLETE_NAME),
    ("Relation known", Problem.UNKNOWN_RELATION),
    ("Both names found", Problem.NOT_FOUND),
    ("Connected by an edge", Problem.NOT_CONNECTED),
    ("Connected by the named relation", Problem.WRONG_RELATION),
    ("Only one such pair", Problem.AMBIGUOUS),
)


class FunnelStep(NamedTuple):
    """One step on the way from entries to questions. Waiting entries count as left."""

    title: str
    n_dropped: int | None  # None: the first step, which has all entries
    n_left: int
    percent: float | None  # share of all entries that is left; None if there are no entries


class Counts(NamedTuple):
    """The number of entries of a construction by state, problem and verdict."""

    by_state: Mapping[str, int]
    by_problem: Mapping[str, int]
    n_open: int  # entries with a question that no reviewer has decided about
    n_kept: int
    n_dropped: int

    @property
    def n(self) -> int:
        return sum(self.by_state.values())

    @property
    def n_waiting(self) -> int:
        return self.by_state.get(State.WAITING, 0)

    @property
    def n_writing(self) -> int:
        return self.by_state.get(State.WRITING, 0)

    @property
    def n_failed(self) -> int:
        return self.by_state.get(State.FAILED, 0)

    @property
    def n_left_out(self) -> int:
        return self.by_state.get(State.LEFT_OUT, 0)

    @property
    def n_built(self) -> int:
        return self.by_state.get(State.BUILT, 0)

    @property
    def n_settled(self) -> int:
        """The number of entries that are finished: they are built, failed or left out."""
        return self.n_left_out + self.n_failed + self.n_built

    @property
    def n_decided(self) -> int:
        return self.n_kept + self.n_dropped

    @property
    def n_in(self) -> int:
        """The number of questions that a dataset would have now: those that were not dropped."""
        return self.n_built - self.n_dropped

    @property
    def funnel(self) -> list[FunnelStep]:
        """The steps from all entries to those that have a question."""
        steps: list[tuple[str, int | None, int]] = [("Entries", None, self.n)]
        for title, problem in FUNNEL:
            dropped = self.by_problem.get(problem, 0)
            steps.append((title, dropped, steps[-1][2] - dropped))
        steps.append(("Built", self.n_failed, self.n_built))
        return [
            FunnelStep(title, dropped, left, 100 * left / self.n if self.n else None)
            for title, dropped, left in steps
        ]


class Work(NamedTuple):
    """The number of a construction's calls of the model, and of their tokens."""

    n_calls: int
    n_unreadable: int
    n_prompt_tokens: int
    n_completion_tokens: int


class ConstructionProgress(NamedTuple):
    """The job of a construction, and the numbers of its entries by what became of them so far."""

    work: ListedWork
    counts: Counts

    @property
    def row(self) -> WorkRow:
        return self.work.row

    @property
    def card(self) -> Card:
        seen = f"{self.counts.n_built}-{self.counts.n_left_out}"
        # A construction is deleted by a button of its own, with its entries.
        return self.work.card._replace(seen=seen, may_delete=False)


class ListedConstruction(NamedTuple):
    """One construction in the list."""

    construction: Construction
    counts: Counts
    datasets: Sequence[ConstructedDataset]


# --- many -----------------------------------------------------------------------------------


def counts_of(constructions: Iterable[Construction]) -> dict[int, Counts]:
    """Return the counts of entries of some constructions, by id. This takes one query."""
    pks = [construction.pk for construction in constructions]
    entries = ConstructionEntry.objects.filter(construction__in=pks).order_by()
    counted: dict[int, list[tuple[str, str, str, int]]] = {pk: [] for pk in pks}
    columns = "construction", "state", "problem", "verdict"
    for pk, *row in entries.values_list(*columns).annotate(n=Count("pk")):
        counted[pk].append((row[0], row[1], row[2], row[3]))
    return {pk: _counts(rows) for pk, rows in counted.items()}


def _counts(rows: Iterable[tuple[str, str, str, int]]) -> Counts:
    by_state, by_problem, by_verdict = Counter[str](), Counter[str](), Counter[str]()
    for state, problem, verdict, n in rows:
        by_state[state] += n
        if problem:
            by_problem[problem] += n
        if state == State.BUILT:
            by_verdict[verdict] += n
    return Counts(
        by_state,
        by_problem,
        n_open=by_verdict[Verdict.OPEN],
        n_kept=by_verdict[Verdict.KEEP],
        n_dropped=by_verdict[Verdict.DROP],
    )


def progress_of_jobs(work: Sequence[ListedWork]) -> list[ConstructionProgress]:
    """Return how some jobs of constructions go. This takes two queries."""
    constructions = list(
        Construction.objects.filter(job__in=[each.row.pk for each in work]).select_related("job")
    )
    counts = counts_of(constructions)
    by_job = {each.job.pk: counts[each.pk] for each in constructions}
    return [ConstructionProgress(each, by_job.get(each.row.pk) or _counts([])) for each in work]


def listed(constructions: Sequence[Construction]) -> list[ListedConstruction]:
    """Return constructions as the list shows them, in the given order. This takes two queries."""
    counts = counts_of(constructions)
    made: dict[int, list[ConstructedDataset]] = {}
    found = ConstructedDataset.objects.filter(construction__in=constructions).order_by("pk")
    for each in found.select_related("dataset"):
        made.setdefault(each.construction_id, []).append(each)
    return [
        ListedConstruction(each, counts[each.pk], made.get(each.pk, [])) for each in constructions
    ]


def work_of(construction: Construction) -> Work:
    """Return the numbers of calls and tokens of a construction. This takes one query."""
    calls = ConstructionCall.objects.filter(entry__construction=construction)
    return Work(
        **calls.aggregate(
            n_calls=Count("pk"),
            n_unreadable=Count("pk", filter=~Q(problem="")),
            n_prompt_tokens=Sum("n_prompt_tokens", default=0),
            n_completion_tokens=Sum("n_completion_tokens", default=0),
        )
    )


def with_questions(entries: QuerySet[ConstructionEntry]) -> QuerySet[ConstructionEntry]:
    """Return entries with `last_round` and `model_question`.

    Both are None if no round of the entry could be read yet.
    """
    readable = ConstructionCall.objects.filter(
        entry=OuterRef("pk"), problem="", round__lt=SIMPLE_STYLE
    ).order_by("-round")
    return entries.annotate(
        last_round=Subquery(readable.values("round")[:1]),
        model_question=Subquery(readable.values("question")[:1]),
    )


def next_open(construction: Construction, after: int) -> int | None:
    """Return the number of the next entry whose question is undecided, or None.

    After the last entry, the search starts again from the first.
    """
    still_open = construction.entries.filter(state=State.BUILT, verdict=Verdict.OPEN)
    numbers = still_open.order_by("number").values_list("number", flat=True)
    return numbers.filter(number__gt=after).first() or numbers.first()


def reasons_of(construction: Construction) -> list[str]:
    """Return reasons to offer: those given in this construction, then the usual ones."""
    given = construction.entries.exclude(reason="").order_by("reason")
    own = list(given.values_list("reason", flat=True).distinct()[:MOST_REASONS])
    return [*own, *(reason for reason in USUAL_REASONS if reason not in own)]


# --- one entry ------------------------------------------------------------------------------


class ShownMember(NamedTuple):
    """A member of the minimum set with what a reviewer should know about it."""

    place: str  # position among all members, as forms send it
    member: Member
    name: str  # the name of its entity
    is_cited: bool  # whether the answer of the round that brought it in cites it
    is_cited_last: bool  # whether the answer of the last round, whose question is used, cites it
    is_taken_out: bool


class ShownRound(NamedTuple):
    """One round: the triple brought in, the text written, and the verdicts on its citations."""

    call: ConstructionCall
    unreadable: tuple[ConstructionCall, ...]  # earlier attempts
    name: str  # the name of the entity whose triple was brought in; "" if there is none
    is_cited: bool  # whether the answer cites the triple that was brought in
    parts: tuple[AnswerPart, ...]
    facts: tuple[CitedFact, ...]

    @property
    def n_na(self) -> int:
        return sum(part.is_na for part in self.parts)

    @property
    def n_of(self) -> dict[str, int]:
        """The number of citations by verdict, in the order of verdicts, without zeros."""
        counts = Counter(str(fact.verdict) for fact in self.facts)
        return {str(each): counts[str(each)] for each in CitationVerdict if counts[str(each)]}


class EntryPage:
    """One entry with its rounds and its minimum set. Reading its calls takes one query."""

    def __init__(self, entry: ConstructionEntry) -> None:
        self.entry = entry
        self.graphs = graphs_of(entry)
        self._calls = list(entry.calls.order_by("round", "attempt"))

    @cached_property
    def people(self) -> list[tuple[str, str, Graph]]:
        """The name, the qid and the triples (without the name) of each person."""
        return [
            (graph[0][2], graph[0][0], tuple(each for each in graph if each[1] != NAME))
            for graph in self.graphs
        ]

    @property
    def not_looked_at(self) -> list[tuple[str, int]]:
        """The names with more namesakes than were looked at, each with how many more."""
        names = (self.entry.name_1, self.entry.name_2)
        n_left = [graph.get("n_not_looked_at", 0) for graph in self.entry.graphs or ()]
        return [(name, n) for name, n in zip(names, n_left, strict=False) if n]

    @cached_property
    def rounds(self) -> list[ShownRound]:
        """The rounds in order. A round without a readable attempt is shown by its last attempt."""
        by_round: dict[int, list[ConstructionCall]] = {}
        for call in self._calls:
            if call.round < SIMPLE_STYLE:
                by_round.setdefault(call.round, []).append(call)
        return [self._round(calls) for calls in by_round.values()]

    @cached_property
    def simple(self) -> ShownRound | None:
        """The call for the simple style, or None if the model was not asked for it yet."""
        calls = [call for call in self._calls if call.round == SIMPLE_STYLE]
        return self._round(calls) if calls else None

    @cached_property
    def last(self) -> ConstructionCall | None:
        """The last round that could be read, or None. Its question is the entry's question."""
        return self._readable[-1] if self._readable else None

    @property
    def question(self) -> str:
        """The question in the model's words, or "" if there is none yet."""
        return self.last.question if self.last else ""

    @property
    def simple_question(self) -> str:
        """The question in the simple style, in the model's words, or "" if there is none yet."""
        return self.simple.call.question if self.simple else ""

    @cached_property
    def members(self) -> list[ShownMember]:
        """The whole minimum set, including members that a reviewer took out."""
        taken = {tuple(each) for each in self.entry.taken_out}
        answers = {call.round: call.answer for call in self._readable}
        last = self.last.answer if self.last else ""
        names = {qid: name for name, qid, _ in self.people}
        return [
            ShownMember(
                place=str(place),
                member=member,
                name=names.get(member.qid, ""),
                is_cited=is_cited(answers[member.round], member.triple, self.graphs),
                is_cited_last=is_cited(last, member.triple, self.graphs),
                is_taken_out=member.triple in taken,
            )
            for place, member in enumerate(minimum_set(self.graphs, self._readable))
        ]

    @property
    def n_members(self) -> int:
        """The number of members of the set, without those that a reviewer took out."""
        return sum(not each.is_taken_out for each in self.members)

    @property
    def reviewable(self) -> Reviewable:
        """The entry as the review form needs it."""
        members = {each.place: each.member.triple for each in self.members}
        return Reviewable(self.entry, self.question, self.simple_question, members)

    @cached_property
    def _readable(self) -> list[ConstructionCall]:
        return [call for call in self._calls if call.round < SIMPLE_STYLE and not call.problem]

    def _round(self, calls: Sequence[ConstructionCall]) -> ShownRound:
        """Return a round from all its attempts. If one could be read, it is the last."""
        *before, call = calls
        brought: Triple = (call.qid, call.relation, call.value)
        names = {qid: name for name, qid, _ in self.people}
        parts, facts = self._annotated(call)
        return ShownRound(
            call=call,
            unreadable=tuple(before),
            name=names.get(call.qid, call.qid),
            is_cited=bool(call.qid) and is_cited(call.answer, brought, self.graphs),
            parts=parts,
            facts=facts,
        )

    def _annotated(
        self, call: ConstructionCall
    ) -> tuple[tuple[AnswerPart, ...], tuple[CitedFact, ...]]:
        """Return the paragraph of a call, cut at its citations, and the citations with verdicts.

        They are judged by the minimum set as it was in that round.
        """
        known = Vocabulary.of(self._stated)
        so_far = minimum_set(self.graphs, [c for c in self._readable if c.round <= call.round])
        minimum = [member.triple for member in so_far]
        parsed = without_names(parse_citations(call.answer, *known), self._aliases)
        facts = [
            CitedFact(*each.citation, each.verdict, None)
            for each in judged(parsed, self._stated, minimum)
        ]
        parts = answer_parts(pieces(call.answer, *known), facts)
        return parts, facts_of(parts)

    @cached_property
    def _aliases(self) -> set[Triple]:
        """The other names of both people, normalised for comparison."""
        return {
            compared((graph["qid"], NAME, alias))
            for graph in self.entry.graphs or ()
            for alias in graph["aliases"]
        }

    @cached_property
    def _stated(self) -> list[Triple]:
        return [triple for graph in self.graphs for triple in graph]
