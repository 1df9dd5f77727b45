"""A whole study with a planted shift: the report and the page find just what was planted."""

from typing import Any

import pytest
from django.urls import reverse

from evaluation.studies.reports.uncertainty import uncertainty_report
from tests.makers import import_rows
from tests.shown import shown
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
    rows = {row["question"]: row for row in uncertainty_report(planted).records if not row["setup"]}

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
    page = shown(client_for(rosa).get(reverse("evaluation:study-merged", args=[planted.slug])))

    merged = page.table("Accuracy and disagreement")
    directions = zip(merged.column("Question"), merged.column("Direction"), strict=True)
    favoured = {question: said for question, said in directions if "favours" in said}
    assert [*favoured] == ["2 Relevant", "4 Evidence relevant", "6 Evidence supports"]
    assert len(favoured) == len(PLANTED)
    assert all(said.startswith("favours T 0.0 ") for said in favoured.values())
