"""Units as raters see them: the texts in their order, and the rater's answers so far.

This module only reads. Its results do not show which setup made a response.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from annotation.graph_tables import (
    EntityTable,
    ResponsePart,
    entity_tables,
    linked_parts,
    with_citing_places,
)
from annotation.models import (
    Arm,
    Enquiry,
    Rater,
    Skip,
    Study,
    Target,
    Unit,
    Vote,
)
from annotation.ordering import shown_order
from annotation.schemes import Scheme, load_scheme
from annotation.unit_rows import GivenUnit, given_to_judge, given_unit, targets_of, texts_of
from generation.evidence import same_graph
from generation.models import Citation, Passage, Response, Turn
from generation.services.citations import shown_vocabulary
from generation.text.citations import without_citations
from generation.text.cited_vocabulary import Vocabulary

NOTHING_KNOWN = Vocabulary()
State = Literal[
    "open", "submitted", "surplus", "gone", "skipped", "closed", "preview", "qualification"
]


class Share(NamedTuple):
    """The units of a study that a rater has done, and the number that is a fair share."""

    guideline_version: int
    n_submitted: int
    n_share: int
    seconds_per_unit: float | None = None  # the rater's own median; None: too few units are done


class ShownResponse(NamedTuple):
    """One response, or one citation of it, as a unit shows it."""

    position: int  # place in the unit, from 1
    target_id: int
    text: str  # citations are removed if the scheme requires it
    citation: Citation | None
    flag: str | None  # the rater's reason, which may be empty; None: not flagged
    parts: tuple[ResponsePart, ...] = ()  # the text in parts, if it cites rows of the evidence


class RatedUnit(NamedTuple):
    """A unit as one rater sees it.

    `state` is open (in hand), submitted, surplus (submitted after the slot was gone), gone (to
    another rater), skipped, closed (the study is closed, and nothing was submitted), preview, or
    qualification (an item of the qualification round).
    `answers` are those of the rater's own votes, or else of the draft: target → question → answer.
    """

    study: Study
    scheme: Scheme
    unit: Unit
    arm: str
    state: State
    turns: list[Turn]
    passages: list[Passage]
    responses: list[ShownResponse]
    answers: dict[int, dict[str, int]]
    seconds: float  # time on task so far, from the draft
    share: Share
    saved_at: datetime | None = None  # when the draft was saved
    graph: tuple[EntityTable, ...] = ()  # the graph of the evidence, beside the passages
    is_taken_out: bool = False  # whether the rater was taken out of the study
    enquiries: Sequence[Enquiry] = ()  # the rater's questions about it, with answers

    @property
    def open_enquiry(self) -> Enquiry | None:
        """The rater's question about this unit that waits for an answer; None without one."""
        return next((enquiry for enquiry in self.enquiries if enquiry.is_open), None)

    @property
    def is_outside_queue(self) -> bool:
        """Whether no answer in it becomes a vote, so that it has no draft, skip or flag."""
        return self.state in ("preview", "qualification")

    @property
    def is_changeable(self) -> bool:
        """Whether the rater may still change what they submitted."""
        is_done = self.state in ("submitted", "surplus")
        return is_done and self.study.is_running and not self.is_taken_out


def fair_share(rater: Rater, n_raters: int) -> int:
    """Return a rater's fair share: the slots of their group, divided among its `n_raters`."""
    study = rater.study
    n_units = study.n_units_by_group[rater.group] if study.n_units_by_group else 0
    n_share = study.fair_share(n_units, n_raters) + study.n_gold_units
    return min(n_share, study.most_units_per_rater or n_share)


def rated_unit(rater: Rater, unit_id: int) -> RatedUnit | None:
    """Return a unit that a rater was given; None if they were not, or it does not exist."""
    given = given_unit(rater, unit_id)
    if given is None:
        return None
    unit, study = given.unit, rater.study
    scheme = load_scheme(study.scheme)
    targets, flags = targets_of(unit, rater)
    state: State = "closed" if study.state == Study.State.CLOSED else "open"
    answers = given.answers
    if given.is_submitted or not given.has_slot:
        votes = _votes(rater, unit, targets)
        state = _state_without_slot(rater, given, is_voted=bool(votes))
        answers = votes or answers
    order = order_of(study, rater.code, unit.pk, len(targets))
    graph, responses = _graph_and_responses(study, scheme, targets, order, flags)
    turns, passages = texts_of(unit)
    enquiries = unit.enquiries.filter(rater=rater) if given.n_enquiries else ()
    n_share = fair_share(rater, given.n_raters)
    return RatedUnit(
        study=study,
        scheme=scheme,
        unit=unit,
        arm=given.arm,
        state=state,
        turns=turns,
        passages=passages,
        responses=responses,
        answers=answers,
        seconds=given.seconds,
        share=Share(given.guideline_version, given.n_submitted, n_share, given.seconds_per_unit),
        saved_at=given.saved_at,
        graph=graph,
        is_taken_out=rater.taken_out_at is not None,
        enquiries=list(enquiries),
    )


def unit_to_judge(rater: Rater, unit_id: int) -> RatedUnit | None:
    """Return a unit with its questions, but without the texts, flags and answers of a page.

    It costs less, for drafts and submits, which are frequent. Return None as `rated_unit` does.
    """
    given = given_to_judge(rater, unit_id)
    if given is None:
        return None
    order = order_of(rater.study, rater.code, given.unit.pk, len(given.targets))
    return RatedUnit(
        study=rater.study,
        scheme=load_scheme(rater.study.scheme),
        unit=given.unit,
        arm=given.arm,
        state="open",
        turns=[],
        passages=[],
        responses=[
            ShownResponse(position, given.targets[place], "", None, None)
            for position, place in enumerate(order, start=1)
        ],
        answers={},
        seconds=0.0,
        share=Share(0, 0, 0),
    )


def _state_without_slot(rater: Rater, given: GivenUnit, *, is_voted: bool) -> State:
    """Return the state of a unit in which the rater has no open slot."""
    if given.has_slot:
        return "submitted"
    if is_voted:
        return "surplus"
    if Skip.objects.filter(unit=given.unit, rater=rater).exists():
        return "skipped"
    return "closed" if rater.study.state == Study.State.CLOSED else "gone"


def _votes(rater: Rater, unit: Unit, targets: Sequence[Target]) -> dict[int, dict[str, int]]:
    """Return the answers that a rater gave to a unit's targets."""
    given: dict[int, dict[str, int]] = {}
    votes = Vote.objects.filter(arm=unit.arm_id, rater=rater, target__in=targets, is_implied=False)
    for target, question, answer in votes.values_list("target", "question", "answer"):
        given.setdefault(target, {})[question] = answer
    return given


def order_of(study: Study, rater: str, unit: int, n: int) -> Sequence[int]:
    """Return the places of a unit with n responses, in the order in which they are shown."""
    if study.response_order == Study.ResponseOrder.FIXED:
        return range(n)
    return shown_order(study.seed, rater, unit, n)


def shown_text(scheme: Scheme, response: Response) -> str:
    """Return a response's text as raters, and metrics of the same question, see it."""
    if scheme.citations == "shown":
        return response.text
    known = shown_vocabulary(response.graph_shown) or NOTHING_KNOWN
    return without_citations(response.text, *known)


def _graph_and_responses(
    study: Study,
    scheme: Scheme,
    targets: Sequence[Target],
    order: Sequence[int],
    reasons: Mapping[int, str],
) -> tuple[tuple[EntityTable, ...], list[ShownResponse]]:
    """Return the graph of a unit, and its responses in order, with links between the two.

    Citations link to the graph only where the page shows it once, beside all questions.
    """
    tables = _graph_tables(study, scheme, [target.response for target in targets])
    is_linked = scheme.target == "response" and not scheme.has_evidence_by_question
    shown = [
        ShownResponse(
            position=position,
            target_id=targets[place].pk,
            text=shown_text(scheme, targets[place].response),
            citation=targets[place].citation if targets[place].citation_id else None,
            flag=reasons.get(targets[place].response_id),
            parts=_linked(targets[place].response, tables, f"{position}." if order[1:] else "")
            if is_linked
            else (),
        )
        for position, place in enumerate(order, start=1)
    ]
    return with_citing_places(tables, (each.parts for each in shown)), shown


def _graph_tables(
    study: Study, scheme: Scheme, responses: Sequence[Response]
) -> tuple[EntityTable, ...]:
    """Return the tables that are evidence for all responses of a unit, with three queries at most.

    Return no tables if the responses have different graphs.
    """
    if scheme.evidence == "none":
        return ()
    return entity_tables(same_graph(responses, study.evidence_choice))


def _linked(
    response: Response, tables: Sequence[EntityTable], place: str
) -> tuple[ResponsePart, ...]:
    if not tables:
        return ()
    facts = ((table.qid, fact.relation, fact.value) for table in tables for fact in table.facts)
    qids = frozenset(table.qid for table in tables)
    known = shown_vocabulary(response.graph_shown) or Vocabulary.of(facts)._replace(qids=qids)
    return linked_parts(response.text, tables, known, place)


def unit_outside_queue(
    study: Study,
    unit: Unit,
    targets: Sequence[Target],
    passages: list[Passage],
    *,
    arm: str = Arm.Kind.SEPARATE,
    state: State,
    share: Share,
) -> RatedUnit:
    """Return a unit that no rater has: nothing that is answered in it becomes a vote.

    Args:
        unit: the unit, which need not be stored.
        targets: the targets in the order in which they are shown.
    """
    scheme = load_scheme(study.scheme)
    graph, responses = _graph_and_responses(study, scheme, targets, range(len(targets)), {})
    turns, _ = texts_of(unit)
    return RatedUnit(
        study=study,
        scheme=scheme,
        unit=unit,
        arm=arm,
        state=state,
        turns=turns,
        passages=passages,
        responses=responses,
        answers={},
        seconds=0.0,
        share=share,
        graph=graph,
    )
