"""The form in which an admin describes a model that runs and grids may use."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django import forms
from django.core.validators import RegexValidator
from django.http import QueryDict

from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import METRICS
from evaluation.runs.services.checkpoints import (
    MOST_CALLS_AT_ONCE,
    MOST_CALLS_PER_MINUTE,
    WITH_LABELS,
    CallLimits,
)
from generation.backends.openai_http import AT_ONCE
from generation.backends.registry import LANGUAGE_MODELS, is_server
from generation.model_sizes import size_typed
from generation.model_specs import MOST_PRICE, USUAL_CALLS_AT_ONCE, USUAL_CURRENCY
from generation.models import Checkpoint

PLAIN_TEXT = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class ModelKind(NamedTuple):
    """One kind of model as the form offers it."""

    key: str
    title: str
    metrics: str  # the families of metrics that may ask it
    is_server: bool
    has_index: bool
    has_limits: bool
    is_chosen: bool


class SizeField(forms.CharField):
    """A number of parameters, as people write it: 7B, 135M, 134515008."""

    def clean(self, value: Any) -> int | None:
        """Return the number; None: nothing was typed."""
        text = super().clean(value)
        size = size_typed(text)
        if text and size is None:
            raise forms.ValidationError(f"Found {text[:40]}; expected a size, as in 7B or 135M.")
        return size


class LimitsForm(forms.Form):
    """The limits of the calls of one model, the prices of its tokens, and its size."""

    calls_per_minute = forms.IntegerField(
        label="Calls a minute",
        required=False,
        min_value=1,
        max_value=MOST_CALLS_PER_MINUTE,
        help_text=(
            "The highest number of calls that all grids together may make in a minute. Empty: no "
            "limit."
        ),
    )
    calls_at_once = forms.IntegerField(
        label="Calls at once",
        required=False,
        min_value=1,
        max_value=MOST_CALLS_AT_ONCE,
        help_text=(
            "The highest number of calls that all work together may make at the same time. Each "
            f"piece of work makes up to {AT_ONCE}. Empty: {USUAL_CALLS_AT_ONCE}."
        ),
    )

    input_price = forms.FloatField(
        label="Price of input",
        required=False,
        min_value=0,
        max_value=MOST_PRICE,
        help_text=f"{USUAL_CURRENCY} for a million tokens of prompts. Empty: not known.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    output_price = forms.FloatField(
        label="Price of output",
        required=False,
        min_value=0,
        max_value=MOST_PRICE,
        help_text=f"{USUAL_CURRENCY} for a million tokens of completions. Empty: not known.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    n_parameters = SizeField(
        label="Parameters",
        required=False,
        help_text=(
            "The size of a model behind a server, as in 7B or 135M. The sizes of other models are "
            "read from their files. Empty: not known."
        ),
        widget=forms.TextInput(attrs=PLAIN_TEXT),
    )

    def clean(self) -> dict[str, Any]:
        """Put the limits together."""
        cleaned = super().clean() or {}
        at_once = cleaned.pop("calls_at_once", None) or USUAL_CALLS_AT_ONCE
        # A field that is not shown changes nothing.
        unchanged = self.initial
        others = {name: cleaned.pop(name, unchanged.get(name)) for name in LimitsForm.base_fields}
        cleaned["limits"] = CallLimits(**others | {"calls_at_once": at_once})
        return cleaned


def limits_form(checkpoint: Checkpoint, data: QueryDict | None = None) -> LimitsForm:
    """Return the form that is shown beside one model of the list."""
    limits = {name: getattr(checkpoint, name) for name in CallLimits._fields}
    form = LimitsForm(data, initial=limits, auto_id=f"id_{checkpoint.pk}_%s")
    if not is_server(checkpoint.backend):
        del form.fields["calls_at_once"], form.fields["n_parameters"]
    for field in form.fields.values():
        field.help_text = ""  # it is shown once on the page, where a model is added
    form.fields["calls_per_minute"].widget.attrs["placeholder"] = "no limit"
    if "n_parameters" in form.fields:
        form.fields["n_parameters"].widget.attrs["placeholder"] = "not known"
    for name in ("input_price", "output_price"):
        form.fields[name].widget.attrs["placeholder"] = USUAL_CURRENCY
    return form


class CheckpointForm(LimitsForm):
    """A model that runs and grids may use. Fields that its kind does not need are hidden."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        help_text=(
            "The name of the model in runs and signatures. It has letters, digits, dots, _ and -."
        ),
        validators=[
            RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", "Use letters, digits and . _ - only.")
        ],
        widget=forms.TextInput(attrs=PLAIN_TEXT),
    )
    backend = forms.ChoiceField(label="Kind", initial="transformers")
    location = forms.CharField(
        label="Location",
        max_length=500,
        help_text='<span class="unless-server">A folder on the server, or a name on the Hugging '
        "Face hub. A name may end in @ and a revision, which is then always used.</span>"
        '<span class="if-server">Its address, like https://host/v1. With /completions at the end, '
        "the server continues texts; otherwise it answers messages.</span>",
        widget=forms.TextInput(attrs=PLAIN_TEXT),
    )
    entailment_index = forms.IntegerField(
        label="Index of entailment",
        required=False,
        min_value=0,
        max_value=99,
        help_text=(
            "The number of the output that means entailment. The first output has number 0. Only a "
            "model whose labels have no names needs it."
        ),
    )
    served_name = forms.CharField(
        label="Name on the server",
        required=False,
        max_length=200,
        help_text="The name by which the server knows the model.",
        widget=forms.TextInput(attrs=PLAIN_TEXT),
    )
    key_variable = forms.CharField(
        label="Variable with its key",
        required=False,
        max_length=100,
        help_text=(
            "The name of the environment variable with the key. Attest reads the key from there, "
            "and never stores or shows it. Empty: the server needs no key."
        ),
        # The name must end in API_KEY, so that no other secret of the environment can be sent to
        # another server by mistake.
        validators=[
            RegexValidator(
                r"^([A-Za-z_]\w*_)?API_KEY\Z",
                "Expected the name of a variable that ends in API_KEY.",
                flags=re.ASCII,
            )
        ],
        widget=forms.TextInput(attrs=PLAIN_TEXT | {"placeholder": "OPENAI_API_KEY"}),
    )

    key_over_http = forms.BooleanField(
        label="Send the key over plain http",
        required=False,
        help_text=(
            "Anyone on the network path can then read the key. Without this, a key is sent only "
            "to https addresses and to this machine."
        ),
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["backend"].choices = [  # type: ignore[attr-defined]
            (key, kind.title) for key, kind in BACKENDS.items() if kind.needs_model
        ]

    def kinds(self) -> Iterator[ModelKind]:
        """Yield the kinds of models, with the metrics that may ask them."""
        chosen = self["backend"].value()
        for key, title in self.fields["backend"].choices:  # type: ignore[attr-defined]
            by = [each.family or each.title for each in METRICS.values() if key in each.backends]
            yield ModelKind(
                key,
                title,
                ", ".join(dict.fromkeys(by)),
                BACKENDS[key].is_server,
                key == WITH_LABELS,
                key in LANGUAGE_MODELS,
                key == chosen,
            )

    def clean_name(self) -> str:
        """Refuse the name of a backend, because signatures and grids could not distinguish them."""
        name: str = self.cleaned_data["name"]
        if name.lower() in {*BACKENDS, *LANGUAGE_MODELS}:
            raise forms.ValidationError("A kind of backend has this name. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        """Leave out the values of fields that are hidden for the chosen kind."""
        cleaned = super().clean()
        kind = BACKENDS.get(cleaned.get("backend", ""))
        if kind and not kind.is_server:
            cleaned |= {"served_name": "", "key_variable": "", "key_over_http": False}
            cleaned["limits"] = cleaned["limits"]._replace(
                calls_at_once=USUAL_CALLS_AT_ONCE, n_parameters=None
            )
        if cleaned.get("backend") != WITH_LABELS:
            cleaned["entailment_index"] = None
        if cleaned.get("backend") not in LANGUAGE_MODELS:
            cleaned["limits"] = CallLimits()
        return cleaned
