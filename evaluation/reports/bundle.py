"""The bundle of a study or dataset: its export, its reports, and the manifest of all of them."""

import zipfile
from collections.abc import Iterator
from typing import IO, Any

from annotation.models import Study
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.manifest import Made, as_text, manifest_of
from evaluation.reports.registry import CannotReport, NotYet, ReportKind, reports_about
from evaluation.votes.export import add_file, export_files
from generation.choices.declaration import ChoiceError
from generation.models import Dataset

EXPORT_FOLDER = "export/"
REPORT_FOLDER = "reports/"
MANIFEST_FILE = "manifest.json"
README_FILE = "README.txt"
IN_BUNDLE = ("csv", "latex")  # the formats of each report in a bundle
README = """{name}: data and reports of the {of}

export/        the data, in Attest's interchange format. `manage.py import_dataset` reads it.
reports/       each report with its usual choices, as CSV and LaTeX.
manifest.json  each report with its choices, signature, rows and methods; the metric runs with
               models and revisions, seeds, versions of code and packages, digests of the data.

To make every report again in a scratch database, and to see whether it is equal:

    manage.py reproduce {file}

Reports in this bundle:
{reports}
"""


def write_bundle(subject: Dataset | Study, out: IO[bytes], file_name: str) -> None:
    """Write the bundle as a zip; rows of the export are written as they are read.

    Args:
        file_name: the name that the bundle will have, for its README.
    """
    dataset = subject.dataset if isinstance(subject, Study) else subject
    study = subject if isinstance(subject, Study) else None
    made: list[Made] = []
    lines = []
    for kind in reports_about(type(subject)):
        try:
            each = _made(subject, kind)
        except (ChoiceError, CannotReport, NotYet) as error:
            lines.append(f"- {kind.title}: not here. {str(error).splitlines()[0]}")
        else:
            made.append(each)
            lines.append(f"- {kind.title}: {kind.lede}")
    manifest = as_text(manifest_of(subject, made))
    readme = README.format(
        name=subject.name,
        of="study" if study else "dataset",
        file=file_name,
        reports="\n".join(lines),
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(README_FILE, readme)
        archive.writestr(MANIFEST_FILE, manifest)
        for name, text in _files(made):
            archive.writestr(f"{REPORT_FOLDER}{name}", text)
        for name, write in export_files(dataset, study).items():
            add_file(archive, f"{EXPORT_FOLDER}{name}", write)


def _made(subject: Dataset | Study, kind: ReportKind[Any, Any]) -> Made:
    """Return a report with its usual choices.

    Raises:
        ChoiceError, CannotReport, NotYet: there is nothing to report on, or not yet.
    """
    if not kind.has_manifest:
        raise CannotReport(f"It also reads {kind.beyond_export}, which this bundle does not have.")
    choices = kind.chosen(subject, {})
    if kind.prepare:
        kind.prepare(subject, choices)
    return Made(kind, choices, kind.make(subject, choices))


def _files(made: list[Made]) -> Iterator[tuple[str, str]]:
    for each in made:
        for key in IN_BUNDLE:
            _, suffix = FORMATS[key]
            # Not '<key>.csv': an import would take 'raters.csv' for the file of raters.
            yield f"report-{each.kind.key}.{suffix}", write_report(each.report, key)
