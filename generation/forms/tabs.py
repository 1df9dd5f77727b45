"""Lists of long work: a tab for each state, for one dataset or for all."""

from typing import Any, ClassVar

from django import forms
from django.db.models import Count, Q, QuerySet

from generation.models import Dataset

# key → label, and the condition for the rows that the tab lists; "" lists all
Tabs = dict[str, tuple[str, Q]]


class TabsForm(forms.Form):
    """The filter of a list. A wrong value in the address counts as missing."""

    listed: ClassVar[Tabs]
    state = forms.CharField(required=False)
    dataset = forms.ModelChoiceField(Dataset.objects.all(), to_field_name="slug", required=False)

    def rows(self) -> QuerySet[Any]:
        """Return all rows that a tab may list."""
        raise NotImplementedError

    def clean_state(self) -> str:
        """Refuse a state that has no tab."""
        state: str = self.cleaned_data["state"]
        if state not in self.listed:
            raise forms.ValidationError(f"Found {state}; expected one of {', '.join(self.listed)}.")
        return state

    def chosen_rows(self) -> QuerySet[Any]:
        """Return the rows of the chosen tab, newest first."""
        chosen = self.cleaned_data.get("state", "") if self.is_valid() else ""
        return self._of_dataset().filter(self.listed[chosen][1]).order_by("-pk")

    def tabs(self) -> list[tuple[str, str, int]]:
        """Return key, label and number of rows of each tab."""
        of_tabs = self.listed.items()
        named = {f"n_{key}": Count("pk", filter=condition) for key, (_, condition) in of_tabs}
        counts = self._of_dataset().aggregate(**named)
        return [(key, label, counts[f"n_{key}"]) for key, (label, _) in of_tabs]

    def _of_dataset(self) -> QuerySet[Any]:
        dataset = self.cleaned_data.get("dataset") if self.is_valid() else None
        return self.rows().filter(dataset=dataset) if dataset else self.rows()
