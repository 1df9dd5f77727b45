"""Declared choices as arguments of a command."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import Any

from generation.choices.declaration import Field, fields_of


def add_arguments(
    parser: Any,
    declared: type[tuple[Any, ...]],
    *,
    called: Mapping[str, str] | None = None,
) -> None:
    """Add an argument for each choice. A choice that is not given has its usual value.

    Args:
        parser: the parser of a command, or a group of its arguments.
        called: the command's names of choices, for those that have another name there.
    """
    for field in fields_of(declared):
        name = (called or {}).get(field.name, field.name)
        flag, help = f"--{name.replace('_', '-')}", field.help.replace("%", "%%")
        if field.kind is bool:
            label = f"{field.choice.label}. ".replace("%", "%%") if field.choice.help else ""
            parser.add_argument(flag, dest=name, action="store_true", help=label + help)
            continue
        has_default = not field.choice.usual and field.default not in (None, "")
        parser.add_argument(
            flag,
            dest=name,
            choices=list(field.choice.values) or None,
            type=_reader(field),
            metavar=None if field.choice.values else "N" if field.kind is not str else "NAME",
            help=f"{help} Default: {field.default}." if has_default else help,
        )


def given_from(
    declared: type[tuple[Any, ...]],
    options: Mapping[str, Any],
    *,
    called: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the choices that a command was given, by name. `called` is as in `add_arguments`."""
    names = {field.name: field.name for field in fields_of(declared)} | dict(called or {})
    said = {name: options.get(of_command) for name, of_command in names.items()}
    return {name: value for name, value in said.items() if value is not None}


def _reader(field: Field) -> Callable[[str], Any]:
    """Return a function that reads a value: it has the field's type and is within its bounds."""

    def read(text: str) -> Any:
        value = field.kind(text)
        if not field.choice.allows(value):
            raise ArgumentTypeError(f"found {text[:80]}; expected {field.choice.bounds}")
        return value

    read.__name__ = field.kind.__name__
    return read
