"""What a researcher chooses on the page of retrieval."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms

from evaluation.retrieval.report import RetrievalChoices
from generation.choices.declaration import values_of
from generation.choices.forms import ChoicesForm


class RetrievalForm(ChoicesForm[RetrievalChoices]):
    """How passages are ranked, and what is searched by; what is not said is as usual."""

    def __init__(self, address: Mapping[str, Any]) -> None:
        super().__init__(RetrievalChoices, address)

    @property
    def numbers(self) -> list[tuple[forms.BoundField, float]]:
        """The fields that hold numbers, with what is chosen."""
        bm25 = self.chosen.bm25
        return [(self["k1"], bm25.k1), (self["b"], bm25.b)]

    @property
    def address(self) -> str:
        """These choices as an address has them, the usual ones too."""
        bm25, query = self.chosen
        return urlencode({"query": query} | values_of(bm25))
