"""The problem at the beginning of a lone file that no reader recognises."""

from generation.importers.encodings import kind_of_binary
from generation.importers.json_items import json_entries
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.sources import Source, TextLine, plain_name
from generation.records import Problem, Where


def beginning_trouble(source: Source) -> Problem | None:
    """Return why the first line or entry of the only data file cannot be read. None: it can.

    Raises:
        DatasetError: the same, if the file has to be read as a whole.
    """
    name = source.only_data_file()
    if name is None or kind_of_binary(source.head(name, 4)):
        return None
    first = _first_line(source, name)
    if first is None:
        return None
    if first.problem is not None:
        return first.problem
    if first.text.lstrip().startswith("["):
        entry = next(json_entries(source, name), None)
        return entry if isinstance(entry, Problem) else None
    if plain_name(name).endswith(".json"):
        source.whole_json(name)
    elif first.text.lstrip().startswith("{") or plain_name(name).endswith(".jsonl"):
        try:
            parse_row(first.text, source.limits.max_nesting)
        except JSONTrouble as trouble:
            return Problem(Where(name, first.number), "", trouble.found, trouble.expected)
    return None


def _first_line(source: Source, name: str) -> TextLine | None:
    lines = source.lines(name)
    return next((line for line in lines if line.problem or not line.text.isspace()), None)
