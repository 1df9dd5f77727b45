"""Takes the words out of answers, for a change that was meant to change nothing but words.

Of a page the numbers stay, in their order, and the names of its fields; of JSON the keys, numbers
and texts without a blank; of CSV the columns and cells without a blank; of everything else the
numbers.
"""

import csv
import io
import json
import re
from typing import Any

from .collection import Answer

TAG = re.compile(r"<[^>]*>")
FIELD = re.compile(r"""<(?:input|select|textarea|button)\b[^>]*\bname="([^"]*)\"""")
NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
KIND = "Content-Type"


def without_words(answer: Answer) -> Answer:
    """Return an answer with one number, key or name on each line."""
    text = answer.body.decode("utf-8", "backslashreplace")
    kind = answer.headers.get(KIND, "")
    if kind.startswith("text/html"):
        lines = [*NUMBER.findall(TAG.sub(" ", text)), *FIELD.findall(text)]
    elif kind.startswith(("application/json", "application/vnd.oai.openapi+json")):
        lines = json.dumps(_plain(json.loads(text)), indent=0).split("\n")
    elif kind.startswith("text/csv"):
        rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
        lines = [",".join(map(_word, row)) for row in rows]
    else:
        lines = NUMBER.findall(text)
    return Answer(answer.status, {KIND: kind}, "\n".join(lines).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _word(value) if isinstance(value, str) else value


def _word(text: str) -> str:
    return "(words)" if " " in text.strip() else text
