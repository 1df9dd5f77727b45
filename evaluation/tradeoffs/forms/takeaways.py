"""The form for the sizes of models on the page of takeaways."""

from typing import Any

from django import forms
from django.utils.functional import cached_property

from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.effects import BY_SIZES, Sizes
from evaluation.tradeoffs.pairs import unsized


class SizesForm(forms.Form):
    """The larger and the smaller of two models, for models whose size is not known.

    These are two different models of the dataset; otherwise the known sizes decide.
    """

    large = forms.ChoiceField(label="Larger model", required=False)
    small = forms.ChoiceField(label="Smaller model", required=False)

    def __init__(self, data: Any, *, dots: tuple[Dot, ...]) -> None:
        super().__init__(data)
        self.is_needed = bool(unsized(dots))
        models = sorted({dot.setup.model for dot in dots} - {""})
        for field in self.fields.values():
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "by size"), *((model, model) for model in models)]

    @cached_property
    def chosen(self) -> Sizes:
        """The two models; if only one is given, or something is wrong, sizes decide."""
        if not self.is_valid():
            return BY_SIZES
        sizes = Sizes(self.cleaned_data["large"], self.cleaned_data["small"])
        return sizes if all(sizes) and sizes.large != sizes.small else BY_SIZES
