"""Addresses of the pages of reports, and how their formats are called."""

from typing import Any

from django import template
from django.urls import reverse

from annotation.models import Study
from evaluation.reports.registry import ReportKind
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
