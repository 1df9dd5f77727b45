"""Answers with a verdict on each of their citations, as pages show them. This module only reads."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from evaluation.graphs.reports.alignment import newest_alignment
from evaluation.graphs.reports.cited_answers import minimum_sets
from evaluation.measures.citation import CitationVerdict, judged
from evaluation.models import AutoScore
from generation.models import Dataset, Response
from generation.services.citations import (
    shown_vocabulary,
    triples_of,
    vocabularies,
    without_own_names,
)
from generation.text.citations import (
    ParsedAnswer,
    ParsedCitation,
    TextPiece,
    parse_citations,
    pieces,
)
from generation.text.cited_vocabulary import Vocabulary
from generation.text.entity_triples import ShownEntity, entities_shown
from generation.text.flat_graph import Triple, flat_graph


class CitedFact(NamedTuple):
    """One citation as pages show it. Without a verdict, it is not known which graph was shown."""

    number: int
    qid: str
    relation: str
    value: str
    sentence: str
    verdict: CitationVerdict | None
    alignment: AutoScore | None  # its score in the run that reports use, see `newest_alignment`


class AnswerPart(NamedTuple):
    """A part of an answer: text, a bracket with citations, or [NA]."""

    text: str
    facts: tuple[CitedFact, ...] = ()
    is_na: bool = False


class CitedAnswer(NamedTuple):
    """A response cut into text and citations."""

    response: Response
    parts: tuple[AnswerPart, ...]
    facts: tuple[CitedFact, ...]
    n_na: int
    is_graph_known: bool
    is_minimum_known: bool
    is_minimum_made_up: bool  # The set was drawn at random, so an answer may not need it.
    shown: tuple[ShownEntity, ...]
    removed: tuple[ShownEntity, ...]
    flat: str  # the graph shown, as the model read it

    @property
    def n_of(self) -> dict[str, int]:
        """The number of citations by verdict, in the order of verdicts, without zeros."""
        counts = {str(verdict): 0 for verdict in CitationVerdict}
        for fact in self.facts:
            if fact.verdict is not None:
                counts[str(fact.verdict)] += 1
        return {verdict: n for verdict, n in counts.items() if n}


def judged_answers(dataset: Dataset, responses: Sequence[Response]) -> list[CitedAnswer]:
    """Return some responses of a dataset with their citations judged, as reports count them.

    This takes four queries, two more if the graph of some response is empty or not known, and one
    more if some response calls an entity by another name than the shown text does.
    """
    minima = minimum_sets(dataset, examples={response.example_id for response in responses})
    alignments = _alignments(dataset, responses)
    by_dataset = Vocabulary()
    if not all(response.graph_shown for response in responses):
        by_dataset = vocabularies([dataset.pk])[dataset.pk]
    known = {
        response.pk: shown_vocabulary(response.graph_shown) or by_dataset for response in responses
    }
    parsed = without_own_names(
        dataset.pk,
        {
            response.pk: parse_citations(response.text, *known[response.pk])
            for response in responses
        },
        {response.pk: response.graph_shown for response in responses},
    )
    return [
        _judged(
            response,
            known[response.pk],
            parsed[response.pk],
            minima.all.get(response.example_id),
            response.example_id in minima.made_up,
            alignments.get(response.pk, {}),
        )
        for response in responses
    ]


def answer_parts(cut: Iterable[TextPiece], facts: Iterable[CitedFact]) -> tuple[AnswerPart, ...]:
    """Return the pieces of an answer with what they cite.

    If the name in a bracket is a citation, it comes before the other citations of the bracket.
    """
    by_number = {fact.number: fact for fact in facts}
    return tuple(
        AnswerPart(
            piece.text,
            tuple(by_number[n] for n in (*piece.names, *piece.numbers) if n in by_number),
            piece.is_na,
        )
        for piece in cut
    )


def facts_of(parts: Iterable[AnswerPart]) -> tuple[CitedFact, ...]:
    """Return what an answer cites, in reading order."""
    return tuple(fact for part in parts for fact in part.facts)


def _judged(
    response: Response,
    known: Vocabulary,
    parsed: ParsedAnswer,
    minimum: Collection[Triple] | None,
    is_made_up: bool,
    alignments: Mapping[int, AutoScore],
) -> CitedAnswer:
    shown = triples_of(response.graph_shown)
    said: list[tuple[ParsedCitation, CitationVerdict | None]] = [
        (each, None) for each in parsed.citations
    ]
    if response.graph_shown is not None:
        said = list(judged(parsed, shown, minimum))
    facts = [
        CitedFact(*citation, verdict, alignments.get(citation.number)) for citation, verdict in said
    ]
    parts = answer_parts(pieces(response.text, *known), facts)
    return CitedAnswer(
        response=response,
        parts=parts,
        facts=facts_of(parts),
        n_na=sum(part.is_na for part in parts),
        is_graph_known=response.graph_shown is not None,
        is_minimum_known=minimum is not None,
        is_minimum_made_up=is_made_up,
        shown=entities_shown(shown),
        removed=entities_shown(response.removed),
        flat=flat_graph(shown),
    )


def _alignments(dataset: Dataset, responses: Sequence[Response]) -> dict[int, dict[int, AutoScore]]:
    """Return the score of each citation, by the response's id and the citation's number."""
    scored = AutoScore.objects.filter(
        run=newest_alignment(dataset),
        target__response__in=responses,
        target__citation__isnull=False,
    )
    found: dict[int, dict[int, AutoScore]] = defaultdict(dict)
    for score in scored.select_related("run", "target__citation"):
        if score.target.citation is not None:
            found[score.target.response_id][score.target.citation.number] = score
    return found
