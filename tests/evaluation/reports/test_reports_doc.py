"""The lists in the docs are those that are declared."""

from tests.report_list import DOCS, LISTS, ROWS, listed, listed_api


def test_the_docs_list_every_report_as_it_is_declared():
    text = (DOCS / "reports.md").read_text("utf-8")

    assert len(ROWS.findall(text)) == 2
    assert listed(text) == text, "make docs"


def test_the_docs_list_what_the_api_lists():
    text = (DOCS / "api.md").read_text("utf-8")

    assert len(LISTS.findall(text)) == 1
    assert listed_api(text) == text, "make docs"
