"""Users' questions about a graph: they are stored as examples, and asked as grids of one call.

Nothing here sends work to a queue; `generation.tasks.send` does.
"""

import json
from hashlib import sha256
from typing import Annotated, NamedTuple

from django.db import IntegrityError, transaction
from django.utils.text import Truncator

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from generation.choices.declaration import Choice
from generation.filters import Cascade, Filters
from generation.grids.grid_file import HIGHEST_TEMPERATURE, GridChoices, GridModel, Precision
from generation.grids.question_graphs import QuestionGraphs
from generation.limits import LARGEST_SEED, LONGEST_NAME
from generation.models import (
    ASKED,
    Dataset,
    Example,
    Grid,
    GridChunk,
    Sample,
    SampledExample,
)
from generation.models.grids import LENGTH_OF_MARK
from generation.records import KGQuestionRecord, Where
from generation.sample_choices import SampleChoices
from generation.services.graphs import store_kg_questions
from generation.services.grids import (
    delete_unused_setups,
    request_grid,
    resume_grid,
    retry_failed,
    start_grid,
)
from generation.services.planning import PLANNINGS
from generation.text.prompt_types import prompt_type
from generation.text_html import forget_texts
from work.claims import with_a_worker

LONGEST_QUESTION = 2_000
PROMPT = "graph-retrieved"
MOST_NEW_TOKENS = 500  # tokens of an answer with its citations
State = Grid.State


class QuestionError(ValueError):
    """A change to a question that is refused; the message may be shown on a page."""


class AskedOf(NamedTuple):
    """The model that is asked, and its settings."""

    model: str
    precision: Precision = "fp32"
    temperature: Annotated[
        float,
        Choice(
            "Temperature",
            help="0: the model always takes the most likely token.",
            low=0,
            high=HIGHEST_TEMPERATURE,
        ),
    ] = 0.0
    seed: Annotated[
        int, Choice("Seed", help="It fixes the random draw.", low=0, high=LARGEST_SEED)
    ] = 0


def key_of(question: str) -> str:
    """Return the key of a question: the same for the same words, with any white space."""
    return f"{ASKED}{sha256(' '.join(question.split()).encode()).hexdigest()[:16]}"


def store_question(dataset: Dataset, question: str, user: User | None) -> Example:
    """Return the example of a question; store it if the dataset has no question with these words.

    A question stored here is ad hoc and in no benchmark. Its gold entities and minimum set are not
    known.
    """
    text = " ".join(question.split())
    key = key_of(text)
    same = dataset.examples.filter(kg_question__isnull=False, turns__index=0, turns__text=text)
    there = same.order_by("pk").first()
    if there is not None:
        return there
    record = KGQuestionRecord(Where("", 0), key, text, (), None, None, is_ad_hoc=True)
    try:
        with transaction.atomic():
            store_kg_questions(dataset, [record])
            record_in_audit_trail(user, "question.asked", dataset.name, dataset=dataset.pk, key=key)
    except IntegrityError:  # another user asked it at the same moment
        pass
    return dataset.examples.get(key=key)


def ask(example: Example, asked: AskedOf, user: User | None) -> Grid:
    """Return the grid that asks one question of one model; it may be going on or ended.

    Asking the same again leads to the same call, as long as the graph is the same. A call that
    failed is tried once more.

    Raises:
        GridError: the model is not available any more.
        GridChangeError: another grid has the name.
    """
    grid = request_grid(example.dataset, _grid(example, asked, user), user)
    if grid.state in (State.CANCELLED, State.FAILED):
        resume_grid(grid, user)
    elif grid.state == State.DONE:
        retry_failed(grid, user)
    PLANNINGS.claim_and_do(grid.pk)
    grid.refresh_from_db()
    if grid.state == State.PLANNED:  # one call at most: its plan needs no review
        start_grid(grid, user)
        grid.refresh_from_db()
    return grid


def grids_about(example: Example) -> list[Grid]:
    """Return the grids that ask about one example only, newest first.

    Of the grids that asked the same about different states of the graph, only the newest is
    returned.
    """
    own = Grid.objects.filter(dataset=example.dataset_id, sample__name=_name_of(example))
    newest: dict[str, Grid] = {}
    for grid in own.order_by("-pk"):
        newest.setdefault(json.dumps(grid.choices | {"name": ""}, sort_keys=True), grid)
    return list(newest.values())


@transaction.atomic
def delete_question(example: Example, user: User | None) -> None:
    """Delete an ad-hoc question with its answers, its grids and the setups that nothing else uses.

    Raises:
        QuestionError: the question is not ad hoc, or is being asked.
    """
    locked = Example.objects.select_for_update(of=("self",)).select_related("dataset")
    example = locked.get(pk=example.pk)
    if not example.is_ad_hoc:
        raise QuestionError(
            f"{example.key} is a question of {example.dataset} itself, so it cannot be deleted."
        )
    samples = Sample.objects.filter(dataset=example.dataset_id, name=_name_of(example))
    grids = Grid.objects.filter(sample__in=samples)
    at_work = GridChunk.objects.filter(with_a_worker(), grid__in=grids)
    is_asked = any(grid.state in Grid.GOING_ON for grid in grids.select_for_update(of=("self",)))
    if is_asked or at_work.exists():
        raise QuestionError(
            "This question is being asked. Wait for its answer, or cancel its grid."
        )
    setups = set(example.responses.values_list("setup", flat=True))
    setups |= set(grids.values_list("setups", flat=True))
    record_in_audit_trail(
        user,
        "question.deleted",
        example.dataset.name,
        key=example.key,
        n_responses=example.responses.count(),
    )
    grids.delete()
    samples.delete()
    example.delete()
    delete_unused_setups(setups)
    transaction.on_commit(forget_texts)


def _grid(example: Example, asked: AskedOf, user: User | None) -> GridChoices:
    sample = _sample_of(example, user)
    how = f"{asked.model}, {asked.precision}, {asked.temperature:g}, seed {asked.seed}"
    graph = QuestionGraphs(example.dataset_id, prompt_type(PROMPT)).signature
    asked_for = f"{example.dataset.slug} {example.key} {how} {graph}"
    digest = sha256(asked_for.encode()).hexdigest()[: LENGTH_OF_MARK - 1]
    return GridChoices(
        name=f"{Truncator(_question_of(example)).chars(LONGEST_NAME - LENGTH_OF_MARK)} {digest}",
        models=(GridModel(asked.model, asked.precision),),
        sample=sample.name,
        prompts=(PROMPT,),
        temperatures=(asked.temperature,),
        seeds=(asked.seed,),
        max_tokens=(MOST_NEW_TOKENS,),
    )


def _question_of(example: Example) -> str:
    turn = example.turns.order_by("-index").first()
    return " ".join(turn.text.split()) if turn else example.key


def _name_of(example: Example) -> str:
    """Return the name of the sample that consists of one example."""
    return f"{ASKED}{sha256(example.key.encode()).hexdigest()[:16]}"


@transaction.atomic
def _sample_of(example: Example, user: User | None) -> Sample:
    """Return the sample that consists of one example; create it if there is none."""
    choices = SampleChoices(_name_of(example), Filters(), size=1)
    sample, is_new = Sample.objects.get_or_create(
        dataset=example.dataset,
        name=choices.name,
        defaults={
            "parameters": choices.parameters,
            "cascade": Cascade(choices.filters).counts(),
            "state": Sample.State.DONE,
            "n_done": 1,
            "n_total": 1,
            "requested_by": user,
        },
    )
    if is_new:
        SampledExample.objects.create(sample=sample, example=example, position=1)
    return sample
