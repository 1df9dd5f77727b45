"""Reports, each declared in its room: its command, its API and its files are made of that.

A room that is an app registers its reports in its module `report_kinds`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from django.utils.module_loading import autodiscover_modules

from annotation.models import Study
from evaluation.reports.report import Report, ReportRow, columns_of
from generation.choices.declaration import C, made, values_of
from generation.models import Dataset

S = TypeVar("S", Dataset, Study)


class CannotReport(LookupError):
    """There is nothing to report on; the message is for whoever asked for the report."""


class NoChoices(NamedTuple):
    """What a reader may choose about a report without choices."""


class NotYet(Exception):
    """A report cannot be made before something else is done; the message says what."""


@dataclass(frozen=True)
class ReportKind(Generic[S, C]):
    """One report: what it is about, what its reader may choose, and how it is made."""

    key: str  # in commands, addresses and the API
    title: str
    lede: str  # what it says, in a sentence
    about: type[S]
    choices: type[C]  # a named tuple, see `generation.choices`
    make: Callable[[S, C], Report[Any]]
    rows: tuple[type[ReportRow], ...]  # their types: what may be a row
    usual: Callable[[S], C] | None = None  # choices about a subject; None: their defaults
    # Values that choices may have about a subject, by name, each in words.
    known: Callable[[S], Mapping[str, Mapping[str, str]]] | None = None
    # Makes sure that choices are about something the subject has; raises ChoiceError.
    check: Callable[[S, C], None] | None = None
    # Does what `make` needs and pages do not wait for; without it `make` may say NotYet.
    prepare: Callable[[S, C], None] | None = None
    figure: Callable[[Sequence[Any]], dict[str, Any] | None] | None = None  # Vega-Lite, of rows
    # Column → the address of what is behind it, of a subject, the choices and a row; "" for none.
    leads: Mapping[str, Callable[[S, C, Any], str]] = field(default_factory=dict)
    former_key: str = ""  # The key before the report was renamed; it goes on working.

    @property
    def keys(self) -> set[str]:
        """The keys that commands and addresses may use: the present one and a former one."""
        return {self.key, self.former_key} - {""}

    def chosen(self, subject: S, given: Mapping[str, Any]) -> C:
        """Return the choices that were given about a subject, the others as usual.

        Raises:
            ChoiceError: it does not have what was chosen.
        """
        usual = values_of(self.usual(subject)) if self.usual else {}
        choices = made(self.choices, {**usual, **given})
        if self.check:
            self.check(subject, choices)
        return choices


_registered: dict[str, ReportKind[Any, Any]] = {}


def register(*kinds: ReportKind[Any, Any]) -> None:
    """Let these reports be asked for.

    Raises:
        ValueError: a row shows nothing, two of its columns are called the same, or what is no
            column leads somewhere or is printed.
    """
    for kind in kinds:
        shown = {name for row_type in kind.rows for name in columns_of(row_type)}
        printed = {name for row_type in kind.rows for name in row_type.paper_columns}
        if unknown := (kind.leads.keys() | printed) - shown:
            raise ValueError(f"{kind.key} has no column {', '.join(sorted(unknown))}")
        for row_type in kind.rows:
            headings = [column.heading for column in columns_of(row_type).values()]
            if len(set(headings)) < max(1, len(headings)):
                raise ValueError(f"{row_type.__name__} has no columns, or one twice: {headings}")
        _registered[kind.key] = kind


@cache
def all_reports() -> Mapping[str, ReportKind[Any, Any]]:
    """Return all reports by key; what they need is imported when one is first asked for."""
    autodiscover_modules("report_kinds")
    return _registered


def reports_about(subject: type[Dataset] | type[Study]) -> list[ReportKind[Any, Any]]:
    """Return the reports on studies, or those on datasets."""
    return [kind for kind in all_reports().values() if kind.about is subject]
