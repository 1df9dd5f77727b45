"""The form with which a researcher asks a question of their own about a graph."""

from typing import Any

from django import forms

from generation.choices.forms import posted_fields
from generation.forms.offered_models import offered_models
from generation.grids.grid_file import PRECISIONS
from generation.services.asked_questions import LONGEST_QUESTION, AskedOf


class AskForm(forms.Form):
    """A question, the model to ask, and how it answers."""

    question = forms.CharField(
        label="Question",
        max_length=LONGEST_QUESTION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Name entities as the graph does: by a label or an alias.",
    )
    model = forms.ChoiceField(label="Model")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= posted_fields(AskedOf)
        self._offered = {
            f"{model.name}|{precision}": (model, precision)
            for model in offered_models()
            for precision in model.precisions
        }
        self.fields["model"].choices = [  # type: ignore[attr-defined]
            (key, model.name if len(model.precisions) == 1 else f"{model.name}, {precision}")
            for key, (model, precision) in self._offered.items()
        ]

    def asked(self) -> AskedOf:
        """Return which model is asked and how. The form must be valid."""
        said = self.cleaned_data
        model, spelt = self._offered[said["model"]]
        precision = next(each for each in PRECISIONS if each == spelt)
        # At temperature 0 nothing is drawn, so every seed means the same call.
        seed = said["seed"] if said["temperature"] else 0
        return AskedOf(model.name, precision, said["temperature"], seed)
