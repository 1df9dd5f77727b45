"""Models that admins have listed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.model_specs import ModelSpec
from generation.server_addresses import sends_key_openly


class Checkpoint(models.Model):
    """A model that runs and grids may use: admins say which, so that nobody else names files."""

    name = models.CharField(max_length=100, unique=True)  # what runs and signatures call it
    # A key of LANGUAGE_MODELS, or of the kinds that evaluation has beside them.
    backend = models.CharField(max_length=20, default="transformers")
    # A folder on the server, a name on the hub, or the address of a server.
    location = models.CharField(max_length=500)
    revision = models.CharField(max_length=64, blank=True)  # of a name on the hub: once known, kept
    # Which output means entailment, where the model's labels have no names.
    entailment_index = models.PositiveSmallIntegerField(null=True, blank=True)
    served_name = models.CharField(max_length=200, blank=True)  # what a server calls it
    # The environment variable that holds a server's key; the key itself is stored nowhere.
    key_variable = models.CharField(max_length=100, blank=True)
    # An admin lets it be sent over plain http to another machine, where others may read it.
    key_over_http = models.BooleanField(default=False)
    # At most so many calls of it a minute, by all grids and workers together; None: no limit.
    calls_per_minute = models.PositiveIntegerField(null=True, blank=True)
    next_call_at = models.DateTimeField(null=True, blank=True)  # where there is such a limit
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(calls_per_minute=None) | Q(calls_per_minute__gte=1),
                name="checkpoint_pace_from_1",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def spec(self, precision: str = "fp32") -> ModelSpec:
        """Return how it is opened."""
        return ModelSpec(
            backend=self.backend,
            name=self.name,
            location=self.location,
            revision=self.revision,
            precision=precision,
            entailment_index=self.entailment_index,
            served_name=self.served_name,
            key_variable=self.key_variable,
            key_over_http=self.key_over_http,
        )

    @property
    def sends_key_openly(self) -> bool:
        """Whether its key would go over plain http to another machine."""
        return sends_key_openly(self.location, self.key_variable)
