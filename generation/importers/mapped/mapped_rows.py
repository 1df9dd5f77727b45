"""A row of a table after its check, and the names of what an import counts of such rows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from generation.importers import messages
from generation.importers.cell_meanings import ScoreCell
from generation.importers.mapped.cells import SYSTEM
from generation.importers.mapped.roles import is_of_rows
from generation.importers.mapped.said_cells import SaidVote
from generation.importers.rater_codes import NOMINAL
from generation.records import PassageRecord, TurnRecord, Where

LONG_TEXT = 100_000  # characters
ALONE = "examples without a dialog, because no column names one"
OTHERWISE = "rows that differ from the first row of their example"
EMPTY = "responses without a text, which count as empty answers"
WITHOUT_EVIDENCE = "responses without evidence, so that AIS cannot be rated"
LONG = f"texts of more than {LONG_TEXT:,} characters, which raters must scroll through"
NO_RESPONSE = "cells without a response of their setup"
LEFT_OUT = (NO_RESPONSE, SYSTEM, *messages.LEFT_OUT)  # what is counted that is not imported
OF_NOBODY = f"votes without a rater, which count as votes of one rater, {NOMINAL}"
GUESSED = "taken for votes because they look like some"
PASSED_OVER = "which may be votes but were not taken for some, and stay in meta"
RESPELLED = "raters whose names are spelled in several ways, taken as one (r1 and R1, 1 and 1.0)"
OF_PERSONS = "which tell who a rater is"
CODED = "raters whose names were replaced by codes"


class MappedResponse(NamedTuple):
    """One response of a row, with its setup."""

    key: str
    setup: str
    text: str


class MappedRow(NamedTuple):
    """One row that was checked."""

    where: Where
    example: str
    dialog: str
    turns: tuple[TurnRecord, ...]
    golden_answer: str | None
    golden: tuple[PassageRecord, ...]
    shown: tuple[PassageRecord, ...]
    answers: tuple[MappedResponse, ...]
    n_without: int  # empty cells of responses, if several columns hold responses
    scores: tuple[tuple[str, ScoreCell], ...]  # metric, score
    votes: tuple[SaidVote, ...]
    missing: tuple[str, ...]  # what cells of votes say that are none
    rater: str
    vote_id: str
    seconds: float | None
    at: datetime | None
    meta: Mapping[str, Any]
    notes: tuple[str, ...]  # names of what is counted about its texts
    of_persons: tuple[str, ...]  # columns that are left out because they tell who a rater is
    compared: Mapping[str, Any]  # cells in which the rows of one response may differ

    @property
    def rest(self) -> str:
        """The cells besides its votes and texts, and apart from its number, as one text."""
        return repr([each for each in self.compared.items() if not is_of_rows(each[0])])
