"""Answers that were shown a graph, with what each adds to the figures on citations.

Every answer is parsed and counted in both modes: as the paper defines, and as the authors' code
computes. This is done in batches and with a fixed number of queries. Only numbers are kept of an
answer. This module only reads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from django.db.models import Count, Max
from numpy.typing import NDArray

from evaluation.graphs.reports.answer_figures import Counted, counted_responses, sums_of
from evaluation.measures.authors_citation import (
    Difference,
    authors_citations,
    count_as_authors,
    differences,
)
from evaluation.measures.citation import CitationCounts, Mode, citation_statistics, count_citations
from evaluation.reports.cache import cached
from evaluation.reports.estimates import data_hash
from evaluation.reports.report import LeftOut
from evaluation.statistics.intervals import Floats
from evaluation.votes.counts import Ints
from generation.models import Dataset, KGQuestion, MinimumTriple, QuestionEntity
from generation.services.citations import (
    shown_vocabulary,
    triples_of,
    vocabularies,
    without_own_names,
)
from generation.text.citations import ParsedAnswer, parse_citations
from generation.text.cited_vocabulary import Vocabulary
from generation.text.flat_graph import Triple

Rounds = Literal["all", "later"]
ROUNDS: Mapping[Rounds, str] = {"all": "the whole set", "later": "rounds 2 to 6"}

LOT = 2000  # responses that are read and parsed together
LATER_ROUNDS = range(2, 7)
MOST_BYTES = 64 * 2**20  # largest size of answers that are cached: about 400,000 answers
REASONS = tuple(Difference)


class CitedAnswers(NamedTuple):
    """The n answers of a dataset whose graph is known, sorted by setup, example and key."""

    responses: Ints  # (n,) ids
    setups: Ints  # (n,) ids
    examples: Ints  # (n,) ids
    dialogs: Ints  # (n,) 0 .. n_dialogs - 1
    n_dialogs: int
    counts: Mapping[Mode, Floats]  # (n, 6): `CitationCounts`, NaN for None and for skipped answers
    is_counted: Mapping[Mode, NDArray[np.bool_]]  # (n,) False: the mode skips the answer
    n_na: Mapping[Mode, Ints]  # (n,) sentences with [NA]; in the authors' code, [NA] brackets
    n_other_brackets: Ints  # (n,)
    reasons: NDArray[np.bool_]  # (n, len(REASONS)): whether the modes differ for each reason
    # (n, 2): number of shown sub-graphs that are gold, and of all shown ones; zeros if the gold
    # entities are unknown.
    subgraphs: Ints
    n_left_out: Mapping[str, Mapping[int, int]]  # reason → setup id → number of responses
    without_rounds: frozenset[int]  # ids of examples, see `Minimum`
    made_up: frozenset[int]  # ids of examples, see `Minimum`
    data_hash: str

    @property
    def left_out(self) -> LeftOut:
        """The numbers of left-out responses, of sets without rounds and of made-up sets."""
        found = sums_of(self.n_left_out, {pk for of in self.n_left_out.values() for pk in of})
        here = set(self.examples.tolist())
        sets = {
            "sets_without_rounds": len(self.without_rounds & here),
            "made_up_minimum_sets": len(self.made_up & here),  # These are only noted, and count.
        }
        return found | {reason: n for reason, n in sets.items() if n}

    def statistics(self, mode: Mode) -> Floats:
        """Return `citation_statistics` of all answers, (n, 12), with zeros for skipped ones."""
        statistics = citation_statistics(self.counts[mode], mode)
        return np.where(self.is_counted[mode][:, np.newaxis], statistics, 0.0)

    def column(self, mode: Mode, name: str) -> Floats:
        """Return one field of `CitationCounts` for all answers, (n,)."""
        found: Floats = self.counts[mode][:, CitationCounts._fields.index(name)]
        return found

    def at(self, places: Ints) -> "CitedAnswers":
        """Return some answers, given by index, in the order of the indexes."""
        return self._replace(
            responses=self.responses[places],
            setups=self.setups[places],
            examples=self.examples[places],
            dialogs=self.dialogs[places],
            counts={mode: rows[places] for mode, rows in self.counts.items()},
            is_counted={mode: rows[places] for mode, rows in self.is_counted.items()},
            n_na={mode: rows[places] for mode, rows in self.n_na.items()},
            n_other_brackets=self.n_other_brackets[places],
            reasons=self.reasons[places],
            subgraphs=self.subgraphs[places],
        )

    def of_setups(self, setups: Collection[int]) -> "CitedAnswers":
        """Return the answers of some setups, given by id, with what is left out of these setups."""
        n_left_out = {
            reason: {pk: n for pk, n in of.items() if pk in setups}
            for reason, of in self.n_left_out.items()
        }
        chosen = np.flatnonzero(np.isin(self.setups, list(setups)))
        return self.at(chosen)._replace(n_left_out=n_left_out)


def cited_answers(dataset: Dataset, rounds: Rounds = "all") -> CitedAnswers:
    """Return the answers of a dataset, cached until its responses, questions or entities change.

    Args:
        rounds: the rounds whose members of minimum sets count.
    """

    def is_small(made: CitedAnswers) -> bool:
        of_modes = made.counts, made.is_counted, made.n_na
        arrays = [array for of_mode in of_modes for array in of_mode.values()]
        arrays += [each for each in made if isinstance(each, np.ndarray)]
        return sum(array.nbytes for array in arrays) <= MOST_BYTES

    return cached(
        dataset,
        f"cited answers {rounds}",
        lambda: read_answers(dataset, rounds),
        version=version_of_answers(dataset),
        is_small=is_small,
    )


def version_of_answers(dataset: Dataset) -> str:
    """Return a version that changes whenever answers, questions or names in a graph may change.

    Responses and questions are added and deleted but never edited, so numbers and last ids show
    a change.
    """
    questions = KGQuestion.objects.filter(example__dataset=dataset)
    parts = [
        dataset.setups.order_by("pk").aggregate(n=Count("pk"), last=Max("pk")),
        dataset.responses.order_by().aggregate(n=Count("pk"), last=Max("pk")),
        dataset.entities.order_by().aggregate(n=Count("pk"), last=Max("pk")),
        questions.order_by().aggregate(n=Count("pk"), last=Max("pk")),
    ]
    return str(parts)


class _Read(NamedTuple):
    """One response as the database has it."""

    pk: int
    key: str
    setup: int
    example: int
    text: str
    graph: Sequence[Sequence[str]]


class _CountedAnswer(NamedTuple):
    """The data that are kept of one answer."""

    setup: str  # name of the setup
    example: str  # key of the example
    key: str
    dialog: str
    ids: tuple[int, int, int]  # ids of response, setup and example
    paper: CitationCounts
    authors: CitationCounts | None  # None: the authors' code skips it
    n_na: tuple[int, int]
    n_other_brackets: int
    reasons: frozenset[Difference]
    subgraphs: tuple[int, int]  # numbers of gold ones and of all


class Minimum(NamedTuple):
    """The minimum sets of a dataset's questions, where they are known.

    The authors' code takes recall from rounds 2 to 6 and precision from the whole set. The mode of
    the authors' code does the same if later rounds are chosen.
    """

    all: Mapping[int, Sequence[Triple]]  # example id → members, in order
    chosen: Mapping[int, Sequence[Triple]]  # example id → members of the chosen rounds
    without_rounds: frozenset[int]  # ids of examples where the round of some member is not known
    made_up: frozenset[int] = frozenset()  # ids of examples whose set was drawn at random


def read_answers(dataset: Dataset, rounds: Rounds = "all") -> CitedAnswers:
    """Read, parse and count the answers of a dataset whose graph is known.

    If a setup has answered an example more than once, only the first response by key counts.
    """
    minimum, gold = minimum_sets(dataset, rounds), _gold(dataset)
    names = dict(dataset.setups.values_list("pk", "name"))
    examples = {
        pk: (key, dialog)
        for pk, key, dialog in dataset.examples.order_by()
        .values_list("pk", "key", "dialog")
        .iterator(chunk_size=5000)
    }
    by_dataset = vocabularies([dataset.pk])[dataset.pk]
    counted = counted_responses(dataset)
    answers = []
    rows = _rows(dataset)
    while some := list(islice(rows, LOT)):
        some = [row for row in some if row.pk in counted.setups]
        parsed = without_own_names(
            dataset.pk,
            {row.pk: parsed_answer(row.text, row.graph, by_dataset) for row in some},
            {row.pk: row.graph for row in some},
        )
        for row in some:
            key, dialog = examples[row.example]
            said = (names[row.setup], key, row.key, dialog, (row.pk, row.setup, row.example))
            subgraphs = _subgraphs(row.graph, gold.get(row.example))
            answers.append(
                _CountedAnswer(*said, *_counted(row, parsed[row.pk], minimum), subgraphs)
            )
    answers.sort(key=lambda each: each[:3])
    return _answers(answers, counted, minimum)


def _gold(dataset: Dataset) -> dict[int, set[str]]:
    """Return the gold entities of each example that has any. This takes one query."""
    of_dataset = QuestionEntity.objects.filter(question__example__dataset=dataset)
    gold: dict[int, set[str]] = {}
    found = of_dataset.filter(is_retrieved=False).order_by()
    for example, qid in found.values_list("question__example", "qid").iterator():
        gold.setdefault(example, set()).add(qid)
    return gold


def _subgraphs(graph: Sequence[Sequence[str]], gold: set[str] | None) -> tuple[int, int]:
    """Return how many of the shown sub-graphs are gold, and how many are shown.

    Both are 0 if the gold entities are not known.
    """
    if gold is None:
        return 0, 0
    shown = {triple[0] for triple in graph}
    return len(shown & gold), len(shown)


def _counted(
    row: _Read, answer: ParsedAnswer, minimum: Minimum
) -> tuple[CitationCounts, CitationCounts | None, tuple[int, int], int, frozenset[Difference]]:
    """Return what an answer adds to the figures in both modes, and why they differ if they do."""
    shown = triples_of(row.graph)
    chosen, of_precision = minimum.chosen.get(row.example), minimum.all.get(row.example)
    here = count_citations(answer, shown, chosen)
    there = count_as_authors(row.text, shown, chosen, of_precision)
    n_na = len(answer.na_sentences), authors_citations(row.text).n_na
    is_same = there is not None and _enters_alike(here, there)
    reasons = () if is_same else differences(row.text, answer, shown, chosen, of_precision)
    return here, there, n_na, answer.n_other_brackets, frozenset(reasons)


def _enters_alike(here: CitationCounts, there: CitationCounts) -> bool:
    """Return whether an answer adds the same numbers to all figures in both modes."""
    return here[:5] == there[:5] and (here.n_citations > 0 or here.n_minimum is None)


def _answers(answers: Sequence[_CountedAnswer], counted: Counted, minimum: Minimum) -> CitedAnswers:
    ids: Ints = np.array([each.ids for each in answers], np.int64).reshape(-1, 3)
    both: dict[Mode, list[CitationCounts | None]] = {
        Mode.PAPER: [each.paper for each in answers],
        Mode.AUTHORS_CODE: [each.authors for each in answers],
    }
    n_na: Ints = np.array([each.n_na for each in answers], np.int64).reshape(-1, 2)
    reasons = [[reason in each.reasons for reason in REASONS] for each in answers]
    content = [(*each[:4], *each[5:9]) for each in answers]
    return CitedAnswers(
        responses=ids[:, 0],
        setups=ids[:, 1],
        examples=ids[:, 2],
        dialogs=np.array([counted.dialogs[each.ids[0]] for each in answers], np.int64),
        n_dialogs=counted.n_dialogs,
        counts={mode: _table(counts) for mode, counts in both.items()},
        is_counted={
            mode: np.array([each is not None for each in counts], bool)
            for mode, counts in both.items()
        },
        n_na={Mode.PAPER: n_na[:, 0], Mode.AUTHORS_CODE: n_na[:, 1]},
        n_other_brackets=np.array([each.n_other_brackets for each in answers], np.int64),
        reasons=np.array(reasons, bool).reshape(-1, len(REASONS)),
        subgraphs=np.array([each.subgraphs for each in answers], np.int64).reshape(-1, 2),
        n_left_out=counted.n_left_out,
        without_rounds=minimum.without_rounds,
        made_up=minimum.made_up,
        data_hash=data_hash(content),
    )


def _table(counts: Sequence[CitationCounts | None]) -> Floats:
    skipped = (None,) * len(CitationCounts._fields)
    rows = [each or skipped for each in counts]
    return np.array(rows, dtype=np.float64).reshape(-1, len(skipped))


def _rows(dataset: Dataset) -> Iterator[_Read]:
    shown = dataset.responses.of_benchmark().filter(graph_shown__isnull=False).order_by("pk")
    columns = "pk", "key", "setup", "example", "text", "graph_shown"
    found: Any = shown.values_list(*columns).iterator(chunk_size=LOT)
    return (_Read(*row) for row in found)


def minimum_sets(
    dataset: Dataset, rounds: Rounds = "all", examples: Collection[int] | None = None
) -> Minimum:
    """Return the known minimum sets of all questions or of some examples, by two queries.

    If some members of a set have no round, only the whole set is known.
    """
    known = KGQuestion.objects.filter(example__dataset=dataset, is_minimum_known=True)
    if examples is not None:
        known = known.filter(example__in=examples)
    is_made_up = dict(known.order_by().values_list("example", "is_minimum_made_up"))
    made_up = frozenset(example for example, is_so in is_made_up.items() if is_so)
    members: dict[int, list[tuple[Triple, int | None]]] = {example: [] for example in is_made_up}
    found = MinimumTriple.objects.filter(question__in=known).order_by("question", "position")
    columns = "question__example", "qid", "relation", "value", "round"
    for example, qid, relation, value, round_ in found.values_list(*columns).iterator():
        members[example].append(((qid, relation, value), round_))
    whole = {example: [triple for triple, _ in of] for example, of in members.items()}
    if rounds == "all":
        return Minimum(whole, whole, frozenset(), made_up)
    without = {
        example for example, of in members.items() if any(round_ is None for _, round_ in of)
    }
    later = {
        example: [triple for triple, round_ in of if round_ in LATER_ROUNDS]
        for example, of in members.items()
        if example not in without
    }
    return Minimum(whole, later, frozenset(without), made_up)


def parsed_answer(
    text: str, graph: Sequence[Sequence[str]] | None, by_dataset: Vocabulary
) -> ParsedAnswer:
    """Return the citations of a response, with the same numbers as those stored with it."""
    return parse_citations(text, *(shown_vocabulary(graph) or by_dataset))
