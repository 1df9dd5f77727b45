"""Write the lists in docs/reports.md and docs/api.md from what is declared (`make docs`)."""

import re
import sys
from itertools import chain
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
ROWS = re.compile(r"(?<=\|---\|---\|---\|---\|\n)(?:\|.*\n)+")
METHODS = re.compile(r"(?<=## Methods of each report\n\n)[\s\S]*\Z")
LISTS = re.compile(r"(?<=\| list \| filters \| rows \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")
PAGING = {"limit", "offset", "cursor"}


def listed(text: str) -> str:
    """Return the page's text with lists of all declared reports: on studies, then on datasets."""
    from annotation.models import Study
    from evaluation.reports.registry import reports_about
    from generation.models import Dataset

    kinds = [reports_about(Study), reports_about(Dataset)]
    lists = iter(kinds)
    listed = ROWS.sub(lambda _: "".join(map(_row, next(lists))), text)
    return METHODS.sub(lambda _: "\n".join(map(_methods, chain(*kinds))), listed)


def _methods(kind: Any) -> str:
    references = "".join(f"- {reference}\n" for reference in kind.methods.texts)
    text = kind.methods.text.format(resamples="1,000", seed="of the signature")
    return f"### {kind.title}: `{kind.key}`\n\n{text}\n\n{references}"


def _row(kind: Any) -> str:
    from generation.choices.declaration import fields_of

    choices = ", ".join(f"`{field.name}`" for field in fields_of(kind.choices)) or "nothing"
    return f"| `{kind.key}` | {kind.title} | {kind.lede} | {choices} |\n"


def listed_api(text: str) -> str:
    """Return the text of docs/api.md with the lists of the API's schema."""
    from drf_spectacular.generators import SchemaGenerator

    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    rows = [
        _list_row(path.removeprefix("/api/v1/"), methods["get"])
        for path, methods in paths.items()
        if "get" in methods and "{" not in path and "/reports/" not in path
    ]
    return LISTS.sub(lambda _: "".join(rows), text)


def _list_row(path: str, operation: Any) -> str:
    filters = [each["name"] for each in operation["parameters"] if each["name"] not in PAGING]
    said = " ".join(operation["description"].split())
    return f"| `{path}` | {' '.join(f'`{name}`' for name in filters)} | {said} |\n"


PAGES = {"reports.md": listed, "api.md": listed_api}


def main() -> int:
    import django

    django.setup()
    for name, made_anew in PAGES.items():
        page = DOCS / name
        page.write_text(made_anew(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
