"""The form with which an admin starts a pull from a SPARQL endpoint."""

from typing import Any

from django import forms

from evaluation.graphs.forms.endpoint import PLAIN, EndpointForm
from evaluation.graphs.services.graph_pull import MOST_NAMES, MOST_NAMESAKES, PullPlan
from generation.retrieval.entities import has_model

_LONGEST_TEXT = 1_000_000  # characters of all names together


class PullForm(EndpointForm):
    """A new pull: its names, the endpoint they are pulled from, and the graph they go into."""

    declared = PullPlan

    dataset = forms.CharField(
        label="Dataset",
        max_length=100,
        help_text="A dataset to add to, or a new name. Existing entities stay as they are.",
        widget=forms.TextInput(attrs={**PLAIN, "list": "datasets"}),
    )
    names = forms.CharField(
        label="Names",
        required=False,
        max_length=_LONGEST_TEXT,
        help_text="Labels, aliases or qids (Q42, &lt;E12&gt;), one on each line, at most "
        f"{MOST_NAMES:,}. Spell them as the endpoint does. Each name fetches all entities that "
        f"have it, up to {MOST_NAMESAKES}.",
        widget=forms.Textarea(attrs={**PLAIN, "rows": 8}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not has_model():
            mentions = self.fields["with_mentions"]
            mentions.disabled = True
            mentions.help_text = (
                "No spaCy model is installed. The graph’s own labels find only names that the "
                "graph has."
            )

    def plan(self) -> PullPlan:
        """Return the plan that a valid form describes."""
        chosen = dict(self.cleaned_data)
        return PullPlan(**{**chosen, "names": tuple(chosen["names"].splitlines())})
