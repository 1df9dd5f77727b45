"""The forms of re-ranking: what chooses, what judges, and among which setups."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.http import query_string
from evaluation.measures.reranking import FUNCTIONS, SENSIBLE_FIRST, WEIGHTED, check_function
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.pools import Pool, all_pools
from evaluation.tradeoffs.reports.reranking import RerankingChoices
from generation.choices.declaration import fields_of
from generation.choices.forms import form_field
from generation.models import Dataset

JUDGES = {"attribution": "judge", "sensibleness": "judge_sensibleness"}  # fields, by axis


class RerankingForm(AxesForm):
    """The axes that choose, the axes that judge as well, and the pool."""

    def __init__(self, data: Mapping[str, Any], *, dataset: Dataset) -> None:
        super().__init__(data, dataset=dataset)
        self.pools = all_pools(dataset.setups.answered())
        known: dict[str, Mapping[str, Any]] = {
            **{
                name: {"": "the same metric", **self.offered[side]} for side, name in JUDGES.items()
            },
            "pool": {pool.key: pool.full_title for pool in self.pools},
        }
        declared = {field.name: field for field in fields_of(RerankingChoices)}
        self.fields |= {name: form_field(declared[name], words) for name, words in known.items()}

    @property
    def stale(self) -> list[str]:
        """The labels of the fields that name something that is not offered, or not any more."""
        self.is_valid()
        return [str(self.fields[name].label) for name in self.errors if name in self.fields]

    @property
    def chosen_pool(self) -> Pool | None:
        """The pool; the first one if none is named, None if there is none."""
        self.is_valid()
        by_key = {pool.key: pool for pool in self.pools}
        return by_key.get(self.cleaned_data.get("pool", ""), next(iter(self.pools), None))

    @property
    def judging(self) -> Axes | None:
        """The axes that judge: those that are named, else those that choose; None without axes."""
        choosing = self.chosen
        by_key = {axis.key: axis for axis in self.axes}
        if choosing is None:
            return None
        said = {
            name: by_key[self.cleaned_data[key]]
            for name, key in JUDGES.items()
            if self.cleaned_data.get(key) in by_key
        }
        return choosing._replace(**said)

    @property
    def judges_said(self) -> dict[str, str]:
        """The judges that differ from what chooses, by the names of the fields."""
        choosing, judging = self.chosen, self.judging
        if choosing is None or judging is None:
            return {}
        return {
            key: judge.key
            for key, judge, chooses in zip(JUDGES.values(), judging, choosing, strict=True)
            if judge != chooses
        }

    @property
    def own_address(self) -> str:
        """These choices as an address has them, with a ? before."""
        return query_string(self.axes_said | self._own)

    @property
    def whole_address(self) -> str:
        """The same as `own_address`, with the axes also where they are as usual."""
        axes = self.chosen._asdict() if self.chosen else {}
        return query_string({name: axis.key for name, axis in axes.items()} | self._own)

    @property
    def _own(self) -> dict[str, str]:
        """The pool and the judges, as an address has them."""
        pool = self.chosen_pool
        return ({"pool": pool.key} if pool else {}) | self.judges_said


class FunctionForm(forms.Form):
    """The form for the function that chooses one response of the pool for each example."""

    function = forms.ChoiceField(
        label="Chosen by",
        choices=list(FUNCTIONS.items()),
        initial=SENSIBLE_FIRST,
        widget=forms.RadioSelect,
    )
    of_sensibleness = forms.FloatField(
        label="a, of sensibleness", min_value=0, max_value=1000, initial=0.5, required=False
    )
    of_attribution = forms.FloatField(
        label="b, of attribution", min_value=0, max_value=1000, initial=0.5, required=False
    )

    def clean(self) -> dict[str, Any]:
        """Make sure that a weighted sum has weights; other functions have none."""
        said = self.cleaned_data
        said["weights"] = None
        if said.get("function") == WEIGHTED and not self.errors:
            weights = [said["of_sensibleness"] or 0.0, said["of_attribution"] or 0.0]
            try:
                check_function(WEIGHTED, weights)
            except ValueError:
                self.add_error("of_sensibleness", "Give one of the two a weight above 0.")
            said["weights"] = weights
        return said
