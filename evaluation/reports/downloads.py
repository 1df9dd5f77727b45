"""Reports and their figures as files."""

from collections.abc import Callable, Sequence

from django.http import Http404, HttpResponse

from annotation.models import Study
from evaluation.reports.figures.builders import CONTENT_TYPES, chart_file
from evaluation.reports.figures.pictures import NOTHING_TO_DRAW
from evaluation.reports.figures.themes import Spec
from evaluation.reports.formats import FORMATS, MANIFEST_FILE, write_report
from evaluation.reports.manifest import Made, as_text, manifest_of
from evaluation.reports.registry import CannotReport, NotYet
from evaluation.reports.report import R, Report
from generation.choices.declaration import ChoiceError
from generation.models import Dataset


def report_file(
    make: Callable[[], Report[R]],
    format_key: str,
    name: str,
    chart: Callable[[Sequence[R]], Spec | None] | None = None,
) -> HttpResponse:
    """Return a report in a format, or its figure. The report is made only if the format exists.

    Args:
        make: the function that makes the report.
        format_key: the key of the format.
        name: the name of the file, without its suffix.
        chart: the function that draws the rows; None if the report has no figure.

    Raises:
        Http404: the format does not exist, or there is nothing to report on or nothing to draw.
    """
    known = [*FORMATS, *(CONTENT_TYPES if chart else ())]
    if format_key not in known:
        raise Http404(f"There is no such format. The formats are: {', '.join(sorted(known))}.")
    try:
        report = make()
    except (ChoiceError, CannotReport, NotYet) as error:
        raise Http404(str(error)) from error
    if chart and format_key in CONTENT_TYPES:
        return figure_file(chart(report.rows), format_key, name)
    content_type, suffix = FORMATS[format_key]
    return attachment(write_report(report, format_key), content_type, f"{name}.{suffix}")


def manifest_file(subject: Dataset | Study, make: Callable[[], Made], name: str) -> HttpResponse:
    """Return the manifest of a report.

    Args:
        subject: what the report is about.
        make: the function that makes it.
        name: the name of the file, without its suffix.

    Raises:
        Http404: there is nothing to report on.
    """
    try:
        text = as_text(manifest_of(subject, [make()]))
    except (ChoiceError, CannotReport, NotYet) as error:
        raise Http404(str(error)) from error
    content_type, suffix = MANIFEST_FILE
    return attachment(text, content_type, f"{name}.{suffix}")


def picture_file(make: Callable[[], bytes], format_key: str, name: str) -> HttpResponse:
    """Return the figure of a report, which `make` returns as SVG, PDF or PNG.

    Raises:
        Http404: there is nothing to draw.
    """
    try:
        content = make()
    except (ChoiceError, CannotReport, NotYet) as error:
        raise Http404(str(error)) from error
    return attachment(content, CONTENT_TYPES[format_key], f"{name}.{format_key}")


def figure_file(spec: Spec | None, format_key: str, name: str) -> HttpResponse:
    """Return a chart as SVG, PDF or PNG.

    Raises:
        Http404: the format does not exist, or there is nothing to draw.
    """
    if format_key not in CONTENT_TYPES:
        raise Http404(f"There is no such format. The formats are: {', '.join(CONTENT_TYPES)}.")
    if spec is None:
        raise Http404(NOTHING_TO_DRAW)
    return attachment(
        chart_file(spec, format_key), CONTENT_TYPES[format_key], f"{name}.{format_key}"
    )


def attachment(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    """Return a response that a browser stores as a file of this name."""
    answer = HttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
