"""The form for the name of a view of the trade-off."""

import unicodedata
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.core.exceptions import ValidationError

from evaluation.models import SavedView
from evaluation.tradeoffs.forms.tradeoff import NAMES

MOST_CHARACTERS = 4_000  # characters in an address
VISIBLE = "LNPS"  # letters, numbers, punctuation, symbols: first letters of Unicode's categories
WRONG_ADDRESS = "Expected the part of the page's address after the ?."


class SavedViewForm(forms.Form):
    """The name of a view, and whether it may replace another view."""

    name = forms.CharField(
        label="Name of this view", max_length=SavedView._meta.get_field("name").max_length
    )
    address = forms.CharField(required=False, widget=forms.HiddenInput)
    replaces = forms.BooleanField(label="Replace the view that has this name", required=False)

    def clean_name(self) -> str:
        """Refuse a name without any visible character."""
        name: str = self.cleaned_data["name"]
        if not any(unicodedata.category(character)[0] in VISIBLE for character in name):
            raise ValidationError("Expected a letter, a digit or another visible character.")
        return name

    def clean_address(self) -> str:
        """Return the part of the address after the ?, with the choices that the page knows."""
        address: str = self.cleaned_data["address"]
        if any(character.isspace() or not character.isprintable() for character in address):
            raise ValidationError(WRONG_ADDRESS)
        pairs = known_pairs(address)
        if any("\0" in value for _, value in pairs):
            raise ValidationError(WRONG_ADDRESS)
        known = urlencode(pairs)
        if len(known) > MOST_CHARACTERS:
            raise ValidationError(f"Expected at most {MOST_CHARACTERS:,} characters of choices.")
        return known


def known_pairs(address: str) -> list[tuple[str, str]]:
    """Return the choices of an address that the page of a trade-off knows, as names and values."""
    pairs = parse_qsl(address[: 2 * MOST_CHARACTERS].lstrip("?"), keep_blank_values=True)
    return [(name, value) for name, value in pairs if name in NAMES]
