"""The figure of a report as a file, for pages, commands and the API."""

from typing import Any

from evaluation.reports.figures.builders import chart_file, drawing_file
from evaluation.reports.registry import CannotReport, ReportKind
from generation.choices.declaration import C

NOTHING_TO_DRAW = "There is nothing to draw, because no figure of this kind is defined."


def picture(kind: ReportKind[Any, C], subject: Any, choices: C, format_key: str) -> bytes:
    """Return the figure of a report that has one, as 'svg', 'pdf' or 'png'.

    Raises:
        ChoiceError: the subject does not have what was chosen.
        CannotReport, NotYet: there is nothing to draw.
    """
    if kind.drawing:
        return drawing_file(kind.drawing(subject, choices), format_key)
    spec = kind.figure(kind.make(subject, choices).rows) if kind.figure else None
    if spec is None:
        raise CannotReport(NOTHING_TO_DRAW)
    return chart_file(spec, format_key)
