"""Titles of columns are written only where a report declares them, not in templates."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from evaluation.reports.registry import all_reports
from evaluation.reports.report import columns_of

HEAD = re.compile(r'<th scope="col"[^>]*>\s*([^<{]+?)\s*</th>')
MOST_ALIKE = 3  # a list of something else may have "Question" and "n" of its own


def test_no_table_of_a_template_writes_the_titles_of_a_report_again():
    twice = {
        f"{name}, {report}": sorted(literal & titles)
        for name, literal in tables()
        for report, titles in titles_of_reports().items()
        if len(literal & titles) > MOST_ALIKE
    }

    assert not twice, "take them from the report: {% heads %} or {% title_of %}"


def tables() -> Iterator[tuple[str, set[str]]]:
    """Yield each table of the templates of evaluation, with the heads that it writes itself."""
    folder = Path(settings.BASE_DIR) / "templates" / "evaluation"
    for path in sorted(folder.rglob("*.html")):
        for head in re.findall(r"<thead>.*?</thead>", path.read_text("utf-8"), re.DOTALL):
            yield str(path.relative_to(folder)), set(HEAD.findall(head))


def titles_of_reports() -> dict[str, set[str]]:
    return {
        f"{key} ({row_type.__name__})": {column.title for column in columns_of(row_type).values()}
        for key, kind in all_reports().items()
        for row_type in kind.rows
    }
