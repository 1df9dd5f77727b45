"""All addresses of the site, from its URL configuration, with arguments from rows that exist."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
# The argument's own name says too little here. The part of the address before it says the rest.
NAMED_BY_PLACE = ("slug", "pk")
# Addresses that are regular expressions, with an example of each.
EXAMPLES = {"no-such-address": "api/v1/nothing-is-here/"}

Arguments = Mapping[str, Sequence[Any]]


class Route(NamedTuple):
    """One entry of the URL configuration, with all addresses that rows give it."""

    path: str  # such as 'studies/<slug:slug>/'
    addresses: list[str]
    is_filled_by_rows: bool  # whether all its arguments belong to rows that exist


class UnknownArgumentError(Exception):
    """An address has an argument that the test has no values for."""


def routes(arguments: Sequence[Arguments], without_rows: Sequence[str]) -> Iterator[Route]:
    """Yield every entry of the URL configuration with its addresses.

    Args:
        arguments: values by argument, such as 'unit_id', 'slug of studies' or 'pk of runs'. Values
            of one mapping belong together.
        without_rows: the arguments for which no row is planted.

    Raises:
        UnknownArgumentError: an address has an argument without values.
    """
    for name, path in _entries(get_resolver()):
        keys = list(_keys(path))
        missing = set(keys) - {key for each in arguments for key in each}
        if missing:
            raise UnknownArgumentError(
                f"{path} has an argument without values: {', '.join(missing)}. Plant a row that "
                "raters must not see, and give its values in `arguments_of`."
            )
        filled = {
            "/" + _filled(EXAMPLES.get(name, path), values)
            for each in arguments
            for values in product(*(each.get(key, ()) for key in keys))
        }
        yield Route(path, sorted(filled), not set(keys) & set(without_rows))


def _entries(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of each entry."""
    for entry in resolver.url_patterns:
        path = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _entries(entry, path)
        elif isinstance(entry, URLPattern):
            if not isinstance(entry.pattern, RoutePattern) and entry.name not in EXAMPLES:
                raise UnknownArgumentError(f"{path} is a regular expression: give an example.")
            yield str(entry.name), path


def _keys(path: str) -> Iterator[str]:
    """Yield the name of each argument in a path, such as 'unit_id' or 'slug of studies'."""
    for found in ARGUMENT.finditer(path):
        part = path[: found.start()].rstrip("/").rpartition("/")[2]
        yield f"{found[1]} of {part}" if found[1] in NAMED_BY_PLACE else found[1]


def _filled(path: str, values: Sequence[Any]) -> str:
    left = iter(values)
    return ARGUMENT.sub(lambda _: str(next(left)), path)
