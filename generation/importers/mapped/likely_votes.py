"""The columns of a table that look like its raters and their votes, judged by its first rows.

A response has several raters, and each of them once. A vote is a yes or no, a small whole
number or one of a few labels, and it differs between the rows of one response, or has a usual name.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.importers.cell_meanings import is_missing
from generation.importers.mapped.cells import answer_in
from generation.importers.mapped.roles import (
    HOLD_VOTES,
    PERHAPS_RATERS,
    RATERS,
    ROLES,
    plain_name,
)

# The last words of usual names of votes.
OF_VOTES = {"label", "rating", "vote", "verdict", "annotation", "judgement", "judgment", "grade"}
OF_VOTES |= {"faithful", "supported", "attributable", "correct", "human_score"}
# The last words of names of what tells runs or rows apart, and not raters or their votes.
OF_RUNS = {"seed", "run", "trial", "repeat", "repetition", "temperature", "sample", "version"}
OF_RUNS |= {"index", "number", "id", "k", "split", "fold", "turn", "round", "batch"}
YES_OR_NO = {"yes", "no", "true", "false", "y", "n", "t", "f", "ja", "nein", "oui", "non", "si"}
MOST_LABELS = 12
LONGEST_LABEL = 40
HIGHEST = 10  # the highest whole number that is taken for a vote
HIGHEST_IF_NAMED = 100  # in a column with a usual name of votes
IDENTITY = (  # roles of the columns that tell responses apart
    *("question", "history", "messages", "response", "response_id", "example", "dialog", "setup"),
)
ONLY_OF_VOTES = ("vote_id", "seconds", "at")  # roles that a table without votes does not have

_PEOPLE = "|".join((*RATERS, *PERHAPS_RATERS))
# `rater1`, `annotator_2`, `R3`, `supported_coder_b`, `judge1_supported`
_OF_A_PERSON = re.compile(
    rf"(?:(?P<before>\w+)_)?(?P<rater>(?:{_PEOPLE})_?(?:\d+|[a-e])|[ra]_?\d+)(?:_(?P<after>\w+))?"
)
_NUMBERED = re.compile(r"(?P<question>\w*?[^\W\d_])_?(?P<number>\d+)")  # label_1, rating2
_WHOLE = re.compile(r"(\d{1,3})(?:[.,]0+)?")
_NO_ANSWER = "-" * (LONGEST_LABEL + 1)  # in place of a list or an object


class Guess(NamedTuple):
    """The likely raters and votes of a table, if no mapping or recipe says what they are.

    Attributes:
        columns: column → role.
        names: column of one rater's votes → question.
        raters: column of one rater's votes → rater.
        is_sure: whether nothing else in the table could be its votes.
    """

    columns: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    raters: Mapping[str, str] = {}
    is_sure: bool = True


def likely_votes(
    cells: Mapping[str, Sequence[Any]],
    free: Sequence[str],
    known: Mapping[str, str],
    *,
    are_several: bool,
) -> Guess:
    """Return which of the free columns look like raters, and which like their votes.

    Args:
        cells: column → its cells in the first rows, None where a row has none.
        known: the roles of the other columns.
        are_several: whether several columns of votes are no surprise.
    """
    seen = _FirstRows(cells, known)
    rater = next((column for column, role in known.items() if role == "rater"), None)
    rater = rater or seen.rater_by_name(free)
    if {*known.values()} & {*HOLD_VOTES}:
        return Guess({rater: "rater"} if rater else {})
    if rater is None and (of_raters := seen.columns_of_raters(free)):
        return of_raters
    rater = rater or seen.rater_by_content(free)
    if rater is None:
        return Guess()
    votes, is_sure = seen.votes_of(rater, free, known, are_several=are_several)
    return Guess({rater: "rater", **dict.fromkeys(votes, "vote")}, is_sure=is_sure)


class _FirstRows:
    """The first rows of a table, put together by response."""

    def __init__(self, cells: Mapping[str, Sequence[Any]], known: Mapping[str, str]) -> None:
        self._cells = cells
        self._words: dict[str, list[str]] = {}
        identity = [cells[column] for column, role in known.items() if role in IDENTITY]
        by_response: dict[str, list[int]] = defaultdict(list)
        for number, said in enumerate(zip(*identity, strict=True)):
            by_response[repr(said)].append(number)
        self._responses = list(by_response.values())

    def rater_by_name(self, free: Sequence[str]) -> str | None:
        """Return the first column with a usual name of raters."""
        there = {plain_name(column): column for column in reversed(free)}
        for name in ROLES["rater"].possible_names():
            is_perhaps = name.startswith(PERHAPS_RATERS)
            if name in there and (not is_perhaps or self._differs_in(self._responses, there[name])):
                return there[name]
        return None

    def rater_by_content(self, free: Sequence[str]) -> str | None:
        """Return the only column that looks like raters and leaves a column of votes."""
        likely = [column for column in free if self._looks_like_raters(column)]
        if len(likely) != 1:
            return None
        return likely[0] if self.votes_of(likely[0], free, {}, are_several=True)[0] else None

    def votes_of(
        self, rater: str, free: Sequence[str], known: Mapping[str, str], *, are_several: bool
    ) -> tuple[list[str], bool]:
        """Return the columns that look like votes, and whether it is clear which ones are."""
        by_rater: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._of(rater)):
            by_rater[word].append(number)
        others = [c for c in free if c != rater and self._are_answers([c], is_named=_is_named(c))]
        own = [c for c in others if not _is_of_runs(c) and not self._is_about(by_rater.values(), c)]
        differing = [c for c in own if self._differs_in(self._responses, c)]
        told = [c for c in others if _is_named(c) or c in differing or self._is_of_a_tool(c)]
        if told:
            return told, are_several or len(told) == 1
        plain = [c for c in own if _are_yes_no(self._said(c)) or _are_whole(self._said(c), HIGHEST)]
        if plain:
            return plain, len(plain) == 1
        return (own, not own) if {*known.values()} & {*ONLY_OF_VOTES} else ([], True)

    def columns_of_raters(self, free: Sequence[str]) -> Guess | None:
        """Return the columns that hold the votes of one rater each. None: there are none."""
        by_question: dict[str, dict[str, str]] = defaultdict(dict)  # question → column → rater
        of_persons = set()
        for column in free:
            name = plain_name(column)
            if person := _OF_A_PERSON.fullmatch(name):
                question = "_".join(filter(None, (person["before"], person["after"])))
                by_question[question][column] = person["rater"]
                of_persons.add(question)
            elif (numbered := _NUMBERED.fullmatch(name)) and _is_named(numbered["question"]):
                by_question[numbered["question"]][column] = f"rater_{numbered['number']}"
        alike = {
            question: columns
            for question, columns in by_question.items()
            if len(columns) > 1 and self._are_answers(columns, is_named=True, are_alike=True)
        }
        if not alike:
            return None
        raters = {column: rater for columns in alike.values() for column, rater in columns.items()}
        return Guess(
            columns=dict.fromkeys(raters, "rater_votes"),
            names={c: question for question, columns in alike.items() for c in columns if question},
            raters={column: rater for column, rater in raters.items() if rater != column},
            # `annotator_1` may say who gave `label_1`.
            is_sure={*alike} <= of_persons or not {*alike} & of_persons,
        )

    def _of(self, column: str) -> list[str]:
        """Return the words of a column, "" where a row has none."""
        if column not in self._words:
            self._words[column] = [_word(value) for value in self._cells[column]]
        return self._words[column]

    def _said(self, *columns: str) -> list[str]:
        return [word for column in columns for word in self._of(column) if word]

    def _differs_in(self, groups: Iterable[Sequence[int]], column: str) -> bool:
        words = self._of(column)
        return any(len({words[n] for n in group if words[n]}) > 1 for group in groups)

    def _is_about(self, raters: Iterable[Sequence[int]], column: str) -> bool:
        """Return whether a column says something about its raters: always the same of each."""
        words = self._of(column)
        said = [[words[n] for n in rows if words[n]] for rows in raters]
        several = [each for each in said if len(each) > 1]
        return len(several) > 1 and all(len({*each}) == 1 for each in several)

    def _is_of_a_tool(self, column: str) -> bool:
        """Return whether a cell has an answer in the form of a tool."""
        return any(answer_in(value) is not None for value in self._cells[column])

    def _looks_like_raters(self, column: str) -> bool:
        """Return whether most responses have several of few values, each value once."""
        words = self._of(column)
        rows = len(words)
        together = [[words[n] for n in group] for group in self._responses if len(group) > 1]
        return (
            all(words)
            and not _is_named(column)
            and not _is_of_runs(column)
            and not _are_yes_no(words)
            and all(len(word) <= 2 * LONGEST_LABEL for word in words)
            and 2 * sum(map(len, together)) > rows
            and all(len({*group}) == len(group) for group in together)
            and 1 < len({*words}) <= rows / 2
        )

    def _are_answers(
        self, columns: Iterable[str], *, is_named: bool, are_alike: bool = False
    ) -> bool:
        """Return whether columns hold yes/no, small whole numbers or few labels and nothing else.

        Args:
            are_alike: whether some columns have to share a label.
        """
        said = [{word.lower() for word in self._said(column)} for column in columns]
        words = [word for column in columns for word in self._said(column)]
        if not words:
            return False
        if _are_yes_no(words) or _are_whole(words, HIGHEST_IF_NAMED if is_named else HIGHEST):
            return True
        labels = set[str]().union(*said)
        if are_alike and len(labels) == sum(map(len, said)):
            return False
        is_few = is_named or 2 * len(labels) <= len(words)
        return (
            (is_few or any(map(self._is_of_a_tool, columns)))
            and len(labels) <= MOST_LABELS
            and all(len(label) <= LONGEST_LABEL for label in labels)
            and not all(map(_is_number, labels))
        )


def _word(value: Any) -> str:
    """Return a cell as a word. "": it is empty, or says that there is nothing."""
    if (told := answer_in(value)) is not None:
        value = told
    if isinstance(value, list | dict):
        return _NO_ANSWER
    if isinstance(value, bool):
        return "yes" if value else "no"
    word = "" if value is None else str(value).strip()
    return "" if is_missing(word) else word


def _is_named(column: str) -> bool:
    """Return whether a column has a usual name of votes."""
    name = plain_name(column)
    return bool({name, name.rpartition("_")[2]} & OF_VOTES)


def _is_of_runs(column: str) -> bool:
    return plain_name(column).rpartition("_")[2] in OF_RUNS


def _are_yes_no(words: Iterable[str]) -> bool:
    return all(word.lower() in YES_OR_NO for word in words)


def _are_whole(words: Iterable[str], highest: int) -> bool:
    whole = [_WHOLE.fullmatch(word) for word in words]
    return all(each is not None and int(each[1]) <= highest for each in whole)


def _is_number(word: str) -> bool:
    """Return whether a word is a number, or a date or a time in digits."""
    return re.fullmatch(r"(?=.*\d)[-+\d.,:/ TZ]+%?", word) is not None
