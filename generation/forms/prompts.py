"""What prompts of an example to look at."""

from django import forms

from generation.grids.previews import PREVIEWED
from generation.grids.prompts import PromptChoices
from generation.text.dialog_prompts import POSITIONS
from generation.text.prompt_types import prompt_type


class PromptPreviewForm(forms.Form):
    """The type of a prompt, where its evidence stands, and how long it may be."""

    USUAL = {"type": "golden", "position": POSITIONS[0]}

    type = forms.ChoiceField(label="Prompt", choices=[(kind.key, kind.title) for kind in PREVIEWED])
    position = forms.ChoiceField(
        label="Evidence", choices=[(place, place.replace("-", " ")) for place in POSITIONS]
    )
    budget = forms.IntegerField(
        label="At most tokens", required=False, min_value=1, max_value=1_000_000
    )

    def choices(self) -> PromptChoices:
        """Return what was chosen, once it is valid."""
        said = self.cleaned_data
        return PromptChoices(
            prompt_type(said["type"]), position=said["position"], budget=said["budget"]
        )
