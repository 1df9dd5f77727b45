"""Setting a study up, as a researcher does in a browser."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Arm, Assignment, Flag, Skip, Study, Unit, Vote
from annotation.planning import GroupNeed
from annotation.schemes import built_in_schemes
from annotation.services.claiming import claim_next_unit
from annotation.services.studies import pause_study
from annotation.templatetags.study_figures import hours, in_words
from tests.annotation.planned import (
    make_dataset,
    make_open_study,
    make_raters,
    make_study,
    setups_named,
)
from tests.makers import audit_actions, contents, import_rows, pilot_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once

NEW = "/studies/new/"


@pytest.fixture
def dataset(db, tmp_path):
    return make_dataset(tmp_path)


@pytest.fixture
def researcher(client_for, rosa):
    return client_for(rosa)


@pytest.fixture
def planned(dataset, rosa):
    return make_study(dataset, rosa)


@pytest.fixture
def raters(db):
    return make_raters(5)


@pytest.fixture
def opened(dataset, rosa, raters):
    return make_open_study(dataset, rosa, raters)


def page_of(study, name="study-setup"):
    return reverse(f"annotation:{name}", args=[study.slug])


def filled(dataset, *setups, **more):
    """Return what a browser posts when only the name and the setups were touched."""
    chosen = setups_named(dataset, *(setups or ("model-a", "model-b")))
    return {"name": "Mills", "setups": [setup.pk for setup in chosen]} | more


def plan_it(client, dataset, **more):
    body = urlencode(filled(dataset, **more), doseq=True)
    form = "application/x-www-form-urlencoded"  # as browsers send it: no uploads
    return client.post(f"{NEW}?dataset={dataset.slug}", body, content_type=form)


# --- a new study ----------------------------------------------------------------------------


def test_the_dataset_comes_first(researcher, dataset):
    page = shown(researcher.get(NEW))

    assert page.fields["dataset"] == ""
    assert dataset.slug in page.choices("dataset")
    assert "setups" not in page.fields


def test_with_a_dataset_its_setups_are_there_with_their_number_of_responses(researcher, dataset):
    page = shown(researcher.get(NEW, {"dataset": dataset.slug}))

    assert any(label.startswith("model-a 4 ") for label in page.choices("setups").values())


def test_a_dataset_that_does_not_exist_is_chosen_again(researcher, dataset):
    answer = researcher.get(NEW, {"dataset": "gone"})

    assert answer.status_code == 200
    assert "setups" not in shown(answer).fields


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
        mixing="raters",
        may_meet_both_arms="on",
        lease_minutes=10,
        stops_when_decided="on",
        full_percent=40,
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
    assert {rater.code for rater in study.raters.all()} == {"R-1", "R-4"}


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
    assert "choose Separate" in shown(refused).errors["arms"]
    assert Study.objects.get().raters_per_unit == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "required"),
        ({"setups": []}, "one or more"),
        ({"raters_per_unit": 4}, "odd number"),
        ({"raters_per_unit": 0}, "greater than or equal to 1"),
        ({"n_sampled": 5}, "has 4 with responses"),
        ({"lease_minutes": 0}, "greater than or equal to 1"),
        ({"full_percent": 101}, "less than or equal to 100"),
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
    assert "named Mills already" in shown(answer).errors["name"]


# --- a scheme of one's own ------------------------------------------------------------------

POLITE: dict[str, Any] = {
    "key": "POLITE",
    "title": "Politeness",
    "evidence": "none",
    "questions": [
        {
            "key": "polite",
            "scale": "yes_no",
            "help": "Yes when nobody could mind.",
            "examples": [{"answer": "yes", "text": "Gladly.", "reason": "It is."}],
        }
    ],
}


def test_a_scheme_of_ones_own_is_pasted(researcher, dataset):
    plan_it(researcher, dataset, scheme="own", own_scheme=json.dumps(POLITE))

    assert Study.objects.get().scheme == POLITE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Found nothing"),
        ('{"key": ', "Found Expecting value at character 8"),
        ('{"key": 1,\n "title"', "at line 2, column 9"),
        ('{"key": ' + "9" * 5_000 + "}", "4300"),
        ("[]", "found list; expected an object"),
        ("[" * 100_000, "nested too deep"),
        ('{"key": "K", "questions": []}', "expected 'questions'"),
        (
            json.dumps(POLITE | {"questions": [{"key": "polite", "scale": "yes_no"}]}),
            "found no help or no examples",
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


# --- changing a planned study ---------------------------------------------------------------


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
        assert "does not change any more" in message
    assert Study.objects.get().name == "Mills"


def test_a_scheme_of_ones_own_comes_back_to_be_edited(researcher, dataset, rosa):
    study = make_study(dataset, rosa, scheme=POLITE)

    page = shown(researcher.get(page_of(study, "edit-study")))

    assert json.loads(page.fields["own_scheme"]) == POLITE


# --- the plan -------------------------------------------------------------------------------


def test_the_plan_shows_units_slots_and_what_is_left_out(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=list(dataset.setups.all()))

    page = shown(researcher.get(page_of(study)))

    # 4 examples x 2 setups with evidence; the third setup was shown none.
    row = page.table("Units").row("separate")
    assert (row["Units"], row["Raters each"], row["Slots"]) == ("8", "5", "40")
    assert any(item.startswith("4 responses without evidence") for item in page.items)


def test_both_arms_have_units_slots_and_time_each(researcher, dataset, rosa):
    study = make_study(dataset, rosa, arms=["separate", "merged"])

    table = shown(researcher.get(page_of(study))).table("Units")

    # merged: one unit for the two responses of each example
    assert [row[:4] for row in table.rows] == [
        ["separate", "8", "5", "40"],
        ["merged", "4", "5", "20"],
        ["in all", "12", "", "60"],
    ]
    assert all(table.column("Time"))


def test_too_few_raters_are_said_with_the_number_that_would_do(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters[:4])

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Too few raters" in warning
    assert "4 of 5" in warning


def test_each_group_of_two_arms_is_counted(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters, arms=["separate", "merged"])

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Group 1: 3 of 5" in warning
    assert "Group 2: 2 of 5" in warning


def test_groups_are_named_after_their_arm_when_each_has_one(researcher, dataset, rosa, raters):
    study = make_study(
        dataset, rosa, raters, arms=["separate", "merged"], mixing=Study.Mixing.RATERS
    )

    [warning] = shown(researcher.get(page_of(study))).messages

    assert "Separate arm: 3 of 5" in warning


def test_a_plan_with_nothing_to_rate_says_so(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    page = shown(researcher.get(page_of(study)))

    assert any("Nothing to rate" in message for message in page.messages)


# --- opening, pausing, closing --------------------------------------------------------------


def act(client, study, action, **more):
    return client.post(page_of(study, "change-state"), {"action": action} | more)


def state_of(study):
    study.refresh_from_db()
    return study.state


def test_a_study_opens_pauses_resumes_and_closes(researcher, dataset, rosa, raters):
    study = make_study(dataset, rosa, raters)

    states = []
    for action, more in (
        ("open", {}),
        ("pause", {}),
        ("resume", {}),
        ("close", {"is_final": "on"}),
    ):
        answer = act(researcher, study, action, **more)
        assert answer.url == page_of(study)
        states.append(state_of(study))

    assert states == ["open", "paused", "open", "closed"]
    assert Assignment.objects.filter(study=study).count() == 40
    assert "No vote changes any more" in shown(researcher.get(page_of(study))).text


def test_too_few_raters_need_a_tick_to_open(researcher, planned):
    refused = act(researcher, planned, "open")
    state_then = state_of(planned)
    act(researcher, planned, "open", open_anyway="on")

    assert refused.status_code == 422
    assert "too few raters" in shown(refused).errors["open_anyway"]
    assert state_then == "planned"
    assert state_of(planned) == "open"


def test_closing_needs_a_tick_because_it_is_final(researcher, opened):
    refused = act(researcher, opened, "close")

    assert refused.status_code == 422
    assert "final" in shown(refused).errors["is_final"]
    assert state_of(opened) == "open"


def test_a_paused_study_may_be_closed(researcher, opened, rosa):
    pause_study(opened, rosa)

    act(researcher, opened, "close", is_final="on")

    assert state_of(opened) == "closed"


@pytest.mark.parametrize("action", ["open", "resume"])
def test_what_a_state_does_not_allow_is_said(researcher, opened, action):
    answer = researcher.post(
        page_of(opened, "change-state"), {"action": action, "open_anyway": "on"}, follow=True
    )

    [message] = shown(answer).messages
    assert "Mills is open now" in message
    assert state_of(opened) == "open"


def test_an_action_that_does_not_exist_is_404(researcher, opened):
    assert act(researcher, opened, "delete").status_code == 404


def test_a_study_with_nothing_to_rate_is_not_opened(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    answer = researcher.post(
        page_of(study, "change-state"), {"action": "open", "open_anyway": "on"}, follow=True
    )

    assert any("There is nothing to rate" in message for message in shown(answer).messages)
    assert state_of(study) == "planned"


# --- extending ------------------------------------------------------------------------------


def test_what_an_extension_adds_is_shown_before_it_is_stored(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters, setups=setups_named(dataset, "model-a"))
    choice = {"setups": [setup.pk for setup in setups_named(dataset, "model-b")]}
    before = contents()

    answer = researcher.post(page_of(study, "extend-study"), choice)
    after_showing = contents()
    researcher.post(page_of(study, "extend-study"), choice | {"is_confirmed": "on"})

    [message] = shown(answer).messages
    assert "4 units (4 separate): 20 slots" in message
    assert after_showing == before
    assert Unit.objects.filter(arm__study=study).count() == 8
    assert study.setups.count() == 2


def test_a_sample_grows(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters, n_sampled=2)
    before = set(Unit.objects.values_list("example", flat=True))

    researcher.post(page_of(study, "extend-study"), {"n_sampled": 3, "is_confirmed": "on"})

    study.refresh_from_db()
    examples = set(Unit.objects.values_list("example", flat=True))
    assert study.n_sampled == 3
    assert before < examples
    assert len(examples) == 3


@pytest.mark.parametrize("is_confirmed", [{}, {"is_confirmed": "on"}])
def test_a_sample_does_not_shrink(researcher, dataset, rosa, raters, is_confirmed):
    study = make_open_study(dataset, rosa, raters, n_sampled=3)

    answer = researcher.post(page_of(study, "extend-study"), {"n_sampled": 2} | is_confirmed)

    assert answer.status_code == 422
    assert "3 examples; it can only grow" in shown(answer).part("extend").text


def test_an_extension_that_adds_nothing_says_so(researcher, opened):
    [message] = shown(researcher.post(page_of(opened, "extend-study"), {})).messages

    assert "Adds nothing" in message


def test_a_setup_of_another_dataset_is_refused(researcher, opened, tmp_path):
    other = make_dataset(tmp_path, name="other")

    answer = researcher.post(
        page_of(opened, "extend-study"), {"setups": [other.setups.all()[0].pk]}
    )

    assert answer.status_code == 422


def test_a_planned_study_is_edited_and_not_extended(researcher, planned):
    answer = researcher.post(page_of(planned, "extend-study"), {})

    assert answer.status_code == 422


# --- raters ---------------------------------------------------------------------------------


def test_raters_are_added_to_an_open_study(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters[:3])
    url = page_of(study, "add-raters")

    researcher.post(url, {"raters": [raters[3].pk]})
    again = researcher.post(url, {"raters": [raters[3].pk]})
    researcher.post(url, {"all_raters": "on"})

    assert study.raters.count() == 5
    assert again.status_code == 422  # is there already, so no choice


def test_adding_nobody_is_refused(researcher, planned, raters):
    answer = researcher.post(page_of(planned, "add-raters"), {})

    assert answer.status_code == 422
    assert "one or more" in shown(answer).errors["raters"]


def test_a_researcher_cannot_be_added_as_a_rater(researcher, planned, rosa):
    assert researcher.post(page_of(planned, "add-raters"), {"raters": [rosa.pk]}).status_code == 422


def test_the_table_tells_what_each_rater_has_done(researcher, opened):
    rater = opened.raters.get(code="R-1")
    assignment = claim_next_unit(rater)
    assert assignment is not None
    other = Unit.objects.filter(arm__study=opened).exclude(pk=assignment.unit_id)[0]
    target = other.targets.get()
    arm = Arm.objects.get(study=opened)
    Vote.objects.bulk_create(
        Vote(arm=arm, target=target, question=question, rater=rater, answer=1, is_surplus=True)
        for question in ("understand", "relevant")
    )
    Skip.objects.create(
        unit=other, rater=rater, reason="I cannot judge this topic", note="Law", at=timezone.now()
    )
    Flag.objects.create(arm=arm, response=target.response, rater=rater, reason="Cut off")

    page = shown(researcher.get(page_of(opened)))

    until = Assignment.objects.get(rater=rater).lease_until
    assert until is not None
    assert page.table("Raters").row("R-1 r1") == {
        "Rater": "R-1 r1",
        "Submitted": "0",
        "In hand": f"until {until:%H:%M} Release",
        "Surplus": "1",
        "Skipped": "1",
        "Flagged": "1",
        "Take out": "Take out…",
    }
    assert page.table("Skipped").column("Reason") == ["I cannot judge this topic Law"]
    assert page.table("Flagged").column("Reason") == ["Cut off"]


def test_a_researcher_releases_a_unit(researcher, opened):
    rater = opened.raters.get(code="R-1")
    claim_next_unit(rater)
    url = reverse("annotation:release-units", args=[opened.slug, rater.pk])

    first, _ = shown(researcher.post(url, follow=True)).messages
    second, stranded = shown(researcher.post(url, follow=True)).messages

    assert "R-1 gave back a unit" in first
    assert "R-1 had no unit" in second
    assert "1 slot that no rater may take" in stranded  # the others are needed for the rest
    assert not Assignment.objects.filter(rater=rater).exists()


def test_a_rater_of_another_study_is_not_released_here(researcher, dataset, rosa, opened):
    other = make_study(dataset, rosa, name="Other")
    rater = opened.raters.get(code="R-1")
    claim_next_unit(rater)

    answer = researcher.post(reverse("annotation:release-units", args=[other.slug, rater.pk]))

    assert answer.status_code == 404
    assert Assignment.objects.filter(rater=rater).exists()


def test_progress_counts_the_slots_of_each_arm(researcher, opened):
    claim_next_unit(opened.raters.get(code="R-1"))
    done = claim_next_unit(opened.raters.get(code="R-2"))
    assert done is not None
    Assignment.objects.filter(pk=done.pk).update(submitted_at=timezone.now())
    free = Assignment.objects.filter(rater=None)[0]
    Assignment.objects.filter(pk=free.pk).update(is_let_go=True)

    answer = researcher.get(page_of(opened))

    # 8 units x 5 slots; one of them let go.
    assert '<progress value="1" max="39"' in answer.text
    assert shown(answer).table("Slots").row("separate") == {
        "Arm": "separate",
        "Done": "1",
        "Of": "39",
        "In hand": "1",
        "Let go": "1",
        "Units": "8",
    }


def test_skips_and_flags_are_capped_and_counted(researcher, opened):
    unit = Unit.objects.filter(arm__study=opened)[0]
    for user in make_raters_again(opened, 25):
        Skip.objects.create(unit=unit, rater=user, reason="Another reason", at=timezone.now())

    page = shown(researcher.get(page_of(opened)))

    assert len(page.table("Skipped").rows) == 20
    assert "20 of 25" in page.text


def make_raters_again(study, n):
    return [study.raters.create(code=f"X-{number}") for number in range(n)]


# --- costs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
def test_the_page_costs_the_same_statements_however_large_the_study(
    client_for, rosa, tmp_path, is_open
):
    client = client_for(rosa)
    raters = make_raters(8)
    make = make_open_study if is_open else make_study

    def cost(n_examples, n_raters):
        dataset = make_dataset(tmp_path, n_examples, f"d{n_examples}")
        study = make(dataset, rosa, raters[:n_raters], name=f"s{n_examples}")
        if is_open:
            for rater in study.raters.all():
                claim_next_unit(rater)
        client.get(page_of(study))  # what a first page loads once
        return len(statements(lambda: client.get(page_of(study))))

    small, large = cost(2, 5), cost(40, 8)

    assert small == large
    assert large <= 40


# --- who may --------------------------------------------------------------------------------

POSTS = ["change-state", "extend-study", "add-raters"]
PAGES = ["study-setup", "edit-study", "preview", "edit-guidelines"]


@pytest.mark.parametrize("name", POSTS)
def test_get_changes_nothing(researcher, planned, name):
    assert researcher.get(page_of(planned, name)).status_code == 405


@pytest.mark.parametrize("name", [*POSTS, *PAGES])
def test_an_imported_study_has_no_set_up(researcher, tmp_path, name):
    import_rows(tmp_path / "pilot", **pilot_rows())
    study = Study.objects.get()

    url = page_of(study, name)
    answer = researcher.post(url) if name in POSTS else researcher.get(url)

    assert answer.status_code == 404


@pytest.mark.parametrize("name", [*POSTS, *PAGES])
def test_a_rater_sees_no_set_up(client_for, opened, raters, name):
    client = client_for(raters[0])

    url = page_of(opened, name)
    answer = client.post(url) if name in POSTS else client.get(url)

    assert answer.status_code == 403


def test_an_admin_sets_studies_up_too(client_for, adam, planned):
    assert client_for(adam).get(page_of(planned)).status_code == 200


# --- preview --------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["separate", "merged"])
@pytest.mark.parametrize("make", [make_study, make_open_study])
def test_a_preview_shows_a_unit_without_storing_anything(
    researcher, dataset, rosa, raters, make, arm
):
    study = make(dataset, rosa, raters, arms=["separate", "merged"])
    before = contents()

    answer = researcher.get(page_of(study, "preview"), {"arm": arm, "number": 2})

    assert answer.status_code == 200
    page = shown(answer)
    assert "nothing is stored" in page.text
    assert "Can you understand the response?" in page.text
    assert "model-a" not in answer.text
    assert contents() == before


def test_a_preview_goes_on_to_the_last_unit_and_no_further(researcher, planned):
    url = page_of(planned, "preview")
    first, last = shown(researcher.get(url)), shown(researcher.get(url, {"number": 8}))

    assert "?arm=separate&number=2" in first.addresses
    assert not any("number=9" in address for address in last.addresses)
    for number in ("9", "0", "-1", "x", "9" * 30):
        assert researcher.get(url, {"number": number}).status_code == 404
    assert researcher.get(url, {"arm": "merged"}).status_code == 404


def test_a_preview_of_nothing_says_so(researcher, dataset, rosa):
    study = make_study(dataset, rosa, setups=setups_named(dataset, "model-c"))

    [message] = shown(researcher.get(page_of(study, "preview"))).messages

    assert "Nothing to rate" in message


# --- ways there -----------------------------------------------------------------------------


def test_studies_and_datasets_lead_to_a_new_study(researcher, dataset):
    studies = shown(researcher.get(reverse("annotation:studies")))
    page = shown(researcher.get(reverse("generation:dataset", args=[dataset.slug])))

    assert NEW in studies.addresses
    assert f"{NEW}?dataset={dataset.slug}" in page.addresses


def test_report_and_set_up_lead_to_each_other(researcher, opened):
    report = reverse("evaluation:study", args=[opened.slug])

    assert page_of(opened) in shown(researcher.get(report)).addresses
    assert report in shown(researcher.get(page_of(opened))).addresses


def test_no_study_takes_the_address_of_the_form(researcher, dataset):
    plan_it(researcher, dataset, name="New")

    assert Study.objects.get().slug == "new-2"


def test_pausing_stops_what_is_handed_out(researcher, opened, rosa):
    pause_study(opened, rosa)
    rater = opened.raters.select_related("study").get(code="R-1")

    assert claim_next_unit(rater) is None


# --- figures in words -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "words"),
    [(0, "0 min"), (0.01, "under 1 min"), (0.2, "12 min"), (2.44, "2.4 h"), (1234.5, "1,234 h")],
)
def test_hours_are_written_as_people_say_them(figure, words):
    assert hours(figure) == words


@pytest.mark.parametrize(
    ("n_there", "name", "words"),
    [
        (5, "", "5 there."),
        (7, "group 1", "Group 1: 7 there."),
        (4, "group 2", "Group 2: 4 of 5 there; one more will do."),
        (0, "", "0 of 5 there; 5 more will do."),
    ],
)
def test_a_need_says_how_many_more_will_do(n_there, name, words):
    assert in_words(GroupNeed(0, n_there, 5), name) == words
