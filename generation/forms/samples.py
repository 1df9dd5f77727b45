"""The form of a new sample of a dataset, and the form of a verdict about one of its examples."""

from typing import Any

from django import forms
from django.http import QueryDict

from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields
from generation.filters import FILTER_KEYS, FILTERS, FilterRule
from generation.models import SampledExample
from generation.sample_choices import SampleChoices, chosen_sample

LONGEST_REASON = 500
# The text that is sent for each verdict. None is empty, as a mistake could send an empty text.
VERDICTS = {
    "keep": SampledExample.Verdict.KEEP,
    "drop": SampledExample.Verdict.DROP,
    "open": SampledExample.Verdict.OPEN,
}


class SampleForm(FoldingForm):
    """The choices for a new sample: which examples are kept, how many are drawn, by which seed."""

    folds_declared = {
        "short_evidence": Fold(
            "Length",
            {
                "max_evidence_tokens": Told("fewer than {} tokens"),
                "tokenizer": Told("counted by {}"),
            },
        ),
        "exact_match": Fold("Exact matches", {"exact_match": Told("{}")}),
        "draw": Fold(
            "Seed and part",
            {
                "seed": Told("seed {}"),
                "part": Told("drawn from {}"),
                "split_seed": Told("split by seed {}"),
            },
        ),
    }

    filters = forms.MultipleChoiceField(
        label="Filters", choices=[(rule.key, rule.title) for rule in FILTERS], required=False
    )

    def __init__(self, posted: QueryDict | None = None) -> None:
        super().__init__(posted)
        self.fields |= posted_fields(SampleChoices)
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def rows(self) -> list[tuple[FilterRule, bool]]:
        """Return the filters in their order, each with whether it is ticked."""
        ticked = self.data.getlist("filters") if self.is_bound else FILTER_KEYS  # type: ignore[attr-defined]
        return [(rule, rule.key in ticked) for rule in FILTERS]

    def choices(self) -> SampleChoices:
        """Return the choices of a valid form."""
        return chosen_sample(self.cleaned_data["filters"], self.cleaned_data)


class VerdictForm(forms.Form):
    """The verdict about one example of a sample, and the reason if it is dropped."""

    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS])
    reason = forms.CharField(
        label="Why it is dropped",
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.TextInput(attrs={"list": "reasons", "autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Require a reason for a drop. Other verdicts need none."""
        chosen: dict[str, Any] = super().clean() or {}
        is_dropped = chosen.get("verdict") == "drop"
        if is_dropped and not chosen.get("reason") and "reason" not in self.errors:
            self.add_error(
                "reason",
                "The reason is missing. Say why the example is dropped. The reason is kept with "
                "the sample.",
            )
        return chosen

    @property
    def decided(self) -> tuple[str, str]:
        """The verdict and the reason in a valid form."""
        return VERDICTS[self.cleaned_data["verdict"]], self.cleaned_data["reason"]
