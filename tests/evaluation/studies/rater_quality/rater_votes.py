"""Studies for the report on raters: votes with the moment and the seconds of each."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from annotation.models import GoldAnswer, Study, Target
from evaluation.reports.report import Record
from evaluation.studies.rater_quality.reports import rater_quality
from tests.evaluation.studies.hand_made import votes
from tests.makers import Row, rated, vote_row

WORDS = {"y": "yes", "n": "no"}
ALWAYS_YES = ["yyyyy"] * 20 + ["nnnny"] * 20  # the answers of w5 are all yes
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)


def flags(*pairs: tuple[str, str], arm: str = "separate") -> list[Row]:
    """Return rows of flags, from pairs of a response and a rater."""
    return [{"response": response, "rater": rater, "arm": arm} for response, rater in pairs]


def in_order(rater: str, answers: Mapping[str, str], question: str = "q", **more: Any) -> list[Row]:
    """Return a rater's votes, one a minute: response → answer, as a letter or a digit."""
    return [
        vote_row(
            response,
            rater,
            WORDS.get(answer, answer),
            question,
            at=(MORNING + timedelta(minutes=minute)).isoformat(),
            **more,
        )
        for minute, (response, answer) in enumerate(answers.items())
    ]


def numbered(patterns: Sequence[str]) -> dict[str, str]:
    """Return patterns by the keys of responses, r01, r02 and so on."""
    return {f"r{number:02}": pattern for number, pattern in enumerate(patterns, start=1)}


def make_gold(study: Study, response: str, question: str = "q", answer: int = 1) -> None:
    """Make a response a gold item: its answer is known."""
    target = Target.objects.get(response__key=response)
    GoldAnswer.objects.create(study=study, target=target, question=question, answer=answer)


def row_about(study: Study, rater: str) -> Record:
    """Return the row of the report about one rater, by the rater's code."""
    [row] = (row for row in rater_quality(study).report.records if row["rater"] == rater)
    return row


def study_of(folder: Path, patterns: Sequence[str], **more: Any) -> Study:
    """Import a study with one question; a pattern has the answers of w1, w2, … to a response."""
    return rated(folder, votes(**numbered(patterns)), **more)
