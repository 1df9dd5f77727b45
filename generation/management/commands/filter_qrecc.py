"""Filter the examples of a dataset, and draw a seeded sample of those that are left.

The command does the work itself and needs no worker. If you give the same options again, it prints
the same sample. Verdicts that people gave by hand are kept.
"""

import json
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.choices.arguments import add_arguments, given_from
from generation.filters import DROP, FILTER_KEYS, CascadeRow
from generation.management.named import named
from generation.models import Dataset, Sample
from generation.progress import progress_bar
from generation.sample_choices import ALL, SampleChoices, chosen_sample
from generation.sample_reading import SampleReport, sample_report
from generation.services.samples import SAMPLES, SampleError, request_sample, retry_sample
from work.amounts import UNDEFINED

EXAMPLE = """examples:
  manage.py filter_qrecc qrecc-train --part dev --sample 100 --seed 13
  manage.py filter_qrecc qrecc --off exact-match --off short-evidence --name long
  manage.py filter_qrecc qrecc --sample 0 --format json
"""
CALLED = {"size": "sample"}  # name of a choice → name of its argument
_WIDTH = 44  # characters of the column of filters


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="Name or slug of the dataset.")
        parser.add_argument(
            "--off",
            action="append",
            choices=FILTER_KEYS,
            default=[],
            metavar="FILTER",
            help="Leave this filter out. Give the option once for each filter. The filters are: "
            f"{', '.join(FILTER_KEYS)}.",
        )
        add_arguments(parser, SampleChoices, called=CALLED)
        parser.add_argument(
            "--format",
            choices=["table", "json"],
            default="table",
            help="Format of the output. Default: table.",
        )

    def handle(self, **options: Any) -> None:
        dataset = named(Dataset.objects.all(), options["dataset"])
        if not dataset.examples.of_benchmark().exists():
            raise CommandError(f"{dataset.name} has no examples to filter.")
        try:
            sample = request_sample(dataset, _choices(options), None)
        except SampleError as error:
            raise CommandError(f"{error}\nNothing was drawn.") from error
        retry_sample(sample, None)
        report = sample_report(_filtered(sample, self.stderr))
        as_json = options["format"] == "json"
        self.stdout.write(json.dumps(_as_data(report)) if as_json else "\n".join(_table(report)))


def _choices(options: dict[str, Any]) -> SampleChoices:
    """Return the choices that the options make."""
    on = [key for key in FILTER_KEYS if key not in options["off"]]
    return chosen_sample(on, given_from(SampleChoices, options, called=CALLED))


def _filtered(sample: Sample, stderr: Any) -> Sample:
    """Filter a sample here, unless a worker has done so. Return the sample as it is then."""
    with progress_bar(f"Filtering {sample.dataset.name}", stderr, "examples") as on_progress:
        if claim := SAMPLES.claim(sample.pk):

            def goes_on() -> bool:
                on_progress(claim.n_done, claim.n_done / max(claim.n_total, 1))
                return True

            SAMPLES.do(claim, goes_on)
    sample.refresh_from_db()
    if sample.state != Sample.State.DONE:
        raise CommandError(f"{sample.name}: {sample.error or sample.state}")
    return sample


def _table(report: SampleReport) -> Iterator[str]:
    """Yield the lines of the table: filter, dropped, left, percent of all examples."""
    yield f"{'filter':<{_WIDTH}} {'dropped':>9} {'left':>9} {'%':>6}"
    part = "" if report.choices.part == ALL else f" of {report.choices.part}"
    yield _line(f"all examples{part}", "", report.n, 100.0 if report.n else None)
    for row in report.rows:
        is_reversed = row.rule.key == "exact-match" and report.choices.filters.exact_match == DROP
        title = f"not: {row.rule.title}" if is_reversed else row.rule.title
        yield _line(title, _dropped(row), row.n_left, row.percent)
    yield f"{report.sample.name}: {report.n_members:,} of {report.n_passed:,} examples drawn."
    sample, n_now = report.sample, report.sample.dataset.examples.of_benchmark().count()
    if n_now != sample.n_done:
        yield (
            f"It was drawn when there were {sample.n_done:,} of now {n_now:,} examples. Choose "
            "another --name to draw again."
        )


def _line(title: str, dropped: str, n_left: int, percent: float | None) -> str:
    share = UNDEFINED if percent is None else f"{percent:.1f}"
    return f"{title:<{_WIDTH}} {dropped:>9} {n_left:>9,} {share:>6}"


def _dropped(row: CascadeRow) -> str:
    if not row.is_on:
        return "off"
    return f"{row.n_dropped:,}" if row.is_applicable else "n/a"


def _as_data(report: SampleReport) -> dict[str, Any]:
    """Return the table as one JSON object, in the form of reports."""
    return {
        "dataset": report.sample.dataset.name,
        "sample": report.sample.name,
        "parameters": report.sample.parameters,
        "n": report.n,
        "n_passed": report.n_passed,
        "n_drawn": report.n_members,
        "rows": [
            {
                "filter": row.rule.key,
                "is_on": row.is_on,
                "is_applicable": row.is_applicable,
                "n_not_applicable": row.n_not_applicable,
                "n_dropped": row.n_dropped,
                "n_left": row.n_left,
                "share": row.share,
            }
            for row in report.rows
        ],
    }
