"""FED: turns of dialogs with two systems and a person, each rated by five people (a JSON list).

A rated turn is a response to the dialog before it. The file names no raters: the five votes on a
question are those of the nominal raters 1 to 5, in their order. A vote that is no number (`N/A`
with a reason) is left out and counted, and so are dialogs that were rated as a whole.
"""

import re
from collections.abc import Iterator
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.json_items import json_items
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem

WHOLE = "dialogs that were rated as a whole"
NO_NUMBER = "answers that say why there is none"
_FIELDS = (re.compile(rb'"annotations"\s*:\s*\{'), re.compile(rb'"context"\s*:\s*"(User|System):'))
_SPEAKERS = {"User": "user", "System": "assistant"}
_LINE = re.compile(r"^(User|System): ?", re.MULTILINE)


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a list of rated dialogs."""
    is_list = source.head(name, 64).lstrip().startswith(b"[")
    return is_list and source.mentions(name, _FIELDS, 1 << 20)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each rater of each turn. Its line is the number of its item."""
    n_whole = n_no_number = 0
    for item in json_items(source, name):
        if isinstance(item, Problem):
            yield item
            continue
        if "response" not in item.values:
            n_whole += 1
            continue
        context, response = item.text("context"), item.text("response")
        annotations = item.optional_object("annotations")
        for question, votes in annotations.items():
            if not isinstance(votes, list):
                item.refuse(f"annotations.{question}", excerpt(votes), "a list of votes")
        if item.problems:
            yield from item.problems
            continue
        n_raters = max(map(len, annotations.values()), default=0)
        for rater in range(n_raters):
            answers = {q: votes[rater] for q, votes in annotations.items() if rater < len(votes)}
            numbers = {f"asked.{q}": a for q, a in answers.items() if type(a) in (int, float)}
            n_no_number += len(answers) - len(numbers)
            yield Row(
                item.where,
                {
                    "messages": [*_messages(context), *_messages(response)],
                    "system": item.values.get("system"),
                    "rater": str(rater + 1),
                    **numbers,
                },
            )
    left_out |= {WHOLE: n_whole} if n_whole else {}
    left_out |= {NO_NUMBER: n_no_number} if n_no_number else {}


def _messages(text: str) -> list[dict[str, Any]]:
    """Return lines 'User: …' and 'System: …' as messages."""
    pieces = _LINE.split(text)[1:]
    return [
        {"role": _SPEAKERS[speaker], "content": said.strip()}
        for speaker, said in zip(pieces[::2], pieces[1::2], strict=True)
        if said.strip()
    ]
