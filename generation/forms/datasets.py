"""Forms of a dataset: the filter of its examples, and the facts about it."""

from typing import Any

from django import forms

from accounts.search_words import LONGEST_SEARCH
from generation.limits import LONGEST_FACTS, MAIN_METRICS
from generation.models import Dataset
from generation.setup_menus import menu_choices
from generation.text.languages import languages


class ExampleFilter(forms.Form):
    """The filter of the examples of a dataset."""

    q = forms.CharField(
        label="Search dialogs and responses", required=False, max_length=LONGEST_SEARCH
    )
    setup = forms.ChoiceField(label="With a response by", required=False)
    dialog = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        setups = dataset.setups.of_benchmark()
        self.fields["setup"].choices = menu_choices(setups, "any setup", "pk")  # type: ignore[attr-defined]
        self.fields["setup"].widget.attrs["data-filtered"] = ""


class DatasetFactsForm(forms.ModelForm):  # type: ignore[type-arg]
    """The facts about a dataset that people should know before they use it."""

    class Meta:
        model = Dataset
        fields = tuple(fact for fact in LONGEST_FACTS if fact not in MAIN_METRICS)
        help_texts = {
            "description": "What it holds, who made it, and what it is meant for.",
            "licence": "The licence for its use: Apache 2.0, CC BY 4.0, internal.",
            "source": "Where it comes from: an address, a paper, a project.",
            "language": "The language of its texts, with commas between several. There are rules "
            f"for sentences and words of {', '.join(each.name for each in languages().values())}; "
            "other languages follow those of their script.",
        }
