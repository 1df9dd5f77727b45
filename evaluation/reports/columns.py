"""The columns of reports, which show fields in tables of pages, on a terminal and in LaTeX.

The declaration of a field that is shown includes its column:

    accuracy: Annotated[Estimate, Column("Accuracy", Format.PERCENT)]

JSON and CSV hold every field.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from evaluation.reports import numbers
from work.amounts import UNDEFINED


class Estimate(NamedTuple):
    """A figure with the ends of its 95 % interval. None means undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, and 0 is not in it."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


UNKNOWN = Estimate()


class Format(Enum):
    """The format in which the values of a column are written."""

    TEXT = "as it is"
    COUNT = "a whole number"
    PERCENT = "a share in [0, 1], as percent with one digit"
    POINTS = "a difference of shares in [-1, 1], as percentage points with its sign"
    POINTS_OF_100 = "a difference that is in percentage points already, with its sign"
    COEFFICIENT = "two digits without the leading zero"
    DECIMAL = "two digits"
    SIGNED = "a difference with two digits and its sign"
    P_VALUE = "three digits without the leading zero"
    MSE = "a mean squared error, three digits without the leading zero"
    SECONDS = "seconds, or minutes where they are many"
    THRESHOLD = "three digits"
    TEMPERATURE = "the digits that it has"
    MEAN = "a mean of majorities, as percent of yes, or of medians, as points; see `RowOfQuestion`"

    @property
    def unit(self) -> str:
        """The unit after the title of a column on a terminal or in a paper: ', %'."""
        if self in (Format.POINTS, Format.POINTS_OF_100):
            return ", points"
        if self is Format.MEAN:
            return ", % or points"
        return ", %" if self is Format.PERCENT else ""

    def write(self, value: Any) -> str:
        """Return the text of a value in this format; None and "" become a dash."""
        if value is None or value == "":
            return UNDEFINED
        if isinstance(value, bool):
            return "yes" if value else "no"
        return _WRITERS[self](value)

    def interval(self, estimate: Estimate) -> str:
        """Return the interval of an estimate: '81.0–91.2', '−1.2 to +3.4'; "" if it has none."""
        if estimate.low is None or estimate.high is None:
            return ""
        between = "–" if self in _NEVER_NEGATIVE else " to "
        return between.join(map(self.write, estimate[1:]))


_NEVER_NEGATIVE = {Format.PERCENT, Format.DECIMAL, Format.MSE, Format.P_VALUE}
_WRITERS: dict[Format, Callable[[Any], str]] = {
    Format.TEXT: str,
    Format.COUNT: "{:,}".format,
    Format.PERCENT: numbers.percent,
    Format.POINTS: numbers.points,
    Format.POINTS_OF_100: lambda value: numbers.points(value / 100),
    Format.COEFFICIENT: numbers.coefficient,
    Format.DECIMAL: numbers.decimal,
    Format.SIGNED: numbers.signed,
    Format.P_VALUE: numbers.p_value,
    Format.MSE: numbers.mse,
    Format.SECONDS: numbers.seconds,
    Format.THRESHOLD: lambda value: numbers.decimal(value, 3),
    Format.TEMPERATURE: numbers.temperature,
    Format.MEAN: numbers.decimal,
}


class Column(NamedTuple):
    """The title, format and group with which a field is shown."""

    title: str
    format: Format = Format.TEXT
    group: str = ""  # columns of one group are below the group's title

    @property
    def heading(self) -> str:
        """The heading of the column on a terminal or in a paper: 'Micro: precision, %'."""
        title = f"{self.group}: {self.title.lower()}" if self.group else self.title
        return f"{title}{self.format.unit}"

    @property
    def heading_in_group(self) -> str:
        """The heading of the column if the title of its group is shown above it."""
        return f"{self.title}{self.format.unit}"

    def write(self, value: Any) -> str:
        """Return a value as text in a table: '97.2 [95.0, 98.1]'."""
        if not isinstance(value, Estimate):
            return self.format.write(value)
        text = self.format.write(value.value)
        if value.low is None or value.high is None:
            return text
        return f"{text} [{self.format.write(value.low)}, {self.format.write(value.high)}]"
