"""What a researcher chooses on the page of retrieval."""

from urllib.parse import urlencode

from django import forms

from evaluation.retrieval.report import RetrievalChoices
from generation.grids.grid_file import QUERIES
from generation.retrieval.bm25 import IDF_RULES, USUAL, Bm25


class RetrievalForm(forms.Form):
    """How passages are ranked, and what is searched by; what is not said is as usual."""

    query = forms.ChoiceField(label="Searched by", choices=list(QUERIES.items()), required=False)
    idf = forms.ChoiceField(
        label="Weight of words", choices=list(IDF_RULES.items()), required=False
    )
    k1 = forms.FloatField(label="k1", min_value=0, max_value=10, required=False)
    b = forms.FloatField(label="b", min_value=0, max_value=1, required=False)

    @property
    def chosen(self) -> RetrievalChoices:
        """The choices, with the usual one for each that is missing or wrong."""
        self.is_valid()
        said = {
            name: value
            for name, value in self.cleaned_data.items()
            if name in Bm25._fields and value not in (None, "")
        }
        query = self.cleaned_data.get("query") or RetrievalChoices().query
        return RetrievalChoices(USUAL._replace(**said), query)

    @property
    def numbers(self) -> list[tuple[forms.BoundField, float]]:
        """The fields that hold numbers, with what is chosen."""
        bm25 = self.chosen.bm25
        return [(self["k1"], bm25.k1), (self["b"], bm25.b)]

    @property
    def address(self) -> str:
        """These choices as an address has them."""
        bm25, query = self.chosen
        return urlencode({"query": query, "idf": bm25.idf, "k1": bm25.k1, "b": bm25.b})
