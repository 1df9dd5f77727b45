"""Small studies for reports, with answers as letters, and their rows."""

from annotation.models import Study
from evaluation.reports import Choices, Row, raters_report
from tests.makers import scheme_of

FIVE_STARS = {"ordinal": [1, 5]}
PAIR = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})


def only_row(study: Study, **choices: bool) -> Row:
    """Return the row of a report that has one."""
    [row] = raters_report(study, Choices(**choices)).rows
    return row


def row_of(study: Study, question: str, **choices: bool) -> Row:
    """Return the first row about a question."""
    return next(
        r for r in raters_report(study, Choices(**choices)).rows if r["question"] == question
    )


def votes(**answers: str) -> dict[str, dict[str, list[str]]]:
    """Return votes on one question: response → answers of w1, w2, ... as letters or digits."""
    words = {"y": "yes", "n": "no", "-": ""}
    return {
        response: {"q": [words.get(letter, letter) for letter in letters]}
        for response, letters in answers.items()
    }
