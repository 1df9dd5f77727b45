"""The filters of the pages of knowledge graphs."""

from typing import Any

from django import forms
from django.db.models import Count

from accounts.search_words import LONGEST_SEARCH
from evaluation.graphs.reports.retrieval import SOURCES
from generation.models import Dataset

ASKED, ALL = "asked", "all"  # values of the filter by source; "" means the benchmark's questions
MOST_TYPES = 200  # types that the filter offers; the search also finds entities of other types


class EntityFilter(forms.Form):
    """A filter of the entities of a graph, by words and by type."""

    q = forms.CharField(
        label="Search labels, aliases and ids", required=False, max_length=LONGEST_SEARCH
    )
    type = forms.ChoiceField(label="Type", required=False)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        """Offer the types that entities have, the most frequent first. This takes one query."""
        super().__init__(*args, **kwargs)
        types = dataset.entities.exclude(type="").order_by().values_list("type")
        counted = types.annotate(n=Count("pk")).order_by("-n", "type")[:MOST_TYPES]
        self.fields["type"].choices = [  # type: ignore[attr-defined]
            ("", "any type"),
            *((name, f"{name} ({n:,})") for name, n in counted),
        ]


class QuestionFilter(forms.Form):
    """A filter of the questions about a graph, by words, source and missed gold entities."""

    q = forms.CharField(label="Search questions", required=False, max_length=LONGEST_SEARCH)
    source = forms.ChoiceField(
        label="Which questions",
        required=False,
        choices=[("", "of the benchmark"), (ASKED, "ad hoc, asked here"), (ALL, "both")],
    )
    missed = forms.ChoiceField(
        label="Gold entities",
        required=False,
        choices=[
            ("", "retrieved or not"),
            *((key, f"not all {source}") for source, key in SOURCES.items()),
        ],
    )
