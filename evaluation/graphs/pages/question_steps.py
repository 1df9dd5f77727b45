"""The steps by which one question about a graph is answered (KaLMA, figure 1).

This module only reads.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.urls import reverse

from evaluation.graphs.pages.graph import pages_of
from generation.grids.material import materials
from generation.grids.prompt_choices import PromptChoices
from generation.grids.prompts import PromptMaker
from generation.models import Call, Example, Grid, KGQuestion
from generation.retrieval.name_spelling import ways_found
from generation.retrieval.subgraphs import (
    Candidate,
    MentionSteps,
    Retrieved,
    SubgraphRetriever,
    shown_subgraphs,
)
from generation.services.asked_questions import grids_about
from generation.text.compared_triples import compared
from generation.text.dialog_prompts import PromptLine, prompt_lines
from generation.text.flat_graph import Triple
from generation.text.prompt_types import prompt_type

State = Grid.State
MOST_TRIPLES = 200  # triples of one sub-graph that the page lists


class TextPart(NamedTuple):
    """A part of the question: a name with its number from 1, or the text between two names."""

    text: str
    number: int = 0
    kind: str = ""


class EntityCandidateRow(NamedTuple):
    candidate: Candidate
    url: str
    is_chosen: bool
    ways: str  # how the name in the question was read as its name; "" if it is spelt so


class MentionRow(NamedTuple):
    """One name of the question with the entities that it may mean."""

    number: int
    steps: MentionSteps
    rows: tuple[EntityCandidateRow, ...]

    @property
    def n_dropped(self) -> int:
        """The number of candidates that the type filter dropped."""
        return sum(row.candidate.type_check == "dropped" for row in self.rows)


class TripleLine(NamedTuple):
    relation: str
    value: str
    is_minimum: bool


class OneHopGraph(NamedTuple):
    """The one-hop graph of one entity, and which sources say that the question needs it."""

    qid: str
    label: str  # "" where the entity is not in the graph
    url: str
    is_chosen: bool
    is_gold: bool
    is_imported: bool
    lines: tuple[TripleLine, ...]
    n_triples: int

    @property
    def n_minimum(self) -> int:
        """The number of listed triples that the answer needs."""
        return sum(line.is_minimum for line in self.lines)


class MinimumRow(NamedTuple):
    qid: str
    url: str
    relation: str
    value: str
    round: int | None
    is_shown: bool  # whether a sub-graph that was retrieved here contains it


class QuestionSteps(NamedTuple):
    """All steps that come before the answers."""

    text: str
    parts: tuple[TextPart, ...]
    recogniser: str
    recogniser_problem: str
    mentions: tuple[MentionRow, ...]
    graphs: tuple[OneHopGraph, ...]
    is_gold_known: bool
    is_imported_known: bool
    minimum: tuple[MinimumRow, ...] | None  # None: not known
    is_minimum_made_up: bool
    prompt: tuple[PromptLine, ...]
    n_prompt_tokens: int
    prompt_problem: str  # why there is no prompt

    @property
    def n_missing_entities(self) -> int:
        """The number of gold or imported entities that are not in the graph."""
        return sum(not graph.label for graph in self.graphs)

    @property
    def has_unchecked(self) -> bool:
        """Whether the type of some candidate could not be compared with the kind of its name."""
        return any(
            row.candidate.type_check == "unchecked"
            for mention in self.mentions
            for row in mention.rows
        )

    @property
    def has_dropped(self) -> bool:
        """Whether the type filter dropped some candidate."""
        return any(mention.n_dropped for mention in self.mentions)


class OnItsWay(NamedTuple):
    """A grid about this question alone whose answer is not there yet, or will not come."""

    grid: Grid
    model: str
    problem: str  # "" while the grid is still at work
    call: int | None  # the call that failed

    @property
    def is_going_on(self) -> bool:
        return self.grid.state in Grid.GOING_ON


def question_of(example: Example) -> str:
    """Return the question of an example: the text of its last turn, or "" without turns."""
    turn = example.turns.order_by("-index").first()
    return turn.text if turn else ""


def question_steps(example: Example, question: KGQuestion, slug: str) -> QuestionSteps:
    """Return how a question is answered with the current graph, by a fixed number of queries."""
    text = question_of(example)
    retriever = SubgraphRetriever(example.dataset_id)
    [found] = retriever.retrieved([text])
    named = list(question.entities.order_by("position").values_list("qid", "is_retrieved"))
    gold = [qid for qid, is_retrieved in named if not is_retrieved]
    imported = [qid for qid, is_retrieved in named if is_retrieved]
    needed = list(question.minimum.order_by("position"))
    minimum = {compared((each.qid, each.relation, each.value)) for each in needed}
    qids = list(dict.fromkeys([*found.qids, *gold, *imported]))
    graphs = shown_subgraphs(example.dataset_id, qids)
    urls = pages_of(example.dataset_id, slug, {*qids, *(each.qid for each in needed)})
    shown = {compared(triple) for qid in found.qids for triple in graphs.get(qid, ())}
    prompt = PromptMaker(example.dataset, PromptChoices(prompt_type("graph-retrieved"))).made(
        materials([example.pk])
    )[0]
    return QuestionSteps(
        text=text,
        parts=_parts(text, found.steps),
        recogniser=retriever.recogniser_title,
        recogniser_problem=retriever.recogniser_problem,
        mentions=_mentions(text, found, slug),
        graphs=tuple(
            _sub_graph(qid, graphs.get(qid, ()), urls, minimum, found.qids, gold, imported)
            for qid in qids
        ),
        is_gold_known=bool(gold),
        is_imported_known=question.is_retrieved_known,
        minimum=tuple(
            MinimumRow(
                each.qid,
                urls.get(each.qid, ""),
                each.relation,
                each.value,
                each.round,
                compared((each.qid, each.relation, each.value)) in shown,
            )
            for each in needed
        )
        if question.is_minimum_known
        else None,
        is_minimum_made_up=question.is_minimum_made_up,
        prompt=tuple(prompt_lines(prompt.prompt.text)) if prompt.prompt else (),
        n_prompt_tokens=prompt.prompt.n_tokens if prompt.prompt else 0,
        prompt_problem=prompt.problem,
    )


def on_their_way(example: Example) -> list[OnItsWay]:
    """Return the grids about this question alone that have not answered it, newest first.

    Their states are read before anything that they make. So whatever ends meanwhile still goes on
    here, and is asked for once more.
    """
    grids = list(grids_about(example))
    failed = {call.grid_id: call for call in Call.objects.filter(example=example, response=None)}
    waiting = []
    for grid in grids:
        call = failed.get(grid.pk)
        problem = call.problem if call else grid.error
        if grid.state == State.CANCELLED and not problem:
            problem = "It was cancelled."
        is_answered = grid.state == State.DONE and call is None
        if not is_answered:
            model = grid.choices["models"][0]["name"]
            problem = "" if grid.state in Grid.GOING_ON else problem
            waiting.append(OnItsWay(grid, model, problem, call.pk if call else None))
    return waiting


def _parts(text: str, steps: Sequence[MentionSteps]) -> tuple[TextPart, ...]:
    parts: list[TextPart] = []
    end = 0
    for number, step in enumerate(steps, start=1):
        mention = step.mention
        parts.append(TextPart(text[end : mention.start]))
        parts.append(TextPart(text[mention.start : mention.end], number, mention.kind))
        end = mention.end
    return tuple(part for part in (*parts, TextPart(text[end:])) if part.text)


def _mentions(text: str, found: Retrieved, slug: str) -> tuple[MentionRow, ...]:
    return tuple(
        MentionRow(
            number,
            step,
            tuple(
                EntityCandidateRow(
                    each,
                    reverse("graphs:entity", args=[slug, each.entity]),
                    each is step.chosen,
                    ", ".join(ways_found(text, *step.mention[1:3], each.alias or each.label)),
                )
                for each in step.candidates
            ),
        )
        for number, step in enumerate(found.steps, start=1)
    )


def _sub_graph(
    qid: str,
    triples: Sequence[Triple],
    urls: Mapping[str, str],
    minimum: set[Triple],
    chosen: Sequence[str],
    gold: Sequence[str],
    imported: Sequence[str],
) -> OneHopGraph:
    stated = triples[1:]
    lines = [
        TripleLine(triple[1], triple[2], is_minimum=compared(triple) in minimum)
        for triple in stated
    ]
    # If not all triples are listed, those that the answer needs come first.
    if len(lines) > MOST_TRIPLES:
        lines.sort(key=lambda line: not line.is_minimum)
    return OneHopGraph(
        qid,
        triples[0][2] if triples else "",
        urls.get(qid, ""),
        qid in chosen,
        qid in gold,
        qid in imported,
        tuple(lines[:MOST_TRIPLES]),
        len(stated),
    )
