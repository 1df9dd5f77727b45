"""The form for the two axes, which a researcher chooses on every page of trade-offs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from accounts.http import query_string
from evaluation.runs.control_figures import unfit_among
from evaluation.runs.main_metrics import SIDES
from evaluation.tradeoffs.axes import Axes, Axis, axes_of, lost_pins, usual
from evaluation.tradeoffs.axis_menus import axis_menu
from evaluation.tradeoffs.reports.axes_choices import AxesChoices
from generation.choices.declaration import fields_of
from generation.choices.forms import form_field
from generation.models import Dataset

LABEL, SCORE = "label", "score"
MEASURES = {LABEL: "Share labelled yes", SCORE: "Mean score"}  # what an axis may show


class AxesForm(forms.Form):
    """The axes for x and y; one that is not given, or does not exist any more, is the usual one."""

    def __init__(self, data: Mapping[str, Any], *, dataset: Dataset) -> None:
        super().__init__(data)
        self.axes: Sequence[Axis] = axes_of(dataset)
        self.lost_pins = lost_pins(dataset, self.axes)
        self.unfit = unfit_among(axis.run for axis in self.axes if axis.run)
        self.offered = {side.name: axis_menu(self.axes, side, self.unfit) for side in SIDES}
        for field in fields_of(AxesChoices):
            self.fields[field.name] = form_field(field, self.offered[field.name])

    @property
    def chosen(self) -> Axes | None:
        """The axes; None if the dataset has nothing for one of them."""
        self.is_valid()
        usually = usual(self.axes)
        by_key = {axis.key: axis for axis in self.axes}
        found = [
            by_key.get(self.cleaned_data.get(name, ""), getattr(usually, name, None))
            for name in Axes._fields
        ]
        attribution, sensibleness = found
        return Axes(attribution, sensibleness) if attribution and sensibleness else None

    @property
    def address(self) -> str:
        """The axes as an address has them, with a ? before; "" if they are the usual ones."""
        return query_string(self.axes_said)

    @property
    def axes_said(self) -> dict[str, str]:
        """The axes by name, as an address has them; empty if they are the usual ones."""
        chosen = self.chosen
        if chosen is None or chosen == usual(self.axes):
            return {}
        return {name: axis.key for name, axis in chosen._asdict().items()}
