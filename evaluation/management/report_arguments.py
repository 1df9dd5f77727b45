"""The arguments of commands that make a report: which one, of what, and with which choices."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from django.core.management.base import CommandParser

from annotation.models import Study
from evaluation.reports.registry import ReportKind, all_reports
from generation.choices.arguments import add_arguments, given_from
from generation.management.named import named
from generation.models import Dataset


class ChosenReport(NamedTuple):
    """A report with its subject and choices."""

    kind: ReportKind[Any, Any]
    subject: Dataset | Study
    choices: Any


def add_reports(
    parser: CommandParser,
    kinds: Iterable[ReportKind[Any, Any]],
    add_more: Callable[[ArgumentParser, str], None],
) -> None:
    """Add a sub-command for each report, with its choices.

    Args:
        parser: the parser of the command.
        kinds: the reports.
        add_more: a function that adds the other arguments to the parser of a report. It also gets
            the word for the subject, 'study' or 'dataset', and adds the argument of that name.
    """
    each = parser.add_subparsers(dest="report", metavar="REPORT", required=True)
    for kind in kinds:
        aliases = [kind.former_key] if kind.former_key else []
        of_report = each.add_parser(
            kind.key, aliases=aliases, help=kind.lede, description=kind.lede
        )
        add_more(of_report, _about(kind))
        add_arguments(of_report, kind.choices)


def chosen_report(report: str, options: Mapping[str, Any], stderr: Any) -> ChosenReport:
    """Return the report that the arguments name. What it needs is prepared.

    Raises:
        CommandError: its subject does not exist.
        ChoiceError, CannotReport: the subject does not have what was chosen.
    """
    [kind] = [each for each in all_reports().values() if report in each.keys]
    if report == kind.former_key:
        stderr.write(f"The report {report} is called {kind.key} now.")
    subject = named(kind.about.objects.all(), options[_about(kind)])
    choices = kind.chosen(subject, given_from(kind.choices, options))
    if kind.prepare:
        kind.prepare(subject, choices)
    return ChosenReport(kind, subject, choices)


def _about(kind: ReportKind[Any, Any]) -> str:
    return "study" if kind.about is Study else "dataset"
