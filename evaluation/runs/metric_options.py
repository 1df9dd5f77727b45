"""The options of metrics as options of commands. Each metric's class declares its own."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from evaluation.runs.choices import all_options

_PREFIX = "option_"  # keeps the options of metrics apart from other options of the same name


def add_metric_options(parser: ArgumentParser) -> None:
    """Add the options of every metric to a parser. A metric refuses options that it lacks."""
    for option in all_options():
        parser.add_argument(
            f"--{option.name.replace('_', '-')}",
            dest=_PREFIX + option.name,
            choices=option.values or None,
            metavar=None if option.values else "N" if option.is_number else "NAME",
            type=int if option.is_number else str,
            help=option.help.replace("%", "%%"),
        )


def metric_options_from(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of metrics that were given, by name."""
    given = {option.name: options[_PREFIX + option.name] for option in all_options()}
    return {name: value for name, value in given.items() if value is not None}
