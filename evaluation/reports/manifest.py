"""The manifest of a report: all that is needed to make it again from an export and to compare.

A manifest is one JSON object. It names the subject, the code and the packages, has digests of the
data, and holds one report or several with their choices, signatures and rows. No id of a database
is in it, so that it means the same in every installation.
"""

import hashlib
import json
import platform
import re
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from django.conf import settings

from annotation.models import Study
from evaluation.models import MetricRun
from evaluation.reports.code_version import CODE_VERSION
from evaluation.reports.estimates import N_RESAMPLES
from evaluation.reports.local_ids import portable_records, run_name, runs_in
from evaluation.reports.registry import CannotReport, ReportKind
from evaluation.reports.report import Record, Report
from evaluation.votes.digests import FileDigest, file_digest
from evaluation.votes.export import export_files
from evaluation.votes.made_here import run_row, runs_of
from generation.choices.declaration import values_of
from generation.models import Dataset

FORMAT = "attest manifest"
FORMAT_VERSION = 1
SUFFIX = "manifest.json"
PACKAGES = (
    "django",
    "numpy",
    "scipy",
    "statsmodels",
    "scikit-learn",
    "rank-bm25",
    "torch",
    "transformers",
    "spacy",
)
_SEED = re.compile(r"\bseed (\d+)")


class Made(NamedTuple):
    """A report with what it was made from."""

    kind: ReportKind[Any, Any]
    choices: Any
    report: Report[Any]


def manifest_of(subject: Dataset | Study, made: Iterable[Made]) -> dict[str, Any]:
    """Return the manifest of some reports on a subject, as JSON values.

    Raises:
        CannotReport: a report also reads what no export of the subject has.
    """
    made = list(made)
    for kind in (each.kind for each in made):
        if not kind.has_manifest:
            raise CannotReport(
                f"{kind.title} has no manifest, because it also reads {kind.beyond_export}, which "
                f"no export of this {kind.about._meta.model_name} has."
            )
    study = subject if isinstance(subject, Study) else None
    dataset = subject.dataset if isinstance(subject, Study) else subject
    runs = runs_of(dataset)
    models = dataset.setups.order_by("model", "pk").values_list("model", "made_with")
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "subject": {
            "kind": subject._meta.model_name,
            "name": subject.name,
            "slug": subject.slug,
            "dataset": dataset.name,
        },
        "reports": [_report(subject, each, runs) for each in made],
        "runs": [run_row(run) for run in runs],
        "models": _unique({"model": model, "made_with": how} for model, how in models),
        "seeds": {"study": study.seed} if study else {},
        "code": {"attest": settings.VERSION, "version": CODE_VERSION},
        "packages": {"python": platform.python_version()} | package_versions(),
        "data": {name: each.as_json() for name, each in digests_of(dataset, study).items()},
    }


def as_text(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as the text of its file."""
    return json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that compute figures, as far as they are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def digests_of(dataset: Dataset, study: Study | None) -> dict[str, FileDigest]:
    """Return the digest of each file that an export has now. Rows pass through a file on disk."""
    found = {}
    for name, write in export_files(dataset, study).items():
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as text:
            write(text)
            text.seek(0)
            found[name] = file_digest(name, text)
    return found


def report_content(report: Report[Any]) -> dict[str, Any]:
    """Return the content of a report that is compared, as a JSON text would bring it back."""
    content = {
        "left_out": report.left_out,
        "signature": report.signature,
        "rows": portable_records(report),
    }
    plain: dict[str, Any] = json.loads(json.dumps(content, allow_nan=False))
    return plain


def rows_hash(rows: Iterable[Record]) -> str:
    """Return the hash of the rows of a report, in their order."""
    content = json.dumps(list(rows), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _report(subject: Dataset | Study, made: Made, runs: Iterable[MetricRun]) -> dict[str, Any]:
    kind, choices, report = made
    portable = kind.portable(subject, choices) if kind.portable else choices
    content = report_content(report)
    in_rows = runs_in(report)
    used = [
        run_name(run.metric, run.full_signature)
        for run in runs
        if run.pk in in_rows or (run.full_signature and run.full_signature in report.signature)
    ]
    return {
        "report": kind.key,
        "title": kind.title,
        "choices": values_of(portable),
        "seeds": sorted({int(seed) for seed in _SEED.findall(report.signature)}),
        "resamples": N_RESAMPLES,
        "runs": sorted(used),
        "methods": kind.methods.paragraph(report.signature),
        "references": list(kind.methods.texts),
        "rows_sha256": rows_hash(content["rows"]),
        **content,
    }


def _unique(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows without repetitions, in their order."""
    return list({json.dumps(row, sort_keys=True): row for row in rows}.values())
