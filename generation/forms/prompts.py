"""The form that chooses which prompts of an example are shown."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms

from generation.grids.grid_file import MOST_TOKENS
from generation.grids.previews import PREVIEWED, RESTRICTED
from generation.grids.prompt_choices import PromptChoices
from generation.text.dialog_forms import FORMS
from generation.text.dialog_prompts import POSITIONS
from generation.text.prompt_types import GRAPHS, LACKING, prompt_type


class PromptPreviewForm(forms.Form):
    """The type of a prompt, its form, the position of its evidence, and its length at most."""

    USUAL = {"type": "golden", "form": "native", "position": POSITIONS[0]}
    USUAL_ABOUT_GRAPH = USUAL | {"type": GRAPHS[0].key}

    type = forms.ChoiceField(
        label="Prompt",
        choices=[
            *((kind.key, kind.title) for kind in PREVIEWED),
            ("Knowledge graph", [(kind.key, kind.title) for kind in (*GRAPHS, *LACKING)]),
            ("Restricted context", [(kind.key, kind.title) for kind in RESTRICTED]),
        ],
    )
    form = forms.ChoiceField(label="Form", choices=list(FORMS.items()))
    position = forms.ChoiceField(
        label="Evidence", choices=[(place, place.replace("-", " ")) for place in POSITIONS]
    )
    budget = forms.IntegerField(
        label="Tokens at most", required=False, min_value=1, max_value=MOST_TOKENS
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Offer the type in the address too, whichever it is. There are too many to list all."""
        super().__init__(data)
        with suppress(ValueError):
            named = prompt_type(str(data.get("type", "")))
            if named not in (*PREVIEWED, *GRAPHS, *LACKING, *RESTRICTED):
                self.fields["type"].choices += [(named.key, named.title)]  # type: ignore[attr-defined]

    def choices(self) -> PromptChoices:
        """Return the choices of a valid form."""
        said = self.cleaned_data
        return PromptChoices(
            prompt_type(said["type"]),
            form=said["form"],
            position=said["position"],
            budget=said["budget"],
        )
