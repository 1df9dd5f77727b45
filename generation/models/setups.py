"""Setups and the responses made under them."""

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery

from generation.model_sizes import size_in_name
from generation.models.checkpoints import Checkpoint
from generation.models.datasets import Dataset, Example, Passage

SAYS_NOTHING = r"^\s*$"  # matches a response without words: a model may have nothing to say
RERANKED = "reranked"  # the prompt of an aggregate; its settings state its sources and its rule


class SetupQuerySet(models.QuerySet["Setup"]):
    """Setups, selected by the responses that figures are about."""

    def of_benchmark(self) -> "SetupQuerySet":
        """Return the setups, without those that have answered only ad-hoc questions."""
        of_setup = Response.objects.filter(setup=OuterRef("pk"))
        return self.filter(Exists(of_setup.of_benchmark()) | ~Exists(of_setup))

    def answered(self) -> "SetupQuerySet":
        """Return the setups with a response to an example that is no ad-hoc question."""
        return self.filter(Exists(Response.objects.of_benchmark().filter(setup=OuterRef("pk"))))

    def with_listed_size(self) -> "SetupQuerySet":
        """Add to each setup `listed_size`: the size of its model, if that is listed with one."""
        listed = Checkpoint.objects.filter(name=OuterRef("model"))
        return self.annotate(listed_size=Subquery(listed.values("n_parameters")))

    def with_debris(self) -> "SetupQuerySet":
        """Add `n_looked_at` and `n_debris`: replies that were looked at for debris, and are some.

        Setups whose model was not asked here have 0 of both.
        """
        return self.annotate(
            n_looked_at=Count("calls", filter=Q(calls__is_debris__isnull=False)),
            n_debris=Count("calls", filter=Q(calls__is_debris=True)),
        )

    def with_n_responses(self) -> "SetupQuerySet":
        """Add to each setup `n_responses`: its responses, without those to ad-hoc questions."""
        return self.annotate(
            n_responses=Count("responses", filter=Q(responses__example__is_ad_hoc=False))
        )


class Setup(models.Model):
    """Everything that fixes how a response was made. Raters never see it."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="setups")
    name = models.CharField(max_length=300)
    model = models.CharField(max_length=200, blank=True)  # empty: only the name is known
    temperature = models.FloatField(null=True, blank=True)
    prompt = models.CharField(max_length=200, blank=True)
    run = models.CharField(max_length=100, blank=True)
    settings = models.JSONField(default=dict, blank=True)  # everything else that the file says
    # If its responses were made here: {"backend", "signature", "revision", "files", "device"},
    # known once the model was loaded, "retrieval" if passages are ranked or drawn, and
    # "n_parameters" if the size of the model is known.
    # Responses of another revision, or from another collection, are never mixed with them.
    made_with = models.JSONField(default=dict, blank=True)

    objects = SetupQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="setup_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def n_parameters(self) -> float:
        """The size of its model; NaN: not known.

        The size of the listed model counts first, if the setup was read with `with_listed_size`.
        Then comes the size that was noted with the first response. Only a model without either,
        such as one of imported responses, has the size in its name.
        """
        noted = getattr(self, "listed_size", None) or self.made_with.get("n_parameters")
        is_size = isinstance(noted, int | float) and noted > 0
        return float(noted) if is_size else size_in_name(self.model or self.name)


class ResponseQuerySet(models.QuerySet["Response"]):
    """Responses, selected by whether figures are about them."""

    def of_benchmark(self) -> "ResponseQuerySet":
        """Return the responses to examples that are no ad-hoc questions."""
        return self.filter(example__is_ad_hoc=False)


class Response(models.Model):
    """One generated text for one example under one setup."""

    example = models.ForeignKey(Example, models.CASCADE, related_name="responses")
    setup = models.ForeignKey(Setup, models.CASCADE, related_name="responses")
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="responses")
    key = models.CharField(max_length=200)
    text = models.TextField()
    # False: the import did not say what was shown. Then the golden evidence counts as shown.
    is_evidence_stated = models.BooleanField()
    evidence_shown = models.ManyToManyField(Passage, through="ResponsePassage", related_name="+")
    graph_shown = models.JSONField(null=True, blank=True)  # [[qid, relation, value]]
    # Triples that were taken out of the graph shown, in the same form.
    removed = models.JSONField(null=True, blank=True)
    # For an aggregate: the response of another setup that was chosen for this example. Where the
    # aggregate has no votes and scores of its own, those of the chosen response count.
    chosen_from = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="chosen_as"
    )
    meta = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=32)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="response_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.key


class ResponsePassage(models.Model):
    """A passage that the model was given for a response, in the order shown."""

    response = models.ForeignKey(Response, models.CASCADE, related_name="shown")
    passage = models.ForeignKey(Passage, models.CASCADE, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["response", "position"], name="shown_position_once"),
        ]

    def __str__(self) -> str:
        return f"passage {self.position} shown for response {self.response_id}"


class Citation(models.Model):
    """One citation of a response, numbered from 1 in reading order.

    An imported citation has only a number until the response's text is parsed.
    """

    response = models.ForeignKey(Response, models.CASCADE, related_name="citations")
    number = models.PositiveSmallIntegerField()
    # The sentence that it supports, without citations.
    sentence = models.TextField(blank=True, default="")
    qid = models.CharField(max_length=100, blank=True, default="")
    relation = models.CharField(max_length=300, blank=True, default="")
    value = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["response", "number"], name="citation_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="citation_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"citation {self.number} of response {self.response_id}"
