"""Fields that most people leave alone. A page folds them away and says their values in one line.

    class DrawForm(FoldingForm):
        folds_declared = {
            "draw": Fold("Draw", {"seed": Told("seed {}"), "size": Told("{}", {"0": "all"})})
        }

`{% include "_folded.html" with folded=form.folds.draw %}` then writes 'Draw: seed 7, all'.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from django import forms
from django.forms.boundfield import BoundField


class Told(NamedTuple):
    """The words in which the value of a field is said."""

    words: str  # '{}' stands for the value
    instead: Mapping[str, str] = {}  # value → what is said in its place; "" says nothing


class Fold(NamedTuple):
    """Fields that are folded away together."""

    title: str
    fields: Mapping[str, Told]  # name of the field → its words, in the order shown
    usual: str = ""  # what is said if no field says anything


class FoldedFields(NamedTuple):
    """The folded fields of one form, with their values in words."""

    title: str
    said: str
    said_id: str  # the id that `said` has on the page
    fields: list[BoundField]
    is_open: bool  # a field has an error, which must be seen


class FoldingForm(forms.Form):
    """A form that declares which of its fields are folded away."""

    folds_declared: ClassVar[Mapping[str, Fold]] = {}

    @property
    def folds(self) -> dict[str, FoldedFields]:
        """The folded fields by key. Fields that the form does not have are left out."""
        declared = self.all_folds()
        return {key: _folded(self, key, fold) for key, fold in declared.items()}

    @property
    def said_selectors(self) -> str:
        """The selectors of the lines with the values: '#id_draw_said,#id_split_said'."""
        return ",".join(f"#{each.said_id}" for each in self.folds.values() if each.fields)

    def all_folds(self) -> Mapping[str, Fold]:
        """Return the folds of this form; a form whose fields depend on its data adds some."""
        return self.folds_declared


def _folded(form: forms.Form, key: str, fold: Fold) -> FoldedFields:
    fields = [form[name] for name in fold.fields if name in form.fields]
    parts = [_told(field, fold.fields[field.name]) for field in fields]
    said = ", ".join(filter(None, parts)) or fold.usual
    has_errors = any(field.errors for field in fields)
    return FoldedFields(fold.title, said, f"id_{key}_said", fields, has_errors)


def _told(field: BoundField, told: Told) -> str:
    """Return the value of a field in words; "" says nothing."""
    value = field.value()
    key = "" if value is None else _plain(value)
    if key in told.instead:
        return told.instead[key]
    words = _in_words(field, value)
    return told.words.replace("{}", words) if words else ""


def _in_words(field: BoundField, value: Any) -> str:
    if not isinstance(field.field, forms.ChoiceField):
        return "" if value is None else _plain(value)
    choices: Any = field.field.choices  # flat: none of the folded fields has groups of choices
    labels = {str(key): _within_line(str(label)) for key, label in choices}
    chosen = [str(each) for each in (value if isinstance(value, list | tuple) else [value])]
    if len(labels) > 2 and set(chosen) == labels.keys():
        return f"all {len(labels)}"
    return " and ".join(labels.get(key, key) for key in chosen)


def _within_line(label: str) -> str:
    """Return a label as it reads inside a line: 'Before the dialog' → 'before the dialog'."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()
