"""The tables of numbers: runs of auto-metrics, their scores, adjudications, and jobs."""

import math

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Archivable
from annotation.models import Study, Target
from generation.model_specs import Price
from generation.models import Construction, Dataset
from work.models import ChunkedWork, CountedPiece, Piece, held_while_running


class MetricRun(ChunkedWork, Archivable):
    """One execution of one auto-metric over a dataset, here or (if imported) elsewhere.

    `signature` names every choice that changes the number; an imported run has that of its file. If
    the same run is requested again, targets without a score are added to the existing run.
    """

    class State(models.TextChoices):
        RUNNING = "running"  # it was requested, and some chunks are not done
        CANCELLED = "cancelled"
        FAILED = "failed"  # its backend cannot be used; `error` gives the reason
        DONE = "done"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=100)
    signature = models.CharField(max_length=500, blank=True)
    is_imported = models.BooleanField(default=False)
    backend = models.CharField(max_length=20, blank=True)
    model_name = models.CharField(max_length=100, blank=True)  # the name of its checkpoint
    model_location = models.CharField(max_length=500, blank=True)
    # These are known after the backend was opened: its choices (precision, longest input), and the
    # revision of its model. Scores made with other values are never mixed with these.
    backend_signature = models.CharField(max_length=100, blank=True)
    revision = models.CharField(max_length=64, blank=True)
    model_files = models.JSONField(default=dict, blank=True)  # name → SHA-256
    device = models.CharField(max_length=100, blank=True)  # the device that computed the scores
    parameters = models.JSONField(default=dict, blank=True)
    # None: no threshold was given for imported scores, so they have ranks and no labels.
    threshold = models.FloatField(null=True, blank=True, default=0.5)
    # Whether a score equal to the threshold is a yes as well. If not, only a higher score is.
    is_yes_at_threshold = models.BooleanField(default=False)
    state = models.CharField(max_length=9, choices=State, default=State.DONE)
    # The limits of what it may spend, and the price of its model; see `evaluation.runs.budget`.
    budget = models.JSONField(default=dict, blank=True)
    # What its language model was asked. Tokens are by the model's count, or else by ours.
    n_calls = models.PositiveBigIntegerField(default=0)
    n_tokens_in = models.PositiveBigIntegerField(default=0)
    n_tokens_out = models.PositiveBigIntegerField(default=0)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["metric", "signature"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "metric", "signature"],
                condition=Q(is_imported=True),
                name="imported_run_once_per_dataset",
            ),
            models.UniqueConstraint(
                fields=["dataset", "metric", "signature"],
                condition=Q(is_imported=False),
                name="run_once_per_dataset",
            ),
            models.CheckConstraint(
                condition=Q(is_imported=True) | Q(threshold__isnull=False),
                name="run_made_here_has_threshold",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.signature}".strip()

    @property
    def cut(self) -> float | None:
        """The number above which every score is a yes; None: the scores have no labels."""
        if self.threshold is None:
            return None
        at_threshold = math.nextafter(self.threshold, -math.inf)
        return at_threshold if self.is_yes_at_threshold else self.threshold

    @property
    def cost(self) -> float | None:
        """The cost of its language model so far; None: the price is not known."""
        if "price" not in self.budget:
            return None
        return Price(*self.budget["price"]).cost(self.n_tokens_in, self.n_tokens_out)

    @property
    def full_signature(self) -> str:
        """The signature, with that of the backend and the revision of its model."""
        revision = f"revision:{self.revision}" if self.revision else ""
        return "|".join(filter(None, [self.signature, self.backend_signature, revision]))


class RunChunk(Piece):
    """Some targets of a run, or controls beside them, which one worker scores at a time."""

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    # Ids. Of controls: [drawn target, further targets of other dialogs that may stand in for it].
    targets = models.JSONField()
    is_of_controls = models.BooleanField(default=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="chunk_number_once"),
            held_while_running("chunk_lease_while_running"),
        ]
        indexes = [
            models.Index(
                fields=["run", "number"], condition=~Q(state="done"), name="chunk_to_score"
            ),
        ]

    def __str__(self) -> str:
        return f"chunk {self.number} of run {self.run_id}"


class AutoScore(models.Model):
    """The result of one run for one target: a score, or the reason why there is none.

    `windows` holds the evidence that gave the score, with one entry per hypothesis (the response,
    or each of its sentences): {"sentence": number or null, "window": its place among all windows,
    "passage": id or null, "first", "last": sentences of the passage from 0, "start", "end": its
    characters, "probability"}. It is empty when the whole evidence was one premise.
    `details` holds other data of a metric: replies of a language model, the mode of a score.
    """

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="scores")
    target = models.ForeignKey(Target, models.CASCADE, related_name="scores")
    score = models.FloatField(null=True, blank=True)
    problem = models.TextField(blank=True)  # why there is no score
    is_assumed = models.BooleanField(default=False)  # the score is 0 by definition, without asking
    windows = models.JSONField(default=list, blank=True)
    details = models.JSONField(default=dict, blank=True)
    n_pairs = models.PositiveIntegerField(default=0)  # pairs or prompts that made the score
    n_truncated = models.PositiveIntegerField(default=0)  # pairs whose premise was cut
    digest = models.CharField(max_length=16, blank=True)  # digest of the pairs in their order
    # Hash of the pairs and of all choices that decide a score. Equal keys mean equal scores.
    content_key = models.CharField(max_length=32, blank=True)
    is_reused = models.BooleanField(default=False)  # copied from a row with the same content key
    created_at = models.DateTimeField(auto_now_add=True, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "target"], name="score_once_per_run"),
            models.CheckConstraint(
                condition=Q(score__isnull=False, problem="")
                | (Q(score__isnull=True) & ~Q(problem="")),
                name="score_or_problem",
            ),
            models.CheckConstraint(
                condition=Q(is_assumed=False) | Q(score=0), name="score_assumed_is_0"
            ),
        ]
        indexes = [
            models.Index(fields=["run"], condition=Q(score__isnull=True), name="score_failed"),
            models.Index(
                fields=["content_key"],
                condition=Q(score__isnull=False) & ~Q(content_key=""),
                name="score_to_reuse",
            ),
        ]

    def __str__(self) -> str:
        return self.problem if self.score is None else f"{self.score:.3f}"


class ControlScore(models.Model):
    """The result of one run for one control: a text that is made so that its right label is known.

    A control is made from a drawn target of the run; see `evaluation.runs.controls`.
    """

    class Kind(models.TextChoices):
        FLOOR = "floor"  # the right label is no: for Auto-AIS, the evidence of another dialog
        TOP = "top"  # the right label is yes: for Auto-AIS, a sentence of the evidence itself
        NOTHING = "nothing"  # the text says nothing, so that the right label is no

    run = models.ForeignKey(MetricRun, models.CASCADE, related_name="controls")
    target = models.ForeignKey(Target, models.CASCADE, related_name="controls")
    kind = models.CharField(max_length=7, choices=Kind)
    # The target of another dialog whose evidence, text or citation stands in. None: none does, or
    # it was deleted since.
    other = models.ForeignKey(Target, models.SET_NULL, null=True, blank=True, related_name="+")
    form = models.CharField(
        max_length=20, blank=True
    )  # the form of a text that says nothing: 'numbers'
    text = models.TextField(blank=True)  # the text that was judged
    score = models.FloatField(null=True, blank=True)
    problem = models.TextField(blank=True)  # why there is no score
    content_key = models.CharField(max_length=32, blank=True)  # the same hash as of an `AutoScore`

    class Meta:
        indexes = [
            models.Index(
                fields=["content_key"],
                condition=Q(score__isnull=False) & ~Q(content_key=""),
                name="control_to_reuse",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "target", "kind"], name="control_once_per_run"),
            models.CheckConstraint(
                condition=Q(score__isnull=False, problem="")
                | (Q(score__isnull=True) & ~Q(problem="")),
                name="control_score_or_problem",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of run {self.run_id}"


class Adjudication(models.Model):
    """A researcher's decision about one question on one target, with the reason.

    Rows are only added: the newest one counts, and votes are never changed. A row without an answer
    means that the question cannot be decided. An imported row names its researcher by a code.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="adjudications")
    target = models.ForeignKey(Target, models.CASCADE, related_name="adjudications")
    question = models.CharField(max_length=64)
    answer = models.SmallIntegerField(null=True, blank=True)
    note = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    code = models.CharField(max_length=100, blank=True)  # only for an imported decision
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(note=""), name="adjudication_has_a_note"),
            models.CheckConstraint(
                condition=Q(by__isnull=False, code="") | (Q(by=None) & ~Q(code="")),
                name="adjudication_by_a_person_or_a_code",
            ),
        ]
        indexes = [models.Index(fields=["study", "target", "question"], name="adjudication_of")]

    def __str__(self) -> str:
        return f"{self.question} = {self.answer}, adjudicated"


class Job(CountedPiece):
    """Long work that is no metric run: a search for a prompt, a distillation, a pull and so on.

    The steps hold what was found so far, so that another worker can continue from there.
    """

    class Kind(models.TextChoices):
        PROMPT_SEARCH = "prompt_search"
        DISTILLATION = "distillation"
        GRAPH_PULL = "graph_pull"  # gets entities from a SPARQL endpoint
        CONSTRUCTION = "construction"  # makes questions about a graph, with their minimum sets

    kind = models.CharField(max_length=20, choices=Kind)
    study = models.ForeignKey(
        Study, models.CASCADE, null=True, blank=True, related_name="jobs"
    )  # the study whose votes it uses
    dataset = models.ForeignKey(
        Dataset, models.CASCADE, null=True, blank=True, related_name="jobs"
    )  # the dataset whose graph it adds to
    construction = models.OneToOneField(
        Construction, models.CASCADE, null=True, blank=True, related_name="job"
    )  # the construction that it carries out
    name = models.CharField(max_length=100, unique=True)  # the name of its result
    parameters = models.JSONField(default=dict)  # every choice that changes the result
    result = models.JSONField(default=dict, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            held_while_running("job_lease_while_running"),
        ]

    def __str__(self) -> str:
        return self.name


class JobStep(models.Model):
    """One result of a job so far: a prompt that was tried, an epoch, or an entity's triples."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()  # counted from 1
    content = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="job_step_once"),
        ]

    def __str__(self) -> str:
        return f"step {self.number} of {self.job_id}"


class SavedView(models.Model):
    """A view of a dataset's trade-offs that a researcher saved: a name and an address."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=100)
    address = models.TextField(blank=True)  # the part of the page's address after the ?
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="view_once_per_dataset"),
            models.CheckConstraint(condition=~Q(name=""), name="view_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
