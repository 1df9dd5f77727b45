"""Small studies for reports, with answers written as letters, and the rows of the reports."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.models import Study
from evaluation.reports.base import Choices
from evaluation.reports.report import Record, Report
from evaluation.studies.reports.raters import raters_report
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row

FIVE_STARS = {"ordinal": [1, 5]}
PAIR = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})


def only_row(study: Study, **choices: Any) -> Record:
    """Return the only row of the report on raters."""
    [row] = raters_report(study, Choices(**choices)).records
    return row


def row_of(study: Study, question: str, **choices: Any) -> Record:
    """Return the first row about a question in the report on raters."""
    return next(
        r for r in raters_report(study, Choices(**choices)).records if r["question"] == question
    )


def votes(**answers: str) -> dict[str, dict[str, list[str]]]:
    """Return votes on one question; answers of w1, w2, … are letters or digits by response."""
    words = {"y": "yes", "n": "no", "-": ""}
    return {
        response: {"q": [words.get(letter, letter) for letter in letters]}
        for response, letters in answers.items()
    }


COOL = {"model": "m", "temperature": 0.0}
WARM = {"model": "m", "temperature": 0.7}
WORDS = {"y": "yes", "n": "no"}
RATERS_OF = {"separate": "w", "separate_2": "v", "merged": "m"}  # arm → how its codes begin
THREE_ARMS = tuple(RATERS_OF)


def two_arms(
    folder: Path,
    answers: Mapping[str, tuple[str, ...]],
    *,
    arms: Sequence[str] = ("separate", "merged"),
    setups: Mapping[str, Any] | None = None,
    better: str | None = "yes",
    scale: Any = "yes_no",
    dialogs: Mapping[str, str] | None = None,
    more_votes: Sequence[Record] = (),
    **rows: Any,
) -> Study:
    """Import votes on one question `q`: response → answers in the separate and in the merged arm.

    Answers are one letter or digit per rater: w1, w2, … in the separate arm, m1, m2, … in the
    merged arm, and with `THREE_ARMS` v1, v2, … in the second separate arm.
    A response has an example and a dialog of its own, unless `dialogs` names one.
    """
    setups, dialogs = setups or {}, dialogs or {}
    given = [
        vote_row(response, f"{RATERS_OF[arm]}{number}", WORDS.get(letter, letter), "q", arm=arm)
        for response, by_arm in answers.items()
        for arm, letters in zip(arms, by_arm, strict=True)
        for number, letter in enumerate(letters, start=1)
    ]
    outcome = import_rows(
        folder,
        folder.name,
        examples=[example_row(f"e-{key}", dialog=dialogs.get(key, f"e-{key}")) for key in answers],
        responses=[response_row(key, f"e-{key}", setup=setups.get(key, COOL)) for key in answers],
        votes=[*given, *more_votes],
        scheme=scheme_of({"q": scale}, q={"better": better} if better else {}),
        **rows,
    )
    assert outcome.study is not None
    return outcome.study


def rows_by(report: Report[Any], *names: str) -> dict[Any, Record]:
    """Return the rows of a report by the value of one column, or by the values of several."""
    return {
        row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row
        for row in report.records
    }
