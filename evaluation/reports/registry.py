"""Declared reports. The command, the API and the files of a report are made from its declaration.

An app registers its reports in its module `report_kinds`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from django.utils.module_loading import autodiscover_modules

from annotation.models import Study
from evaluation.reports.methods import NO_METHODS, Methods
from evaluation.reports.report import Report, ReportRow, columns_of
from generation.choices.declaration import C, made, values_of
from generation.models import Dataset

S = TypeVar("S", Dataset, Study)


class CannotReport(LookupError):
    """There is nothing to report on. The message is for the reader who asked for the report."""


class NoChoices(NamedTuple):
    """The choices of a report that has none."""


class NotYet(Exception):
    """A report cannot be made before something else is done, which the message names."""


class ReportGroup(StrEnum):
    """The questions that reports answer. A list of reports has a part for each, in this order."""

    RATERS = "What do raters say, and do they agree?"
    ARMS = "Does rating side by side change the answers?"
    SETUPS = "Which model, prompt or evidence is better?"
    METRICS = "Does a metric judge as people do?"
    GRAPH = "Do answers cite their knowledge graph rightly?"
    PLANNING = "How much rating is needed, and what does it cost?"


@dataclass(frozen=True)
class ReportKind(Generic[S, C]):
    """One report: its subject, its choices, and the function that makes it."""

    key: str  # used in commands, addresses and the API
    title: str
    lede: str  # the content of the report, in a sentence
    group: ReportGroup
    about: type[S]
    choices: type[C]  # a named tuple, see `generation.choices`
    make: Callable[[S, C], Report[Any]]
    rows: tuple[type[ReportRow], ...]  # the types that rows may have
    methods: Methods = NO_METHODS  # how its figures are made; a test asks for it
    usual: Callable[[S], C] | None = None  # the usual choices for a subject; None: the defaults
    # The values that choices may have for a subject, by the name of the choice, each in words.
    known: Callable[[S], Mapping[str, Mapping[str, str]]] | None = None
    # Checks that the subject has what was chosen, and raises ChoiceError if it has not.
    check: Callable[[S, C], None] | None = None
    # Prepares what `make` needs but pages do not wait for. Without it `make` may raise NotYet.
    prepare: Callable[[S, C], None] | None = None
    # The choices with a name in place of each id, so that they mean the same in every database.
    portable: Callable[[S, C], C] | None = None
    figure: Callable[[Sequence[Any]], dict[str, Any] | None] | None = None  # rows → Vega-Lite
    drawing: Callable[[S, C], str] | None = None  # an SVG document, where the figure is no chart
    # Column → function from subject, choices and row to the address of the data behind a figure.
    # The address is "" if there is none.
    leads: Mapping[str, Callable[[S, C, Any], str]] = field(default_factory=dict)
    # What it reads that no export of its subject has, so that it cannot be made again from one; "":
    # an export has all of it.
    beyond_export: str = ""
    former_key: str = ""  # The key before the report was renamed; it goes on working.

    @property
    def has_figure(self) -> bool:
        """Whether the report has a figure, which is written to files."""
        return bool(self.figure or self.drawing)

    @property
    def has_manifest(self) -> bool:
        """Whether a manifest and an export of its subject make the report again."""
        return not self.beyond_export

    @property
    def keys(self) -> set[str]:
        """The keys that commands and addresses may use: the present one and a former one."""
        return {self.key, self.former_key} - {""}

    def chosen(self, subject: S, given: Mapping[str, Any]) -> C:
        """Return the given choices for a subject; all other choices have their usual values.

        Raises:
            ChoiceError: the subject does not have what was chosen.
        """
        usual = values_of(self.usual(subject)) if self.usual else {}
        choices = made(self.choices, {**usual, **given})
        if self.check:
            self.check(subject, choices)
        return choices


_registered: dict[str, ReportKind[Any, Any]] = {}


def register(*kinds: ReportKind[Any, Any]) -> None:
    """Register reports, so that readers can ask for them.

    Raises:
        ValueError: a type of rows has no columns or two with the same heading, or `leads`,
            `named_by` or `paper_columns` names a column that does not exist.
    """
    for kind in kinds:
        shown = {name for row_type in kind.rows for name in columns_of(row_type)}
        said = {name for each in kind.rows for name in (*each.paper_columns, *each.named_by)}
        if unknown := (kind.leads.keys() | said) - shown:
            raise ValueError(f"{kind.key} has no column {', '.join(sorted(unknown))}")
        for row_type in kind.rows:
            headings = [column.heading for column in columns_of(row_type).values()]
            if len(set(headings)) < max(1, len(headings)):
                raise ValueError(f"{row_type.__name__} has no columns, or one twice: {headings}")
        _registered[kind.key] = kind


@cache
def all_reports() -> Mapping[str, ReportKind[Any, Any]]:
    """Return all reports by key. Their modules are imported at the first call."""
    autodiscover_modules("report_kinds")
    return _registered


def reports_about(subject: type[Dataset] | type[Study]) -> list[ReportKind[Any, Any]]:
    """Return the reports on studies, or the reports on datasets."""
    return [kind for kind in all_reports().values() if kind.about is subject]
