"""The messages of a .po file, read without GNU gettext."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

FIELD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?) (\".*\")")


class Message(NamedTuple):
    """One message: the English words, with their plural or "", and the words of the language."""

    context: str
    english: str
    plural: str
    translated: tuple[str, ...]
    is_fuzzy: bool


def messages_of(path: Path) -> list[Message]:
    """Return the messages of a .po file; the first one is the header, whose English is ""."""
    blocks = path.read_text("utf-8").strip().split("\n\n")
    return [_message(block) for block in blocks]


def _message(block: str) -> Message:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        if line.startswith("#"):
            continue
        if found := FIELD.fullmatch(line):
            name, line = found.groups()
        fields[name] = fields.get(name, "") + ast.literal_eval(line)
    return Message(
        context=fields.get("msgctxt", ""),
        english=fields["msgid"],
        plural=fields.get("msgid_plural", ""),
        translated=tuple(fields[key] for key in sorted(fields) if key.startswith("msgstr")),
        is_fuzzy=any(line.startswith("#,") and "fuzzy" in line for line in block.splitlines()),
    )
