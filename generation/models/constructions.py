"""Construction of a dataset of questions about a graph (KaLMA, 2.2 and tables 8, 9, 15).

It leads from entries (a paragraph that names two people, and how they are related) to questions,
each with its minimum knowledge set. Every call of the language model is stored, with its prompt and
its completion.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.models.datasets import Dataset

LAST_ROUND = 6  # rounds of questions at most
SIMPLE_STYLE = 7  # the number of the call for the simple style, after the last round


class Construction(models.Model):
    """One run of the construction over one file of entries.

    `parameters` holds every choice that changes the result: "entries" (SHA-256 of the file), "file"
    (its name), "relations" (relation → {"properties": [...], "inverse": [...]}), "endpoint",
    "allow_private", "language", "entities" (how addresses of entities begin), "model", "precision",
    "temperature", "max_tokens", "n_rounds", "seed".
    """

    name = models.CharField(max_length=100, unique=True)
    parameters = models.JSONField()
    # Known once the model was opened: {"backend", "signature", "revision", "files", "device"}.
    made_with = models.JSONField(default=dict, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class ConstructionEntry(models.Model):
    """One entry of the file with its result, and the verdict of a reviewer on its question."""

    class State(models.TextChoices):
        WAITING = "waiting"  # its people are still to be looked up
        LEFT_OUT = "left_out"  # `problem` says why
        WRITING = "writing"  # both people are found; the rounds follow
        FAILED = "failed"  # the model gave nothing that can be read; `detail` says what
        BUILT = "built"  # it has its question

    class Problem(models.TextChoices):
        """The reason why an entry is left out before any model is asked."""

        NONE = ""
        INCOMPLETE_NAME = "incomplete_name"
        UNKNOWN_RELATION = "unknown_relation"  # no property is known for it
        NOT_FOUND = "not_found"
        NOT_CONNECTED = "not_connected"  # no edge between any two entities of those names
        WRONG_RELATION = "wrong_relation"  # there is an edge, but not of that relation
        AMBIGUOUS = "ambiguous"  # more than one pair fits

    class Verdict(models.TextChoices):
        OPEN = ""  # no verdict yet; the question is in
        KEEP = "keep"  # unchanged, or with the words that the reviewer gave it
        DROP = "drop"  # `reason` says why

    construction = models.ForeignKey(Construction, models.CASCADE, related_name="entries")
    number = models.PositiveIntegerField()  # counts from 1, in the file's order
    paragraph = models.TextField()
    name_1 = models.CharField(max_length=500)
    relation = models.CharField(max_length=300)
    name_2 = models.CharField(max_length=500)

    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    problem = models.CharField(max_length=16, choices=Problem, default=Problem.NONE, blank=True)
    detail = models.TextField(blank=True)  # what was found, and what was expected
    property = models.CharField(max_length=100, blank=True)  # property of the edge between the two
    # The two sub-graphs once both people are found, that of name 1 first: [{"qid", "label", "type",
    # "aliases", "triples": [{"relation", "value", "value_qid"}], "n_not_looked_at": further
    # namesakes}].
    graphs = models.JSONField(null=True, blank=True)

    verdict = models.CharField(max_length=4, choices=Verdict, default=Verdict.OPEN, blank=True)
    reason = models.TextField(blank=True)  # why it was dropped
    # The reviewer's words; empty: the model's words are used.
    edited_question = models.TextField(blank=True)
    edited_simple_question = models.TextField(blank=True)
    # Triples that the reviewer took out of the set: [[qid, relation, value]].
    taken_out = models.JSONField(default=list, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["construction", "number"], name="construction_entry_once"
            ),
            models.CheckConstraint(
                condition=Q(state="left_out") & ~Q(problem="")
                | ~Q(state="left_out") & Q(problem=""),
                name="construction_entry_left_out_for_a_problem",
            ),
            models.CheckConstraint(
                condition=Q(state__in=("waiting", "left_out")) | Q(graphs__isnull=False),
                name="construction_entry_with_graphs",
            ),
            models.CheckConstraint(
                condition=Q(verdict="drop") & ~Q(reason="") | ~Q(verdict="drop") & Q(reason=""),
                name="construction_entry_dropped_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name_1}, {self.relation}, {self.name_2}"


class ConstructionCall(models.Model):
    """One call of the language model for one entry: a round, or the simple style after the rounds.

    A completion that cannot be read is stored as a problem, and the round is asked again under the
    next attempt.
    """

    entry = models.ForeignKey(ConstructionEntry, models.CASCADE, related_name="calls")
    round = models.PositiveSmallIntegerField()  # 1 to LAST_ROUND, or SIMPLE_STYLE
    attempt = models.PositiveSmallIntegerField(default=1)
    # The triple that the round adds; empty in round 1 and for the simple style.
    qid = models.CharField(max_length=100, blank=True)
    relation = models.CharField(max_length=300, blank=True)
    value = models.TextField(blank=True)
    prompt = models.TextField()  # word by word
    completion = models.TextField(blank=True)  # unchanged, from the model
    answer = models.TextField(blank=True)  # the paragraph with its citations
    question = models.TextField(blank=True)
    problem = models.TextField(blank=True)  # why there is no answer or question
    n_prompt_tokens = models.PositiveIntegerField(default=0)
    n_completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["round", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "round", "attempt"], name="construction_call_once"
            ),
            models.UniqueConstraint(
                fields=["entry", "round"],
                condition=Q(problem=""),
                name="construction_round_once",
            ),
            models.CheckConstraint(
                condition=Q(problem="") & ~Q(question="") | ~Q(problem=""),
                name="construction_call_question_or_problem",
            ),
            models.CheckConstraint(
                condition=Q(round__gte=1, round__lte=SIMPLE_STYLE),
                name="construction_call_round",
            ),
        ]

    def __str__(self) -> str:
        return f"round {self.round} of entry {self.entry_id}"


class ConstructedDataset(models.Model):
    """A dataset that was made from the questions of a construction, in one of the two styles."""

    class Style(models.TextChoices):
        COMPLEX = "complex"
        SIMPLE = "simple"

    construction = models.ForeignKey(Construction, models.PROTECT, related_name="datasets")
    dataset = models.OneToOneField(Dataset, models.CASCADE, related_name="constructed")
    style = models.CharField(max_length=7, choices=Style)

    def __str__(self) -> str:
        return f"{self.style} questions of construction {self.construction_id}"
