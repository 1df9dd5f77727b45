"""Planning a study, and changing what is planned, as a researcher does in a browser."""

import json

import pytest

from annotation.forms.setup import StudyForm
from annotation.models import Study
from annotation.schemes import built_in_schemes
from tests.annotation.planned import (
    make_study,
)
from tests.annotation.setup.pages import NEW, POLITE, filled, page_of, plan_it
from tests.makers import audit_actions
from tests.shown import shown

pytestmark = pytest.mark.once


# --- a new study -----------------------------------------------------------------------------


def test_it_opens_with_the_setups_of_a_dataset_and_their_number_of_responses(researcher, dataset):
    page = shown(researcher.get(NEW))

    assert page.fields["dataset"] == dataset.slug
    assert any(label.startswith("model-a 4 ") for label in page.choices("setups").values())
    assert f"{NEW}?dataset={dataset.slug}" in page.actions


def test_most_choices_are_folded_and_said_and_a_mistake_in_them_is_open(
    researcher, dataset, raters
):
    page = shown(researcher.get(NEW))
    refused = shown(plan_it(researcher, dataset, raters_per_unit=4))

    assert not any(each.is_open for each in page.parts("more"))
    said = "the evidence that the model was shown, all dialogs"
    assert page.part("id_material_said").text == said
    said = "5 raters per unit, or 2 for citations, plain texts"
    assert page.part("id_rating_said").text == said
    [opened] = [each for each in refused.parts("more") if each.is_open]
    assert "Choose an odd number" in opened.errors["raters_per_unit"]


def test_without_any_responses_there_is_nothing_to_choose(researcher, db):
    page = shown(researcher.get(NEW))

    [message] = page.messages
    assert "No responses" in message
    assert "dataset" not in page.fields


def test_name_and_setups_are_enough(researcher, dataset):
    answer = plan_it(researcher, dataset)

    study = Study.objects.get()
    assert answer.status_code == 302
    assert answer.url == page_of(study)
    assert study.state == Study.State.PLANNED
    assert study.scheme == built_in_schemes()["AIS"]
    assert [arm.kind for arm in study.arms.all()] == ["separate"]
    assert (study.raters_per_unit, study.evidence_choice, study.seed) == (5, "shown", 13)
    assert (study.lease_minutes, study.full_share, study.n_sampled) == (30, 0.25, None)
    assert study.guidelines.get().text.startswith("You read a dialog, a response and some evidence")
    assert ("study.created", "Mills") in audit_actions()


def test_every_choice_of_the_form_is_kept(researcher, dataset, raters):
    plan_it(
        researcher,
        dataset,
        scheme="QUALITY",
        arms="both",
        raters_per_unit=3,
        n_sampled=2,
        seed=7,
        evidence_choice="golden",
        merged_layout="in_turn",
        response_order="fixed",
        text_format="markdown",
        mixing="raters",
        may_meet_both_arms="on",
        lease_minutes=10,
        stops_when_decided="on",
        full_share=0.4,
        introduction="An hour or two.",
        raters=[raters[0].pk, raters[3].pk],
    )

    study = Study.objects.get()
    assert study.scheme["key"] == "QUALITY"
    assert {arm.kind for arm in study.arms.all()} == {"separate", "merged"}
    assert (study.raters_per_unit, study.n_sampled, study.seed) == (3, 2, 7)
    assert (study.evidence_choice, study.merged_layout) == ("golden", "in_turn")
    assert (study.response_order, study.mixing) == ("fixed", "raters")
    assert study.may_meet_both_arms
    assert study.stops_when_decided
    assert (study.lease_minutes, study.full_share) == (10, 0.4)
    assert study.introduction == "An hour or two."
    assert study.text_format == "markdown"
    assert {rater.code for rater in study.raters.all()} == {"R-1", "R-4"}


@pytest.mark.parametrize(
    ("arms", "kinds"),
    [
        ("replicated", ["separate", "separate_2"]),
        ("all", ["separate", "separate_2", "merged"]),
    ],
)
def test_the_separate_arm_can_be_repeated(researcher, dataset, arms, kinds):
    plan_it(researcher, dataset, arms=arms)

    study = Study.objects.get()
    assert [arm.kind for arm in study.arms.all()] == kinds
    assert StudyForm(dataset, study=study).initial["arms"] == arms


def test_all_raters_means_everybody_with_the_role_who_may_sign_in(researcher, dataset, raters):
    raters[4].is_active = False
    raters[4].save()

    plan_it(researcher, dataset, all_raters="on")

    codes = {rater.code for rater in Study.objects.get().raters.all()}
    assert codes == {"R-1", "R-2", "R-3", "R-4"}


def test_citations_are_rated_by_two_in_the_separate_arm(researcher, dataset):
    refused = plan_it(researcher, dataset, scheme="ALIGNMENT", arms="both")
    plan_it(researcher, dataset, scheme="ALIGNMENT")

    assert refused.status_code == 422
    assert "Choose only Separate" in shown(refused).errors["arms"]
    assert Study.objects.get().raters_per_unit == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "required"),
        ({"setups": []}, "one or more"),
        ({"raters_per_unit": 4}, "odd number"),
        ({"raters_per_unit": 0}, "greater than or equal to 1"),
        ({"n_sampled": 5}, "only 4 dialogs with responses"),
        ({"lease_minutes": 0}, "greater than or equal to 1"),
        ({"full_share": 1.01}, "less than or equal to 1"),
        ({"scheme": "XYZ"}, "XYZ is not one of"),
        ({"setups": [999]}, "999 is not one of"),
        ({"raters": [999]}, "999 is not one of"),
        ({"seed": 2**31}, "less than or equal to 2147483647"),
    ],
)
def test_a_form_that_cannot_be_is_refused_with_422(researcher, dataset, raters, given, said):
    answer = plan_it(researcher, dataset, **given)

    assert answer.status_code == 422
    [(field, message)] = shown(answer).errors.items()
    assert field in given
    assert said in message
    assert 'aria-invalid="true"' in answer.text
    assert not Study.objects.exists()


def test_a_name_is_taken_once(researcher, dataset, planned):
    answer = plan_it(researcher, dataset)

    assert answer.status_code == 422
    assert "already a study named Mills" in shown(answer).errors["name"]


# --- a scheme of one's own -------------------------------------------------------------------


def test_a_scheme_of_ones_own_is_pasted(researcher, dataset):
    plan_it(researcher, dataset, scheme="own", own_scheme=json.dumps(POLITE))

    assert Study.objects.get().scheme == POLITE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Found nothing"),
        ('{"key": ', "Found text that is not JSON"),
        ('{"key": 1,\n "title"', "at line 2, column 9"),
        ('{"key": ' + "9" * 5_000 + "}", "a number of thousands of digits"),
        ("[]", "found []; expected an object"),
        ("[" * 100_000, "nested too deep"),
        ('{"key": "K", "questions": []}', "questions: found []"),
        (
            json.dumps(POLITE | {"questions": [{"key": "polite", "scale": "yes_no"}]}),
            "has no help or no examples",
        ),
        (
            json.dumps(POLITE | {"questions": [POLITE["questions"][0] | {"scale": "maybe"}]}),
            'found "maybe"',
        ),
    ],
)
def test_a_bad_scheme_is_refused_with_what_was_found(researcher, dataset, text, said):
    answer = plan_it(researcher, dataset, scheme="own", own_scheme=text)

    assert answer.status_code == 422
    assert said in shown(answer).errors["own_scheme"]
    assert not Study.objects.exists()


# --- changing a planned study ----------------------------------------------------------------


def test_a_planned_study_is_edited(researcher, dataset, planned):
    form = researcher.get(page_of(planned, "edit-study"))
    answer = researcher.post(
        page_of(planned, "edit-study"),
        filled(dataset, "model-a", name="Watermills", scheme="SSA", raters_per_unit=3),
    )

    planned.refresh_from_db()
    assert shown(form).fields["name"] == "Mills"
    assert answer.url == page_of(planned)
    assert (planned.name, planned.raters_per_unit) == ("Watermills", 3)
    assert planned.scheme["key"] == "SSA"
    assert [setup.name for setup in planned.setups.all()] == ["model-a"]


def test_the_default_guidelines_follow_the_scheme_and_written_ones_stay(researcher, dataset):
    plan_it(researcher, dataset)
    study = Study.objects.get()
    edit = page_of(study, "edit-study")

    researcher.post(edit, filled(dataset, scheme="SSA"))
    researcher.post(page_of(study, "edit-guidelines"), {"text": "My own.", "based_on": 2})
    researcher.post(edit, filled(dataset, scheme="AIS"))

    texts = [guideline.text for guideline in study.guidelines.all()]
    assert len(texts) == 3
    assert "judge the response as its last turn" in texts[1]
    assert texts[2] == "My own.\n"


def test_an_opened_study_is_not_edited(researcher, dataset, opened):
    for answer in (
        researcher.get(page_of(opened, "edit-study"), follow=True),
        researcher.post(page_of(opened, "edit-study"), filled(dataset, name="Other"), follow=True),
    ):
        [message] = shown(answer).messages
        assert "you can no longer change what is rated" in message
    assert Study.objects.get().name == "Mills"


def test_a_scheme_of_ones_own_comes_back_to_be_edited(researcher, dataset, rosa):
    study = make_study(dataset, rosa, scheme=POLITE)

    page = shown(researcher.get(page_of(study, "edit-study")))

    assert json.loads(page.fields["own_scheme"]) == POLITE
