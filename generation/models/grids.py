"""Grids of calls of language models, and what each call gave."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.models.datasets import Dataset, Example
from generation.models.samples import Sample
from generation.models.setups import Response, Setup


class Grid(models.Model):
    """One grid over a dataset: models × temperatures × prompt types × seeds and so on.

    It is planned first (what it would ask, how many tokens, at what price), then started. Its
    setups are those of the dataset: another grid that has one of them finds its responses there.
    """

    class State(models.TextChoices):
        PLANNING = "planning"  # a worker counts calls and tokens
        PLANNED = "planned"  # it waits for somebody to start it
        RUNNING = "running"
        CANCELLED = "cancelled"
        FAILED = "failed"  # its plan or a model cannot be used; `error` says why
        DONE = "done"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="grids")
    name = models.CharField(max_length=100, unique=True)
    sample = models.ForeignKey(
        Sample, models.PROTECT, null=True, blank=True, related_name="grids"
    )  # None: every example
    choices = models.JSONField(db_column="grid")  # everything that is asked, as a grid file has it
    plan = models.JSONField(default=dict, blank=True)  # see `generation.grids.plan`
    setups = models.ManyToManyField(Setup, through="GridSetup", related_name="grids")
    state = models.CharField(max_length=9, choices=State, default=State.PLANNING)
    sent_at = models.DateTimeField(null=True, blank=True)  # to be planned, the last time
    plan_attempts = models.PositiveSmallIntegerField(default=0)  # whose end nobody has heard of
    error = models.TextField(blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    resumed_at = models.DateTimeField(null=True, blank=True)  # rates are counted from here
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "generation_experiment"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


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


class GridChunk(models.Model):
    """Some examples to be answered under one setup, by one worker at a time: what a task claims.

    Whoever holds the token may write, as long as it is still theirs; a lease that has run out
    lets another take over.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"

    grid = models.ForeignKey(Grid, models.CASCADE, related_name="chunks", db_column="experiment_id")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    examples = models.JSONField()  # ids that are left to ask about
    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)  # to the broker, the last time
    attempts = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "generation_experimentchunk"
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["grid", "number"], name="experiment_chunk_number_once"),
            models.CheckConstraint(
                condition=Q(state="running", lease_until__isnull=False)
                | (~Q(state="running") & Q(lease_until__isnull=True)),
                name="experiment_chunk_lease_while_running",
            ),
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
    """One call of a language model: the prompt, and the response it gave or why it gave none.

    Unique for setup and example, so that no call is made twice; a failed one makes room for the
    next, in the grid that makes that. Token counts are those of `generation.text.tokens`, the
    model's own beside them.
    """

    grid = models.ForeignKey(Grid, models.CASCADE, related_name="calls", db_column="experiment_id")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="calls")
    example = models.ForeignKey(Example, models.CASCADE, related_name="calls")
    response = models.OneToOneField(
        Response, models.CASCADE, null=True, blank=True, related_name="call"
    )
    problem = models.TextField(blank=True)
    prompt = models.TextField()  # word by word
    completion = models.TextField(blank=True)  # as the model gave it
    n_dialog_tokens = models.PositiveIntegerField(default=0)
    n_evidence_tokens = models.PositiveIntegerField(default=0)
    n_instruction_tokens = models.PositiveIntegerField(default=0)  # a demonstration included
    n_tokens = models.PositiveIntegerField(default=0)  # of the whole prompt
    n_turns_left_out = models.PositiveIntegerField(default=0)  # for the budget
    n_sentences_left_out = models.PositiveIntegerField(default=0)  # of evidence, for the budget
    n_model_prompt_tokens = models.PositiveIntegerField(default=0)  # as the model counts
    n_model_completion_tokens = models.PositiveIntegerField(default=0)  # or ours, where not told
    is_cut = models.BooleanField(default=False)  # the completion is as long as it may be
    seconds = models.FloatField(null=True, blank=True)  # until its completion came; None: not known
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
