"""The filter of a dataset's examples."""

from typing import Any

from django import forms

from generation.models import Dataset


class ExampleFilter(forms.Form):
    """Which examples of a dataset to show."""

    q = forms.CharField(label="Search dialogs and responses", required=False, max_length=200)
    setup = forms.ChoiceField(label="With a response by", required=False)
    dialog = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        setups = dataset.setups.of_benchmark().values_list("pk", "name")
        self.fields["setup"].choices = [  # type: ignore[attr-defined]
            ("", "any setup"),
            *((str(pk), name) for pk, name in setups),
        ]
