"""Claims and summaries: there is no question, so evidence is held against the response alone."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.measures.entailment import ApartAsk, AutoAis, EvidencePassage, Pair
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.base import Refused, ScoringMaterial
from evaluation.models import MetricRun
from evaluation.runs.families import flavors_for, is_usual
from tests.evaluation.metric_runs import work
from tests.makers import example_row, import_rows, response_row

pytestmark = pytest.mark.once
PASSAGE = "The mill closed in 1971."
CLAIM = "The mill closed."


@pytest.fixture
def claims(tmp_path):
    evidence = [{"id": "p1", "text": PASSAGE, "golden": True}]
    return import_rows(
        tmp_path / "claims",
        examples=[example_row("e1", turns=None, evidence=evidence)],
        responses=[response_row("r1", text=CLAIM)],
    ).dataset


@pytest.mark.parametrize(
    ("flavor", "asks"),
    [
        ("v0", [Pair(PASSAGE, CLAIM)]),
        ("apart", [ApartAsk(PASSAGE, "", CLAIM)]),
        ("v1", None),
        ("v2", None),
        ("v3", None),
    ],
)
def test_without_a_question_only_those_that_need_none_ask(flavor, asks):
    claim = ScoringMaterial(1, CLAIM, None, [EvidencePassage(1, PASSAGE)])

    asked = AutoAisMetric(AutoAis(flavor)).asked(claim)

    assert asked == Refused("the dialog is not known") if asks is None else asked.asks == asks


def test_the_first_run_scores_claims(claims):
    """'mill' and 'closed' are the words of the claim, and the passage has both."""
    call_command("run_metric", "auto_ais", "--dataset", claims.slug, "--evidence", "golden")

    assert MetricRun.objects.get().scores.get().score == 1.0


def test_page_command_and_api_take_the_flavor_without_a_question(claims, researcher):
    page = researcher.get(
        reverse("evaluation:start-run"), {"dataset": claims.slug, "model": "lexical"}
    )
    assert page.context["form"]["flavor"].value() == "v0"
    said = {"dataset": claims.slug, "model": "lexical", "evidence": "golden"}
    answer = researcher.post("/api/v1/runs/", said, content_type="application/json")
    assert answer.status_code == 202, answer.text
    call_command("run_metric", "auto_ais", "--dataset", claims.slug, "--backend", "lexical")

    runs = {run.parameters["evidence"]: run for run in MetricRun.objects.all()}
    assert {run.parameters["flavor"] for run in runs.values()} == {"v0"}
    # Both words of the claim that count are in the passage.
    assert work(runs["golden"]).scores.get().score == 1.0


def test_a_choice_compares_one_flavor_without_questions_and_three_with_some(claims, tmp_path):
    rows = {"examples": [example_row()], "responses": [response_row()]}
    asked = import_rows(tmp_path / "asked", "asked", **rows)

    assert flavors_for(claims) == ("v0",)
    assert flavors_for(asked.dataset) == ("v1", "v2", "v3")
    assert is_usual(AutoAis("v0"))
    assert not is_usual(AutoAis("v1"))
