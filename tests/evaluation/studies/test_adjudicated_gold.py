"""Gold items from adjudicated disagreements: what is filled in, what is left out, and who may."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import GoldAnswer, Study, Target
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.gold import set_gold
from annotation.services.studies import create_study, open_study
from annotation.study_plan import StudyPlan
from evaluation.studies.adjudicated_gold import (
    CANNOT_BE_DECIDED,
    CONTRADICTING,
    DISPUTED,
    ELSEWHERE,
    FLAGGED,
    known_from_decisions,
    studies_with_decisions,
)
from evaluation.studies.services.adjudication import adjudicate
from generation.models import Dataset
from tests.annotation.makers import rater_users
from tests.makers import rated
from tests.shown import shown

pytestmark = pytest.mark.once
# response → question → the answers of three raters; '' where the gate was closed
VOTES = {
    "agreed": {"sensible": ["yes"] * 3, "specific": ["yes"] * 3},
    "cannot": {"sensible": ["yes", "no", "no"], "specific": ["yes", "", ""]},
    "closed": {"sensible": ["yes", "no", "no"], "specific": ["yes", "", ""]},
    "disputed": {"sensible": ["yes", "yes", "no"], "specific": ["yes", "no", ""]},
    "elsewhere": {"sensible": ["yes", "no", "no"], "specific": ["yes", "", ""]},
    "few": {"sensible": ["yes", "no", "no"], "specific": ["yes", "", ""]},
    "flagged": {"sensible": ["yes", "no", "no"], "specific": ["yes", "", ""]},
    "settled": {"sensible": ["yes", "yes", "no"], "specific": ["yes", "yes", ""]},
}
DECISIONS = {
    "cannot": [("sensible", None)],
    "closed": [("sensible", 1), ("sensible", 0)],  # the newest one counts
    "disputed": [("sensible", 1)],
    "elsewhere": [("sensible", 0)],
    "few": [("sensible", 1)],  # one answer to the other question, of three raters
    "flagged": [("sensible", 0)],
    "settled": [("sensible", 1)],  # two of three gave the same answer to the other question
}


@pytest.fixture
def source(tmp_path, rosa):
    """A study whose raters disagree, with decisions."""
    study = rated(
        tmp_path / "mill",
        VOTES,
        name="mill",
        scheme=built_in_schemes()["SSA"],
        setups={"elsewhere": "model-b"},
        flags=[{"response": "flagged", "rater": f"w{n}", "reason": "empty"} for n in (1, 2)],
    )
    Study.objects.filter(pk=study.pk).update(raters_per_unit=3)
    study.refresh_from_db()
    decide(study, DECISIONS, rosa)
    return study


def decide(study, decisions, by):
    scheme = load_scheme(study.scheme)
    for response, answers in decisions.items():
        target = Target.objects.get(response__key=response)
        for key, answer in answers:
            question = scheme.question(key)
            assert question is not None
            adjudicate(study, target, question, answer, "Read twice.", by)


def plan_for(dataset: Dataset, by, scheme="SSA", **more) -> Study:
    """Plan a study of the responses of one of the setups."""
    setups = list(dataset.setups.filter(name="model-a"))
    plan = StudyPlan("Next", dataset, built_in_schemes()[scheme], setups, **more)
    return create_study(plan, "Read, then judge.", rater_users(5), by)


@pytest.fixture
def study(source, rosa):
    return plan_for(source.dataset, rosa)


def address(study, source=None):
    query = {"study": source.slug} if source else {}
    return reverse("evaluation:adjudicated-gold", args=[study.slug], query=query)


def test_a_response_is_known_when_every_question_is_decided_or_undisputed(study, source):
    found = known_from_decisions(study, source)

    assert found.known == {"closed": {"sensible": 0}, "settled": {"sensible": 1, "specific": 1}}
    assert found.left_out == {
        CANNOT_BE_DECIDED: ["cannot"],
        DISPUTED: ["disputed", "few"],
        ELSEWHERE: ["elsewhere"],
        FLAGGED: ["flagged"],
    }
    assert found.n_left_out == 5


def test_decisions_that_exclude_each_other_are_left_out(tmp_path, rosa):
    keys = load_scheme(built_in_schemes()["AIS"]).keys
    answers = {key: ["yes"] * 3 for key in keys} | {"evidence_contradicts": ["no"] * 3}
    source = rated(tmp_path / "ais", {"r": answers | {"attributable": ["yes", "no", "no"]}})
    decide(source, {"r": [("attributable", 1), ("evidence_supports", 0)]}, rosa)
    study = plan_for(source.dataset, rosa, "AIS", evidence_choice="golden")

    assert known_from_decisions(study, source).left_out == {CONTRADICTING: ["r"]}


def test_only_studies_that_ask_the_same_about_the_same_are_offered(study, source, rosa):
    [offered] = studies_with_decisions(study)
    assert (offered, vars(offered)["n_adjudicated"]) == (source, 7)

    source.scheme["questions"][0]["wording"] = "Is it nice?"
    source.save()

    assert studies_with_decisions(study) == []
    assert studies_with_decisions(source) == []  # its own decisions are no gold of itself


def test_another_evidence_choice_is_not_offered_where_evidence_counts(tmp_path, rosa):
    scheme = built_in_schemes()["AIS"]
    keys = load_scheme(scheme).keys
    votes = {"r": {key: ["yes", "no", "no"] for key in keys}}
    source = rated(tmp_path / "ais", votes, scheme=scheme)
    decide(source, {"r": [("attributable", 1)]}, rosa)
    study = plan_for(source.dataset, rosa, "AIS", evidence_choice="golden")
    assert source.evidence_choice == "shown"
    assert studies_with_decisions(study) == []

    Study.objects.filter(pk=study.pk).update(evidence_choice="shown")
    study.refresh_from_db()

    assert studies_with_decisions(study) == [source]


# --- the page -------------------------------------------------------------------------------


def test_the_gold_page_leads_to_the_form_filled_in_which_then_is_saved(
    study, source, rosa, client_for
):
    client = client_for(rosa)
    set_gold(study, {"agreed": {"sensible": 0}}, rosa, n_qualifying=1)
    gold = reverse("annotation:gold", args=[study.slug])
    assert shown(client.get(gold)).links["adjudicated disagreements"] == address(study)

    offered = shown(client.get(address(study)))
    assert offered.table("Studies").rows == [[source.name, "7", "Fill in"]]
    page = shown(client.get(address(study, source)))

    assert (
        "2 responses filled in, beside the 1 gold item that the study has; 5 left out" in page.text
    )
    assert f"2 {DISPUTED}: disputed, few" in page.items
    assert page.fields["answers"].splitlines() == [
        "response,question,answer",
        "closed,sensible,no",
        "settled,sensible,yes",
        "settled,specific,yes",
        "agreed,sensible,no",
    ]
    assert GoldAnswer.objects.count() == 2  # nothing is stored yet
    assert page.actions[-1] == gold

    client.post(gold, page.fields)

    study.refresh_from_db()
    assert (study.n_gold_units, study.n_qualifying) == (3, 1)


def test_gold_items_that_are_there_keep_their_answers(study, source, rosa, client_for):
    set_gold(study, {"settled": {"sensible": 0}}, rosa)

    page = shown(client_for(rosa).get(address(study, source)))

    assert "settled,sensible,no" in page.fields["answers"]
    assert "settled,specific" not in page.fields["answers"]
    assert "1 response filled in" in page.text


def test_a_study_without_such_decisions_says_so(study, source, rosa, client_for):
    source.adjudications.all().delete()

    page = shown(client_for(rosa).get(address(study)))

    assert "No decisions to begin with" in page.messages[0]
    assert client_for(rosa).get(address(study, source)).status_code == 404


def test_an_open_study_is_led_to_its_gold_items(study, rosa, client_for):
    open_study(study, rosa)

    answer = client_for(rosa).get(address(study))

    assert answer.url == reverse("annotation:gold", args=[study.slug])


def test_raters_and_strangers_do_not_see_decisions(study, source, rachel, client_for):
    for each in (address(study), address(study, source)):
        assert client_for(rachel).get(each).status_code == 403
        assert Client().get(each).status_code == 302
    assert client_for(rachel).post(address(study)).status_code == 405
