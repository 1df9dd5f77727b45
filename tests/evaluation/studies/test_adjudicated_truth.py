"""Adjudicated decisions as the truth: the figures that they change, and how pages say so."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Study, Target
from annotation.schemes import load_scheme
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.report import Record
from evaluation.studies.figures.charts import accuracy_chart
from evaluation.studies.pages.answer import findings
from evaluation.studies.reports.agreement import agreement_report, curves
from evaluation.studies.reports.cached_figures import stored_figures
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.study import study_figures
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from evaluation.studies.reports.uncertainty import uncertainty_report
from evaluation.studies.services.adjudication import adjudicate
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import FIVE_STARS, two_arms, votes
from tests.evaluation.studies.test_threshold_choice_report import ANSWERS, candidate
from tests.makers import rated, scheme_of, statements
from tests.shown import shown

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


@pytest.fixture
def study(tmp_path):
    """Human y y n n y and one tied; the metric says y n n y y y: 3 of 5 are the same."""
    study = rated(tmp_path, votes(a="yyn", b="yyy", c="nnn", d="nny", e="yyy", f="yn"))
    scores = {"a": 0.9, "b": 0.5, "c": 0.4, "d": 0.6, "e": 0.8, "f": 0.9}
    make_scores(make_run(study.dataset), scores)
    return study


@pytest.fixture
def decide(rosa):
    """Decide about the question of a study: key of the response, answer or None."""

    def by_rosa(study: Study, key: str, answer: int | None, note: str = "Seen.") -> None:
        [question] = load_scheme(study.scheme).questions
        target = Target.objects.get(response__key=key, response__dataset=study.dataset)
        adjudicate(study, target, question, answer, note, rosa)

    return by_rosa


def only_row(study: Study, **choices: Any) -> Record:
    [row] = agreement_report(study, Choices(adjudicated=True, **choices)).records
    return row


def page_of(client: Any, study: Study, name: str = "study-metrics", **asked: Any) -> Any:
    return client.get(reverse(f"evaluation:{name}", args=[study.slug]), asked)


# --- the figures ----------------------------------------------------------------------------


def test_a_decision_replaces_the_majority_where_it_is_chosen_as_the_truth(study, decide):
    [before] = agreement_report(study).records
    decide(study, "b", 0)

    row, as_voted = only_row(study), agreement_report(study).records[0]

    # b is a no now, as the metric says: human y n n n y, metric y n n y y, 4 of 5.
    assert (before["accuracy"], before["n_human_yes"]) == (pytest.approx(3 / 5), 3)
    assert (row["accuracy"], row["n_human_yes"]) == (pytest.approx(4 / 5), 2)
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == (2, 0, 1, 2)
    assert (row["n"], row["n_adjudicated"], row["tied"]) == (5, 1, 1)
    assert as_voted == before
    # What raters said about each other, and their scores, stay as voted.
    for name in ("ceiling_halves", "ceiling_rest", "mse", "spearman", "n_rater_score"):
        assert row[name] == before[name], name


def test_a_decision_about_a_tied_response_lets_it_count(study, decide):
    decide(study, "f", 1)

    row = only_row(study)

    # f is a yes, as the metric says: 4 of 6.
    assert (row["n"], row["n_adjudicated"], row["tied"]) == (6, 1, 0)
    assert row["accuracy"] == pytest.approx(4 / 6)


def test_what_cannot_be_decided_leaves(study, decide):
    decide(study, "a", None)

    report = agreement_report(study, Choices(adjudicated=True))
    [row] = report.records

    # b, c, d, e are left: human y n n y, metric n n y y, 2 of 4.
    assert (row["n"], row["n_adjudicated"]) == (4, 0)
    assert (row["tied"], row["cannot_be_decided"]) == (1, 1)
    assert row["accuracy"] == pytest.approx(2 / 4)
    counted = {key: report.left_out[key] for key in ("tied", "cannot_be_decided")}
    assert counted == {"tied": 1, "cannot_be_decided": 1}
    assert report.left_out["adjudicated"] == 1


def test_the_newest_decision_counts(study, decide):
    decide(study, "b", 0)
    decide(study, "b", None)
    decide(study, "b", 1)

    row = only_row(study)

    assert (row["n"], row["n_adjudicated"], row["accuracy"]) == (5, 1, pytest.approx(3 / 5))


def test_a_decision_counts_in_both_arms_and_in_no_comparison_of_the_arms(tmp_path, decide):
    study = two_arms(tmp_path / "s", {"a": ("yyy", "nnn"), "b": ("nnn", "nnn")})
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.1})
    others = (raters_report, scenarios_report, uncertainty_report)
    before = [report(study).records for report in others]
    decide(study, "a", 0)

    separate, merged = only_row(study), only_row(study, truth="merged")
    decide(study, "a", 1)
    after_yes = only_row(study, truth="merged")

    # The metric says yes, no. Decided no, no: 1 of 2 whichever arm is the truth; yes, no: 2 of 2.
    assert (separate["accuracy"], merged["accuracy"], after_yes["accuracy"]) == (0.5, 0.5, 1.0)
    assert (separate["n_adjudicated"], merged["n_adjudicated"]) == (1, 1)
    assert [report(study, Choices(adjudicated=True)).records for report in others] == before


def test_an_ordinal_decision_is_cut_like_a_median(tmp_path, decide):
    study = rated(tmp_path, votes(a="122", b="555"), scheme=scheme_of({"q": FIVE_STARS}))
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.9})
    assert only_row(study)["accuracy"] == 0.5  # the medians 2 and 5, cut at 3: no, yes

    decide(study, "a", 4)
    above = only_row(study)
    decide(study, "a", 3)
    on_the_cut = only_row(study)

    assert (above["n"], above["n_adjudicated"], above["accuracy"]) == (2, 1, 1.0)
    assert (on_the_cut["n"], on_the_cut["n_adjudicated"], on_the_cut["accuracy"]) == (1, 0, 1.0)


def test_a_nominal_decision_is_a_yes_if_it_is_the_positive_label(tmp_path, decide):
    scheme = scheme_of({"q": {"nominal": ["bad", "good", "so-so"]}})
    answers = {"a": {"q": ["bad"] * 3}, "b": {"q": ["good"] * 3}}
    study = rated(tmp_path, answers, scheme=scheme, study={"positive": {"q": "good"}})
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.9})
    assert only_row(study)["accuracy"] == 0.5

    decide(study, "a", 1)
    decide(study, "b", 2)

    # a is good and b so-so: yes, no. The metric says yes, yes.
    row = only_row(study)
    assert (row["n_human_yes"], row["n_adjudicated"], row["accuracy"]) == (1, 2, 0.5)
    assert (row["tp"], row["fp"]) == (1, 1)


def test_a_decision_about_a_response_that_no_rater_judged_does_not_count(study, decide):
    Target.objects.get(response__key="f").votes.all().delete()
    decide(study, "f", 1)

    row = only_row(study)

    assert (row["n"], row["n_adjudicated"]) == (5, 0)


def test_the_curves_are_drawn_against_decisions_too(study, decide):
    key = f"{MetricRun.objects.get().pk}/q"
    decide(study, "f", 1)

    voted, decided = (curves(study, Choices(adjudicated=a))[key] for a in (False, True))

    assert [sum(b["n"] for b in c["calibration"]) for c in (voted, decided)] == [5, 6]


def test_a_threshold_is_chosen_against_decisions_too(tmp_path, decide):
    study = rated(tmp_path, votes(**ANSWERS))
    good = {key: 0.8 if (n % 3 > 0) != (n % 8 == 0) else 0.2 for n, key in enumerate(ANSWERS)}
    candidate(study.dataset, "v1", 0, good)
    decide(study, "r00", 1)  # one of three responses whose score is on the wrong side

    voted = threshold_choice_report(study)
    decided = threshold_choice_report(study, Choices(adjudicated=True))

    chosen, only = decided.records
    assert [row["accuracy"] for row in voted.records if row["kind"] == "candidate"] == [21 / 24]
    assert only["accuracy"] == pytest.approx(22 / 24)
    assert (chosen["n"], chosen["n_adjudicated"], chosen["n_human_yes"]) == (24, 1, 17)
    assert decided.left_out["adjudicated"] == 1
    assert decided.signature != voted.signature


# --- the signature and the cache --------------------------------------------------------------


def test_the_signature_names_the_choice_and_changes_with_the_decisions(study, decide):
    voted = agreement_report(study).signature
    decide(study, "b", 0)
    chosen = Choices(adjudicated=True)
    first = agreement_report(study, chosen).signature
    decide(study, "f", 0)
    second = agreement_report(study, chosen).signature

    assert "metrics compared with adjudicated decisions where there are any" in first
    assert " | decisions " in first
    assert first != second
    assert agreement_report(study).signature == voted


def test_kept_figures_are_made_anew_after_a_decision(study, decide):
    chosen = Choices(adjudicated=True)

    def accuracy() -> float | None:
        figures = stored_figures(study, chosen).figures
        assert figures is not None
        return figures.agreement.rows[0].accuracy.value

    assert accuracy() == pytest.approx(3 / 5)
    decide(study, "b", 0)
    assert accuracy() == pytest.approx(4 / 5)


def test_all_decisions_of_a_study_cost_one_statement(study, decide):
    voted = statements(lambda: agreement_report(study))
    one = statements(lambda: agreement_report(study, Choices(adjudicated=True)))
    for key in "abcdef":
        decide(study, key, 1)

    many = statements(lambda: agreement_report(study, Choices(adjudicated=True)))

    assert len(one) == len(many) == len(voted) + 1


# --- how it is said ---------------------------------------------------------------------------


def test_the_answer_says_that_decisions_are_the_truth(study, decide):
    decide(study, "b", 0)
    decide(study, "f", 1)

    [finding] = findings(
        study, load_scheme(study.scheme), study_figures(study, Choices(adjudicated=True))
    )

    said = [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in finding.sentences]
    # Human y n n n y y, metric y n n y y y: 5 of 6.
    [of_metric] = [each for each in said if " agrees with " in each]
    assert "agrees with adjudicated decisions or else the human majority on 83 % (" in of_metric
    assert ") of 6 responses" in of_metric
    assert "2 labels are decisions by adjudication." in said


def test_figures_name_decisions_in_their_title(study, decide):
    decide(study, "b", 0)
    [row] = agreement_report(study, Choices(adjudicated=True)).rows

    said = json.dumps(accuracy_chart([row], row))

    assert "Accuracy against adjudicated decisions or else the human majority, %" in said


def test_the_switch_is_there_when_there_is_a_decision(researcher, study, decide):
    assert "adjudicated" not in shown(page_of(researcher, study)).fields

    decide(study, "b", 0)

    for name in ("study", "study-metrics", "study-methods"):
        assert shown(page_of(researcher, study, name)).fields["adjudicated"] == []
    [label] = shown(page_of(researcher, study)).choices("adjudicated").values()
    assert label == "Adjudicated decisions are the truth"


def test_the_page_counts_decisions_and_leads_to_the_same_threshold_choice(
    researcher, study, decide
):
    decide(study, "b", 0)

    page = shown(page_of(researcher, study, adjudicated="on"))

    assert "Adjudicated decisions are the truth where there are any: 1 label is" in page.text
    assert "(the list compares with the votes)" in page.text
    assert "adjudicated=" in page.links["Threshold choice"]
    methods = shown(page_of(researcher, study, "study-methods", adjudicated="on"))
    assert "labels that decisions replace" in methods.text
    chosen = researcher.get(page.links["Threshold choice"])
    assert chosen.context["form"].choices.adjudicated
    assert 'name="adjudicated"' in chosen.text


def test_api_and_command_have_the_choice(researcher, study, decide, capsys):
    decide(study, "b", 0)

    answer = researcher.get(
        f"/api/v1/studies/{study.slug}/reports/agreement/", {"adjudicated": "true"}
    ).json()
    call_command("report", "agreement", "--study=pilot", "--adjudicated", "--format=json")
    printed = json.loads(capsys.readouterr().out)

    assert answer["rows"][0]["accuracy"] == pytest.approx(4 / 5)
    assert printed["rows"] == answer["rows"]
    assert printed["signature"] == answer["signature"]
