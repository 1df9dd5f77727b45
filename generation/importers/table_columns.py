"""What the columns of a table of questions and answers are, told by their names."""

from collections.abc import Mapping

from generation.importers.errors import excerpt
from generation.importers.json_text import JSONTrouble, parse_json
from generation.importers.sources import Source
from generation.importers.tables import csv_columns

# What a column is → how it may be called; the first name that is there counts.
NAMES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "user_input", "user_question", "query", "input", "prompt"),
    "response": ("response", "answer", "generated_answer", "actual_output", "output", "completion"),
    "example": ("example", "example_id", "question_id", "query_id", "qid"),
    "dialog": ("dialog", "dialog_id", "conversation", "conversation_id", "session_id", "thread_id"),
    "setup": ("setup", "model", "model_name", "system_name"),
    "shown": ("retrieved_contexts", "contexts", "context", "retrieval_context", "evidence"),
    "golden": ("reference_contexts", "golden_contexts", "golden_evidence"),
    "golden_answer": ("golden_answer", "reference", "ground_truth", "ground_truths"),
}
NEEDED = ("question", "response")
# Together they are votes: an answer there is a rater's, and a response an id.
OF_VOTES = {"response", "answer"}

_HEAD_BYTES = 1 << 20
_ROWS_LOOKED_AT = 100  # of JSON Lines, for the names of columns

Columns = Mapping[str, str]  # what a column is → its name


def expected_columns() -> str:
    """Return what the columns of such a table may be called."""
    question, response = (" or ".join(NAMES[needed][:3]) for needed in NEEDED)
    return f"a table with a column {question}, and a column {response}"


def columns_of(source: Source, name: str) -> Columns:
    """Return the name of each column that a table has, by what it is; nothing of votes."""
    there = _names(source, name)
    if not is_json(source, name):
        there = [column.lower().replace(" ", "_") for column in there]
    if set(there) >= OF_VOTES:
        return {}
    found = {
        what: next((each for each in names if each in there), "") for what, names in NAMES.items()
    }
    return {what: column for what, column in found.items() if column}


def what_stands_in(source: Source, name: str) -> str:
    """Return what a file that nobody recognises holds, in a few words: its columns, if it has."""
    if not source.sizes[name]:
        return "an empty file"
    there = _names(source, name)
    is_table = len(there) > 1 or (there and is_json(source, name))
    return f"the columns {excerpt(there)}" if is_table else "content of no format that is known"


def _names(source: Source, name: str) -> list[str]:
    """Return what the columns of a table are called, in their order; none of a list of JSON."""
    if is_json(source, name):
        return _json_keys(source, name)
    first = source.head(name, _HEAD_BYTES).decode("utf-8", "replace").partition("\n")[0]
    return [] if first.lstrip().startswith("[") else csv_columns(first)


def _json_keys(source: Source, name: str) -> list[str]:
    """Return the keys of the first rows: not every row has them all."""
    found: dict[str, None] = {}
    lines = source.head(name, _HEAD_BYTES).decode("utf-8", "replace").split("\n", _ROWS_LOOKED_AT)
    for line in lines[:_ROWS_LOOKED_AT]:
        try:
            value = parse_json(line, source.limits.max_nesting)
        except JSONTrouble:  # blank, cut off at the end of what was read, or bad
            continue
        found |= dict.fromkeys(value) if isinstance(value, dict) else {}
    return list(found)


def is_json(source: Source, name: str) -> bool:
    """Return whether a table is JSON Lines, and no CSV."""
    return source.head(name, 16).decode("utf-8", "replace").lstrip().startswith("{")
