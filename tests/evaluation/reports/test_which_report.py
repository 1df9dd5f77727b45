"""The page 'Which report answers my question' names every report, and pages lead to it."""

import re

import pytest
from django.urls import reverse

from evaluation.reports.registry import all_reports
from tests.evaluation.pages import make_pilot
from tests.report_list import DOCS

pytestmark = pytest.mark.once

ROW = re.compile(r"^\| (?!Your situation|---)(.+?) \| (.+?) \| (.+?) \| (.+?) \|$", re.M)
KEY = re.compile(r"`(\w+)`")


def rows():
    return ROW.findall((DOCS / "which-report.md").read_text("utf-8"))


def test_every_report_answers_a_question():
    read = {key for _, report, _, _ in rows() for key in KEY.findall(report)}

    assert read == set(all_reports()), "add a row to docs/which-report.md"


def test_each_row_names_another_report_and_the_difference():
    for situation, report, other, why in rows():
        [named] = KEY.findall(other)
        assert named in all_reports(), situation
        assert named not in KEY.findall(report), situation
        assert set(KEY.findall(why)) <= set(all_reports()), situation


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
    assert "Which report answers my question" in researcher.get(page).text
