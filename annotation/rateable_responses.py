"""The responses that raters can be asked about, with the texts that are shown beside them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import NamedTuple

from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Length

from annotation.schemes import Scheme
from generation.evidence import evidence_of, graphs_of
from generation.models import SAYS_NOTHING, Passage, Response, Turn
from generation.text.flat_graph import Triple

MOST_IN_A_UNIT = 8  # responses that a merged unit can show

NOTHING_SAID = "responses without text: no rater gets them"
TO_QUALIFY = "responses that people judge to qualify: they are told the answers"
NO_EVIDENCE = "responses without evidence: no rater gets them"


class RateableResponse(NamedTuple):
    """One response that may be rated."""

    pk: int
    key: str
    n_characters: int


class ShownEvidence(NamedTuple):
    """The evidence that a unit shows with a response."""

    passages: tuple[int, ...] = ()
    graph: frozenset[Triple] = frozenset()  # pages use the order of the unit's first response

    def n_characters(self, lengths: Mapping[int, int]) -> int:
        """Return the length of the passages, by `passage_lengths`, and of the graph."""
        of_graph = sum(len(relation) + len(value) for _, relation, value in self.graph)
        return sum(lengths[passage] for passage in self.passages) + of_graph

    @property
    def same(self) -> tuple[frozenset[int], frozenset[Triple]]:
        """The evidence without its order. Responses that are equal in it may be merged."""
        return frozenset(self.passages), self.graph


def candidates_of(
    responses: QuerySet[Response],
    examples: Collection[int],
    left_out: Counter[str],
    to_qualify: Collection[int] = (),
) -> dict[int, list[RateableResponse]]:
    """Return each example's responses that have a text, lowest temperature first, then by setup.

    Args:
        responses: responses of one dataset.
        examples: ids of the examples whose responses count.
        left_out: is added to: what is left out, by reason.
        to_qualify: ids of the responses of the qualification round, which are left out.
    """
    silent = responses.filter(text__regex=SAYS_NOTHING).values_list("pk", "example")
    is_silent = {pk for pk, example in silent if example in examples}
    left_out[NOTHING_SAID] += len(is_silent)
    rows = responses.order_by(
        "example__key", F("setup__temperature").asc(nulls_last=True), "setup__name", "key"
    ).values_list("example", "pk", "key", Length("text"))
    candidates: dict[int, list[RateableResponse]] = defaultdict(list)
    for example, pk, key, n_characters in rows.iterator(chunk_size=5000):
        if example in examples and pk in to_qualify:
            left_out[TO_QUALIFY] += 1
        elif example in examples and pk not in is_silent:
            candidates[example].append(RateableResponse(pk, key, n_characters))
    return candidates


def dialog_lengths(dataset: int, only: Collection[int] | None = None) -> dict[int, int]:
    """Return the number of characters of each dialog; examples without turns are left out.

    Args:
        dataset: its id.
        only: ids of examples; all others are left out.
    """
    turns = Turn.objects.filter(example__dataset=dataset)
    if only is not None:
        turns = turns.filter(example__in=only)
    return dict(turns.order_by().values_list("example").annotate(n=Sum(Length("text"))))


def passage_lengths(dataset: int, only: Collection[int] | None = None) -> dict[int, int]:
    """Return the number of characters of each passage, or of those with the ids `only`."""
    passages = Passage.objects.filter(dataset=dataset)
    if only is not None:
        passages = passages.filter(pk__in=only)
    return dict(passages.values_list("pk", Length("text")))


def evidence_shown(
    responses: QuerySet[Response],
    choice: str,
    scheme: Scheme,
    candidates: dict[int, list[RateableResponse]],
    left_out: Counter[str],
) -> Mapping[int, ShownEvidence]:
    """Return the evidence that is shown with each response, by the response's id.

    Responses that cannot be rated because they have no evidence are removed from `candidates`.

    Args:
        responses: responses of one dataset, the candidates among them.
        choice: the evidence choice.
        scheme: the questions; they may need evidence, or show none.
        candidates: example → responses.
        left_out: is added to: what is left out, by reason.
    """
    if scheme.evidence == "none":
        return {r.pk: ShownEvidence() for of_example in candidates.values() for r in of_example}
    wanted = {r.pk for of_example in candidates.values() for r in of_example}
    passages = evidence_of(responses, choice, wanted)
    known: dict[frozenset[Triple], frozenset[Triple]] = {}  # equal graphs are kept once
    evidence = {
        pk: ShownEvidence(passages[pk], known.setdefault(triples, triples))
        for pk, graph in graphs_of(responses, choice, wanted)
        for triples in [frozenset(graph)]
    }
    if scheme.evidence == "needed":
        for example, of_example in candidates.items():
            candidates[example] = [r for r in of_example if any(evidence[r.pk])]
            left_out[NO_EVIDENCE] += len(of_example) - len(candidates[example])
    return evidence


def with_same_evidence(
    responses: Iterable[RateableResponse], evidence: Mapping[int, ShownEvidence]
) -> Iterable[list[RateableResponse]]:
    """Return responses in groups with the same passages and the same triples, in any order."""
    groups: dict[Hashable, list[RateableResponse]] = defaultdict(list)
    for response in responses:
        groups[evidence[response.pk].same].append(response)
    return groups.values()
