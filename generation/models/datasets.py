"""Datasets: examples, their turns, and the passages that are their evidence."""

import secrets
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.text import Truncator

from accounts.models import Archivable
from generation.limits import LONGEST_FACTS
from work.models import WholePiece, held_while_running

FIRST_WORDS = 60  # characters of a passage that name it if it has no title


class Dataset(Archivable):
    """One named collection of examples, passages and responses, with facts about it."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True, max_length=LONGEST_FACTS["description"])
    licence = models.CharField(blank=True, max_length=LONGEST_FACTS["licence"])
    source = models.CharField(
        blank=True, max_length=LONGEST_FACTS["source"]
    )  # an address, or words
    # The language of its texts.
    language = models.CharField(blank=True, max_length=LONGEST_FACTS["language"])
    # The runs that people pinned, see `evaluation.runs.main_metrics`; empty: none.
    main_attribution_metric = models.CharField(
        blank=True, max_length=LONGEST_FACTS["main_attribution_metric"]
    )
    main_sensibleness_metric = models.CharField(
        blank=True, max_length=LONGEST_FACTS["main_sensibleness_metric"]
    )
    slug = models.SlugField(max_length=110, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(main_attribution_metric="")
                | ~Q(main_attribution_metric=models.F("main_sensibleness_metric")),
                name="dataset_main_metrics_differ",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def facts(self) -> dict[str, str]:
        """The facts about the dataset, by the names of `LONGEST_FACTS`, without empty ones."""
        return {fact: said for fact in LONGEST_FACTS if (said := getattr(self, fact))}


class Passage(models.Model):
    """One piece of evidence text in a dataset's collection."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="passages")
    key = models.CharField(max_length=200)
    title = models.TextField(blank=True)
    url = models.TextField(blank=True)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="passage_once_per_dataset"),
        ]

    def __str__(self) -> str:
        """Return the title. If there is none, return the first words: the key may be a hash."""
        return self.title or Truncator(" ".join(self.text.split())).chars(FIRST_WORDS) or self.key


class ExampleQuerySet(models.QuerySet["Example"]):
    """Examples, selected by whether figures are about them."""

    def of_benchmark(self) -> "ExampleQuerySet":
        """Return the examples that are no ad-hoc questions."""
        return self.filter(is_ad_hoc=False)


class Example(models.Model):
    """A dialog up to and including its last user question, with golden answer and evidence.

    `dialog` names the conversation that the example was cut from. Every interval resamples these
    conversations. An ad-hoc question was asked about a graph by a person who tried something:
    experiments, grids, samples, reports and counts leave it out, unless it is asked for.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="examples")
    key = models.CharField(max_length=200)
    dialog = models.CharField(max_length=200)
    golden_answer = models.TextField(null=True, blank=True)  # noqa: DJ001 - None: not known
    is_ad_hoc = models.BooleanField(default=False)
    meta = models.JSONField(default=dict, blank=True)
    # A hash of the imported row: shows whether a row that comes again has changed.
    digest = models.CharField(max_length=32)
    passages = models.ManyToManyField(Passage, through="ExamplePassage", related_name="examples")

    objects = ExampleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="example_once_per_dataset"),
        ]
        indexes = [models.Index(fields=["dataset", "dialog"], name="example_by_dialog")]

    def __str__(self) -> str:
        return self.key


class Turn(models.Model):
    """One turn of an example's dialog; `parent_index` is -1 for the first."""

    example = models.ForeignKey(Example, models.CASCADE, related_name="turns")
    index = models.PositiveIntegerField()
    parent_index = models.IntegerField()
    speaker = models.CharField(max_length=100)
    text = models.TextField()

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["example", "index"], name="turn_index_once"),
            models.CheckConstraint(
                condition=Q(parent_index__gte=-1, parent_index__lt=models.F("index")),
                name="turn_parent_is_earlier",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.index} {self.speaker}"


class ExamplePassage(models.Model):
    """A passage as evidence of one example, in the file's order; golden or a distractor."""

    example = models.ForeignKey(Example, models.CASCADE, related_name="evidence")
    passage = models.ForeignKey(Passage, models.CASCADE, related_name="+")
    position = models.PositiveSmallIntegerField()
    is_golden = models.BooleanField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["example", "passage"], name="evidence_once_per_example"
            ),
            models.UniqueConstraint(fields=["example", "position"], name="evidence_position_once"),
        ]

    def __str__(self) -> str:
        return f"evidence {self.position} of example {self.example_id}"


def folder_of_its_own(upload: "Import", file_name: str) -> str:
    """Return the path of an upload. Each has its own folder, so that problems can name the file."""
    return f"imports/{secrets.token_hex(8)}/{file_name}"


class Import(WholePiece):
    """One uploaded file on its way into a dataset: it is checked first and stored afterwards."""

    class State(models.TextChoices):
        QUEUED = "queued"  # It waits to be checked or, if `is_storing`, to be stored.
        RUNNING = "running"
        CHECKED = "checked"  # a person has to decide whether it is stored
        CANCELLED = "cancelled"
        FAILED = "failed"
        DONE = "done"

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="imports"
    )
    file_name = models.CharField(max_length=255)
    upload = models.FileField(upload_to=folder_of_its_own)
    format = models.CharField(max_length=32, blank=True)  # empty: recognised by content
    encoding = models.CharField(max_length=16, default="utf-8")  # the encoding of its text
    # The mapping of a table's columns, as TOML; empty: a recipe or the columns' names decide.
    mapping = models.TextField(blank=True)
    name = models.CharField(max_length=100)  # the dataset to make or to add to
    study_name = models.CharField(max_length=100, blank=True)  # empty: the name in the file
    skip_bad = models.BooleanField(default=False)
    without_implied = models.BooleanField(default=False)  # no noes are added to the file's votes
    # The language of its texts; empty: not said.
    language = models.CharField(blank=True, max_length=LONGEST_FACTS["language"])
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    is_storing = models.BooleanField(default=False)  # False: the file is only checked
    # The results of the check: {"counts", "problems", "n_problems", "preview", "scheme", ...}.
    report = models.JSONField(default=dict)
    dataset = models.ForeignKey(
        Dataset, models.SET_NULL, null=True, blank=True, related_name="imports"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            held_while_running("import_lease_while_running"),
        ]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.file_name}"

    @property
    def problem_path(self) -> Path:
        """The path of the CSV file with all problems of the upload."""
        return Path(settings.MEDIA_ROOT) / "import-problems" / f"{self.pk}.csv"


class SavedMapping(models.Model):
    """A mapping of columns under a name, for the next file of the same kind."""

    name = models.CharField(max_length=100, unique=True)
    text = models.TextField()  # TOML
    saved_at = models.DateTimeField(auto_now=True)
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
