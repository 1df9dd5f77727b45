"""How a choice is declared: by the type, the default and the note of a field of a named tuple.

    class Ranking(NamedTuple):
        query: Annotated[str, Choice("Searched by", QUERIES)] = "question"
        k1: Annotated[float, Choice("k1", low=0, high=10)] = 1.5
        with_implied: Annotated[bool, Choice("Count implied votes too")] = False

A field whose type is such a tuple too stands for the fields of that one. Pure.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

C = TypeVar("C", bound=tuple[Any, ...])  # a named tuple of choices


class ChoiceError(ValueError):
    """A choice that cannot be used; the message is one sentence for whoever chose."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Choice(NamedTuple):
    """What is said of one choice, beside its name, its type and its default."""

    label: str
    values: Mapping[str, str] = {}  # that it may have → in words; none: any of its type
    explained: Mapping[str, str] = {}  # what each of them means, in a line
    help: str = ""
    low: float | None = None  # of a number
    high: float | None = None
    longest: int | None = None  # of a text, in characters
    usual: str = ""  # what is usual, in words, where that depends on what is chosen about

    def allows(self, value: Any) -> bool:
        """Return whether a value is within the bounds; NaN is not."""
        if isinstance(value, str):
            return self.longest is None or len(value) <= self.longest
        low, high = self.low, self.high
        return (low is None or value >= low) and (high is None or value <= high)

    @property
    def bounds(self) -> str:
        """What a value may be: '0 to 10', '1 or more', 'at most 20 characters'."""
        if self.longest is not None:
            return f"at most {self.longest:,} characters"
        if self.high is None:
            return f"{self.low} or more"
        return f"{self.high} or less" if self.low is None else f"{self.low} to {self.high}"


class Field(NamedTuple):
    """One choice with all that is declared of it."""

    name: str
    kind: type  # bool, int, float or str
    is_optional: bool  # it may be None
    default: Any
    choice: Choice

    @property
    def is_needed(self) -> bool:
        """Whether nothing is no answer: a choice that may be None or empty is not needed."""
        return self.kind is not bool and self.default not in (None, "") and not self.is_optional

    @property
    def help(self) -> str:
        """What it means, in a sentence, with what is usual where no default says that."""
        said = self.choice.help or f"{self.choice.label}."
        return f"{said} Default: {self.choice.usual}." if self.choice.usual else said


def fields_of(declared: type[tuple[Any, ...]]) -> tuple[Field, ...]:
    """Return the fields of a named tuple that are choices, those of tuples within it among them."""
    hints = get_type_hints(declared, include_extras=True)
    defaults = declared._field_defaults  # type: ignore[attr-defined]  # a named tuple
    found: list[Field] = []
    for name, hint in hints.items():
        if get_origin(hint) is Annotated:
            kind, choice = get_args(hint)
            is_optional = type(None) in get_args(kind)
            default = _stored(defaults[name])
            found.append(Field(name, _plain(kind), is_optional, default, choice))
        elif hasattr(hint, "_fields"):
            found += fields_of(hint)
    return tuple(found)


def made(declared: type[C], values: Mapping[str, Any]) -> C:
    """Return the tuple with these values; what they do not name is as usual."""
    hints = get_type_hints(declared, include_extras=True)
    said: dict[str, Any] = {}
    for name, hint in hints.items():
        if hasattr(hint, "_fields"):
            said[name] = made(hint, values)
        elif name in values:
            kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
            is_named = isinstance(kind, type) and issubclass(kind, Enum)
            said[name] = kind(values[name]) if is_named else values[name]
    return declared(**said)


def check_known(field: str, chosen: Any, known: Collection[Any]) -> None:
    """Make sure that what was chosen by name is among what there is.

    Raises:
        ChoiceError: it is not; the message lists what is.
    """
    if chosen not in known:
        there = ", ".join(map(str, known)) or "none yet"
        raise ChoiceError(field, f"There is no {field} {chosen!r} here; there are: {there}.")


def values_of(chosen: tuple[Any, ...]) -> dict[str, Any]:
    """Return the choices by name, as addresses and JSON know them."""
    found: dict[str, Any] = {}
    for name, value in zip(chosen._fields, chosen, strict=True):  # type: ignore[attr-defined]  # a named tuple
        found |= values_of(value) if hasattr(value, "_fields") else {name: _stored(value)}
    return {field.name: found[field.name] for field in fields_of(type(chosen))}


def unusual(chosen: tuple[Any, ...]) -> dict[str, Any]:
    """Return the choices that differ from the usual ones, by name."""
    usual = {field.name: field.default for field in fields_of(type(chosen))}
    return {name: value for name, value in values_of(chosen).items() if value != usual[name]}


def _plain(kind: Any) -> type:
    """Return bool, int, float or str: what a type of choices is written as."""
    parts = [kind, *get_args(kind)]  # of `float | None` too
    numbers = [part for part in parts if isinstance(part, type) and issubclass(part, int | float)]
    return numbers[0] if numbers else str


def _stored(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
