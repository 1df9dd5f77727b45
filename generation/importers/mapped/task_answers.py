"""`Answer.taskAnswers` of Mechanical Turk: the answers of a form of crowd elements, as JSON.

A cell is a list of one object, with a field for each input: `{"quality": {"1": true, "2": false}}`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import SEVERAL
from generation.importers.mapped.encoded_texts import as_json
from generation.importers.mapped.roles import REMARKS, plain_name

COLUMN = "Answer.taskAnswers"
_ANSWER = "Answer."
_BESIDE = "taskAnswers."  # before the name of what is no vote
_ON = {"on"}  # the only option of a box without a value of its own
_FEW_OPTIONS = re.compile(r"labels?")  # how a classifier says what was chosen


def opened_answers(row: Row) -> dict[str, Any]:
    """Return the fields of a row with a column `Answer.…` for each input of the form.

    Of options the chosen ones are the answer, and a single box is a yes or a no. Remarks are
    `taskAnswers.…`, which is no vote. A cell of another form is a problem of the row.
    """
    values = dict(row.values)
    cell = values.pop(COLUMN, None)
    if cell in (None, ""):
        return values
    said = as_json(cell) if isinstance(cell, str) else cell
    forms = said if isinstance(said, list) else [said]
    if not forms or not all(isinstance(form, dict) for form in forms):
        row.refuse(COLUMN, excerpt(cell), "a list of one JSON object, with a field for each input")
        return values
    for name, answer in _inputs(forms):
        before = _BESIDE if _is_remark(name) else _ANSWER
        values[before + name] = _chosen(answer)
    return values


def _inputs(forms: list[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for form in forms:
        yield from form.items()


def _is_remark(name: str) -> bool:
    return plain_name(name).rpartition("_")[2] in REMARKS


def _chosen(answer: Any) -> Any:
    """Return what was chosen, or a text or a number as it is. None: nothing was chosen."""
    if not isinstance(answer, dict):
        return answer
    if answer.keys() == _ON:
        return answer["on"]
    if len(answer) == 1 and _FEW_OPTIONS.fullmatch(*answer):
        [labels] = answer.values()
        chosen = labels if isinstance(labels, list) else [labels]
    else:
        chosen = [option for option, is_chosen in answer.items() if is_chosen is True]
    return SEVERAL.join(map(str, chosen)) or None
