"""Units as raters see them: the texts in their order, and the rater's answers so far.

This module only reads. Its results do not show which setup made a response.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from annotation.graph_tables import (
    EntityTable,
    ResponsePart,
    entity_tables,
    linked_parts,
    with_citing_places,
)
from annotation.models import (
    Arm,
    Assignment,
    Draft,
    Enquiry,
    Exposure,
    Flag,
    Rater,
    Skip,
    Study,
    Target,
    Unit,
    UnitPassage,
    UnitTarget,
    Vote,
)
from annotation.ordering import shown_order
from annotation.schemes import Scheme, load_scheme
from generation.evidence import same_graph
from generation.models import Citation, Passage, Response, Turn
from generation.services.citations import Vocabulary, shown_vocabulary
from generation.text.citations import without_citations

NOTHING_KNOWN = Vocabulary(frozenset(), frozenset())
State = Literal[
    "open", "submitted", "surplus", "gone", "skipped", "closed", "preview", "qualification"
]


class Share(NamedTuple):
    """The units of a study that a rater has done, and the number that is a fair share."""

    guideline_version: int
    n_submitted: int
    n_share: int
    n_enquiries: int = 0  # how many questions the rater asked researchers about one unit


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
    lease_until: datetime | None
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


# This is plain SQL, because every rating page needs it: Django takes longer to build three
# subqueries than a database takes to answer them.
PROGRESS = """
    SELECT
      (SELECT MAX(version) FROM annotation_guideline WHERE study_id = %(study)s),
      (SELECT COUNT(*) FROM annotation_rater
       WHERE study_id = %(study)s AND "group" = %(group)s AND NOT is_excluded
         AND taken_out_at IS NULL),
      (SELECT COUNT(*) FROM annotation_assignment
       WHERE rater_id = %(rater)s AND submitted_at IS NOT NULL),
      (SELECT COUNT(*) FROM annotation_enquiry
       WHERE unit_id = %(unit)s AND rater_id = %(rater)s)
"""


def share_of(rater: Rater, unit_id: int) -> Share:
    """Return a rater's progress, and how many enquiries they have about a unit."""
    of = {"study": rater.study_id, "group": rater.group, "rater": rater.pk, "unit": unit_id}
    with connection.cursor() as cursor:
        cursor.execute(PROGRESS, of)
        version, n_raters, n_submitted, n_enquiries = cursor.fetchone()
    return Share(version or 0, n_submitted, fair_share(rater, n_raters), n_enquiries)


def fair_share(rater: Rater, n_raters: int) -> int:
    """Return a rater's fair share: the slots of their group, divided among its `n_raters`."""
    study = rater.study
    n_units = study.n_units_by_group[rater.group] if study.n_units_by_group else 0
    n_share = study.fair_share(n_units, n_raters) + study.n_gold_units
    return min(n_share, study.most_units_per_rater or n_share)


def rated_unit(rater: Rater, unit_id: int) -> RatedUnit | None:
    """Return a unit that a rater was given; None if they were not, or it does not exist."""
    given = _given(rater, unit_id)
    if given is None:
        return None
    unit, assignment = given
    scheme = load_scheme(rater.study.scheme)
    asked_about = ["target__response"]
    if scheme.target == "citation":
        asked_about.append("target__citation")
    targets = [place.target for place in _places(unit).select_related(*asked_about)]
    draft = Draft.objects.filter(unit=unit, rater=rater).first()
    flags = Flag.objects.filter(arm=unit.arm_id, rater=rater)
    reasons = dict(
        flags.filter(response__in=[target.response_id for target in targets]).values_list(
            "response", "reason"
        )
    )
    state: State = "closed" if rater.study.state == Study.State.CLOSED else "open"
    answers = {int(target): given for target, given in draft.answers.items()} if draft else {}
    if assignment is None or assignment.submitted_at:
        votes = _votes(rater, unit, targets)
        state = _state_without_slot(rater, unit, assignment, is_voted=bool(votes))
        answers = votes or answers
    order = order_of(rater.study, rater.code, unit.pk, len(targets))
    graph, responses = _graph_and_responses(rater.study, scheme, targets, order, reasons)
    share = share_of(rater, unit.pk)
    return RatedUnit(
        study=rater.study,
        scheme=scheme,
        unit=unit,
        arm=unit.arm.kind,
        state=state,
        lease_until=assignment.lease_until if assignment else None,
        turns=_turns(unit.example_id),
        passages=passages_of(unit),
        responses=responses,
        answers=answers,
        seconds=draft.seconds if draft else 0.0,
        share=share,
        saved_at=draft.saved_at if draft else None,
        graph=graph,
        is_taken_out=rater.taken_out_at is not None,
        enquiries=list(unit.enquiries.filter(rater=rater)) if share.n_enquiries else [],
    )


def unit_to_judge(rater: Rater, unit_id: int) -> RatedUnit | None:
    """Return a unit with its questions, but without the texts, flags and answers of a page.

    It costs less, for drafts and submits, which are frequent. Return None as `rated_unit` does.
    """
    given = _given(rater, unit_id)
    if given is None:
        return None
    unit, _ = given
    targets = list(_places(unit).values_list("target", flat=True))
    return RatedUnit(
        study=rater.study,
        scheme=load_scheme(rater.study.scheme),
        unit=unit,
        arm=unit.arm.kind,
        state="open",
        lease_until=None,
        turns=[],
        passages=[],
        responses=[
            ShownResponse(position, targets[place], "", None, None)
            for position, place in enumerate(
                order_of(rater.study, rater.code, unit.pk, len(targets)), start=1
            )
        ],
        answers={},
        seconds=0.0,
        share=Share(0, 0, 0),
    )


def _given(rater: Rater, unit_id: int) -> tuple[Unit, Assignment | None] | None:
    """Return a unit that a rater has or had, with their slot if they still have it."""
    slots = Assignment.objects.filter(unit=unit_id, rater=rater).select_related("unit__arm")
    for assignment in slots:
        return assignment.unit, assignment
    met = Exposure.objects.filter(unit=unit_id, rater=rater).select_related("unit__arm")
    for exposure in met[:1]:
        return exposure.unit, None
    return None


def _places(unit: Unit) -> QuerySet[UnitTarget]:
    return UnitTarget.objects.filter(unit=unit).order_by("place")


def _state_without_slot(
    rater: Rater, unit: Unit, assignment: Assignment | None, *, is_voted: bool
) -> State:
    """Return the state of a unit in which the rater has no open slot."""
    if assignment:
        return "submitted"
    if is_voted:
        return "surplus"
    if Skip.objects.filter(unit=unit, rater=rater).exists():
        return "skipped"
    return "closed" if rater.study.state == Study.State.CLOSED else "gone"


def _votes(rater: Rater, unit: Unit, targets: Sequence[Target]) -> dict[int, dict[str, int]]:
    """Return the answers that a rater gave to a unit's targets."""
    given: dict[int, dict[str, int]] = {}
    votes = Vote.objects.filter(arm=unit.arm_id, rater=rater, target__in=targets, is_implied=False)
    for target, question, answer in votes.values_list("target", "question", "answer"):
        given.setdefault(target, {})[question] = answer
    return given


def _turns(example: int) -> list[Turn]:
    return list(Turn.objects.filter(example=example).order_by("index"))


def passages_of(unit: Unit) -> list[Passage]:
    """Return the passages that a unit shows as evidence, in their order."""
    shown = UnitPassage.objects.filter(unit=unit).select_related("passage").order_by("position")
    return [row.passage for row in shown]


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
    known = shown_vocabulary(response.graph_shown) or Vocabulary(
        frozenset(fact.relation for table in tables for fact in table.facts),
        frozenset(table.qid for table in tables),
    )
    return linked_parts(response.text, tables, *known, place)


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
    return RatedUnit(
        study=study,
        scheme=scheme,
        unit=unit,
        arm=arm,
        state=state,
        lease_until=None,
        turns=_turns(unit.example_id),
        passages=passages,
        responses=responses,
        answers={},
        seconds=0.0,
        share=share,
        graph=graph,
    )
