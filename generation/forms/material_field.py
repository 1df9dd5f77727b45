"""The field of what a form is about, such as all examples of a dataset."""

from collections.abc import Sequence
from typing import Any

from django import forms

from accounts.models import Archivable
from generation.dataset_menus import why_not_offered

Group = tuple[str, list[tuple[str, str]]]  # title → values with their words


class MaterialField(forms.ChoiceField):
    """Datasets and parts of them, as `dataset:mill`, `sample:3` or `study:ais`.

    If the form comes with something that is not there, the field says so and chooses nothing.
    """

    def __init__(self, *, lacks: str, **options: Any) -> None:
        """Make a field.

        Args:
            lacks: why a dataset is not offered, such as "no responses".
            options: those of any field.
        """
        super().__init__(**options)
        self.lacks, self.has_any = lacks, False
        self._there: Archivable | None = None

    def offer(self, groups: Sequence[Group], chosen: str, there: Archivable | None) -> None:
        """Offer groups of values. The first option is empty if none of them is chosen.

        Args:
            groups: what can be chosen.
            chosen: the value that the form comes with.
            there: what that value names, as for `why_not_offered`.
        """
        self.choices, self._there = groups, there
        self.has_any = any(values for _, values in groups)
        if self.has_any and not self.valid_value(chosen):
            self.choices = [("", "Choose one"), *groups]

    def validate(self, value: str) -> None:
        """Refuse a value that is not offered, and say why."""
        if not value or self.valid_value(value):
            return super().validate(value)
        kind, _, key = value.partition(":")
        why = why_not_offered(kind, key, self._there, self.lacks)
        raise forms.ValidationError(why, code="invalid_choice")
