"""The report on retrieval of sub-graphs: how many are gold, and how many gold ones are found."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from typing import Annotated, NamedTuple

import numpy as np
from django.conf import settings

from evaluation.graphs.reports.answer_figures import share_figure
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.statistics.intervals import SHARE_METHOD, Statistic
from generation.batches import lots
from generation.models import Dataset, KGQuestion, QuestionEntity, Turn
from generation.retrieval.entities import has_model
from generation.retrieval.entity_rerank import retrieval_counts
from generation.retrieval.subgraphs import Retrieved, SubgraphRetriever
from generation.seeded_random import random_key

HERE, BY_LABELS, IMPORTED = "retrieved here", "by labels alone", "imported"
SEED = 0  # seed of the sample
MOST_QUESTIONS = 2_000  # From more questions a sample is drawn, because each takes milliseconds.
AT_ONCE = 500  # questions that are looked up with one set of queries
MOST_SUBGRAPHS = 4  # Questions with this many sub-graphs or more are counted together.


@dataclass(frozen=True, kw_only=True)
class SourceRow(ReportRow):
    """The number of sub-graphs that a source has retrieved, and the shares that are gold."""

    source: Annotated[str, Column("Retrieved")]
    n: Annotated[int, Column("Questions", Format.COUNT)]
    n_with_gold: Annotated[int, Column("With known gold", Format.COUNT)]
    n_dialogs: int  # dialogs of the questions with known gold
    n_subgraphs: Annotated[int, Column("Sub-graphs", Format.COUNT)]
    mean_subgraphs: Annotated[float, Column("Per question", Format.DECIMAL)]
    n_0: int  # n_0 to n_4_or_more: questions with that many sub-graphs
    n_1: int
    n_2: int
    n_3: int
    n_4_or_more: int
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)]
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)]


class GraphRetrieval(NamedTuple):
    """The report, and the questions for which a source does not find every gold entity."""

    report: Report[SourceRow]
    missed: Mapping[str, Sequence[int]]  # source → ids of the questions' examples


class _SampledQuestion(NamedTuple):
    """One question of the sample."""

    example: int  # its id
    dialog: str
    text: str
    gold: frozenset[str]  # qids; empty: not known
    imported: tuple[str, ...] | None  # qids; None: the file does not say


def graph_retrieval(dataset: Dataset) -> GraphRetrieval:
    """Return precision and recall of retrieved sub-graphs against the gold ones (KaLMA, 3, 6.3).

    There is a row for what is retrieved here. If a spaCy model finds the names here, there is one
    for what the graph's own labels would find. If an imported file says what was retrieved, there
    is one for that too. Both shares are over all sub-graphs of the questions whose gold entities
    are known. The number of sub-graphs is over all questions. At most 2,000 questions are used,
    drawn by a seed.
    """
    asked, n_questions, content = _asked(dataset)
    retrievers = {HERE: SubgraphRetriever(dataset.pk)}
    if has_model():
        retrievers[BY_LABELS] = SubgraphRetriever(dataset.pk, is_by_labels=True)
    found = {source: _retrieved(retriever, asked) for source, retriever in retrievers.items()}
    by_source: dict[str, list[tuple[_SampledQuestion, Sequence[str]]]] = {
        source: [(each, retrieved.qids) for each, retrieved in zip(asked, of_source, strict=True)]
        for source, of_source in found.items()
    }
    by_source[IMPORTED] = [(each, each.imported) for each in asked if each.imported is not None]
    by_source = {source: listed for source, listed in by_source.items() if listed}
    places = {name: place for place, name in enumerate(sorted({each.dialog for each in asked}))}
    planned = [
        Planned(_row(source, listed), _figures(listed, places))
        for source, listed in by_source.items()
    ]
    rows = list(with_estimates(planned, len(places)))
    left_out: LeftOut = {
        "questions_without_known_gold": sum(not each.gold for each in asked),
        "questions_without_imported_list": sum(each.imported is None for each in asked),
        "questions_outside_the_sample": n_questions - len(asked),
        **_steps_counted(found[HERE]),
    }
    said = [
        "retrieval",
        "sub-graphs",
        *(retriever.signature for retriever in retrievers.values()),
        f"at most {MOST_QUESTIONS} questions, seed {SEED}, {content}",
        SHARE_METHOD,
        f"attest {settings.VERSION}",
    ]
    missed = {
        source: [each.example for each, qids in listed if each.gold - set(qids)]
        for source, listed in by_source.items()
    }
    # Without a spaCy model, labels alone are what finds names here.
    missed.setdefault(BY_LABELS, missed.get(HERE, []))
    report = Report(dataset.name, "retrieval", rows, left_out, " | ".join(said))
    return GraphRetrieval(report, missed)


def _retrieved(retriever: SubgraphRetriever, asked: Sequence[_SampledQuestion]) -> list[Retrieved]:
    """Return what a retriever finds for each question."""
    return [
        retrieved
        for some in lots([each.text for each in asked], AT_ONCE)
        for retrieved in retriever.retrieved(some)
    ]


def _asked(dataset: Dataset) -> tuple[list[_SampledQuestion], int, str]:
    """Return a sample of questions sorted by key, the number of all questions, and a hash.

    The hash is over the contents of the sample.
    """
    rows = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).order_by()
    fields = ("example__key", "pk", "example", "example__dialog", "is_retrieved_known")
    every = list(rows.values_list(*fields, "example__digest").iterator())
    drawn = sorted(
        nsmallest(MOST_QUESTIONS, every, key=lambda row: (random_key(SEED, row[0]), row))
    )
    qids = _qids([row[1] for row in drawn])
    texts = _texts([row[2] for row in drawn])
    content = hashlib.sha256("\n".join(row[5] for row in drawn).encode()).hexdigest()[:8]
    asked = [
        _SampledQuestion(
            example=example,
            dialog=dialog,
            text=texts.get(example, ""),
            gold=frozenset(qids.get((pk, False), ())),
            imported=tuple(qids.get((pk, True), ())) if is_known else None,
        )
        for _, pk, example, dialog, is_known, _ in drawn
    ]
    return asked, len(every), f"questions:{content}"


def _qids(questions: Sequence[int]) -> Mapping[tuple[int, bool], list[str]]:
    """Return the qids of questions, by question id and by whether they are retrieved, else gold."""
    found: dict[tuple[int, bool], list[str]] = defaultdict(list)
    rows = QuestionEntity.objects.filter(question__in=questions).order_by("position")
    for question, is_retrieved, qid in rows.values_list("question", "is_retrieved", "qid"):
        found[question, is_retrieved].append(qid)
    return found


def _texts(examples: Sequence[int]) -> Mapping[int, str]:
    """Return the last turn of each example, by the example's id."""
    rows = Turn.objects.filter(example__in=examples).order_by("example", "index")
    return dict(rows.values_list("example", "text"))


def _row(
    source: str, listed: Sequence[tuple[_SampledQuestion, Sequence[str]]]
) -> Callable[..., SourceRow]:
    """Return a function that makes the row of a source from its shares. Its counts are set."""
    sizes = [len(set(qids)) for _, qids in listed]
    with_gold = [asked for asked, _ in listed if asked.gold]
    n_of = Counter(min(size, MOST_SUBGRAPHS) for size in sizes)
    return partial(
        SourceRow,
        source=source,
        n=len(listed),
        n_with_gold=len(with_gold),
        n_dialogs=len({asked.dialog for asked in with_gold}),
        n_subgraphs=sum(sizes),
        mean_subgraphs=sum(sizes) / len(listed),
        n_0=n_of[0],
        n_1=n_of[1],
        n_2=n_of[2],
        n_3=n_of[3],
        n_4_or_more=n_of[MOST_SUBGRAPHS],
    )


def _figures(
    listed: Sequence[tuple[_SampledQuestion, Sequence[str]]], places: Mapping[str, int]
) -> dict[str, Statistic]:
    """Return precision and recall over all sub-graphs of questions with known gold entities."""
    known = [(asked, qids) for asked, qids in listed if asked.gold]
    counts = np.array([retrieval_counts(qids, asked.gold) for asked, qids in known], int)
    n_hits, n_found, n_gold = counts.reshape(len(known), 3).T
    of_questions = np.array([places[asked.dialog] for asked, _ in known], int)
    return {
        "precision": share_figure(n_hits, n_found, of_questions),
        "recall": share_figure(n_hits, n_gold, of_questions),
    }


def _steps_counted(found: Iterable[Retrieved]) -> LeftOut:
    """Return counts of the mentions and candidates in the retrieval here."""
    steps = [step for each in found for step in each.steps]
    checks = Counter(each.type_check for step in steps for each in step.candidates)
    kept = ([each for each in step.candidates if each.type_check != "dropped"] for step in steps)
    return {
        "mentions": len(steps),
        "mentions_without_entity": sum(not step.candidates for step in steps),
        "candidates_dropped_by_type": checks["dropped"],
        "candidates_unchecked": checks["unchecked"],
        "namesakes_decided": sum(len(each) > 1 for each in kept),
        "namesakes_not_looked_at": sum(step.n_not_shown for step in steps),
    }
