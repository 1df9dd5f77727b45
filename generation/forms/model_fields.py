"""The fields of forms in which models are chosen: precisions, and prices if one may be due."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms

from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.forms.offered_models import PRICES, OfferedModel, offered_models
from generation.model_specs import MOST_PRICE


class OfferedModelRow(NamedTuple):
    """One model as a form shows it."""

    model: OfferedModel
    is_chosen: bool


class ModelsForm(FoldingForm):
    """A form with a field `models`. Models that may cost something have fields for their prices."""

    offered: list[OfferedModel]

    def add_models(self) -> None:
        """Offer the existing models, each with its own fields."""
        self.offered = offered_models()
        self.fields["models"].choices = [  # type: ignore[attr-defined]
            (model.name, model.name) for model in self.offered
        ]
        for model in self.offered:
            self._add_fields_of(model)

    def _add_fields_of(self, model: OfferedModel) -> None:
        if len(model.precisions) > 1:
            self.fields[f"precision_{model.key}"] = forms.ChoiceField(
                label=f"Precision of {model.name}",
                required=False,
                choices=[(precision, precision) for precision in model.precisions],
            )
        for name, price in zip(model.price_fields, PRICES, strict=False):
            self.fields[name] = forms.FloatField(
                label=f"Price of a million {price} tokens of {model.name}",
                required=False,
                min_value=0,
                max_value=MOST_PRICE,
                widget=forms.NumberInput(attrs={"step": "any"}),
            )

    @property
    def rows(self) -> list[OfferedModelRow]:
        """The models, each with whether it is chosen."""
        chosen = self["models"].value() or ()
        return [OfferedModelRow(model, model.name in chosen) for model in self.offered]

    def all_folds(self) -> dict[str, Fold]:
        """Return the declared folds, and the precisions and prices of the models.

        A precision is said if it is not the first, and a price if it is given.
        """
        told = {}
        for model in self.offered:
            first = model.precisions[0] if model.precisions else ""
            told[f"precision_{model.key}"] = Told(f"{model.name} in {{}}", {"": "", first: ""})
            for name, price in zip(model.price_fields, PRICES, strict=False):
                told[name] = Told(f"{{}} for {price} of {model.name}")
        if told and self.has_prices:
            told["currency"] = Told("")
        usual = "fp32, no price" if self.has_prices else "fp32"
        title = "Precision and prices" if self.has_prices else "Precision"
        return {**self.folds_declared, "models": Fold(title, told, usual)}

    @property
    def has_prices(self) -> bool:
        """Whether any model has a price."""
        return any(model.price_fields for model in self.offered)

    @property
    def wrong_fields(self) -> list[forms.BoundField]:
        """The fields with a mistake, in the order shown."""
        return [field for field in self if field.errors]

    def check_prices(self, cleaned: Mapping[str, Any]) -> None:
        """Refuse a model that has only one of its two prices."""
        for model in self.offered:
            missing = [name for name in model.price_fields if cleaned.get(name) is None]
            if len(missing) == 1 and not self.has_error(missing[0]):
                self.add_error(
                    missing[0],
                    "Only one price is given. Give both prices, or none. A price may be 0.",
                )

    def models_data(self, cleaned: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the chosen models in the form that a grid file has."""
        for model in self.offered:
            if model.name not in cleaned["models"]:
                continue
            precision = cleaned.get(f"precision_{model.key}") or model.precisions[0]
            prices = [cleaned[name] for name in model.price_fields]
            has_price = bool(prices) and None not in prices
            yield {"name": model.name, "precision": precision} | (
                {"price": dict(zip(PRICES, prices, strict=True))} if has_price else {}
            )
