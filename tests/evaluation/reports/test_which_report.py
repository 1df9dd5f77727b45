"""The page 'Which report answers my question' names every report, and pages lead to it."""

import re

import pytest
from django.urls import reverse

from annotation.models import Study
from evaluation.reports.registry import all_reports, reports_about
from tests.evaluation.pages import make_pilot
from tests.report_list import DOCS
from tests.shown import shown

pytestmark = pytest.mark.once

ROW = re.compile(r"^\| (?!Your situation|---)(.+?) \| (.+?) \| (.+?) \| (.+?) \|$", re.M)
LINKED = re.compile(r"\]\(reports\.md#([\w-]+)\)")


def rows():
    return ROW.findall((DOCS / "which-report.md").read_text("utf-8"))


def place_of(kind):
    """Return the place of a report's methods in docs/reports.md, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", f"{kind.title} {kind.key}".lower()).replace(" ", "-")


def test_every_report_answers_a_question():
    read = {place for _, report, _, _ in rows() for place in LINKED.findall(report)}

    assert read == {*map(place_of, all_reports().values())}, "add a row to docs/which-report.md"


def test_each_row_names_another_report_and_the_difference():
    titles = {kind.title for kind in all_reports().values()}
    for situation, report, other, why in rows():
        assert len(LINKED.findall(report)) == len(LINKED.findall(other)) == 1, situation
        assert LINKED.findall(other) != LINKED.findall(report), situation
        named = {name.replace("\\", "") for name in re.findall(r"\*(.+?)\*", why)}
        assert named <= titles, situation


def test_home_reports_and_methods_lead_to_the_page(tmp_path, rosa, client_for):
    make_pilot(tmp_path)
    researcher, page = client_for(rosa), reverse("docs-page", args=["which-report"])

    for address in (
        reverse("home"),
        reverse("evaluation:reports-of-study", args=["pilot"]),
        reverse("evaluation:reports-of-dataset", args=["pilot"]),
        reverse("evaluation:study-methods", args=["pilot"]),
    ):
        assert f'href="{page}"' in researcher.get(address).text
    listed = shown(researcher.get(reverse("evaluation:reports-of-study", args=["pilot"])))
    assert [heading for heading in listed.headings if heading.endswith("?")] == [
        "What do raters say, and do they agree?",
        "Does rating side by side change the answers?",
        "Does a metric judge as people do?",
        "How much rating is needed, and what does it cost?",
    ]
    for kind in reports_about(Study):
        assert listed.text.count(kind.lede) == 1, kind.key
    assert listed.text.count("manage.py report") == 1
    assert "Which report answers my question" in researcher.get(page).text
