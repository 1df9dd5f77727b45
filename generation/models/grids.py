"""Grids of calls of language models, and the result of each call."""

import re

from django.conf import settings
from django.db import models
from django.db.models import Q

from accounts.models import Archivable
from generation.models.datasets import Dataset, Example
from generation.models.samples import IS_ASKED, Sample
from generation.models.setups import Response, Setup
from work.models import ChunkedWork, Piece, held_while_running

# The grids that a person made by asking one question. Each name ends with a space and 12 digits.
ASKS_ONE_QUESTION = Q(sample__name__regex=IS_ASKED)
LENGTH_OF_MARK = 13


class Grid(ChunkedWork, Archivable):
    """One grid over a dataset: models × temperatures × prompt types × seeds and so on.

    It is planned first (its calls, their tokens and their price), then started. Its setups are
    those of the dataset: another grid that has one of them finds its responses there.
    """

    class State(models.TextChoices):
        PLANNING = "planning"  # a worker counts calls and tokens
        PLANNED = "planned"  # a researcher has to start it
        RUNNING = "running"
        CANCELLED = "cancelled"
        FAILED = "failed"  # its plan or a model cannot be used; `error` says why
        DONE = "done"

    # The states in which a worker has something to do for it.
    GOING_ON = (State.PLANNING, State.RUNNING)

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="grids")
    name = models.CharField(max_length=100, unique=True)
    sample = models.ForeignKey(
        Sample, models.PROTECT, null=True, blank=True, related_name="grids"
    )  # None: every example
    # All choices, in the form that a grid file has.
    choices = models.JSONField(db_column="grid")
    plan = models.JSONField(default=dict, blank=True)  # see `generation.grids.plan`
    setups = models.ManyToManyField(Setup, through="GridSetup", related_name="grids")
    state = models.CharField(max_length=9, choices=State, default=State.PLANNING)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        db_table = "generation_experiment"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """The name as people read it: a grid that asks one question is called as the question."""
        return self.name[:-LENGTH_OF_MARK] if self.asks_one_question else self.name

    @property
    def asks_one_question(self) -> bool:
        """Whether a person made it by asking one question."""
        return self.sample is not None and bool(re.match(IS_ASKED, self.sample.name))


class Planning(Piece):
    """The planning of a grid, which one worker does at a time."""

    grid = models.OneToOneField(Grid, models.CASCADE, primary_key=True, related_name="planning")

    class Meta:
        constraints = [held_while_running("planning_lease_while_running")]

    def __str__(self) -> str:
        return f"planning of grid {self.grid_id}"


class GridSetup(models.Model):
    """A setup under which a grid has responses made, in the grid's order."""

    grid = models.ForeignKey(Grid, models.CASCADE, related_name="cells", db_column="experiment_id")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        db_table = "generation_experimentsetup"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["grid", "setup"], name="experiment_setup_once"),
        ]

    def __str__(self) -> str:
        return f"setup {self.setup_id} of grid {self.grid_id}"


class GridChunk(Piece):
    """Some examples to be answered under one setup, by one worker at a time."""

    grid = models.ForeignKey(Grid, models.CASCADE, related_name="chunks", db_column="experiment_id")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    examples = models.JSONField()  # ids of examples that are left to ask about

    class Meta:
        db_table = "generation_experimentchunk"
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["grid", "number"], name="experiment_chunk_number_once"),
            held_while_running("experiment_chunk_lease_while_running"),
        ]
        indexes = [
            models.Index(
                fields=["grid", "number"],
                condition=~Q(state="done"),
                name="experiment_chunk_to_ask",
            ),
        ]

    def __str__(self) -> str:
        return f"chunk {self.number} of grid {self.grid_id}"


class Call(models.Model):
    """One call of a language model: the prompt, and the response or the reason why there is none.

    There is one call for a setup and an example, so that no call is made twice. A failed call is
    removed when the call is made again; the new one belongs to the grid that makes it. Tokens are
    counted as in `generation.text.tokens`, with the model's own counts beside them.
    """

    grid = models.ForeignKey(Grid, models.CASCADE, related_name="calls", db_column="experiment_id")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="calls")
    example = models.ForeignKey(Example, models.CASCADE, related_name="calls")
    response = models.OneToOneField(
        Response, models.CASCADE, null=True, blank=True, related_name="call"
    )
    problem = models.TextField(blank=True)
    prompt = models.TextField()  # word by word
    completion = models.TextField(blank=True)  # the text of the model, with its reasoning
    n_dialog_tokens = models.PositiveIntegerField(default=0)
    n_evidence_tokens = models.PositiveIntegerField(default=0)
    n_instruction_tokens = models.PositiveIntegerField(default=0)  # including a demonstration
    n_tokens = models.PositiveIntegerField(default=0)  # tokens of the whole prompt
    n_turns_left_out = models.PositiveIntegerField(default=0)  # left out because of the budget
    # Sentences of evidence that were left out because of the budget.
    n_sentences_left_out = models.PositiveIntegerField(default=0)
    n_model_prompt_tokens = models.PositiveIntegerField(default=0)  # the model's count
    # The model's count, or our count if it gave none.
    n_model_completion_tokens = models.PositiveIntegerField(default=0)
    is_cut = models.BooleanField(default=False)  # the completion has reached its limit of length
    # Whether the reply goes on with the form of its prompt (`generation.text.debris`); None: there
    # is no reply, or it was made before Attest looked.
    is_debris = models.BooleanField(null=True, blank=True)
    # The time until the completion came; None: not known.
    seconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["setup", "example"], name="call_once"),
            models.CheckConstraint(
                condition=Q(response__isnull=False, problem="")
                | (Q(response__isnull=True) & ~Q(problem="")),
                name="call_response_or_problem",
            ),
        ]
        indexes = [
            models.Index(fields=["grid"], condition=Q(response__isnull=True), name="call_failed"),
        ]

    def __str__(self) -> str:
        return self.problem or f"response {self.response_id}"
