"""The columns of a table that look like its raters and their votes, judged by its first rows.

A response has several raters, and each of them once. A vote is a yes or no, a small whole
number or one of a few labels, and it differs between the rows of one response, or has a usual name.
Where raters are there, votes are found for sure, or what is not known of them is asked.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.importers.cell_meanings import NO, YES, folded, is_missing, score_in
from generation.importers.errors import excerpt
from generation.importers.mapped.cells import answer_in
from generation.importers.mapped.column_names import (
    ASKED,
    OF_NAMES,
    OF_PEOPLE,
    is_no_vote,
    is_of_runs,
    is_of_votes,
    without_features,
)
from generation.importers.mapped.roles import (
    HOLD_VOTES,
    PERHAPS_RATERS,
    RATERS,
    ROLES,
    is_named_as_votes,
    named_columns,
    plain_name,
)
from generation.importers.rater_codes import is_address, is_of_persons, without_addresses

MOST_LABELS = 12
LONGEST_LABEL = 40
HIGHEST = 10  # the highest whole number that is taken for a vote
HIGHEST_IF_NAMED = 100  # in a column with a usual name of votes
IDENTITY = (  # roles of the columns that tell responses apart
    *("question", "history", "messages", "response", "response_id", "example", "dialog", "setup"),
)

_PEOPLE = "|".join((*RATERS, *PERHAPS_RATERS))
# `rater1`, `annotator_2`, `R3`, `supported_coder_b`, `judge1_supported`
_OF_A_PERSON = re.compile(
    rf"(?:(?P<before>\w+)_)?(?P<rater>(?:{_PEOPLE})_?(?:\d+|[a-e])|[ra]_?\d+)(?:_(?P<after>\w+))?"
)
_NUMBERED = re.compile(r"(?P<question>\w*?[^\W\d_])_?(?P<number>\d{1,4})")  # label_1, rating2
_WHOLE = re.compile(r"(\d{1,3})(?:[.,]0+)?")
_NO_ANSWER = "-" * (LONGEST_LABEL + 1)  # in place of a list or an object


class Guess(NamedTuple):
    """The likely raters and votes of a table, if no mapping or recipe says what they are.

    Attributes:
        columns: column → role.
        names: column of one rater's votes → question.
        raters: column of one rater's votes → rater.
        asks: what is not known of its votes, in words. "": nothing.
        passed_over: the other columns whose cells may be votes.
    """

    columns: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    raters: Mapping[str, str] = {}
    asks: str = ""
    passed_over: Sequence[str] = ()


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
    if rater is None:
        guess = seen.columns_of_raters(free) or seen.raters_by_content(free)
        return guess or Guess(passed_over=seen.words_for_yes_no(free))
    asked = None if "asked" in known.values() else seen.asked_by(rater, free)
    roles = {rater: "rater"} | ({asked: "asked"} if asked else {})
    free = [column for column in free if column not in roles]
    votes, is_sure = seen.votes_of(rater, free, are_several=are_several)
    if votes:
        asks = "" if is_sure else _which(votes)
    else:
        votes, asks = seen.possible_votes(free)
    passed_over = seen.plain_columns(column for column in free if column not in votes)
    return Guess(roles | dict.fromkeys(votes, "vote"), asks=asks, passed_over=passed_over)


def _which(columns: Sequence[str]) -> str:
    named = without_addresses(named_columns(columns))
    if len(columns) == 1:
        return f"whether the column {named} holds votes of its raters"
    return f"which of the columns {named} hold votes of its raters"


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
            if name in there and (not is_perhaps or self._may_be_people(there[name])):
                return there[name]
        return None

    def _may_be_people(self, column: str) -> bool:
        is_yes_no = _are_yes_no(self._said(column))
        return not is_yes_no and self._differs_in(self._responses, column)

    def raters_by_content(self, free: Sequence[str]) -> Guess | None:
        """Return the only column that looks like raters and leaves columns of votes."""
        likely = [column for column in free if self._looks_like_raters(column)]
        if len(likely) != 1:
            return None
        [rater] = likely
        votes, is_sure = self.votes_of(rater, free, are_several=True)
        if not votes:
            return None
        is_of_people = {*plain_name(rater).split("_")} & OF_PEOPLE or all(
            "@" in word for word in self._of(rater)
        )
        asks = "" if is_sure else _which(votes)
        if not is_of_people:
            asks = f"whether {rater} names raters, whose votes are in {named_columns(votes)}"
        return Guess({rater: "rater", **dict.fromkeys(votes, "vote")}, asks=asks)

    def asked_by(self, rater: str, free: Sequence[str]) -> str | None:
        """Return the column that says what a rater's votes on one response are about."""
        raters = self._of(rater)
        for column in free:
            if plain_name(column).rpartition("_")[2] not in ASKED:
                continue
            words = self._of(column)
            groups = [[(raters[n], words[n]) for n in rows] for rows in self._responses]
            if all(words) and any(len({who for who, _ in each}) < len(each) for each in groups):
                return column if all(len({*each}) == len(each) for each in groups) else None
        return None

    def votes_of(
        self, rater: str, free: Sequence[str], *, are_several: bool
    ) -> tuple[list[str], bool]:
        """Return the columns that look like votes, and whether it is clear which ones are."""
        by_rater: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._of(rater)):
            by_rater[word].append(number)
        likely = [c for c in free if c != rater and self._said(c) and not is_no_vote(c)]
        answers = [c for c in likely if self._are_answers([c], is_named=is_named_as_votes(c))]
        own = [c for c in likely if not self._is_about(by_rater.values(), c)]
        told = [
            c
            for c in answers
            if is_named_as_votes(c)
            or self._is_of_a_tool(c)
            or (c in own and self._differs_in(self._responses, c))
        ]
        others = [c for c in likely if is_named_as_votes(c) and self._is_short(c)]
        if not any(map(is_named_as_votes, told)):
            others += [c for c in own if self._may_be_numbers(c)]
        if not told:
            told = [c for c in own if c in answers and self._are_plain(c)]
            others += [c for c in own if c in answers]
        if not told:
            return [], False
        found = [*dict.fromkeys((*told, *others))]
        return found, len(found) == 1 or (are_several and len(found) == len(told))

    def possible_votes(self, free: Sequence[str]) -> tuple[list[str], str]:
        """Return the columns that may be votes although none looks so, and what is to be asked."""
        there = [
            column
            for column in free
            if not is_of_runs(column)
            and not is_of_persons(column)
            and (self._said(column) or (is_named_as_votes(column) and self._cells[column]))
        ]
        likely = [c for c in there if not is_no_vote(c)]
        short = [c for c in likely if self._is_short(c)]
        named = [c for c in likely if is_named_as_votes(c)]
        if not (found := named or short or likely or there):
            return [], ""
        odd = next(
            (c for c in found if not self._are_answers([c], is_named=is_named_as_votes(c))), None
        )
        why = "no two rows of a response differ there"
        if odd is not None and not self._said(odd):
            why = f"{odd} is empty in the first rows"
        elif odd is not None:
            words = self._said(odd)
            word = next((each for each in words if not _are_whole([each], HIGHEST)), words[0])
            why = f"{odd} has {excerpt(word)}: no yes or no, small whole number or usual label"
        return named or short, f"{_which(found)} ({why})"

    def columns_of_raters(self, free: Sequence[str]) -> Guess | None:
        """Return the columns that hold the votes of one rater each. None: there are none."""
        by_question: dict[str, dict[str, str]] = defaultdict(dict)  # question → column → rater
        of_persons = set()
        for column in free:
            name = plain_name(column)
            if is_address(column):
                by_question[""][column] = column
                of_persons.add("")
            elif person := _OF_A_PERSON.fullmatch(name):
                question = "_".join(filter(None, (person["before"], person["after"])))
                by_question[question][column] = person["rater"]
                of_persons.add(question)
            elif (numbered := _NUMBERED.fullmatch(name)) and is_named_as_votes(
                numbered["question"]
            ):
                by_question[numbered["question"]][column] = f"rater_{numbered['number']}"
        several = {question: each for question, each in by_question.items() if len(each) > 1}
        votes = {question: each for question, each in several.items() if not is_no_vote(question)}
        alike = {
            question: columns
            for question, columns in votes.items()
            if self._are_answers(columns, is_named=True, are_alike=True)
        }
        perhaps = self._perhaps_of_raters(by_question, alike)
        if not alike:
            return Guess(asks=_which(perhaps)) if perhaps else self._alike_columns(free)
        names = [c for question in several if question in OF_NAMES for c in several[question]]
        # `annotator_1` may say who gave `annotator_1_label` or `label_1`.
        is_sure = {*alike} <= of_persons or not {*alike} & of_persons
        if len(alike) > 1 and not all(map(self._are_plain, alike.get("", ()))):
            names += alike.pop("")
        raters = {column: rater for columns in alike.values() for column, rater in columns.items()}
        asks = "" if is_sure and not perhaps else _which([*raters, *perhaps])
        if names:
            asks = f"whether {named_columns(names)} say who gave the votes in "
            asks += named_columns([*raters])
        return Guess(
            columns=dict.fromkeys(raters, "rater_votes"),
            names={c: question for question, columns in alike.items() for c in columns if question},
            raters={column: rater for column, rater in raters.items() if rater != column},
            asks=asks,
        )

    def _perhaps_of_raters(
        self, by_question: Mapping[str, Mapping[str, str]], alike: Collection[str]
    ) -> list[str]:
        """Return the other columns that raters name and that may be votes, or say who gave them."""
        return [
            column
            for question, columns in by_question.items()
            if question not in alike and not is_no_vote(question)
            for column, rater in columns.items()
            if rater.startswith(RATERS) or (is_address(rater) and self._are_few(column))
            if self._said(column) and self._is_short(column)
        ]

    def _alike_columns(self, free: Sequence[str]) -> Guess | None:
        """Return what to ask where columns with other names have the same few answers.

        They are columns of yes and no whose names begin with a capital, as those of people, or
        speak of votes, or of whole numbers with consecutive numbers in their names.
        """
        likely = without_features(free)
        found = [c for c in self.words_for_yes_no(free) if c[:1].isupper() or is_of_votes(c)]
        by_stem: dict[str, list[str]] = defaultdict(list)
        for column in likely:
            if numbered := _NUMBERED.fullmatch(plain_name(column)):
                by_stem[numbered["question"]].append(column)
        for stem, columns in by_stem.items():
            numbers = sorted(int(plain_name(c).removeprefix(stem).strip("_")) for c in columns)
            is_row = numbers == [*range(1, len(numbers) + 1)]
            if is_row and self._are_whole_alike(columns) and not is_no_vote(stem):
                found += [c for c in columns if c not in found]
        if len(found) < 2:
            return None
        columns = [c for c in free if c in found]
        asks = f"whether each of the columns {named_columns(columns)} holds the votes of a rater"
        return Guess(dict.fromkeys(columns, "rater_votes"), asks=asks)

    def words_for_yes_no(self, free: Sequence[str]) -> list[str]:
        """Return the columns of a table without raters in which people may have voted."""
        likely = [c for c in without_features(free) if not is_named_as_votes(c)]
        found = [c for c in likely if self._are_words_for_yes_no(c)]
        return found if len(found) > 1 else []

    def plain_columns(self, free: Iterable[str]) -> list[str]:
        """Return the columns of yes and no, or of small whole numbers, that may be votes."""
        likely = [c for c in free if self._said(c) and not is_no_vote(c)]
        return [c for c in likely if self._are_plain(c)]

    def _are_words_for_yes_no(self, column: str) -> bool:
        """Return whether people seem to have written yes and no, for which programs have others."""
        said = [value for value in self._cells[column] if value not in (None, "")]
        words = {word.lower() for word in self._said(column)}
        is_of_a_program = any(isinstance(value, bool) for value in said) or words <= {
            "true",
            "false",
        }
        return not is_of_a_program and _are_yes_no(words)

    def _are_whole_alike(self, columns: Sequence[str]) -> bool:
        words = self._said(*columns)
        return bool(words) and _are_whole(words, HIGHEST) and len({*words}) < len(words)

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

    def _are_plain(self, column: str) -> bool:
        """Return whether a column has only yes and no, or only small whole numbers."""
        words = self._said(column)
        return _are_yes_no(words) or _are_whole(words, HIGHEST)

    def _is_short(self, column: str) -> bool:
        return all(len(word) <= LONGEST_LABEL for word in self._said(column))

    def _are_few(self, column: str) -> bool:
        """Return whether a column has only numbers, or few answers for its rows."""
        is_of_numbers = all(map(_is_number, self._said(column)))
        return is_of_numbers or self._are_answers([column], is_named=False)

    def _may_be_numbers(self, column: str) -> bool:
        """Return whether the rows of a response differ in numbers that some scale may have."""
        scores = [score_in(word).score for word in self._said(column)]
        is_scale = all(score is not None and abs(score) <= HIGHEST_IF_NAMED for score in scores)
        return is_scale and self._differs_in(self._responses, column)

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
            and not is_named_as_votes(column)
            and not is_of_runs(column)
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


def _are_yes_no(words: Iterable[str]) -> bool:
    return all(folded(word) in YES | NO for word in words)


def _are_whole(words: Iterable[str], highest: int) -> bool:
    whole = [_WHOLE.fullmatch(word) for word in words]
    return all(each is not None and int(each[1]) <= highest for each in whole)


def _is_number(word: str) -> bool:
    """Return whether a word is a number, or a date or a time in digits."""
    return re.fullmatch(r"(?=.*\d)[-+\d.,:/ TZ]+%?", word) is not None
