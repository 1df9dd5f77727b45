"""The plan of calls of a model: their number, tokens, time and price, before they are made.

Commands, pages and the API show this plan first. Only a person's yes lets the work begin.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from work.amounts import UNDEFINED, about, money

COLUMNS = ("calls ≤", "already there", "prompt tokens", "new tokens ≤", "time", "cost ≤")
_WIDTH = 13  # characters of a column of numbers
N = TypeVar("N", int, float)


class CallRow(NamedTuple):
    """The calls of one piece of work. A number that is not known is None."""

    title: str  # what the work is and which model it asks; the same for the same choices
    n_calls: int  # at most
    n_there: int = 0  # calls that are not made, because their answers are there
    n_prompt_tokens: int | None = None  # counted by `generation.text.tokens`
    n_completion_tokens: int | None = None  # at most
    seconds: float | None = None  # at the speed of this model's last work of this kind
    cost: float | None = None  # at most, in `currency`
    currency: str = ""

    @property
    def cells(self) -> list[str]:
        """The numbers in words, in the order of `COLUMNS`."""
        tokens = (self.n_prompt_tokens, self.n_completion_tokens)
        return [
            f"{self.n_calls:,}",
            f"{self.n_there:,}",
            *(UNDEFINED if n is None else f"{n:,}" for n in tokens),
            about(self.seconds),
            money(self.cost, self.currency),
        ]


class CallPlan(NamedTuple):
    """The calls of some work, shown before it starts. Without rows, it costs nothing.

    `notes` are sentences about how the numbers were found, and what they leave out.
    """

    rows: tuple[CallRow, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_calls(self) -> int:
        """The calls of all rows, at most. With 0, no yes is needed."""
        return sum(row.n_calls for row in self.rows)

    @property
    def total(self) -> CallRow:
        """The sums over all rows. A sum is None if a part of it is not known."""
        currencies = {row.currency for row in self.rows}
        return CallRow(
            "total",
            self.n_calls,
            sum(row.n_there for row in self.rows),
            _sum(row.n_prompt_tokens for row in self.rows),
            _sum(row.n_completion_tokens for row in self.rows),
            _sum(row.seconds for row in self.rows),
            _sum(row.cost for row in self.rows) if len(currencies) == 1 else None,
            min(currencies, default=""),
        )

    @property
    def table_rows(self) -> Sequence[CallRow]:
        """The rows, and their sums where there are several."""
        return [*self.rows, self.total] if len(self.rows) > 1 else self.rows

    @property
    def lines(self) -> Iterator[str]:
        """The plan as the lines of a table, and its notes."""
        width = max((len(row.title) for row in self.table_rows), default=0)
        yield " ".join([" " * width, *(column.rjust(_WIDTH) for column in COLUMNS)])
        for row in self.table_rows:
            yield " ".join([row.title.ljust(width), *(cell.rjust(_WIDTH) for cell in row.cells)])
        yield from self.notes


def together(plans: Iterable[CallPlan]) -> CallPlan:
    """Return one plan with the rows of several, and each note once."""
    parts = list(plans)
    notes = dict.fromkeys(note for plan in parts for note in plan.notes)
    return CallPlan(tuple(row for plan in parts for row in plan.rows), tuple(notes))


def _sum(numbers: Iterable[N | None]) -> N | None:
    asked = list(numbers)
    known = [n for n in asked if n is not None]
    return sum(known) if len(known) == len(asked) else None
