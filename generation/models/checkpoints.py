"""Models that admins have listed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.model_specs import USUAL_CALLS_AT_ONCE, ModelSpec, Price
from generation.server_addresses import sends_key_openly


class Checkpoint(models.Model):
    """A model that runs and grids may use. Admins list it, so that others cannot name files."""

    name = models.CharField(max_length=100, unique=True)  # its name in runs and signatures
    # A key of LANGUAGE_MODELS, or of the further kinds that `evaluation` has.
    backend = models.CharField(max_length=20, default="transformers")
    # A folder on the server, a name on the hub, or the address of a server.
    location = models.CharField(max_length=500)
    # The commit of a name on the hub. Once it is known, it is kept.
    revision = models.CharField(max_length=64, blank=True)
    # The output that means entailment, if the model's labels have no names.
    entailment_index = models.PositiveSmallIntegerField(null=True, blank=True)
    # Whether it is a language model that takes messages; None: not known, or no language model.
    is_chat = models.BooleanField(null=True, blank=True)
    # Its size, read from its files or typed for a server; None: not known.
    n_parameters = models.PositiveBigIntegerField(null=True, blank=True)
    served_name = models.CharField(max_length=200, blank=True)  # its name on a server
    # The environment variable that holds a server's key. The key itself is not stored.
    key_variable = models.CharField(max_length=100, blank=True)
    # An admin allows that the key is sent over plain http to another machine, where others may read
    # it on its way.
    key_over_http = models.BooleanField(default=False)
    # Its calls per minute at most, by all grids and workers together; None: no limit.
    calls_per_minute = models.PositiveIntegerField(null=True, blank=True)
    next_call_at = models.DateTimeField(null=True, blank=True)  # set if there is such a limit
    # Its calls at the same time at most, by all work and workers together, if it is on a server.
    calls_at_once = models.PositiveSmallIntegerField(default=USUAL_CALLS_AT_ONCE)
    # The price of a million tokens, in `USUAL_CURRENCY`; both or none are known.
    input_price = models.FloatField(null=True, blank=True)
    output_price = models.FloatField(null=True, blank=True)
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
            models.CheckConstraint(
                condition=Q(calls_at_once__gte=1), name="checkpoint_calls_at_once_from_1"
            ),
            models.CheckConstraint(
                condition=Q(input_price=None, output_price=None)
                | Q(input_price__gte=0, output_price__gte=0),
                name="checkpoint_price_of_both_or_none",
            ),
            models.CheckConstraint(
                condition=Q(n_parameters=None) | Q(n_parameters__gte=1),
                name="checkpoint_parameters_from_1",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def spec(self, precision: str = "fp32") -> ModelSpec:
        """Return how the model is opened."""
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
            calls_at_once=self.calls_at_once,
        )

    @property
    def price(self) -> Price | None:
        """The price of its tokens; None: not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return Price(self.input_price, self.output_price)

    @property
    def sends_key_openly(self) -> bool:
        """Whether its key would go over plain http to another machine."""
        return sends_key_openly(self.location, self.key_variable)
