"""The declaration of choices: type, default and note of each field of a named tuple.

    class Ranking(NamedTuple):
        query: Annotated[str, Choice("Searched by", QUERIES)] = "question"
        k1: Annotated[float, Choice("k1", low=0, high=10)] = 1.5
        with_implied: Annotated[bool, Choice("Count implied votes too")] = False

A field may also have such a tuple as its type. It then stands for all fields of that tuple. The
functions are pure.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

C = TypeVar("C", bound=tuple[Any, ...])  # a named tuple of choices

LONGEST_QUOTED = 80  # characters of a value in a message


class ChoiceError(ValueError):
    """A choice cannot be used. The message is one sentence for the person who chose."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Choice(NamedTuple):
    """The facts about one choice, apart from its name, its type and its default."""

    label: str
    values: Mapping[str, str] = {}  # allowed values → in words; empty: any value of its type
    explained: Mapping[str, str] = {}  # the meaning of each value, in a line
    help: str = ""
    low: float | None = None  # the lowest number allowed
    high: float | None = None
    longest: int | None = None  # characters of a text, at most
    # The usual value in words, if it depends on what the choice is made for (such as a metric).
    usual: str = ""

    def allows(self, value: Any) -> bool:
        """Return whether a value is within the bounds; NaN is not."""
        if isinstance(value, str):
            return self.longest is None or len(value) <= self.longest
        low, high = self.low, self.high
        return (low is None or value >= low) and (high is None or value <= high)

    @property
    def bounds(self) -> str:
        """The bounds in words: '0 to 10', '1 or more', 'at most 20 characters'."""
        if self.longest is not None:
            return f"at most {self.longest:,} characters"
        if self.high is None:
            return f"{self.low} or more"
        return f"{self.high} or less" if self.low is None else f"{self.low} to {self.high}"


class Field(NamedTuple):
    """One choice with everything that is declared about it."""

    name: str
    kind: type  # bool, int, float or str
    is_optional: bool  # it may be None
    default: Any
    choice: Choice

    @property
    def is_needed(self) -> bool:
        """Whether a value is required. A choice that may be None or empty does not need one."""
        return self.kind is not bool and self.default not in (None, "") and not self.is_optional

    @property
    def help(self) -> str:
        """The meaning in a sentence, with the usual value if there is no fixed default."""
        said = self.choice.help or f"{self.choice.label}."
        return f"{said} Default: {self.choice.usual}." if self.choice.usual else said


def fields_of(declared: type[tuple[Any, ...]]) -> tuple[Field, ...]:
    """Return the fields of a named tuple that are choices, including those of nested tuples."""
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
    """Return the tuple with these values. A field that they do not name has its usual value."""
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


def check_types(declared: type[tuple[Any, ...]], given: Mapping[str, Any]) -> None:
    """Make sure that values from a file have the types, the words and the bounds of the choices.

    Raises:
        ChoiceError: one of them does not. The message says what was found and expected.
    """
    for field in fields_of(declared):
        value = given.get(field.name)
        if value is None and (field.name not in given or not field.is_needed):
            continue
        types = (float, int) if field.kind is float else (field.kind,)
        words = field.choice.values
        if type(value) not in types or (words and value not in words):
            expected = f"one of {', '.join(words)}" if words else f"a value like {field.default!r}"
        elif not field.choice.allows(value):
            expected = field.choice.bounds
        else:
            continue
        found = repr(value)[:LONGEST_QUOTED]
        raise ChoiceError(field.name, f"{field.name}: found {found}; expected {expected}.")


def check_known(field: str, chosen: Any, known: Collection[Any]) -> None:
    """Make sure that a chosen name is among the known ones.

    Raises:
        ChoiceError: it is not. The message lists the known names.
    """
    if chosen not in known:
        names = ", ".join(map(str, known))
        there = f"There are: {names}." if names else "There are none yet."
        raise ChoiceError(field, f"There is no {field} {chosen!r} here. {there}")


def values_of(chosen: tuple[Any, ...]) -> dict[str, Any]:
    """Return the choices by name, with values as addresses and JSON have them."""
    found: dict[str, Any] = {}
    for name, value in zip(chosen._fields, chosen, strict=True):  # type: ignore[attr-defined]  # a named tuple
        found |= values_of(value) if hasattr(value, "_fields") else {name: _stored(value)}
    return {field.name: found[field.name] for field in fields_of(type(chosen))}


def unusual(chosen: tuple[Any, ...]) -> dict[str, Any]:
    """Return the choices that differ from the usual ones, by name."""
    usual = {field.name: field.default for field in fields_of(type(chosen))}
    return {name: value for name, value in values_of(chosen).items() if value != usual[name]}


def _plain(kind: Any) -> type:
    """Return the plain type of a choice: bool, int, float or str."""
    parts = [kind, *get_args(kind)]  # reads `float | None` too
    numbers = [part for part in parts if isinstance(part, type) and issubclass(part, int | float)]
    return numbers[0] if numbers else str


def _stored(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
