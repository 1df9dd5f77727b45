"""Fields that take several numbers, separated by commas."""

import math
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

MOST_NUMBERS = 50


class NumbersField(forms.CharField):
    """Numbers separated by commas: '0, 0.7' is (0.0, 0.7). It is an error if a number occurs twice.

    Args:
        read: a function that makes a number of its text, or raises ValueError.
        what: the description of one number in errors: 'a number', 'a whole number'.
    """

    def __init__(self, *, read: Callable[[str], float], what: str, **more: Any) -> None:
        super().__init__(max_length=400, **more)
        self.read, self.what = read, what
        self.widget.attrs |= {"autocomplete": "off", "inputmode": "decimal"}

    def to_python(self, value: Any) -> Any:
        """Return the numbers, in the order given."""
        text = super().to_python(value)
        parts = [part.strip() for part in (text or "").split(",")]
        if parts == [""]:
            return ()
        numbers = tuple(map(self._number, parts))
        if len(numbers) > MOST_NUMBERS:
            raise ValidationError(f"Found {len(numbers)} numbers; expected at most {MOST_NUMBERS}.")
        for place, number in enumerate(numbers):
            if number in numbers[:place]:
                raise ValidationError(f"Found {parts[place]} twice; expected it once.")
        return numbers

    def _number(self, text: str) -> float:
        try:
            return self.read(text)
        except ValueError as exc:
            raise ValidationError(
                f"Found {text!r}; expected {self.what}, several between commas."
            ) from exc


def numbers(label: str, help_text: str) -> NumbersField:
    """Return a field for numbers."""
    return NumbersField(label=label, help_text=help_text, read=_finite, what="a number")


def whole_numbers(label: str, help_text: str) -> NumbersField:
    """Return a field for whole numbers."""
    return NumbersField(label=label, help_text=help_text, read=int, what="a whole number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number
