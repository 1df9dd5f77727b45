"""The forms of restricted context: what is shown, and what a new grid asks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.tradeoffs.curve_recalls import check_typed, typed_or_measured
from evaluation.tradeoffs.forms.axes import LABEL, MEASURES, SCORE
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.recall_lines import (
    NON_EVIDENCE_KINDS,
    Curves,
    RestrictedPair,
)
from evaluation.tradeoffs.recalls import USUAL_K, Recalls
from evaluation.tradeoffs.reports.restricted_context import RestrictedChoices
from generation.choices.declaration import ChoiceError, fields_of
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import form_field
from generation.grids.cells import largest_answering, models_there
from generation.grids.grid_file import GridChoices, GridError
from generation.grids.restricted_context import USUAL_EVIDENCE, restricted_grid
from generation.limits import LONGEST_NAME
from generation.model_sizes import by_size
from generation.models import Dataset, Grid, Sample
from generation.text.prompt_types import SHARES

NUMBERS = ("k", "recall_1", "recall_k")
KINDS = {"next-best": "Next-best by BM25", "random": "Random"}


class RestrictedForm(forms.Form):
    """The curves to show, and the recalls of the lines; choices that are not given are as usual.

    A recall that is not typed is measured.
    """

    measure = forms.ChoiceField(
        label="Each axis shows", choices=list(MEASURES.items()), required=False
    )

    def __init__(self, data: Mapping[str, Any], *, pairs: Sequence[RestrictedPair]) -> None:
        super().__init__(data)
        self.pairs = pairs
        declared = {field.name: field for field in fields_of(RestrictedChoices)}
        known = {each.key: each.label for each in pairs}
        self.fields["pair"] = form_field(declared["pair"], known)
        self.fields |= {name: form_field(declared[name]) for name in NUMBERS}

    def clean(self) -> dict[str, Any]:
        """Refuse a recall@k below recall@1."""
        said = self.cleaned_data
        try:
            check_typed(said.get("recall_1"), said.get("recall_k"))
        except ChoiceError as error:
            self.add_error(error.field, str(error))
        return said

    @property
    def chosen(self) -> RestrictedPair | None:
        """The pair to show; None if there is none."""
        by_key = {each.key: each for each in self.pairs}
        return by_key.get(self._said("pair", ""), next(iter(self.pairs), None))

    @property
    def chosen_key(self) -> str:
        """The pair to show, as addresses have it."""
        return self.chosen.key if self.chosen else ""

    @property
    def measure_chosen(self) -> str:
        """The measure that each axis shows, as addresses have it."""
        measure: str = self._said("measure", LABEL)
        return measure

    @property
    def by_score(self) -> bool:
        return self.measure_chosen == SCORE

    @property
    def k_chosen(self) -> int:
        k: int = self._said("k", USUAL_K)
        return k

    @property
    def typed(self) -> tuple[float | None, float | None]:
        """Recall@1 and recall@k as they are typed."""
        return self._said("recall_1", None), self._said("recall_k", None)

    def recalls(self, material: TradeoffMaterial, curves: Curves) -> Recalls:
        """Return the typed recalls, and measured ones for the others; NaN if nothing measures them.

        If a typed recall is not consistent with a measured one, its field gets an error, and the
        measured recalls are taken.
        """
        try:
            return typed_or_measured(material, curves, self.k_chosen, *self.typed)
        except ChoiceError as error:
            self.add_error(error.field, str(error))
            return typed_or_measured(material, curves, self.k_chosen)

    def numbers(self, recalls: Recalls) -> list[tuple[forms.BoundField, float | None, str]]:
        """Return the fields of numbers, each with what is typed and what is taken otherwise."""
        at_1, at_k = self.typed
        return [
            (self["k"], self.k_chosen, ""),
            (self["recall_1"], at_1, _hint(recalls.at_1)),
            (self["recall_k"], at_k, _hint(recalls.at_k)),
        ]

    @property
    def unusual_choices(self) -> dict[str, str]:
        """The choices that are not as usual, by their names in addresses."""
        self.is_valid()
        return {
            name: str(self.data[name])
            for name in self.fields
            if self.data.get(name) and name not in self.errors
        }

    def _said(self, name: str, usual: Any) -> Any:
        self.is_valid()
        value = self.cleaned_data.get(name)
        return usual if value in (None, "") else value


class PlanRestrictedForm(FoldingForm):
    """A grid of restricted context to be planned: one model, at temperature 0."""

    folds_declared = {
        "curves": Fold(
            "Non-evidence and shares",
            {
                "non_evidence": Told("non-evidence {}", {"[]": "no non-evidence"}),
                "shares": Told("{} shares of the dialog"),
            },
        ),
    }

    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
        help_text="The name of the grid.",
    )
    model = forms.ChoiceField(
        label="Model",
        help_text="The model is asked at temperature 0. The largest with responses here is already "
        "chosen, if it can be asked.",
    )
    sample = forms.ChoiceField(label="Examples", required=False)
    non_evidence = forms.MultipleChoiceField(
        label="Non-evidence",
        choices=[(key, KINDS[key]) for key in NON_EVIDENCE_KINDS],
        widget=forms.CheckboxSelectMultiple,
        help_text="It is asked at the same shares as golden evidence.",
    )
    shares = forms.TypedMultipleChoiceField(
        label="Shares of the dialog that are kept",
        choices=[(f"{share:.1f}", f"{share:.0%}") for share in SHARES],
        coerce=float,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, dataset: Dataset) -> None:
        models = by_size(models_there().items())
        usual = largest_answering(dataset, models)
        super().__init__(
            data,
            initial={
                "name": _free_name(dataset),
                "model": usual or "",
                "non_evidence": [each for each in USUAL_EVIDENCE if each in NON_EVIDENCE_KINDS],
                "shares": [f"{share:.1f}" for share in SHARES],
            },
        )
        ready = dataset.samples.filter(state=Sample.State.DONE).order_by("name")
        samples = [(name, f"Sample {name}") for name in ready.values_list("name", flat=True)]
        unnamed = [] if usual else [("", "Choose a model")]
        self._offer("model", [*unnamed, *((name, name) for name in models)])
        self._offer("sample", [("", f"All of {dataset.name}"), *samples])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    @property
    def grid(self) -> GridChoices:
        """The grid that a valid form asks for.

        Raises:
            GridError: the grid cannot be asked.
        """
        chosen = self.cleaned_data
        return restricted_grid(
            chosen["name"],
            chosen["model"],
            sample=chosen["sample"],
            evidence=("golden", *chosen["non_evidence"]),
            shares=chosen["shares"],
        )

    def refuse(self, error: GridError) -> None:
        """Show what is wrong with the grid, beside the field."""
        self.add_error(error.field if error.field in self.fields else None, f"{error}.")


def _hint(recall: float) -> str:
    return "" if math.isnan(recall) else f"{recall:.3g}"


def _free_name(dataset: Dataset) -> str:
    """Return a name that no grid has yet."""
    first = f"Restricted context, {dataset.name}"[: LONGEST_NAME - 4]
    taken = set(Grid.objects.filter(name__startswith=first).values_list("name", flat=True))
    names = (first if number == 1 else f"{first} {number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
