"""The material that runs score: responses and citations with their dialogs and evidence."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from annotation.models import Target
from evaluation.measures.entailment import EvidencePassage
from evaluation.metrics.base import ScoringMaterial
from evaluation.models import MetricRun
from generation.evidence import evidence_of, graphs_of_loaded
from generation.models import Citation, Passage, Response, Turn
from generation.text.citations import ParsedCitation
from generation.text.flat_graph import Triple
from generation.text.user_questions import user_question

READ_TOGETHER = 50  # responses
NO_CITATIONS: Mapping[int, ParsedCitation] = MappingProxyType({})


def unscored(run: MetricRun, targets: Sequence[int]) -> Iterator[ScoringMaterial]:
    """Yield the material of those targets that have no row of the run yet, in the order given.

    Only a few are read at a time, because their evidence may be long.
    """
    for start in range(0, len(targets), READ_TOGETHER):
        some = targets[start : start + READ_TOGETHER]
        rows = Target.objects.filter(pk__in=some).exclude(scores__run=run)
        found = rows.select_related("citation")
        citations = {target.pk: content_of(target.citation) for target in found if target.citation}
        response_of = {target.pk: target.response_id for target in found}
        yield from material_of(response_of, some, run, citations)


def content_of(citation: Citation) -> ParsedCitation:
    """Return the content of a citation. It is empty if only the citation's number is known yet."""
    return ParsedCitation(*(getattr(citation, name) for name in ParsedCitation._fields))


def material_of(
    response_of: Mapping[int, int],
    targets: Collection[int],
    run: MetricRun,
    citations: Mapping[int, ParsedCitation] = NO_CITATIONS,
) -> list[ScoringMaterial]:
    """Return the material that a run scores, in the order of the targets.

    Args:
        response_of: target → response. Targets that it does not have are left out.
        targets: the ids of targets.
        run: the run. Its evidence choice decides which evidence is read.
        citations: target → citation, for the targets that are citations.
    """
    responses = Response.objects.filter(pk__in=response_of.values())
    choice = run.parameters.get("evidence", "")
    evidence = evidence_of(responses, choice) if choice else {}
    wanted = {passage for shown in evidence.values() for passage in shown}
    texts = dict(Passage.objects.filter(pk__in=wanted).values_list("pk", "text"))
    by_id = {response.pk: response for response in responses.select_related("setup")}
    loaded = list(by_id.values()) if choice else []
    graphs = dict(zip((r.pk for r in loaded), graphs_of_loaded(loaded, choice), strict=True))
    dialogs = _dialogs({response.example_id for response in by_id.values()})
    return [
        ScoringMaterial(
            target=target,
            text=response.text,
            turns=dialogs.get(response.example_id),
            passages=[EvidencePassage(pk, texts[pk]) for pk in evidence.get(response.pk, ())],
            evidence=choice,
            is_evidence_stated=response.is_evidence_stated,
            graph=_triples(response.graph_shown or ()),
            evidence_graph=graphs.get(response.pk),
            model=response.setup.model,
            removed=None if response.removed is None else _triples(response.removed),
            citation=citations.get(target),
            language=run.parameters.get("language", ""),
        )
        for target in targets
        if target in response_of
        for response in [by_id[response_of[target]]]
    ]


def _triples(stored: Iterable[Sequence[str]]) -> tuple[Triple, ...]:
    return tuple((qid, relation, value) for qid, relation, value in stored)


def user_questions(examples: Collection[int]) -> dict[int, str]:
    """Return the user question of each example whose dialog is known, by example id.

    It is the last turn of the user, or the last turn if the user has none.
    """
    return {example: user_question(turns) for example, turns in _dialogs(examples).items()}


def _dialogs(examples: Collection[int]) -> dict[int, tuple[tuple[str, str], ...]]:
    """Return the turns of each dialog that is known, as speaker and text, by example id."""
    turns: dict[int, list[tuple[str, str]]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=examples).order_by("example", "index")
    for example, speaker, text in rows.values_list("example", "speaker", "text"):
        turns[example].append((speaker, text))
    return {example: tuple(dialog) for example, dialog in turns.items()}
