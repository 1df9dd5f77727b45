"""A whole study with a planted shift: the report and the page find just what was planted."""

import re
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from evaluation.reports.uncertainty import uncertainty_report
from tests.makers import import_rows
from tests.synthetic import PLANTED, QUESTIONS, interchange_rows, synthetic_votes

pytestmark = pytest.mark.once


@pytest.fixture
def planted(tmp_path):
    """Merged favours T 0.0 on questions 2, 4 and 6; the arms agree on 93 % of `attributable`."""
    rows: dict[str, Any] = {**interchange_rows(synthetic_votes(3))}
    study = import_rows(tmp_path / "planted", "planted", **rows).study
    assert study
    return study


def test_the_report_finds_just_what_was_planted(planted):
    rows = {row["question"]: row for row in uncertainty_report(planted).rows if not row["setup"]}

    assert set(rows) == set(QUESTIONS)
    favoured = {question: row["favours"] for question, row in rows.items() if row["favours"]}
    assert set(favoured) == set(PLANTED)
    assert {planted.setups.get(name=name).temperature for name in favoured.values()} == {0.0}
    assert not any(row["helps"] for row in rows.values())
    # 200 responses of 100 dialogs: 93 % within two standard errors, 2 · √(.93 · .07 / 200).
    accuracy = rows["attributable"]
    assert accuracy["accuracy"] == pytest.approx(0.93, abs=0.036)
    assert accuracy["accuracy_low"] < 0.93 < accuracy["accuracy_high"]
    assert accuracy["disagreement"] == pytest.approx(1 - accuracy["accuracy"])


def test_the_page_says_so_question_by_question(planted, rosa, client_for):
    page = client_for(rosa).get(reverse("evaluation:study", args=[planted.slug])).text

    section = page.partition('id="merged"')[2].partition("</table>")[0]
    lines = [unescape(re.sub(r"<[^>]+>|\s+", " ", row)) for row in section.split("<tr")]
    favoured = [line for line in lines if "favours" in line]
    assert len(favoured) == len(PLANTED)
    for line, name in zip(
        favoured, ("Relevant", "Evidence relevant", "Evidence supports"), strict=True
    ):
        assert name in line
        assert re.search(r"favours\s+T 0", line)
