"""The lists of reports in the docs are those that are declared."""

from tests.report_list import DOCS, ROWS, listed


def test_the_docs_list_every_report_as_it_is_declared():
    text = DOCS.read_text("utf-8")

    assert len(ROWS.findall(text)) == 2
    assert listed(text) == text, "make docs"
