"""Parts of report pages: addresses, heads of columns, choices, files, and what is left out."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django import template
from django.forms import BoundField, CheckboxInput, NumberInput, Select
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.models import Study
from evaluation.reports.columns import Column, Format
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.reports.formats import FORMATS, MANIFEST
from evaluation.reports.registry import ReportKind, all_reports
from evaluation.reports.report import ReportRow, columns_of
from evaluation.reports.ties import ties_notes
from generation.models import Dataset

register = template.Library()
# Other names are written in capitals.
FORMAT_NAMES = {"latex": "LaTeX", "markdown": "Markdown", MANIFEST: "manifest"}


@register.simple_tag
def reports_page(of: str, subject: Dataset | Study) -> str:
    """Return the address of the list of reports on a study or a dataset."""
    return reverse(f"evaluation:reports-of-{of}", args=[subject.slug])


@register.simple_tag
def report_page(of: str, subject: Dataset | Study, kind: ReportKind[Any, Any]) -> str:
    """Return the address of a report's page."""
    return reverse(f"evaluation:report-of-{of}", args=[subject.slug, kind.key])


@register.simple_tag
def behind(
    report: str, column: str, subject: Dataset | Study, row: Any, choices: Any = None
) -> str:
    """Return the address of the data behind a row's column, which the report declares."""
    kind = all_reports()[report]
    address: str = kind.leads[column](subject, choices or kind.choices(), row)
    return address


@register.inclusion_tag("evaluation/reports/_files.html")
def table_files(
    view: str, *args: Any, query: str = "", has_manifest: bool = False
) -> dict[str, Any]:
    """Return the links to a report as a table, in every format.

    Args:
        view: the name of the address of the files; its last argument is the format.
        args: the other arguments of the address.
        query: the choices, beginning with a ?, or "".
        has_manifest: whether the address has the manifest of the report as well.
    """
    formats = [*FORMATS, MANIFEST] if has_manifest else FORMATS
    return {"title": "Table", "files": _files(formats, view, args, query)}


@register.inclusion_tag("evaluation/reports/_files.html")
def figure_files(view: str, *args: Any, query: str = "") -> dict[str, Any]:
    """Return the links to a figure, in every format; the arguments are those of `table_files`."""
    return {"title": "Figure", "files": _files(CONTENT_TYPES, view, args, query)}


def _files(
    formats: Iterable[str], view: str, args: Sequence[Any], query: str
) -> list[tuple[str, str]]:
    """Return the name of each format, such as 'CSV' or 'LaTeX', and the address of its file."""
    return [
        (FORMAT_NAMES.get(key, key.upper()), f"{reverse(view, args=[*args, key])}{query}")
        for key in formats
    ]


@register.simple_block_tag(end_name="enddownload")
def download(content: str, of: str) -> SafeString:
    """Return a button that opens the files of something, its methods and its signature.

    Args:
        content: links to the files, as `figure_files` and `table_files` write them.
        of: what is downloaded, in one word that no other menu of the page has.
    """
    return render_to_string("evaluation/reports/_download.html", {"content": content, "of": of})


@register.inclusion_tag("evaluation/reports/_signature.html")
def signature(signature: str) -> dict[str, str]:
    """Return the signature of a report, folded."""
    return {"signature": signature}


@register.inclusion_tag("evaluation/reports/_left_out.html")
def left_out(counts: Mapping[str, int] | None, of: str = "") -> dict[str, Any]:
    """Return what a report leaves out, in words; reasons with a count of 0 are not shown.

    Args:
        counts: reason → number; None if there is no report.
        of: the things that are counted, if they are not those that the report is about.
    """
    return {"counts": {reason: n for reason, n in (counts or {}).items() if n}, "of": of}


@register.inclusion_tag("evaluation/reports/_ties.html")
def ties(rows: Iterable[ReportRow], css: str = "sheet-body") -> dict[str, Any]:
    """Return a sentence for each row with a figure that ties would clearly move."""
    return {"notes": ties_notes(rows), "css": css}


@register.simple_tag
def choice(
    field: BoundField, chosen: Any = None, label: str = "", placeholder: str = ""
) -> SafeString:
    """Return the field of a choice with its label, for a bar of filters.

    Args:
        field: the field.
        chosen: the value to show instead of the value in the address, which may be invalid.
        label: the label to use instead of the field's own.
        placeholder: the value that is used if nothing is typed.
    """
    widget, name = field.field.widget, f"choice-{field.name}"
    is_select, is_switch = isinstance(widget, Select), isinstance(widget, CheckboxInput)
    attributes = {"id": name}
    if placeholder:
        attributes["placeholder"] = placeholder
    if is_select:
        attributes["class"] = "btn"
    if is_switch:
        attributes["role"] = "switch"
    if field.errors:
        attributes |= {"aria-invalid": "true", "aria-describedby": f"{name}-error"}
    value = field.value() if chosen is None else chosen
    drawn, words = widget.render(field.html_name, value, attributes), label or field.label
    title = format_html(' title="{}"', field.help_text) if field.help_text and not is_select else ""
    if is_switch:
        html = '<label class="switch" for="{}"{}>{} {}</label>'
        return format_html(html, name, title, drawn, words)
    if not is_select:
        short = " field--short" if isinstance(widget, NumberInput) else ""
        drawn = format_html('<span class="field{}">{}</span>', short, drawn)
    html = '<label class="row small" for="{}"{}>{} {}</label>'
    return format_html(html, name, title, words, drawn)


@register.simple_tag
def title_of(report: str, name: str) -> str:
    """Return the title of a column, which its report declares.

    Raises:
        KeyError: there is no such report, or none of its rows has such a column.
    """
    return _columns(report)[name].title


@register.simple_tag
def heads(report: str, *names: str) -> SafeString:
    """Return the heads of some columns of a report: texts aligned left, numbers aligned right.

    Raises:
        KeyError: there is no such report, or none of its rows has such a column.
    """
    columns = _columns(report)
    return format_html_join("\n", "{}", ((_head(columns[name]),) for name in names))


@cache
def _columns(report: str) -> Mapping[str, Column]:
    """Return the columns of a report; of two with one name, that of its first type of rows."""
    return {
        name: column
        for row_type in reversed(all_reports()[report].rows)
        for name, column in columns_of(row_type).items()
    }


def _head(column: Column) -> SafeString:
    is_text = column.format is Format.TEXT
    html = '<th scope="col">{}</th>' if is_text else '<th scope="col" class="r">{}</th>'
    return format_html(html, column.title)
