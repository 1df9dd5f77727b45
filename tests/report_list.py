"""Write the lists of reports in docs/reports.md from their declarations (`make docs`)."""

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs" / "reports.md"
ROWS = re.compile(r"(?<=\|---\|---\|---\|---\|\n)(?:\|.*\n)+")


def listed(text: str) -> str:
    """Return the page's text with lists of all declared reports: on studies, then on datasets."""
    from annotation.models import Study
    from evaluation.reports.registry import reports_about
    from generation.models import Dataset

    lists = iter([reports_about(Study), reports_about(Dataset)])
    return ROWS.sub(lambda _: "".join(map(_row, next(lists))), text)


def _row(kind: Any) -> str:
    from generation.choices.declaration import fields_of

    choices = ", ".join(f"`{field.name}`" for field in fields_of(kind.choices)) or "nothing"
    return f"| `{kind.key}` | {kind.title} | {kind.lede} | {choices} |\n"


def main() -> int:
    import django

    django.setup()
    DOCS.write_text(listed(DOCS.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
