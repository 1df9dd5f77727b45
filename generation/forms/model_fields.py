"""The fields of forms in which models are chosen: precisions, and prices if one may be due."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms

from generation.forms.offered_models import PRICES, OfferedModel, offered_models
from generation.grids.grid_file import MOST_PRICE


class OfferedModelRow(NamedTuple):
    """One model as a form shows it."""

    model: OfferedModel
    is_chosen: bool
    precision: forms.BoundField | None  # None: there is nothing to choose
    prices: list[forms.BoundField]  # for input and output; empty: the model is free


class ModelsForm(forms.Form):
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
        """The models, each with its own fields."""
        return [self._row(model) for model in self.offered]

    def _row(self, model: OfferedModel) -> OfferedModelRow:
        precision = f"precision_{model.key}"
        return OfferedModelRow(
            model,
            model.name in (self["models"].value() or ()),
            self[precision] if precision in self.fields else None,
            [self[price] for price in model.price_fields],
        )

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
