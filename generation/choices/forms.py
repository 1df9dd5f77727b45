"""Declared choices as a Django form, read from the address of a page."""

from collections.abc import Collection, Mapping
from typing import Any, Generic

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.http import query_string
from generation.choices.declaration import C, Field, fields_of, made, unusual

LONGEST_LINE = 500  # characters; a longer text gets a field of several lines


class ChoicesForm(forms.Form, Generic[C]):
    """The choices in an address. A choice that is missing or wrong has its usual value."""

    def __init__(
        self,
        declared: type[C],
        address: Mapping[str, Any],
        *,
        without: Collection[str] = (),
        known: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Read an address.

        Args:
            without: names of choices that the page does not offer.
            known: the possible values of choices whose declaration lists none, by name of the
                choice.
        """
        super().__init__(address)
        self._declared = declared
        for field in fields_of(declared):
            if field.name not in without:
                self.fields[field.name] = form_field(field, (known or {}).get(field.name))
        self.is_valid()

    @property
    def given(self) -> dict[str, Any]:
        """The choices that the address makes, by name."""
        said = {
            field.name: self.cleaned_data.get(field.name) for field in fields_of(self._declared)
        }
        return {name: value for name, value in said.items() if value not in (None, "")}

    @property
    def chosen(self) -> C:
        """The choices, with the usual one for each that is missing or wrong."""
        return made(self._declared, self.given)

    @property
    def address(self) -> str:
        """The choices that are not the usual ones, as a query: '?mode=authors_code' or ''."""
        return query_string(unusual(self.chosen))


def posted_fields(
    declared: type[tuple[Any, ...]], known: Mapping[str, Collection[str]] | None = None
) -> dict[str, forms.Field]:
    """Return the fields of a form that is posted. They hold the usual values.

    A field is required if its choice is. A number whose usual value is given in words may be left
    empty, and its help text says what that means.

    Args:
        known: the possible values of choices whose declaration lists none, by name of the choice.
    """
    found = {}
    for field in fields_of(declared):
        found[field.name] = form_field(field, (known or {}).get(field.name))
        found[field.name].initial = field.default
        found[field.name].required = field.is_needed
        if field.choice.usual and field.kind is not str:
            found[field.name].initial, found[field.name].required = None, False
            found[field.name].help_text += f" Empty: {field.choice.usual}."
    return found


def explained(label: str, line: str) -> SafeString:
    """Return the label of a value with one line about its meaning."""
    return format_html('<span>{} <span class="hint">{}</span></span>', label, line)


def form_field(field: Field, known: Collection[str] | None = None) -> forms.Field:
    """Return the field of a form for one choice.

    Args:
        known: its possible values, if they are not declared. A mapping gives each value in words.
    """
    choice = field.choice
    said: dict[str, Any] = {"label": choice.label, "help_text": choice.help, "required": False}
    if field.kind is bool:
        return forms.BooleanField(**said)
    if known is not None:
        words = known if isinstance(known, Mapping) else dict(zip(known, known, strict=True))
        return forms.ChoiceField(choices=list(words.items()), **said)
    if choice.explained:
        told = [
            (key, explained(words, choice.explained[key])) for key, words in choice.values.items()
        ]
        return forms.ChoiceField(choices=told, widget=forms.RadioSelect, **said)
    if choice.values:
        return forms.ChoiceField(choices=list(choice.values.items()), **said)
    if field.kind is str:
        is_long = (choice.longest or 0) > LONGEST_LINE
        widget = forms.Textarea(attrs={"rows": 4}) if is_long else forms.TextInput()
        return forms.CharField(max_length=choice.longest, widget=widget, **said)
    number: type[Any] = forms.IntegerField if field.kind is int else forms.FloatField
    found: forms.Field = number(min_value=choice.low, max_value=choice.high, **said)
    return found
