"""Addresses of the pages of reports, the heads of their columns, how their formats are called."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.models import Study
from evaluation.reports.columns import Column, Format
from evaluation.reports.registry import ReportKind, all_reports
from evaluation.reports.report import columns_of
from generation.models import Dataset

register = template.Library()
FORMAT_NAMES = {"latex": "LaTeX", "markdown": "Markdown"}  # others are written in capitals


@register.simple_tag
def reports_page(of: str, subject: Dataset | Study) -> str:
    """Return the address of the list of reports on a study or a dataset."""
    return reverse(f"evaluation:reports-of-{of}", args=[subject.slug])


@register.simple_tag
def report_page(of: str, subject: Dataset | Study, kind: ReportKind[Any, Any]) -> str:
    """Return the address of a report's page."""
    return reverse(f"evaluation:report-of-{of}", args=[subject.slug, kind.key])


@register.simple_tag
def report_file(
    of: str, subject: Dataset | Study, kind: ReportKind[Any, Any], format_key: str
) -> str:
    """Return the address of a report as a file."""
    return reverse(f"evaluation:report-file-of-{of}", args=[subject.slug, kind.key, format_key])


@register.filter
def format_name(key: str) -> str:
    """Return what a format is called: 'CSV', 'LaTeX'."""
    return FORMAT_NAMES.get(key, key.upper())


@register.simple_tag
def title_of(report: str, name: str) -> str:
    """Return the title of a column, as the report that has it declares it.

    Raises:
        KeyError: there is no such report, or none of its rows has such a column.
    """
    return _columns(report)[name].title


@register.simple_tag
def heads(report: str, *names: str) -> SafeString:
    """Return the heads of some columns of a report, texts to the left and numbers to the right.

    Raises:
        KeyError: there is no such report, or none of its rows has such a column.
    """
    columns = _columns(report)
    return format_html_join("\n", "{}", ((_head(columns[name]),) for name in names))


@cache
def _columns(report: str) -> Mapping[str, Column]:
    """Return the columns of a report; of two of one name, that of its first type of rows."""
    return {
        name: column
        for row_type in reversed(all_reports()[report].rows)
        for name, column in columns_of(row_type).items()
    }


def _head(column: Column) -> SafeString:
    is_text = column.format is Format.TEXT
    html = '<th scope="col">{}</th>' if is_text else '<th scope="col" class="r">{}</th>'
    return format_html(html, column.title)
