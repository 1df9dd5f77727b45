"""A new sample of a dataset, and what somebody decides about one of its examples."""

from typing import Any

from django import forms

from generation.filters import DROP, FILTER_KEYS, FILTERS, KEEP, FilterRule, Filters
from generation.limits import LARGEST_SEED
from generation.models import SampledExample
from generation.sample_choices import PARTS, USUAL_SIZE, SampleChoices
from generation.text.tokens import TOKENIZERS

LONGEST_REASON = 500
MOST_TOKENS = 1_000_000
MOST_EXAMPLES = 1_000_000
_USUAL = Filters()
# What is sent for each verdict: an empty one would also be what a slip sends.
VERDICTS = {
    "keep": SampledExample.Verdict.KEEP,
    "drop": SampledExample.Verdict.DROP,
    "open": SampledExample.Verdict.OPEN,
}


class SampleForm(forms.Form):
    """Which examples are kept, and how many of them are drawn by which seed."""

    filters = forms.MultipleChoiceField(
        label="Filters", choices=[(rule.key, rule.title) for rule in FILTERS], required=False
    )
    max_evidence_tokens = forms.IntegerField(
        label="Fewer tokens than",
        min_value=1,
        max_value=MOST_TOKENS,
        initial=_USUAL.max_evidence_tokens,
    )
    tokenizer = forms.ChoiceField(
        label="Counted by",
        choices=[(name, name.replace("-", " ")) for name in TOKENIZERS],
        initial=_USUAL.tokenizer,
    )
    exact_match = forms.ChoiceField(
        label="Exact matches are",
        choices=[(KEEP, "kept, all others dropped"), (DROP, "dropped, all others kept")],
        initial=_USUAL.exact_match,
    )
    part = forms.ChoiceField(
        label="Drawn from",
        choices=list(PARTS.items()),
        help_text="Which conversations are dev depends on their names and the seed of the split, "
        "so that examples of one conversation never stand on both sides.",
    )
    size = forms.IntegerField(
        label="Examples",
        min_value=1,
        max_value=MOST_EXAMPLES,
        initial=USUAL_SIZE,
        required=False,
        help_text="Empty: all that pass.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=0,
        help_text="Of the draw. A larger sample of one seed contains the smaller one.",
    )
    split_seed = forms.IntegerField(
        label="Seed of the split", min_value=0, max_value=LARGEST_SEED, initial=0
    )
    name = forms.CharField(
        label="Name",
        max_length=100,
        required=False,
        help_text="Grids call it so. Empty: named after what is drawn.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def rows(self) -> list[tuple[FilterRule, bool]]:
        """Return the filters in their order, each with whether it is ticked."""
        ticked = self.data.getlist("filters") if self.is_bound else FILTER_KEYS  # type: ignore[attr-defined]
        return [(rule, rule.key in ticked) for rule in FILTERS]

    def choices(self) -> SampleChoices:
        """Return what a valid form says."""
        chosen = self.cleaned_data
        return SampleChoices(
            name=chosen["name"],
            filters=Filters(
                on=tuple(chosen["filters"]),
                max_evidence_tokens=chosen["max_evidence_tokens"],
                tokenizer=chosen["tokenizer"],
                exact_match=chosen["exact_match"],
            ),
            part=chosen["part"],
            size=chosen["size"],
            seed=chosen["seed"],
            split_seed=chosen["split_seed"],
        )


class VerdictForm(forms.Form):
    """Whether one example of a sample stays, and if not, why."""

    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS])
    reason = forms.CharField(
        label="Why it is dropped",
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.TextInput(attrs={"list": "reasons", "autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for the reason of a drop; nothing else has one."""
        chosen: dict[str, Any] = super().clean() or {}
        is_dropped = chosen.get("verdict") == "drop"
        if is_dropped and not chosen.get("reason") and "reason" not in self.errors:
            self.add_error("reason", "Say why: the reason is kept with the sample.")
        return chosen

    @property
    def decided(self) -> tuple[str, str]:
        """Return the verdict and the reason that a valid form says."""
        return VERDICTS[self.cleaned_data["verdict"]], self.cleaned_data["reason"]
