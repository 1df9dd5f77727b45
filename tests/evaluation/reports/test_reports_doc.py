"""The list of reports in the docs says what is declared."""

import re

from django.conf import settings

from evaluation.reports.registry import all_reports
from generation.choices.declaration import fields_of

ROW = re.compile(r"\| `(\w+)` \| (.+) \| (.+) \| (.+) \|")


def test_the_docs_list_every_report_as_it_is_declared():
    listed = ROW.findall((settings.BASE_DIR / "docs" / "reports.md").read_text("utf-8"))

    assert sorted(listed) == sorted(
        (kind.key, kind.title, kind.lede, choices_of(kind)) for kind in all_reports().values()
    )


def choices_of(kind):
    return ", ".join(f"`{field.name}`" for field in fields_of(kind.choices)) or "nothing"
